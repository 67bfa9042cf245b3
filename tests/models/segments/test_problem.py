"""The problem of segments, with both losses and all sets of weights, against enumeration."""

import numpy as np
import pytest
from helpers.segments import codes, feature, segmentations, span_loss, token_loss

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.segments.model import SegmentModel
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing import check_problem
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray

LIMITS = [3, 1, 2]
LENGTHS = [1, 2, 4, 5]


PAIRS = np.array([[0.0, 0.4, 3.0], [2.0, 0.0, 0.0], [1.0, 0.3, 0.0]])


def bind(ends, lengths, false_cost=None, seed=0, table=None):
    """Return a problem, its sequences, true segmentations and costs of tokens."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 2)) for n in LENGTHS]
    y = []
    for n in LENGTHS:
        found = list(segmentations(n, LIMITS))
        y.append(found[rng.integers(len(found))])
    stacked = RaggedArray(np.concatenate(X), np.concatenate([[0], np.cumsum(LENGTHS)]))
    truth = np.concatenate([codes(segments) for segments in y])
    cost = rng.uniform(0.5, 1.5, size=len(truth))
    if false_cost is not None:
        cost = np.where(truth & 1, false_cost[truth >> 1], 0.0)
    model = SegmentModel(2, LIMITS, ends, lengths)
    problem = model.bind(stacked, truth, cost, block_weights(4), false_cost, table=table)
    return problem, model, X, y, np.split(cost, stacked.offsets[1:-1])


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("loss", ["tokens", "spans", "pairs"])
def test_hinges_are_those_of_all_segmentations(ends, lengths, loss):
    false_cost = np.array([1.0, 0.0, 0.7]) if loss == "spans" else None
    table = PAIRS if loss == "pairs" else None
    problem, model, X, y, costs = bind(ends, lengths, false_cost, table=table)
    check_problem(problem, random_state=0)
    rng, probe = np.random.default_rng(1), ProblemProbe(problem)
    for scale in (0.0, 0.3, 3.0):
        w = Regularizer(1.0, problem.n_weights).padded(rng.normal(0, scale, problem.n_weights))
        flat = np.concatenate(
            [block.ravel() for block in model.layout.split(w[: problem.n_weights]).values()]
        )
        found = make_pool(problem).hinges(w)
        for i, (x, truth, cost) in enumerate(zip(X, y, costs, strict=True)):
            own = flat @ feature(x, truth, LIMITS, 3, ends=ends, lengths=lengths)
            values = []
            for segments in segmentations(len(x), LIMITS):
                lost = (
                    span_loss(segments, truth, false_cost)
                    if loss == "spans"
                    else token_loss(segments, truth, cost, table)
                )
                phi = feature(x, segments, LIMITS, 3, ends=ends, lengths=lengths)
                values.append(lost + flat @ phi - own)
            assert found[i] == pytest.approx(max(values))
            assert probe.truth(i).tolist() == codes(truth).tolist()


def test_a_layout_splits_and_joins():
    layout = SegmentModel(4, LIMITS).layout
    w = np.arange(layout.n_weights, dtype=float)
    blocks = layout.split(w)
    assert {name: block.shape for name, block in blocks.items()} == layout.shapes
    assert sorted(np.concatenate([block.ravel() for block in blocks.values()])) == w.tolist()
    np.testing.assert_array_equal(layout.join(blocks), w)
