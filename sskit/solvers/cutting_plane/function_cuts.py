"""Cuts of a kernel space, as functions of the rows that were drawn."""

import numpy as np


class FunctionCuts:
    """Functions of the same rows, and the weights that belong to no function.

    Rows that several cuts have in common are held once, so that mixes and inner products take
    their kernels once.

    Parameters
    ----------
    whole : object
        The `support` of the space of the problem: all rows.

    Attributes
    ----------
    numbers : ndarray of shape (m,)
        Numbers of the rows.
    """

    def __init__(self, whole):
        self.whole = whole
        self.numbers = np.empty(0, dtype=np.intp)
        self._place = np.full(whole.n_rows, -1, dtype=np.intp)
        self._cuts = []  # linear weights, places among the rows, coefficients there

    def append(self, support, vector):
        """Add a cut.

        Parameters
        ----------
        support : object
            The `support` of the space of the part of the problem that it was found in.
        vector : ndarray
            Weights there.
        """
        found = support.coefficients(vector)
        used = np.flatnonzero(found.any(axis=0))
        numbers = support.numbers[used]
        new = numbers[self._place[numbers] < 0]
        self._place[new] = len(self.numbers) + np.arange(len(new))
        self.numbers = np.concatenate([self.numbers, new])
        linear = vector[: self.whole.n_linear].copy()
        self._cuts.append((linear, self._place[numbers], np.ascontiguousarray(found[:, used])))

    def mix(self, weight):
        """Return a mix of the cuts.

        Parameters
        ----------
        weight : ndarray of shape (n_cuts,)
            Their weights.

        Returns
        -------
        linear : ndarray of shape (n_linear,)
            Weights that belong to no function.
        coefficients : ndarray of shape (K, m)
            Of the kernels with the rows.
        """
        linear = np.zeros(self.whole.n_linear)
        coefficients = np.zeros((self.whole.n_states, len(self.numbers)))
        for share, (own, rows, found) in zip(weight, self._cuts, strict=True):
            if share != 0.0:
                linear += share * own
                coefficients[:, rows] += share * found
        return linear, coefficients

    def at(self, support, mixes):
        """Return what mixes are in a part of the problem.

        Parameters
        ----------
        support : object
            The `support` of the space of the part.
        mixes : list of tuple
            From `mix`.

        Returns
        -------
        views : list of ndarray
            Weights there, whose coefficients are zero: linear weights and values. Takes a kernel
            for each row of the part and each row of the mixes.
        """
        stacked = np.concatenate([coefficients for _, coefficients in mixes])
        used = np.flatnonzero(stacked.any(axis=0))
        values = support.gather(self.numbers[used], stacked[:, used]).reshape(len(mixes), -1)
        nothing = np.zeros(values.shape[1])
        return [
            np.concatenate([linear, own, nothing])
            for (linear, _), own in zip(mixes, values, strict=True)
        ]

    def products(self, support, vector):
        """Return the inner products of weights in a part of the problem with all cuts.

        Parameters
        ----------
        support : object
            The `support` of the space of the part.
        vector : ndarray
            Weights there.

        Returns
        -------
        products : ndarray of shape (n_cuts,)
            Takes a kernel for each row with a coefficient and each row of the cuts.
        """
        linear = vector[: self.whole.n_linear]
        values = support.spread(support.coefficients(vector), self.numbers)
        return np.array(
            [own @ linear + np.vdot(some, values[:, rows]) for own, rows, some in self._cuts]
        )

    def expand(self, weight):
        """Return a mix of the cuts as weights of the whole problem, but for their values."""
        linear, coefficients = self.mix(weight)
        whole = self.whole
        out = np.zeros(whole.n_linear + 2 * whole.n_states * whole.n_rows)
        out[: whole.n_linear] = linear
        whole.coefficients(out)[:, self.numbers] = coefficients
        return out
