"""Features of whole segments in the problem, against enumeration."""

import numpy as np
import pytest
from helpers.segments import codes, feature, segmentations, span_loss, token_loss

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.segments.model import SegmentModel
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing import check_problem
from sskit.utils import RaggedArray

LIMITS = [3, 1, 2]
LENGTHS = [1, 2, 4, 5]
Q = 2


def bind(ends, lengths, false_cost):
    """Return a problem with features of segments, its model, data and costs of tokens."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in LENGTHS]
    whole = [rng.normal(size=(n, min(n, 3), Q)) for n in LENGTHS]
    y = []
    for n in LENGTHS:
        found = list(segmentations(n, LIMITS))
        y.append(found[rng.integers(len(found))])
    stacked = RaggedArray(np.concatenate(X), np.concatenate([[0], np.cumsum(LENGTHS)]))
    truth = np.concatenate([codes(segments) for segments in y])
    cost = rng.uniform(0.5, 1.5, size=len(truth))
    if false_cost is not None:
        cost = np.where(truth & 1, false_cost[truth >> 1], 0.0)
    values = np.concatenate([block.ravel() for block in whole])
    model = SegmentModel(2, LIMITS, ends, lengths, Q)
    problem = model.bind(stacked, truth, cost, block_weights(4), false_cost, whole=values)
    return problem, model, X, whole, y, np.split(cost, stacked.offsets[1:-1])


def phi(x, whole, segments, ends, lengths):
    """Return the joint features, those of whole segments before the last 2 K."""
    sums = np.zeros((3, Q))
    for a, b, k in segments:
        sums[k] += whole[a, b - a - 1]
    other = feature(x, segments, LIMITS, 3, ends=ends, lengths=lengths)
    return np.concatenate([other[:-6], sums.ravel(), other[-6:]])


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("spans", [False, True])
def test_hinges_are_those_of_all_segmentations(ends, lengths, spans):
    false_cost = np.array([1.0, 0.0, 0.7]) if spans else None
    problem, model, X, whole, y, costs = bind(ends, lengths, false_cost)
    check_problem(problem, random_state=0)
    rng = np.random.default_rng(1)
    for scale in (0.0, 0.3, 3.0):
        w = Regularizer(1.0, problem.n_weights).padded(rng.normal(0, scale, problem.n_weights))
        blocks = model.layout.split(w[: problem.n_weights])
        flat = np.concatenate([block.ravel() for block in blocks.values()])
        found = make_pool(problem).hinges(w)
        for i, (x, z, truth, cost) in enumerate(zip(X, whole, y, costs, strict=True)):
            own = flat @ phi(x, z, truth, ends, lengths)
            values = []
            for segments in segmentations(len(x), LIMITS):
                loss = (
                    span_loss(segments, truth, false_cost)
                    if spans
                    else token_loss(segments, truth, cost)
                )
                values.append(loss + flat @ phi(x, z, segments, ends, lengths) - own)
            assert found[i] == pytest.approx(max(values))


def test_layouts_with_features_of_segments_join_what_they_split():
    layout = SegmentModel(4, LIMITS, n_whole=Q).layout
    w = np.arange(layout.n_weights, dtype=float)
    blocks = layout.split(w)
    assert blocks["segment_coef"].shape == (3, Q)
    np.testing.assert_array_equal(layout.join(blocks), w)
