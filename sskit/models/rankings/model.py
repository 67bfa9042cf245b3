"""The model of sets of rows."""

import numpy as np

from sskit.models.features import FeatureRows
from sskit.models.layout import WeightLayout
from sskit.models.rankings.problem import RankingProblem
from sskit.oracles.rankings.losses import dense_grades, make_measure


class RankingModel:
    """Sets of rows that are labelled or ranked as a whole, by one linear function of the rows.

    Parameters
    ----------
    n_features : int
        Number of features p.
    loss : {"f1", "f_beta", "precision_at_k", "roc_area", "average_precision"}
        Loss of a set; see `sskit.oracles.worst_ranking`.
    beta : float, default=1.0
        Option of the loss "f_beta".
    balance : float, default=0.5
        Option of the losses "f1" and "f_beta".
    k : int, float or None, default=None
        Option of the loss "precision_at_k".
    intercept : bool, default=True
        Whether there is a constant feature, regularised as the others are, if the loss depends
        on it.
    """

    def __init__(self, n_features, loss, *, beta=1.0, balance=0.5, k=None, intercept=True):
        self.measure = make_measure(loss, beta=beta, balance=balance, k=k)
        self.intercept = bool(intercept and self.measure.shifts)
        self.name = (loss, float(beta), float(balance), k)
        shapes = {"coef": (1, n_features)}
        if self.intercept:
            shapes["intercept"] = (1,)
        self.layout = WeightLayout(**shapes)

    def bind(self, X, offsets, grades, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features, one set of rows after the other.
        offsets : ndarray of shape (n_sets + 1,)
            Set i has the rows offsets[i] to offsets[i + 1] - 1.
        grades : ndarray of shape (n,)
            0 or 1; where the loss has more grades, numbers that are compared within a set.
        block_weight : ndarray of shape (n_sets,)
            Weights of the sets, summing to one.

        Returns
        -------
        problem : RankingProblem
            What solvers take.
        """
        offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        if self.measure.graded and not np.isin(grades, (0, 1)).all():
            parts = [dense_grades(part) for part in np.split(grades, offsets[1:-1])]
            grades = np.concatenate(parts)
        grades = np.ascontiguousarray(grades, dtype=np.int32)
        return RankingProblem(
            FeatureRows(X), offsets, grades, block_weight, self.measure, self.intercept, self.name
        )
