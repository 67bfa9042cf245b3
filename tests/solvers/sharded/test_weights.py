"""Weights of shards that follow each other's logs."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.laws import check_shards
from helpers.pairwise import every_pair

from sskit.models.chain.model import ChainModel
from sskit.models.multiclass import MulticlassModel
from sskit.solvers.block_coordinate import rounds
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


@every_pair(
    form=STORED,
    width=[1, 20],
    n_states=[2, 3, 9],
    make=[(rows, False), (rows, True), (chains, False)],
)
def test_weights_are_the_sum_of_the_blocks(make, form, width, n_states):
    bind, intercept = make
    check_shards(bind(form, width, n_states, intercept))
