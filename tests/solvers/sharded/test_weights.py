"""Weights of shards that follow each other's logs."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.locks import EXACT_SLACK, LOCK_FREE, OTHER_SLACK
from helpers.pairwise import every_pair

from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.models.multiclass import MulticlassModel
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate import rounds
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.utils import RaggedArray

N = 60


def long_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


STORED = {
    "dense": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "csr": sp.csr_array,
    "csr-float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csr-int64": long_indices,
}


def features(form, n_rows, width):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n_rows, width)), 2)
    X[rng.random(X.shape) < 0.5] = 0.0
    return STORED[form](X)


def rows(form, width, n_states, intercept):
    y = np.random.default_rng(1).integers(n_states, size=N).astype(np.int32)
    model = MulticlassModel(width, n_states, intercept)
    return model.bind(features(form, N, width), y, np.full(N, 1 / N))


def chains(form, width, n_states, intercept):
    lengths = np.random.default_rng(1).integers(1, 6, size=N)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_rows = int(offsets[-1])
    labels = np.random.default_rng(2).integers(n_states, size=n_rows).astype(np.int32)
    stacked = RaggedArray(features(form, n_rows, width), offsets)
    model = ChainModel(width, n_states)
    return model.bind(stacked, labels, np.ones(n_rows), np.full(N, 1 / N))


@pytest.fixture(autouse=True)
def many_weights(monkeypatch):
    """There are too many to compare."""
    monkeypatch.setattr(rounds, "MOST_COMPARED", 0)


def check_weights(problem):
    """Train for three passes: the weights are the sum of the blocks, as the merges saw them."""
    lam = 0.01
    regularizer = Regularizer(lam, problem.n_weights)
    pool = make_pool(problem, 4)
    run = BCFW().start(problem, regularizer, np.random.RandomState(0), None, pool)
    assert len(run.visitors) == 4
    for _ in range(3):
        run.run_pass()
    v = np.array(regularizer.v)[: problem.n_weights]
    assert np.abs(v).max() > 1e-6
    run.dual.rebuild(regularizer)
    np.testing.assert_allclose(v, np.array(regularizer.v)[: problem.n_weights], atol=1e-11)
    dual = problem.block_weight @ run.dual.losses() - 0.5 * lam * v @ v
    assert run.rounds.increase == pytest.approx(dual, abs=1e-10)


@every_pair(
    form=STORED,
    width=[1, 20],
    n_states=[2, 3, 9],
    make=[(rows, False), (rows, True), (chains, False)],
)
def test_weights_are_the_sum_of_the_blocks(make, form, width, n_states):
    bind, intercept = make
    check_weights(bind(form, width, n_states, intercept))


# the planes of the angular search are those of the exact one
@pytest.mark.parametrize(
    "name", [name for name in LOCK_FREE | EXACT_SLACK | OTHER_SLACK if "angular" not in name]
)
def test_weights_of_every_model_are_the_sum_of_the_blocks(name):
    check_weights((LOCK_FREE | EXACT_SLACK | OTHER_SLACK)[name]())
