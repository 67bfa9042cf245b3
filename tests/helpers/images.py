"""What worker processes import: segmenters, and sequences as graphs."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit import GraphTagger, SegmentationModel
from sskit.inputs.ragged import stack_sequences


class CountingGrid:
    """A segmenter that cuts into squares, in a numbering of its own, and notes every call."""

    def __init__(self, side, log):
        self.side = side
        self.log = log

    def __call__(self, image):
        assert image.dtype == np.float32
        assert image.min() >= 0
        assert image.max() <= 1
        with open(self.log, "a") as file:
            file.write("x")
        rows, columns = (np.arange(size) // self.side for size in image.shape[:2])
        return 100 * rows[:, None] + columns - 3


def paths(X, n_features=None):
    """Sequences as graphs whose nodes are joined to the next ones."""
    stacked = stack_sequences(X, n_features=n_features, estimator_name="OnPaths")
    return [
        (x, np.stack([np.arange(x.shape[0] - 1), np.arange(1, x.shape[0])], axis=1), None)
        for x in stacked
    ]


class OnPaths(SegmentationModel):
    """Takes sequences for graphs: what the checks of ragged estimators give it."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(paths(X), y, sample_weight)

    def _check_inputs(self, X):
        check_is_fitted(self)
        return super()._check_inputs(paths(X, self.n_features_in_))


class AnyOnPaths(GraphTagger):
    """The same with interactions of any sign."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(paths(X), y, sample_weight)

    def _check_inputs(self, X):
        check_is_fitted(self)
        return super()._check_inputs(paths(X, self.n_features_in_))
