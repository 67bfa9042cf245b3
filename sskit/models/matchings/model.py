"""The matching model: which left item goes with which right one, by features of pairs."""

import numpy as np

from sskit.models.features import with_spare
from sskit.models.layout import WeightLayout
from sskit.models.matchings.decoder import MatchingDecoder
from sskit.models.matchings.problem import MatchingProblem


class PairingModel:
    """Matchings between left and right items, some of which may stay alone.

    score(x, y) = sum over pairs (k, j) of y of (coef . pairs[k, j] + intercept)
    + sum over left items that stay alone of left_coef . left[k], and of right ones likewise.

    Parameters
    ----------
    widths : tuple of three int
        Numbers of features of a pair, of a left item and of a right item.
    complete : bool, default=False
        Whether every left item must have a partner.
    """

    def __init__(self, widths, complete=False):
        self.complete = complete
        pair, left, right = widths
        self.layout = WeightLayout(
            coef=(pair,), intercept=(1,), left_coef=(left,), right_coef=(right,)
        )

    def bind(self, tables, partners, loss, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        tables : list of n tuples of three ndarrays, float64
            Features of pairs (n_left, n_right, p), of left items (n_left, q) and of right items
            (n_right, r), in C order.
        partners : list of n ndarrays of shape (n_left,)
            The right item of each left item in the truth, -1 for none.
        loss : {"hamming", "hamming_sum"}
            The share of the left items with a wrong partner, or their number.
        block_weight : ndarray of shape (n,)
            Weights of the samples, summing to one.

        Returns
        -------
        problem : MatchingProblem
            What solvers take.
        """
        truth = np.concatenate(partners).astype(np.int32)
        return MatchingProblem(tables, truth, block_weight, self.complete, loss == "hamming")

    def decoder(self, tables, w, n_jobs=None):
        """Bind the model to items that are to be matched.

        Parameters
        ----------
        tables : list of n tuples of three ndarrays, float64
            As of `bind`.
        w : ndarray of shape (n_weights,)
            Flat weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        decoder : MatchingDecoder
            Gives partners.
        """
        # any matching is a truth that nobody asks for
        unused = [np.arange(len(pairs)) if self.complete else np.full(len(pairs), -1)
                  for pairs, _, _ in tables]  # fmt: skip
        n = len(tables)
        problem = self.bind(tables, unused, "hamming_sum", np.full(n, 1.0 / n))
        return MatchingDecoder(problem, n_jobs, with_spare(w))
