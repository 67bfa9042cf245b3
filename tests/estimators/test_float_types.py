"""Features of short floats are read where they lie, and mean what they mean as float64."""

import itertools
import pickle
import tracemalloc
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.utils import RaggedArray

N_CLASSES = 3


class Rows:
    """Rows of a matrix as they are given to an estimator, with its target."""

    def __init__(self, n, p=9, length=6):
        rng = np.random.default_rng(0)
        self.length, self.n = length, n // length
        self.labels = rng.integers(N_CLASSES, size=self.n * length)
        # all numbers are those of float16
        X = rng.normal(size=(self.n * length, p)) + rng.normal(size=(N_CLASSES, p))[self.labels]
        self.X = np.round(X, 1).astype(np.float16).astype(np.float64)
        self.sets = np.eye(N_CLASSES, dtype=int)[self.labels]
        self.sets[:, 0] |= self.X[:, 0] > 0
        self.closed = self.sets.copy()
        self.closed[:, 0] |= self.closed[:, 1]
        self.parents = np.arange(length) // 2 - (np.arange(length) == 0)
        self.edges = np.stack([np.arange(length - 1), np.arange(1, length)], axis=1)

    def pieces(self, X):
        """Return matrices of `length` rows."""
        return [X[i : i + self.length] for i in range(0, X.shape[0], self.length)]

    def given(self, kind, X):
        """Return what an estimator of this kind takes as X."""
        if kind == "sequences":
            return RaggedArray(X, np.arange(0, X.shape[0] + 1, self.length))
        if kind == "lists":
            return self.pieces(X)
        if kind == "trees":
            return [(x, self.parents) for x in self.pieces(X)]
        if kind == "graphs":
            return [(x, self.edges) for x in self.pieces(X)]
        return X

    def target(self, kind):
        """Return what it takes as y."""
        plain = {"rows": self.labels, "sets": self.sets, "closed": self.closed}
        return plain[kind] if kind in plain else self.pieces(self.labels)


RAW = {"standardize": False, "random_state": 0}  # scaled columns are copies
CASES = {
    "StructSVMClassifier": (StructSVMClassifier(**RAW), "rows"),
    "StructSVMClassifier, two states": (
        StructSVMClassifier(lam=0.1, fit_intercept=False, **RAW), "rows"
    ),
    "SequenceTagger": (SequenceTagger(random_state=0), "sequences"),
    "SequenceTagger, list": (SequenceTagger(random_state=0), "lists"),
    "SequenceTagger, gdmm": (SequenceTagger(solver="gdmm", random_state=0), "sequences"),
    "SequenceTagger, slack": (SequenceTagger(rescaling="slack", random_state=0), "sequences"),
    "TreeTagger": (TreeTagger(random_state=0), "trees"),
    "MultilabelPairwise": (MultilabelPairwise(**RAW), "sets"),
    "HierarchicalMultilabel": (
        HierarchicalMultilabel(hierarchy=[(0, 1)], **RAW), "closed"
    ),
    "SegmentationModel": (SegmentationModel(random_state=0), "graphs"),
    "StructSVMClassifier, rbf": (StructSVMClassifier(kernel="rbf", random_state=0), "rows"),
    "SequenceTagger, rbf": (SequenceTagger(kernel="rbf", random_state=0), "sequences"),
    "SequenceTagger, callable": (
        SequenceTagger(kernel=lambda a, b: np.asarray((a @ b.T + 1) ** 2), random_state=0), "lists"
    ),
}  # fmt: skip
KERNELS = [name for name in CASES if "rbf" in name or "callable" in name]


def mapped(X, path):
    """Return an array as one that is memory-mapped."""
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r")


