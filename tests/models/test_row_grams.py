"""Gram matrices of runs of rows, whoever computes them."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.models import features as features_module
from sskit.models.features import FeatureRows, RowGrams, squared_norms
from sskit.parallel import crew

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
def test_same_bits_for_any_number_of_threads(form, little_is_worth_it):
    X = rows(form)
    packed, place = expected(X)
    found = []
    for n_jobs in (None, 1, 2, 5):
        features, out = FeatureRows(X, n_jobs=n_jobs), np.full(len(packed), np.nan)
        RowGrams(features, OFFSETS, place, out).compute()
        np.testing.assert_allclose(out, packed, rtol=1e-12, atol=1e-12)
        found.append(out)
    for out in found[1:]:
        np.testing.assert_array_equal(out, found[0])


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_squared_norms(form, little_is_worth_it):
    X = rows(form)
    np.testing.assert_array_equal(squared_norms(X, 3), squared_norms(X))
    np.testing.assert_allclose(squared_norms(X, 3), FeatureRows(X).sqnorms(), rtol=1e-13)


def test_threads_come_for_much_only(monkeypatch):
    monkeypatch.setattr(crew, "Thread", None)
    squared_norms(rows("csr"), 3)
    monkeypatch.setattr(features_module, "LEAST_ENTRIES", 0)
    with pytest.raises(TypeError):
        squared_norms(rows("csr"), 3)


def test_a_fit_has_the_same_bits(little_is_worth_it):
    X, y = make_chains(30, n_states=3, n_features=4, random_state=0)
    one = SequenceTagger(solver="cutting_plane", n_jobs=1, random_state=0).fit(X, y)
    two = SequenceTagger(solver="cutting_plane", n_jobs=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
