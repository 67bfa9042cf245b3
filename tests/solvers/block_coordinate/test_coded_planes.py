"""Products of planes by their codes are those of the sparse planes, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.models.structure import StructuredProblem
from sskit.solvers import BCFW
from sskit.utils import RaggedArray


class OfSparsePlanes(StructuredProblem):
    """A problem without products of planes by their codes."""

    def coded_planes(self):
        """Return None."""


def chains(form, T, width, rules=False):
    """A problem of chains whose features tell little of the labels."""
    rng = np.random.default_rng(0)
    n, K = 12, 5
    values = rng.normal(size=(n * T, width)) * (rng.random((n * T, width)) < 0.3)
    y = rng.integers(K, size=n * T)
    allowed = ()
    if rules:
        y = np.tile(np.arange(K), -(-n * T // K))[: n * T]
        transitions = np.eye(K, k=1) + np.eye(K, k=1 - K) + np.eye(K) > 0
        allowed = transitions, np.ones(K, dtype=bool), np.ones(K, dtype=bool)
    model = ChainModel(width, K, *allowed)
    stacked = RaggedArray(form(values), np.arange(n + 1) * T)
    return model.bind(stacked, y.astype(np.int32), np.ones(n * T), block_weights(n))


PROBLEMS = {
    "dense rows": lambda: chains(np.asarray, 9, 6),
    "sparse rows, Gram matrices": lambda: chains(sp.csr_array, 3, 40),
    "sparse rows": lambda: chains(sp.csr_array, 40, 20),
    "single tokens": lambda: chains(sp.csr_array, 1, 20),
    "forbidden transitions": lambda: chains(sp.csr_array, 10, 20, rules=True),
}


def ran(problem, n_passes=12, **options):
    """Weights, scores of planes and their number after some passes."""
    regularizer = Regularizer(0.02, problem.n_weights)
    solver = BCFW(steps="pairwise", **options)
    run = solver.start(problem, regularizer, np.random.RandomState(0))
    for _ in range(n_passes):
        run.run_pass()
    return run.weights(), run.increase, run.dual.n_support_planes()


@pytest.mark.parametrize("options", [{}, {"cache": True, "cache_size": 1e-4}, {"batch_size": 3}])
@pytest.mark.parametrize("name", PROBLEMS)
def test_same_bits(name, options):
    problem = PROBLEMS[name]()
    assert problem.coded_planes() is not None
    arguments = problem.map, problem.structure, problem.loss, problem.block_weight
    w, increase, n_planes = ran(problem, **options)
    expected, by_sparse, n_expected = ran(OfSparsePlanes(*arguments), **options)
    assert np.array_equal(w, expected) and increase == by_sparse
    assert n_planes == n_expected > problem.n_blocks / 2


def test_unsuitable_problems_have_none():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.integers(3, size=12).astype(np.int32)
    stacked = RaggedArray(X, np.arange(4) * 4)
    triples = ChainModel(3, 3, order=2)
    assert triples.bind(stacked, y, np.ones(12), block_weights(3)).coded_planes() is None
