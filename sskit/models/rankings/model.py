"""The ranking model: pairs of rows in the wrong order (Joachims 2005)."""

import numpy as np

from sskit.models.feature_map import FeatureMap
from sskit.models.features import NO_GRAMS, FeatureRows
from sskit.models.layout import WeightLayout
from sskit.models.rankings.structure import RankingStructure
from sskit.models.structure import NodeLoss, StructuredProblem


class RankingModel:
    """Sets of rows that are ranked as a whole, by one linear function of the rows.

    Parameters
    ----------
    n_features : int
        Number of features p.

    Attributes
    ----------
    layout : WeightLayout
        Places of the weights.
    """

    def __init__(self, n_features):
        self.layout = WeightLayout(coef=(1, n_features))

    def bind(self, X, offsets, grades, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features, one set of rows after the other.
        offsets : ndarray of shape (n_sets + 1,)
            Set i has the rows offsets[i] to offsets[i + 1] - 1.
        grades : ndarray of shape (n,)
            Numbers that are compared within a set.
        block_weight : ndarray of shape (n_sets,)
            Weights of the sets, summing to one.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        """
        offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        grades = numbers_of_grades(offsets, grades)
        feature_map = FeatureMap(FeatureRows(X), offsets, 1, packed=True)
        # fits make too few passes for Gram matrices to save time
        feature_map.prepare(NO_GRAMS)
        structure = RankingStructure(feature_map, grades)
        loss = NodeLoss(grades, np.empty(0), 1)
        return StructuredProblem(feature_map, structure, loss, block_weight)


def numbers_of_grades(offsets, grades):
    """Return the numbers of grades within their sets, 0 for the lowest.

    Parameters
    ----------
    offsets : ndarray of shape (n_sets + 1,)
        Set i has the rows offsets[i] to offsets[i + 1] - 1, at least one.
    grades : ndarray of shape (n,)
        Numbers that are compared within a set.

    Returns
    -------
    numbers : ndarray of shape (n,), int32
        For all sets at once: there may be as many as rows.
    """
    sets = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((grades, sets))
    # the sets are in order: a set begins where it did
    rises = np.append(0, np.diff(grades[order]) != 0).cumsum()
    numbers = np.empty(len(grades), dtype=np.int32)
    numbers[order] = rises - rises[offsets[:-1]][sets]
    return numbers
