"""Features of short floats are read where they lie, and mean what they mean as float64."""

import itertools
import pickle
import tracemalloc
from functools import cache, partial

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from helpers import families
from helpers.crossing import in_turn
from helpers.fits import FITS, long_indices, mapped, of_features
from sklearn.base import clone
from sklearn.utils.fixes import parse_version

from sskit import SequenceTagger
from sskit.preprocessing import TokenVectorizer
from sskit.utils import RaggedArray

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CASES = {
    name: clone(FITS[name].estimator).set_params(random_state=0)
    for name in ("rows", "rows, bounds", "rows, kernel", "rows, likelihood", "chains",
                 "chains, slack", "chains, likelihood", "trees", "chains, kernel", "chains, edges",
                 "sets", "hierarchy", "graphs", "segments")
}  # fmt: skip
for model in CASES.values():
    if hasattr(model, "standardize"):
        model.standardize = False  # scaled columns are copies
CASES["chains, gdmm"] = SequenceTagger(solver="gdmm", random_state=0)
CASES["chains, callable"] = SequenceTagger(
    kernel=lambda a, b: np.asarray((a @ b.T + 1) ** 2), random_state=0
)


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "mapped float64": mapped,
    "mapped float32": partial(mapped, dtype=np.float32),
    "mapped float16": partial(mapped, dtype=np.float16),
    "big-endian": lambda X: X.astype(">f4"),
    "Fortran order": lambda X: np.asfortranarray(X.astype(np.float32)),
    "every second": lambda X: np.repeat(X.astype(np.float16), 2, axis=0)[::2],
    "CSR float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSR float64, int64": long_indices,
    "CSR float32, int64": lambda X: long_indices(X.astype(np.float32)),
}


def data(case):
    """Data of a case, whose numbers are those of float16."""
    X, y = FITS[case if case in FITS else "chains"].data()
    return of_features(X, lambda x: np.round(x, 1).astype(np.float16).astype(float)), y


def assert_same(one, other):
    """Expect the same fitted numbers but for rounding."""
    names = ["coef_", "intercept_", "transitions_", "root_", "leaf_", "dual_coef_", "pairwise_"]
    names += ["lam_", "dual_gap_", "primal_objective_", "dual_objective_"]
    found = [name for name in names if hasattr(one, name)]
    assert len(found) > 4
    for name in found:
        value, scale = np.asarray(getattr(one, name)), np.abs(getattr(one, name)).max()
        np.testing.assert_allclose(getattr(other, name), value, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("case", "form"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(CASES, FORMS, 3) else pytest.mark.slow)
        for pair in itertools.product(CASES, FORMS)
    ],
)
def test_results_are_those_of_float64(case, form):
    X, y = data(case)
    if "CSR" in form:
        if "callable" in case:
            pytest.skip("the function takes arrays")
        X = of_features(X, lambda x: x * (np.abs(x) > 0.7))
    plain = of_features(X, sp.csr_array) if "CSR" in form else X
    short = of_features(X, FORMS[form])
    model, other = clone(CASES[case]).fit(plain, y), clone(CASES[case]).fit(short, y)
    assert_same(model, other)
    predicted = model.predict(plain)
    assert all(map(np.array_equal, other.predict(short), predicted))
    assert other.score(short, y) == model.score(plain, y)
    decisions = other.decision_function(short), model.decision_function(plain)
    for one, two in zip(*decisions, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
    # one at a time, as in serving
    assert np.array_equal(other.predict(short[:1])[0], predicted[0])
    if "callable" not in case:
        assert_same(pickle.loads(pickle.dumps(other)), model)


@pytest.mark.parametrize("case", [case for case in CASES if "gdmm" not in case])
def test_a_warm_start_knows_equal_numbers_of_another_type(case):
    (X, y), dtype = data(case), (np.float32, np.float16)[len(case) % 2]
    short = of_features(X, lambda x: x.astype(dtype))
    for first, second in ((X, short), (short, X)):
        model = clone(CASES[case]).set_params(warm_start=True, tol=0.1).fit(first, y)
        model.set_params(tol=0.01).fit(second, y)
        fresh = clone(CASES[case]).set_params(tol=0.01).fit(second, y)
        assert model.primal_objective_ <= fresh.primal_objective_ * 1.02
        assert model.n_oracle_calls_ > 0
    spoilt = of_features(X, lambda x: x.astype(dtype) + np.eye(*x.shape, dtype=dtype))
    with pytest.raises(ValueError, match="X|the kernel"):
        model.fit(spoilt, y)


ONCE = {"random_state": 0, "max_iter": 2}
LARGE = {"lists": "sequences", "gdmm": "sequences"}
MANY = ["rows", "sequences", *LARGE, "trees", "segmentation", "sets", "hierarchy"]


@cache
def many_rows(sparse):
    """Rows that take 16 MB in double precision, and their labels."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(2000, 1000)), 1)
    return X * (rng.random(X.shape) < 0.6) if sparse else X, rng.integers(3, size=2000)


def of_eight(kind, X, y):
    """Rows and their labels as what a family takes, of eight rows."""
    pieces, labels = [X[i : i + 8] for i in range(0, 2000, 8)], list(y.reshape(-1, 8))
    items, labels = families.in_form(LARGE.get(kind, kind), pieces, labels)
    if kind in ("sequences", "gdmm"):
        items = RaggedArray(X, np.arange(0, 2001, 8))
    return X if kind in ("rows", "sets", "hierarchy") else items, labels


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        pytest.param(*pair, marks=[pytest.mark.slow] * (number % 2))
        for number, pair in enumerate(
            in_turn(MANY, ["mapped float32", "CSR float32", "mapped float16", "float32"], 2)
        )
    ],
)
def test_fit_and_predict_copy_no_features(kind, form):
    X, y = many_rows(sparse="CSR" in form)
    X = FORMS[form](X)
    n_bytes = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    short, y = of_eight(kind, X, y)
    estimator = clone(families.FAMILIES[LARGE.get(kind, kind)].estimator).set_params(**ONCE)
    if kind == "gdmm":
        estimator.set_params(solver="gdmm")
    elif hasattr(estimator, "standardize"):
        estimator.set_params(standardize=False)
    # the features in double precision would be 16 MB; sparse pieces have to be stacked
    stacked = n_bytes if "CSR" in form and kind in ("lists", "trees", "segmentation") else 0
    if parse_version(scipy.__version__) < parse_version("1.14"):
        stacked *= 2  # it copies once more
    tracemalloc.start()
    try:
        for call in (lambda: estimator.fit(short, y), lambda: estimator.predict(short)):
            tracemalloc.reset_peak()
            call()
            assert tracemalloc.get_traced_memory()[1] < 4.5e6 + 0.15 * n_bytes + stacked
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("number", [3.0, 0.1])
def test_numbers_of_tokens_take_half_the_memory_if_that_changes_none(number):
    X = [[{"a": "x", "b": number}, {"a": "y"}], [{"a": "y", "b": 2.0}]]
    y, tagger = [["p", "q"], ["q"]], SequenceTagger(random_state=0)
    exact = float(np.float32(number)) == number
    values = tagger._read_data(X, y, None).data.values
    assert values.dtype == (np.float32 if exact else np.float64)
    found = clone(tagger).fit(X, y)
    expected = clone(tagger).fit(TokenVectorizer().fit_transform(X), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.lam_ == expected.lam_
