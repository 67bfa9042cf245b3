"""Feature matrices: one meaning in every form, and no index reaches the kernels unchecked."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import long_indices
from helpers.pairwise import every_pair

from sskit.models import request
from sskit.models.chain.model import ChainModel
from sskit.models.feature_map import FeatureMap
from sskit.models.features import (
    NO_GRAMS,
    SPARE,
    FeatureRows,
    is_mapped,
    row_digests,
    squared_norms,
)
from sskit.models.multiclass import MulticlassModel
from sskit.models.request import Decoder, Request, gather, row_scores
from sskit.models.structure import Structure
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem
from sskit.utils import RaggedArray


def multiclass(X, n_classes=3):
    """A multiclass problem over any matrix, bound without the validation of an estimator."""
    n = X.shape[0]
    labels = np.arange(n, dtype=np.int32) % n_classes
    return MulticlassModel(X.shape[1], n_classes, False).bind(X, labels, np.full(n, 1.0 / n))


def messy(X):
    """CSR whose entries are unsorted, given as two addends, or zero."""
    columns = [np.flatnonzero(row)[::-1] for row in X]
    data = [np.r_[row[c] - 1.0, 0.0, np.ones(len(c))] for row, c in zip(X, columns, strict=True)]
    indices = [np.r_[c, X.shape[1] - 1, c] for c in columns]
    indptr = np.cumsum([0, *map(len, data)])
    return sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=X.shape)


@pytest.mark.parametrize(("fraction", "n_classes"), [(0.0, 3), (0.1, 8), (0.9, 33), (0.1, 33)])
def test_dense_and_sparse_are_one(fraction, n_classes):
    """A dense matrix with few non-zeros (kept as CSR), one with many, and CSR of any form."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 10)) * (rng.random((6, 10)) < fraction)
    for further in (np.zeros((6, 0)), np.zeros((6, 40)), np.ones((6, 40))):
        wide = np.hstack([X, further])
        w, delta = rng.normal(size=(wide.shape[1], n_classes)), rng.normal(size=n_classes)
        for form in (np.asarray, sp.csr_array, sp.csr_matrix, long_indices, messy):
            given = form(wide)
            before = given.copy()
            problem = multiclass(given, n_classes)
            probe, padded = ProblemProbe(problem), np.zeros(problem.max_statistics)
            padded[:n_classes] = delta
            for i, row in enumerate(wide):
                scores, moved = probe.scores(i, w.ravel()), probe.scatter(i, padded)
                np.testing.assert_allclose(scores[:n_classes], row @ w, rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(moved, np.outer(row, delta).ravel(), atol=1e-12)
                norm = (row @ row) * (delta @ delta)
                assert probe.sqnorm(i, padded) == pytest.approx(norm, rel=1e-12)
                grown, growth = probe.grow(i, padded, w.ravel())
                np.testing.assert_allclose(grown, w.ravel() + moved, atol=1e-12)
                assert growth == pytest.approx(2 * (w.ravel() @ moved) + norm, rel=1e-9, abs=1e-9)
            assert (given != before).sum() == 0
    # what is written later counts: nothing is copied
    coef, rows = np.ones((2, 3)), np.ones((1, 3))
    problem = multiclass(rows)
    assert row_scores(rows, coef).tolist() == [[3.0, 3.0]]
    coef[1], rows[0, 0] = 2.0, 2.0
    assert row_scores(rows, coef).tolist() == [[4.0, 8.0]]
    assert ProblemProbe(problem).scores(0, np.ones(9))[0] == 4.0


def test_broken_csr_is_refused():
    def check(message, **arrays):
        X = sp.csr_array(np.arange(1.0, 7.0).reshape(2, 3))
        for name, array in arrays.items():
            setattr(X, name, np.array(array))
        with pytest.raises(ValueError, match=message):
            FeatureRows(X)

    wrong = "ind(ices|ptr)|index pointer|column index"
    for indices in ([0, 1, 3, 0, 1, 2], [0, 1, -1, 0, 1, 2], [0, 1, 2, 0, 1]):
        check(wrong, indices=np.array(indices, dtype=np.int32))
    for indptr in ([0, 3, 7], [0, 99999, 6], [0, -3, 6], [-1, 3, 6], [0, 3]):
        check(wrong, indptr=np.array(indptr, dtype=np.int32))
    check(wrong, data=[1.0, 2.0])
    # an index that int32 would wrap
    check("(indices|values) must be < ", indices=np.array([0, 2**32 + 1, 2, 0, 1, 2]))
    with pytest.raises(ValueError, match="2147483647 features are possible"):
        FeatureRows(sp.csr_array(([1.0], ([0], [2**31])), shape=(1, 2**40)))


def scores_of(rows, coef, further=()):
    """Scores of rows, which read gathered weights from now on; `further` are those of marks."""
    weights = gather(rows, coef, [np.transpose(further)])
    feature_map = FeatureMap(rows, np.array([0, rows.n_rows]), len(coef))
    return Decoder(Request(feature_map, Structure(), weights)).node_scores()


def kernels(rows, weights):
    """Scores, squared norms and digests of all rows."""
    others = rows.sqnorms(), row_digests(rows, np.arange(rows.n_rows + 1))
    return scores_of(rows, np.ascontiguousarray(weights.T)), *others


@every_pair(
    n_rows=[1, 2, 7, 8, 21], width=[1, 5, 127, 128, 129, 300], n_states=[1, 2, 3, 8, 17, 33]
)
def test_numbers_mean_the_same_in_all_types(n_rows, width, n_states):
    """Pieces of 128 columns, tiles of 8, 4, 2 and 1 rows, and what is left over of each."""
    rng, found = np.random.default_rng(0), []
    X = rng.normal(size=(n_rows, width)).astype(np.float16)
    weights = rng.normal(size=(width, n_states))
    expected = X.astype(float) @ weights, (X.astype(float) ** 2).sum(axis=1)
    for dtype in (np.float64, np.float32, np.float16):
        rows = X.astype(dtype)
        found.append(kernels(FeatureRows(rows, sparsify=False), weights))
        for one, other in zip(expected, found[-1][:2], strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(squared_norms(rows), expected[1], rtol=1e-12)
        if dtype != np.float16:
            np.testing.assert_allclose(squared_norms(sp.csr_array(rows)), expected[1], rtol=1e-12)
            sparse = kernels(FeatureRows(sp.csr_array(rows)), weights)
            for one, other in zip(found[-1][1:], sparse[1:], strict=True):
                np.testing.assert_array_equal(one, other)
    for other in found[1:]:
        np.testing.assert_allclose(found[0][0], other[0], rtol=0 if n_states > 2 else 1e-13)
        for one, two in zip(found[0][1:], other[1:], strict=True):
            np.testing.assert_array_equal(one, two)


def test_every_finite_float16_is_read_right():
    X = np.arange(2**16, dtype=np.uint16).view(np.float16)
    X = X[np.isfinite(X)].reshape(-1, 1)
    for n_states in (1, 3):
        scores = scores_of(FeatureRows(X), np.ones((n_states, 1)))
        np.testing.assert_array_equal(scores, np.repeat(X.astype(float), n_states, axis=1))
    wide, some = np.ascontiguousarray(X.T), 997 * np.arange(40)
    scores = scores_of(FeatureRows(wide), (np.arange(wide.shape[1]) == some[:, None]) * 1.0)
    np.testing.assert_array_equal(scores[0], wide[0, some].astype(float))
    exact = (X.astype(float) ** 2).ravel()
    np.testing.assert_array_equal(FeatureRows(X).sqnorms(), exact)


@every_pair(form=["float64", "float32", "float16", "csr", "few entries"], n_states=[1, 2, 5])
def test_further_columns_are_columns(form, n_states):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(7, 4)), 1).astype(np.float16).astype(float)
    if form == "few entries":  # fewer than columns: weights are gathered
        X = np.hstack([X * 0, np.zeros((7, 40))])
        X[2, 5] = 1.5
    marks = np.array([0, 1, 2, 3, 3, 0, 1], dtype=np.uint8)
    whole = np.hstack([X, np.stack([marks & 1, marks >> 1], axis=1)])
    given = X.astype(form) if form.startswith("float") else sp.csr_array(X)
    rows, joined = FeatureRows(given, sparsify=False, marks=marks), FeatureRows(sp.csr_array(whole))
    assert rows.n_features == whole.shape[1]
    coef = rng.normal(size=(n_states, whole.shape[1]))
    read = FeatureRows(given, sparsify=False, marks=marks)
    scores = scores_of(read, coef[:, :-2], coef[:, -2:])
    np.testing.assert_allclose(scores, whole @ coef.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(rows.sqnorms(), joined.sqnorms())
    offsets = np.array([0, 3, 7])
    np.testing.assert_array_equal(row_digests(rows, offsets), row_digests(joined, offsets))


def test_which_matrices_become_sparse(tmp_path):
    X = np.zeros((10, 10), dtype=np.float32)
    X[:2] = 1.0
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for form, n_entries in ((X, 20), (mapped, 100), (mapped[:], 100), (X.astype("f2"), 100)):
        assert FeatureRows(form).n_entries == n_entries
        assert FeatureRows(form, sparsify=False).n_entries == form.size
    assert is_mapped(mapped) and is_mapped(np.asarray(mapped)[1:]) and not is_mapped(X[1:])
    X[:3] = 1.0
    assert FeatureRows(X).n_entries == 100 and FeatureRows(X.astype(float)).n_entries == 30


def test_numbers_of_other_types_are_not_read_as_floats():
    for dtype in (">f8", ">f4", ">f2", "longdouble", "i8", "?", "complex128"):
        X = np.eye(3).astype(dtype)
        for form in [X] if ">" in dtype else [X, sp.csr_array(X)]:
            with pytest.raises(TypeError, match="must be float64, float32 or float16, got"):
                FeatureRows(form, sparsify=False)


OFFSETS = np.array([0, 1, 5, 9, 30, 31])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("with_edges", [False, True])
def test_norms_of_directions_in_long_sequences(form, with_edges):
    """Also where no products of rows are worked out before."""
    rng = np.random.default_rng(0)
    X = form(rng.integers(0, 3, size=(31, 6)) + (form is np.asarray) * rng.normal(size=(31, 6)))
    edges = {"edges": X[:26]} if with_edges else {}
    model = ChainModel(6, 3, n_edge_features=6 if with_edges else None)
    problem = model.bind(
        RaggedArray(X, OFFSETS), np.zeros(31), np.ones(31), np.full(5, 0.2), **edges
    )
    check_problem(problem, 0)
    problem.map.prepare(NO_GRAMS)
    check_problem(problem, 0)


# ---- scores, whose weights stay where they are --------------------------------------------------


RNG = np.random.default_rng(0)
LAYOUTS = {"C": np.ascontiguousarray, "F": np.asfortranarray}
LAYOUTS["strided"] = lambda a: np.repeat(a, 2, axis=1)[:, ::2]


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
    # nor do bits depend on what is read: six entries are fewer than the features
    few = given[:6] if form == "dense" else sp.csr_array(X[:1])
    np.testing.assert_array_equal(row_scores(few, coef), expected[: few.shape[0]])
