"""Scores of feature rows, whose weights stay where they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair

from sskit.models import features as features_module
from sskit.models.features import FeatureRows, RowScores, row_scores

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


def test_one_copy_serves_all_dense_rows():
    coef = RNG.normal(size=(3, 20))
    parts = [RNG.normal(size=(4, 20)), sp.csr_array(np.eye(2, 20)), RNG.normal(size=(2, 20))]
    scores = row_scores([FeatureRows(x) for x in parts], coef)
    assert [part.n_read for part in scores] == [60, 6, 0]
    for part, x in zip(scores, parts, strict=True):
        np.testing.assert_allclose(part.table(), x @ coef.T, atol=1e-12)


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


@pytest.mark.parametrize("n_states", [2, 8, 11])
def test_what_is_not_possible_has_minus_infinity(n_states):
    coef = RNG.normal(size=(n_states, 20))
    parts = [RNG.normal(size=(4, 20)), sp.csr_array(np.eye(2, 20)), RNG.normal(size=(2, 20))]
    possible = [RNG.random((x.shape[0], n_states)) < 0.5 for x in parts]
    possible[2] = np.asfortranarray(possible[2])
    features = [FeatureRows(x) for x in parts]
    scores = row_scores(features, coef, possible=possible)
    assert [part.n_read for part in scores] == [part.n_read for part in row_scores(features, coef)]
    for part, bare, mask in zip(scores, row_scores(features, coef), possible, strict=True):
        np.testing.assert_array_equal(part.table(), np.where(mask, bare.table(), -np.inf))
