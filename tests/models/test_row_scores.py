"""Scores of feature rows, whose weights stay where they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair

from sskit.models import features as features_module
from sskit.models.features import FeatureRows, RowScores

RNG = np.random.default_rng(0)
LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
}


@every_pair(
    form=["csr", "dense", "single"],
    density=[0.0, 0.1, 0.6, 1.0],
    n_states=[1, 2, 3, 8, 9, 40],
    layout=LAYOUTS,
)
def test_scores(form, density, n_states, layout):
    X = RNG.normal(size=(5, 30)) * (RNG.random((5, 30)) < density)
    X = X.astype(np.float32) if form == "single" else X
    coef = RNG.normal(size=(n_states, 30))
    features = FeatureRows(sp.csr_array(X) if form == "csr" else X, sparsify=False)
    scores = RowScores(features, LAYOUTS[layout](coef))
    np.testing.assert_allclose(scores.table(), X.astype(float) @ coef.T, atol=1e-12)
    # never more weights than products
    assert scores.n_read == n_states * (min(features.n_entries, 30) if form == "csr" else 30)


def test_bits_do_not_depend_on_what_is_read():
    X = sp.random(6, 40, 0.1, format="csr", random_state=0)
    coef = RNG.normal(size=(3, 40))
    gathered = RowScores(FeatureRows(X), coef)
    whole = RowScores(FeatureRows(sp.csr_array(X[:, :10])), coef[:, :10])
    assert gathered.gathers
    both = RowScores(FeatureRows(sp.csr_array(sp.vstack([X] * 9))), coef)
    assert not both.gathers
    np.testing.assert_array_equal(both.table()[:6], gathered.table())
    assert whole.table().shape == (6, 3)


@pytest.mark.parametrize("form", ["csr", "dense"])
def test_further_columns(form):
    X = RNG.normal(size=(4, 7)) * (RNG.random((4, 7)) < 0.3)
    coef, further = RNG.normal(size=(3, 5)), RNG.normal(size=(3, 2))
    features = FeatureRows(sp.csr_array(X) if form == "csr" else X, sparsify=False)
    for order in ("C", "F"):
        scores = RowScores(features, np.asarray(coef, order=order), further)
        np.testing.assert_allclose(scores.table(), X @ np.hstack([coef, further]).T, atol=1e-12)


def test_what_is_written_counts_in_the_next_request():
    coef, features = np.ones((2, 3)), FeatureRows(np.ones((1, 3)))
    assert RowScores(features, coef).table().tolist() == [[3.0, 3.0]]
    coef[1] = 2.0
    assert RowScores(features, coef).table().tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n_states", [1, 3, 8, 21])
def test_tables_have_the_same_bits_for_any_number_of_threads(form, n_states, monkeypatch):
    monkeypatch.setattr(features_module, "LEAST_PRODUCTS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1003, 7)) * (rng.random((1003, 7)) < 0.7)
    coef = rng.normal(size=(n_states, 7))
    scores = RowScores(FeatureRows(sp.csr_array(X) if form == "csr" else X), coef)
    expected = scores.table()
    np.testing.assert_allclose(expected, X @ coef.T, atol=1e-12)
    for n_jobs in (1, 2, 5):
        np.testing.assert_array_equal(scores.table(n_jobs), expected)
