"""Gram matrices of runs of rows, whoever computes them."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.models import features as features_module
from sskit.models.features import FeatureRows, fill_grams, squared_norms

OFFSETS = np.array([0, 1, 5, 5, 9, 30, 31])


@pytest.fixture
def little_is_worth_it(monkeypatch):
    """Threads begin with the first entry."""
    monkeypatch.setattr(features_module, "LEAST_ENTRIES", 0)


def expected(X):
    """Packed Gram matrices, one after the other, and where they begin."""
    X = X.toarray() if sp.issparse(X) else X
    packed, place = [], []
    for start, stop in zip(OFFSETS, OFFSETS[1:], strict=False):
        gram = X[start:stop] @ X[start:stop].T
        place.append(sum(map(len, packed)) if stop > start else -1)
        packed.append(gram[np.tril_indices(stop - start)])
    return np.concatenate(packed), np.array(place)


def rows(form):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(31, 6)) * 1.0
    return X + rng.normal(size=X.shape) if form == "dense" else sp.csr_array(X)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_same_bits_in_any_portions(form):
    X = rows(form)
    packed, place = expected(X)
    found = []
    for cuts in ([0, 6], [0, 2, 6], [0, 1, 1, 4, 5, 6]):
        out = np.full(len(packed), np.nan)
        for start, stop in zip(cuts, cuts[1:], strict=False):
            fill_grams(FeatureRows(X), OFFSETS, place, out, start, stop)
        np.testing.assert_allclose(out, packed, rtol=1e-12, atol=1e-12)
        found.append(out)
    for out in found[1:]:
        np.testing.assert_array_equal(out, found[0])


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_squared_norms(form):
    X = rows(form)
    squares = (X**2 if form == "dense" else X.power(2)).sum(axis=1)
    np.testing.assert_allclose(squared_norms(X), squares, rtol=1e-13)


def test_threads_come_for_much_only(monkeypatch):
    X, y = make_chains(30, n_states=3, n_features=4, random_state=0)
    monkeypatch.setattr(features_module, "ThreadPoolExecutor", None)
    SequenceTagger(n_jobs=2, tol=0.5).fit(X, y)
    monkeypatch.setattr(features_module, "LEAST_ENTRIES", 0)
    with pytest.raises(TypeError):
        SequenceTagger(n_jobs=2, tol=0.5).fit(X, y)


def test_a_fit_has_the_same_bits(little_is_worth_it):
    X, y = make_chains(30, n_states=3, n_features=4, random_state=0)
    one = SequenceTagger(solver="cutting_plane", n_jobs=1, random_state=0).fit(X, y)
    two = SequenceTagger(solver="cutting_plane", n_jobs=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
