"""Estimators of trees as estimators of sequences, for the checks of these."""

import numpy as np

from sskit import TreeTagger
from sskit.inputs.ragged import stack_sequences


def paths(X, n_features=None, kinds=False):
    """Sequences as trees without branches."""
    stacked = stack_sequences(X, n_features=n_features, estimator_name="TreesOfPaths")
    trees = []
    for a, b in zip(stacked.offsets[:-1], stacked.offsets[1:], strict=True):
        tree = stacked.values[a:b], np.arange(-1, b - a - 1)
        trees.append((*tree, np.zeros(b - a, dtype=int)) if kinds else tree)
    return trees


class TreesOfPaths(TreeTagger):
    """A TreeTagger that takes sequences."""

    kinds = False

    def _make_task(self, X, y, sample_weight, **further):
        return super()._make_task(paths(X, kinds=self.kinds), y, sample_weight, **further)

    def _decoder(self, X, known=None):
        n_features = getattr(self, "n_features_in_", None)
        return super()._decoder(
            X if n_features is None else paths(X, n_features, self.kinds), known
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


class TreesOfKinds(TreesOfPaths):
    """The same with a kind for each edge."""

    kinds = True
