"""Scores of feature rows, whose weights stay where they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair

from sskit.models import request
from sskit.models.features import SPARE, FeatureRows
from sskit.models.request import gather, row_scores

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
    given, coef = sp.csr_array(X) if form == "csr" else X, LAYOUTS[layout](coef)
    np.testing.assert_allclose(row_scores(given, coef), X.astype(float) @ coef.T, atol=1e-12)
    # never more weights than products
    features = FeatureRows(given, sparsify=False)
    n_read = n_states * (min(features.n_entries, 30) if form == "csr" else 30)
    assert len(gather(features, coef, ())) == n_read + SPARE


def test_bits_do_not_depend_on_what_is_read():
    X = sp.random(6, 40, 0.1, format="csr", random_state=0)
    coef = RNG.normal(size=(3, 40))
    # nine times as many entries are more than the features
    both = row_scores(sp.csr_array(sp.vstack([X] * 9)), coef)
    np.testing.assert_array_equal(both[:6], row_scores(X, coef))


def test_what_is_written_counts_in_the_next_request():
    coef, X = np.ones((2, 3)), np.ones((1, 3))
    assert row_scores(X, coef).tolist() == [[3.0, 3.0]]
    coef[1] = 2.0
    assert row_scores(X, coef).tolist() == [[3.0, 6.0]]


@pytest.mark.parametrize(
    ("form", "n_states"), [("dense", 1), ("csr", 3), ("dense", 8), ("csr", 21), ("dense", 21)]
)
def test_tables_have_the_same_bits_for_any_number_of_threads(form, n_states, monkeypatch):
    monkeypatch.setattr(request, "LEAST_PRODUCTS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1003, 7)) * (rng.random((1003, 7)) < 0.7)
    coef = rng.normal(size=(n_states, 7))
    given = sp.csr_array(X) if form == "csr" else X
    expected = row_scores(given, coef)
    np.testing.assert_allclose(expected, X @ coef.T, atol=1e-12)
    for n_jobs in (1, 2, 5):
        np.testing.assert_array_equal(row_scores(given, coef, n_jobs), expected)
