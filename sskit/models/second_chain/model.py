"""The linear chain model of the second order."""

import numpy as np

from sskit.models.chain.model import ChainModel, make_features
from sskit.models.features import FeatureRows
from sskit.models.layout import WeightLayout
from sskit.models.second_chain.problem import (
    SecondChainDecoder,
    SecondChainProblem,
    SecondChainRequest,
)


class SecondChainModel(ChainModel):
    """A chain model with weights of three labels in a row.

    score(x, y) = that of `ChainModel` + sum_{t > 2} triples[y_{t-2}, y_{t-1}, y_t]

    Parameters
    ----------
    n_features, n_states : int
        As of `ChainModel`.
    allowed, allowed_start, allowed_end : ndarray or None
        As of `ChainModel`.
    """

    def __init__(self, n_features, n_states, allowed=None, allowed_start=None, allowed_end=None):
        super().__init__(n_features, n_states, allowed, allowed_start, allowed_end)
        self.layout = WeightLayout(**self.layout.shapes, triples=(n_states,) * 3)

    def _problem(self, stacked, labels, cost, block_weight, n_jobs):
        return SecondChainProblem(
            FeatureRows(stacked.values, n_jobs=n_jobs),
            np.ascontiguousarray(stacked.offsets, dtype=np.int64),
            self.n_states,
            labels,
            cost,
            block_weight,
            self.allowed,
            self.allowed_start,
            self.allowed_end,
        )

    def label(self, stacked, n_jobs=None, beam_size=None, possible=None, **blocks):
        """Bind the model to sequences that are to be labelled; see `ChainModel.label`."""
        rules = self.allowed, self.allowed_start, self.allowed_end
        request = make_second_request(stacked, **blocks, rules=rules, possible=possible)
        return SecondChainDecoder(request, n_jobs)


def make_second_request(
    stacked, coef, transitions, start, end, triples, rules=(None, None, None), possible=None
):
    """Return sequences with the weights that are to label them, which are not checked.

    Parameters
    ----------
    stacked, coef, transitions, start, end, rules, possible : object
        As of `make_request`.
    triples : ndarray of shape (K, K, K)
        Weights of three labels in a row.

    Returns
    -------
    request : SecondChainRequest
        What a `SecondChainDecoder` takes.
    """
    features, weights = make_features(stacked, coef, possible), (transitions, start, end)
    weights = [np.asarray(array, dtype=np.float64) for array in weights]
    return SecondChainRequest(features, stacked.offsets, *weights, *rules, triples)