def long_indices(X):
    """Return a CSR array with indices of 64 bits."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


FORMS = {
    "float32": lambda X, _: X.astype(np.float32),
    "float16": lambda X, _: X.astype(np.float16),
    "mapped float64": lambda X, path: mapped(X, path),
    "mapped float32": lambda X, path: mapped(X.astype(np.float32), path),
    "mapped float16": lambda X, path: mapped(X.astype(np.float16), path),
    "big-endian": lambda X, _: X.astype(">f4"),
    "Fortran order": lambda X, _: np.asfortranarray(X.astype(np.float32)),
    "every second": lambda X, _: np.repeat(X.astype(np.float16), 2, axis=0)[::2],
    "CSR float32": lambda X, _: sp.csr_array(X.astype(np.float32)),
    "CSR float64, int64": lambda X, _: long_indices(X),
    "CSR float32, int64": lambda X, _: long_indices(X.astype(np.float32)),
}


def fitted_numbers(model):
    """Return the fitted numbers of an estimator by name."""
    names = ["coef_", "intercept_", "transitions_", "root_", "leaf_", "dual_coef_", "pairwise_"]
    names += ["lam_", "dual_gap_", "primal_objective_", "dual_objective_"]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_same(one, other):
    """Expect the same fitted numbers but for rounding."""
    one, other = fitted_numbers(one), fitted_numbers(other)
    assert one.keys() == other.keys() and len(one) > 4
    for name, value in one.items():
        value, scale = np.asarray(value), np.abs(value).max()
        np.testing.assert_allclose(other[name], value, rtol=1e-9, atol=1e-9 * scale, err_msg=name)


def assert_equal_items(one, other):
    """Expect the same labels of each item."""
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("case", "form"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(CASES, FORMS, 3) else pytest.mark.slow)
        for pair in itertools.product(CASES, FORMS)
    ],
)
def test_results_are_those_of_float64(case, form, tmp_path):
    rows = Rows(60)
    estimator, kind = CASES[case]
    if "CSR" in form:
        rows.X *= np.random.default_rng(1).random(rows.X.shape) < 0.3
        if "callable" in case:
            pytest.skip("the function takes arrays")
    plain = sp.csr_array(rows.X) if "CSR" in form else rows.X
    converted = FORMS[form](rows.X, tmp_path)
    X, short, y = rows.given(kind, plain), rows.given(kind, converted), rows.target(kind)
    model, other = clone(estimator).fit(X, y), clone(estimator).fit(short, y)
    assert_same(model, other)
    assert_equal_items(other.predict(short), model.predict(X))
    assert other.score(short, y) == model.score(X, y)
    if hasattr(model, "decision_function"):
        decisions = other.decision_function(short), model.decision_function(X)
        for one, two in zip(*decisions, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
    # one at a time, as in serving
    first = short[:1] if kind in ("rows", "sets", "closed") else [short[0]]
    assert_equal_items(other.predict(first), model.predict(X)[:1])
    if "callable" not in case:
        assert_same(pickle.loads(pickle.dumps(other)), model)


@pytest.mark.parametrize("case", [case for case in CASES if "gdmm" not in case])
def test_a_warm_start_knows_equal_numbers_of_another_type(case):
    rows, dtype = Rows(60), (np.float32, np.float16)[len(case) % 2]
    estimator, kind = CASES[case]
    y = rows.target(kind)
    given = [rows.given(kind, X) for X in (rows.X, rows.X.astype(dtype))]
    for first, second in (given, given[::-1]):
        model = clone(estimator).set_params(warm_start=True, tol=0.1).fit(first, y)
        model.set_params(tol=0.01).fit(second, y)
        fresh = clone(estimator).set_params(tol=0.01).fit(second, y)
        assert model.primal_objective_ <= fresh.primal_objective_ * 1.02
        assert model.n_oracle_calls_ > 0
    spoilt = rows.X.astype(dtype)
    spoilt[0, 0] += 1
    with pytest.raises(ValueError, match="X|the kernel"):
        model.fit(rows.given(kind, spoilt), y)


@cache
def many_rows(sparse):
    """Rows that take 32 MB in double precision."""
    rows = Rows(4_000, p=1_000, length=8)
    if sparse:
        rows.X *= np.random.default_rng(1).random(rows.X.shape) < 0.6
    return rows


@pytest.mark.parametrize(
    ("case", "form"),
    [
        pytest.param(*pair, marks=[pytest.mark.slow] * (number % 2))
        for number, pair in enumerate(
            in_turn(
                [name for name in CASES if name not in KERNELS],
                ["mapped float32", "CSR float32", "mapped float16", "float32"],
                2,
            )
        )
    ],
)
def test_fit_and_predict_copy_no_features(case, form, tmp_path):
    rows, (estimator, kind) = many_rows(sparse="CSR" in form), CASES[case]
    X, y = FORMS[form](rows.X, tmp_path), rows.target(kind)
    n_bytes = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    short = rows.given(kind, X)
    estimator = clone(estimator).set_params(max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tracemalloc.start()
        try:
            estimator.fit(short, y)
            fit = tracemalloc.get_traced_memory()[1]
            tracemalloc.reset_peak()
            estimator.predict(short)
            predict = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    # the features in double precision would be 32 MB; sparse pieces have to be stacked
    stacked = n_bytes if "CSR" in form and kind in ("lists", "trees", "graphs") else 0
    assert fit < 6e6 + 0.15 * n_bytes + stacked
    assert predict < 6e6 + 0.15 * n_bytes + stacked
