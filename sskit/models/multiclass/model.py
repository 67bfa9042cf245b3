"""The multiclass model."""

import numpy as np

from sskit.models.features import FeatureRows
from sskit.models.layout import WeightLayout
from sskit.models.multiclass.problem import MulticlassProblem


class MulticlassModel:
    """One of K classes for every row of a matrix.

    Parameters
    ----------
    n_features : int
        Number of features p.
    n_classes : int
        Number of classes K.
    intercept : bool
        Whether there is a constant feature, regularised as the others are.
    """

    def __init__(self, n_features, n_classes, intercept):
        shapes = {"coef": (n_classes, n_features)}
        if intercept:
            shapes["intercept"] = (n_classes,)
        self.n_classes = n_classes
        self.intercept = intercept
        self.layout = WeightLayout(**shapes)

    def bind(self, X, labels, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features.
        labels : ndarray of shape (n,)
            True classes, 0 to K - 1.
        block_weight : ndarray of shape (n,)
            Weights of the rows, summing to one.

        Returns
        -------
        problem : MulticlassProblem
            What solvers take.
        """
        return MulticlassProblem(
            FeatureRows(X), self.n_classes, labels.astype(np.int32), block_weight, self.intercept
        )
