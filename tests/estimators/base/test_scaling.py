"""Columns that are centred and scaled inside: units and offsets do not matter."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import families
from helpers.fits import FITS, KINDS, mapped, of_features
from helpers.objectives import bracket
from helpers.pairwise import every_pair
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

import sskit
from sskit.models.columns import scaling
from sskit.models.columns.scaling import ColumnSums, heavy_columns

N, P = 64, 5
RNG = np.random.default_rng(0)
X, LABELS = make_blobs(N, P, centers=3, center_box=(-1, 1), random_state=3)
X = np.round(64 * X) / 64
SETS = np.stack([LABELS > 0, LABELS != 1, X[:, 0] > 0], axis=1).astype(int)
CLOSED = np.maximum.accumulate(SETS[:, ::-1], axis=1)[:, ::-1]
# so that nothing is rounded: all paths are the same whatever the units
UNIT = 2.0 ** RNG.integers(-8, 14, P)
OFFSET = UNIT * RNG.integers(-99, 99, P)
GROUPS = np.arange(N) // 8
MODELS = {
    "classes": (sskit.StructSVMClassifier(), LABELS),
    "two classes": (sskit.StructSVMClassifier(), LABELS > 0),
    "components": (sskit.StructSVMClassifier(n_components=2), LABELS),
    "pairs": (sskit.MultilabelPairwise(), SETS),
    "tree of labels": (sskit.HierarchicalMultilabel([-1, 0, 1]), CLOSED),
    "ranking": (sskit.RankingSVM(), LABELS),
}
SOLVERS = ["auto", "bcfw", "multi_plane", "frank_wolfe", "cutting_plane", "subgradient"]


FORMS = {
    "array": np.asarray,
    "mapped": mapped,
    "lists": np.ndarray.tolist,
    "Fortran": np.asfortranarray,
    "columns twice": lambda rows: np.column_stack([rows, rows[:, 0]]),
}
ROWS = UNIT * X + OFFSET
LINEAR = {name: MODELS[name] for name in ("classes", "two classes", "pairs", "tree of labels")}
LINEAR["likelihood"] = sskit.StructSVMClassifier(surrogate="log"), LABELS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@every_pair(
    name=MODELS,
    solver=SOLVERS,
    rescaling=["margin", "slack"],
    n_jobs=[None, 2],
    weighted=[False, True],
    how=FORMS,
)
def test_units_and_offsets_do_not_matter(name, solver, rescaling, n_jobs, weighted, how):
    estimator, y = MODELS[name]
    rescaling = "margin" if name == "components" else rescaling
    options = {"rescaling": rescaling, "n_jobs": n_jobs, "random_state": 0, "max_iter": 8}
    model = clone(estimator).set_params(solver=solver, **options)
    weight = 1.0 + 2.0 * (GROUPS % 2) if weighted and name != "ranking" else None
    one, other = FORMS[how](X), FORMS[how](ROWS)
    before = np.array(other)
    plain = model.fit(one, y, sample_weight=weight)
    moved = clone(model).fit(other, y, sample_weight=weight)
    np.testing.assert_array_equal(before, other)
    if name == "ranking":  # of which differences count
        found, expected = (p - p[0] for p in (moved.predict(other), plain.predict(one)))
    else:
        found, expected = moved.decision_function(other), plain.decision_function(one)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert moved.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-9)
    assert moved.lam_ == pytest.approx(plain.lam_)


@pytest.mark.parametrize("name", LINEAR)
def test_it_is_a_scaler_in_front(name):
    estimator, y = LINEAR[name]
    model = clone(estimator).set_params(random_state=0, tol=1e-5, max_iter=9000).fit(ROWS, y)
    scaled = make_pipeline(StandardScaler(), clone(model).set_params(standardize=False))
    plain = scaled.fit(ROWS, y)[-1]
    assert model.lam_ == pytest.approx(plain.lam_)
    bracket(model, plain)
    near = [coef @ ROWS.T for coef in (model.coef_, plain.coef_ / ROWS.std(axis=0))]
    np.testing.assert_allclose(near[0] - near[0][:, :1], near[1] - near[1][:, :1], atol=0.05)
    # steps go on from there
    if name != "likelihood":
        found = model.decision_function(ROWS)
        model.set_params(lam=1e12).partial_fit(ROWS[:2], y[:2])
        np.testing.assert_allclose(model.decision_function(ROWS), found, atol=1e-6)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_rows_are_scaled(form):
    """If they have not one norm, or where that is asked for."""
    dense = X * (np.abs(X) > 1.8) * [1.0, 2.0, 0.5, 3.0, 0.2]
    size = np.abs(dense).max(axis=0)
    plain = sskit.StructSVMClassifier(random_state=0, tol=1e-4, standardize=False)
    auto, asked = (clone(plain).set_params(standardize=scale) for scale in ("auto", True))
    auto.fit(form(dense), LABELS)
    np.testing.assert_allclose(auto.feature_scale_, size)
    by_hand = clone(plain).fit(sp.csr_array(dense / size), LABELS)
    bracket(auto, by_hand)
    assert auto.lam_ == pytest.approx(by_hand.lam_)
    rows = form(normalize(dense + 1e-3 * np.eye(P)[np.arange(N) % P]))
    auto, asked = auto.fit(rows, LABELS), asked.fit(rows, LABELS)
    np.testing.assert_array_equal(auto.coef_, plain.fit(rows, LABELS).coef_)
    assert (asked.feature_scale_ < auto.feature_scale_ + 1e-9).all()


def test_constant_columns_have_no_weights():
    rows = np.column_stack([X, np.full(N, 0.1), np.full(N, 1e9), np.zeros(N)])
    model = sskit.StructSVMClassifier(random_state=0).fit(rows, LABELS)
    assert (np.abs(model.coef_[:, P:]) <= 1e-16).all()
    plain = sskit.StructSVMClassifier(random_state=0).fit(X, LABELS)
    assert model.lam_ == pytest.approx(plain.lam_)
    bracket(model, plain)


def test_sums_of_parts_are_those_of_all():
    """Also of sparse rows, of which those that count say whether they are dense in fact."""
    weight = RNG.uniform(0, 2, N) * (np.arange(N) >= 5)
    sparse = sp.csr_array(np.where(np.arange(N)[:, None] < 5, ROWS, ROWS * (X > 1)))
    for rows, shifted in ((ROWS, True), (sparse, False)):
        whole = ColumnSums.of(rows, weight, np.inf).columns()
        parts = slice(0, 5), slice(5, 9), slice(9, N)
        one, two, three = (ColumnSums.of(rows[part], weight[part], np.inf) for part in parts)
        merged = (one + two + three).columns()
        assert (whole.shift is not None) == (merged.shift is not None) == shifted
        np.testing.assert_allclose(merged.factor, whole.factor, rtol=1e-10)
        scaled = merged.applied(rows)
        squares = np.square(scaled.toarray() if sp.issparse(scaled) else scaled).sum(axis=1)
        assert merged.norm == pytest.approx(whole.norm)
        assert merged.norm == pytest.approx(np.average(squares, weights=weight))
    for weight, room, expected in ((None, np.inf, 0), (None, 0.0, 2), (np.zeros(4), np.inf, 0)):
        assert ColumnSums.of(np.ones((4, 2)), weight, room).columns().norm == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_a_column_with_nearly_all_of_the_norm_is_named(form):
    items = [np.column_stack([x, [1e9] * 6]) for x in X[:60].reshape(-1, 6, P)]
    given = {"columns": [*"abcde", "time"]} if form is pd.DataFrame else {}
    told = f"^column {repr('time') if given else P} of X has 100 % of the"
    y = list(LABELS[:60].reshape(-1, 6))
    for family in ["sequences"] if given else ["sequences", "segments", "trees", "graphs"]:
        labels = [[f"B-{row[0]}", *"O" * 5] for row in y] if family == "segments" else y
        model, rows, labels = families.make(family, items, labels, max_iter=2)
        with pytest.warns(UserWarning, match=told) as caught:
            model.fit(of_features(rows, lambda x: form(x, **given)), labels)
        assert caught[0].filename == __file__
    harmless = [np.column_stack([x[:, :P], [2.0] * 6]) for x in items]
    sskit.SequenceTagger().fit(harmless, y)  # warnings are errors
    rows = np.concatenate(items)
    for model in (
        sskit.StructSVMClassifier(),
        sskit.StructSVMClassifier(standardize=False, max_iter=3000),
    ):
        with nullcontext() if model.max_iter != 3000 else pytest.warns(UserWarning, match="^col"):
            model.fit(form(rows), LABELS[:60])


def test_a_column_with_most_of_the_norm_is_named_where_much_of_the_objective_is_left():
    """Of wines one has 98 %; .65 of them are found, with columns of one size all."""
    X, y = load_wine(return_X_y=True)
    match = r"^column 12 of X has 98.38 % .* useless: 0.[78]\d* of the objective of w = 0 is left"
    for model, *data in (
        (sskit.StructSVMClassifier(standardize=False, random_state=0), X, y),
        (sskit.SequenceTagger(random_state=0), [X[i::20] for i in range(20)],
         [y[i::20] for i in range(20)]),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match=match):
            model.fit(*data)
    # with one that tells the classes nothing is lost
    X[:, 12] = 1e3 * (y - 1.0)
    sskit.StructSVMClassifier(standardize=False, random_state=0).fit(X, y)


def test_few_columns_with_most_of_the_norm_are_named_together():
    """Two time stamps, say, each of which has half of it; but not half of all columns and more."""
    X, y = load_wine(as_frame=True, return_X_y=True)
    X.iloc[:, 0] *= 100.0
    squares = np.square(X).sum().sort_values(ascending=False)
    first, second = squares.index[:2]
    share = 100 * squares.iloc[:2].sum() / squares.sum()
    match = rf"^columns '{first}' and '{second}' of X have {share:.4g} % .* leave these out$"
    with pytest.warns(UserWarning, match=match):
        sskit.StructSVMClassifier(standardize=False, random_state=0).fit(X, y)
    assert heavy_columns([X[[first, second, "hue"]].to_numpy()], None) is None
    assert sskit.StructSVMClassifier(random_state=0).fit(X, y).score(X, y) > 0.95


def test_warm_starts_go_on_with_columns_as_they_are():
    """That fits of the same columns do is in test_warm_start.py."""
    model = sskit.StructSVMClassifier(lam=0.02, tol=1e-3, warm_start=True, random_state=0)
    model.fit(ROWS, LABELS)
    plain = clone(model.set_params(standardize=False, lam=1e7)).set_params(warm_start=False)
    for each in (model, plain):
        with pytest.warns(UserWarning, match="by standardize=True, or leave this one out$"):
            each.fit(ROWS, LABELS)
    bracket(model, plain)


def test_columns_that_are_dense_in_fact_are_standardized_in_any_storage():
    """Beside one-hot columns, whose entries are all the same, and a sparse one."""
    rng = np.random.default_rng(1)
    kinds = np.eye(3)[rng.integers(0, 3, N)]
    seldom = np.where(rng.uniform(size=N) < 0.2, rng.uniform(0, 4, N), 0.0)
    rows = sp.csr_array(np.column_stack([ROWS[:, :2], kinds, seldom, np.ones(N) - kinds[:, 0]]))
    model = sskit.StructSVMClassifier(random_state=0).fit(rows, LABELS)
    np.testing.assert_allclose(model.feature_scale_[:2], ROWS[:, :2].std(axis=0))
    np.testing.assert_allclose(model.feature_scale_[2:], [1, 1, 1, seldom.max(), 1])
    columns = ColumnSums.of(rows, None, np.inf).columns()
    scaled = columns.applied(rows)
    assert sp.issparse(scaled) and scaled.has_canonical_format
    expected = (rows.toarray() - columns.shift) * columns.factor
    np.testing.assert_allclose(scaled.toarray(), expected, atol=1e-12)
    by_hand = sskit.StructSVMClassifier(random_state=0, standardize=False).fit(expected, LABELS)
    bracket(model, by_hand)
    assert model.lam_ == pytest.approx(by_hand.lam_)


def test_no_room_for_the_copy_of_rows_in_a_file(monkeypatch):
    rows = mapped(ROWS)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(OSError, match=r"takes 2560 bytes, .* TMPDIR .* standardize=False"):
        sskit.StructSVMClassifier().fit(rows, LABELS)


RENUMBERED = ["rows, kernel", "rows, bounds", "chains, kernel", "chains, edges", "chains, bounds"]
RENUMBERED += [name for name in KINDS.values() if name not in ("parts", "matchings")]


def of_coef(model):
    """The weights of features, by block."""
    names = [name for name in ("coef_", "first_coef_", "last_coef_") if hasattr(model, name)]
    return [np.asarray(getattr(model, name)) for name in names]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", RENUMBERED)
def test_renumbered_columns_are_the_users_afterwards(name, monkeypatch):
    """By frequency, from so many sparse columns on: same optimum, weights, predictions."""
    X, y = FITS[name].data()
    rng = np.random.default_rng(0)

    def uneven(rows):
        return sp.csr_array(rows * (5 * rng.random(rows.shape) > np.arange(rows.shape[1])))

    X = of_features(X, uneven)
    model = clone(FITS[name].estimator).set_params(tol=1e-6, max_iter=2000, random_state=0)
    plain = clone(model).fit(X, y)
    monkeypatch.setattr(scaling, "MANY_COLUMNS", 0)
    other = clone(model).fit(X, y)
    assert other.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-3, abs=1e-9)
    if not hasattr(plain, "kernel_") and plain.certified_:
        for one, two in zip(of_coef(plain), of_coef(other), strict=True):
            np.testing.assert_allclose(one, two, atol=0.05 * np.abs(one).max())
    # a fit that begins where the last one ended knows its columns again, also in another order
    again = clone(model).set_params(warm_start=True).fit(X, y).fit(X, y)
    assert again.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-3, abs=1e-9)
    bounds = getattr(plain, "bounds", None)
    if bounds is not None:
        assert all((bounds[0] <= w).all() and (w <= bounds[1]).all() for w in of_coef(other))


def test_ranks_are_by_entries_then_by_first_occurrence(monkeypatch):
    X = sp.csr_array(np.array([[0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 2]]))
    assert scaling.ranks([X]) is None
    monkeypatch.setattr(scaling, "MANY_COLUMNS", 0)
    assert scaling.ranks([X]).tolist() == [2, 3, 0, 1]
    assert scaling.ranks([X[:1], X[1:]]).tolist() == [2, 3, 0, 1]
    assert scaling.ranks([X.toarray()]) is None and scaling.ranks([]) is None
