"""Hidden states to begin with: clusters of rows within each label."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.estimators.completion import clusters
from sskit.estimators.completion.clusters import cluster_states

N_STATES = np.array([2, 1, 3])


def blobs(n=60):
    """Rows of three labels around as many far points as they have states, and these."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=n)
    blob = rng.integers(N_STATES[labels])
    rows = 10.0 * np.eye(6)[(np.cumsum(N_STATES) - N_STATES)[labels] + blob]
    return rows + 0.1 * rng.normal(size=rows.shape), labels, blob


@pytest.mark.parametrize("seed", range(3))
def test_far_points_are_states(seed):
    X, labels, blob = blobs()
    states = cluster_states(X, labels, N_STATES, np.random.RandomState(seed))
    owner = np.repeat(np.arange(3), N_STATES)
    assert (owner[states] == labels).all()
    for k in range(3):
        pairs = {(a, b) for a, b in zip(states[labels == k], blob[labels == k], strict=True)}
        assert len(pairs) == N_STATES[k]
        sizes = np.bincount(states[labels == k] - states[labels == k].min())
        assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("form", ["float32", "float16", "csr", "wide csr", "tiny", "huge"])
def test_rows_of_any_form_have_the_same_states(form):
    X, labels, _ = blobs()
    expected = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    if form in ("csr", "wide csr"):
        X = sp.csr_array(X)
        if form == "wide csr":
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    else:
        scale = {"tiny": 1e-200, "huge": 1e200}.get(form)
        X = X.astype(form) if scale is None else scale * X
    found = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    np.testing.assert_array_equal(found, expected)


def test_rows_without_label_have_no_state():
    X, labels, _ = blobs()
    labels[::3] = -1
    states = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    assert (states[::3] == -1).all()
    assert (np.delete(states, np.s_[::3]) >= 0).all()


def test_more_states_than_rows():
    X, labels = np.ones((4, 2)), np.array([0, 0, 1, 0])
    states = cluster_states(X, labels, np.array([3, 2]), np.random.RandomState(0))
    assert states.tolist() == [0, 0, 3, 0]
    zeros = cluster_states(0.0 * X, labels, np.array([3, 2]), np.random.RandomState(0))
    assert zeros.tolist() == [0, 0, 3, 0]


def test_of_many_rows_some_are_drawn(monkeypatch):
    X, labels, _ = blobs(600)
    expected = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    monkeypatch.setattr(clusters, "MOST_ROWS", 50)
    found = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    np.testing.assert_array_equal(found, expected)
