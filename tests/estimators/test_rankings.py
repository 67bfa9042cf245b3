"""RankingSVM: grades within groups, and the ROC area of two grades."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.objectives import bracket
from helpers.rankings import best_of, everything
from helpers.refusals import refused
from sklearn.metrics import roc_auc_score

from sskit import RankingSVM, StructSVMClassifier
from sskit.dask import Distributed
from sskit.models.columns.in_groups import variance_within


def data(seed=0, n_groups=8, size=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 3))
    groups = np.repeat(np.arange(n_groups), size)
    y = np.round(X @ [1.0, 0.5, 0.0] + 3 * rng.normal(size=n_groups)[groups])
    return X, y, groups


def two_grades(n=80, p=4, fraction=0.25, seed=0, distance=1.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < fraction).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, p)) + distance * y[:, None] * [1.0, 0.5, 0.0, 0.0][:p], y


def objective(coef, X, y, groups, lam):
    """P(w) pair by pair."""
    total = []
    for g in np.unique(groups):
        s, t = (X @ coef)[groups == g], y[groups == g]
        a, b = np.nonzero(t[:, None] > t)
        total.append(np.maximum(0, 1 - s[a] + s[b]).mean() if len(a) else 0.0)
    return lam / 2 * coef @ coef + np.mean(total)


@pytest.mark.parametrize("solver", ["auto", "cutting_plane", "bcfw", "fw"])
def test_objective_is_the_mean_hinge_of_pairs(solver):
    X, y, groups = data()
    given = {"solver": solver, "tol": 1e-3, "random_state": 0, "max_iter": 5000}
    model = RankingSVM(0.05, standardize=False, **given).fit(X, y, groups)
    found = objective(model.coef_[0], X, y, groups, 0.05)
    assert model.certified_ and model.primal_objective_ == pytest.approx(found, rel=1e-9)
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.1, 1.0):
        other = model.coef_[0] + scale * rng.normal(size=3)
        assert objective(other, X, y, groups, 0.05) >= model.dual_objective_
    # the levels of groups do not matter
    other = RankingSVM(0.05, standardize=False, **given).fit(X, y + 100 * groups, groups)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.score(X, y, groups) > 0.9


def many_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(52), np.append(rng.integers(1, 6, size=50), [40, 33]))
    return 1.0 * rng.integers(4, size=(len(groups), 1)), rng.integers(3, size=len(groups)), groups


def test_score_is_the_share_of_pairs_in_order():
    for X, y, groups in (many_groups(), data()):
        X = np.round(X)  # some scores are equal
        model = RankingSVM().fit(X, y, groups)
        scores, fractions = model.predict(X), []
        for g in np.unique(groups):
            s, t = scores[groups == g], y[groups == g]
            a, b = np.nonzero(t[:, None] > t)
            if len(a):
                fractions.append(np.mean((np.sign(s[a] - s[b]) + 1) / 2))
        assert model.score(X, y, groups) == pytest.approx(np.mean(fractions))
    # a group without pairs says nothing
    y[groups == 1] = 0
    others = groups != 1
    assert model.score(X, y, groups) == model.score(X[others], y[others], groups[others])
    assert model.score(X[~others], y[~others]) == 0.0


def test_two_grades_are_the_roc_area():
    X, y = two_grades(7, 3, seed=1)
    model = RankingSVM(0.1, tol=1e-4, standardize=False).fit(X, y)
    worst = best_of(everything(y), X @ model.coef_[0])
    assert model.primal_objective_ == pytest.approx(0.05 * np.sum(model.coef_**2) + worst, rel=1e-9)
    X, y = two_grades()
    other = RankingSVM(0.01).fit(X, y)
    for values in ([0, 1], [False, True], [-1.0, 1.0], [3, 7]):
        grades = np.array(values)[y]
        model = RankingSVM(0.01).fit(X, grades)
        np.testing.assert_array_equal(model.coef_, other.coef_)
        area = roc_auc_score(y, model.predict(X))
        assert model.score(X, grades) == pytest.approx(area)
        assert area > 0.75


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("standardize", [True, False])
def test_only_differences_within_groups_matter(form, standardize):
    X, y, groups = data()
    given = {"standardize": standardize, "tol": 1e-5, "random_state": 0}
    one = RankingSVM(**given).fit(form(X), y, groups)
    # half the mean squared difference of two rows of a group, over ten times the number of rows
    pairs = [
        X[a] - X[b] for a, b in itertools.combinations(range(len(X)), 2) if groups[a] == groups[b]
    ]
    variance = np.mean(np.square(pairs), axis=0) / 2
    assert one.lam_ == pytest.approx((3 if standardize else variance.sum()) / (10 * (len(X) - 8)))
    # features of groups, and rows of groups that have no pairs
    rng = np.random.default_rng(0)
    levels, lone = 100 * rng.normal(size=(8, 5))[groups], rng.normal(size=(4, 5)) * 1e3
    X = np.concatenate([np.hstack([X, np.zeros((48, 2))]) + levels, lone])
    y, groups = np.append(y, np.zeros(4)), np.append(groups, [8, 8, 9, 10])
    other = RankingSVM(one.lam_, **given).fit(form(X), y, groups, (groups < 8).astype(float))
    assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=1e-4)
    np.testing.assert_allclose(other.coef_[0], [*one.coef_[0], 0.0, 0.0], atol=0.02)
    assert RankingSVM(**given).fit(form(X), y, groups).lam_ == pytest.approx(one.lam_)


def test_columns_are_compared_within_groups():
    rng, groups = np.random.default_rng(1), np.repeat(np.arange(20), 8)
    X, levels = rng.normal(size=(160, 5)), 1e3 * rng.normal(size=(20, 1))[groups]
    y, model = np.round(X @ [1.0, 0.5, *[0.0] * 3]), RankingSVM(standardize=False, random_state=0)
    X = np.hstack([X, levels])  # of the query: no warning, which were an error
    model.fit(X, y, groups)
    X[:, 3] *= 1e3
    with pytest.warns(UserWarning, match=r"column 3 of X has .* % of the squared differences of"):
        model.fit(X, y, groups)


def test_large_groups_are_measured_like_small_ones():
    """Groups of many entries are taken by themselves, others some at a time."""
    rng = np.random.default_rng(0)
    sizes = np.array([3, 2, 700, 1, 1, 4, 600, 600, 2])
    offsets, weight = np.append(0, sizes.cumsum()), np.array([1, 2, 0, 3, 0, 1, 2, 1, 4.0])
    X = rng.normal(size=(offsets[-1], 500)) + np.repeat(rng.normal(size=(9, 500)), sizes, axis=0)
    parts = [X[a:b].var(axis=0) * (b - a) for a, b in itertools.pairwise(offsets)]
    expected = weight @ parts / (weight @ (sizes - 1))
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(variance_within(rows, offsets, weight), expected)


def test_weights_of_groups_are_copies():
    X, y = two_grades(60)
    groups, weights = np.arange(60) % 4, np.array([1, 2, 0, 3])
    options = {"tol": 1e-5, "random_state": 0, "max_iter": 10_000}
    model = RankingSVM(**options).fit(X, y, groups, weights[groups])
    index = np.concatenate([np.flatnonzero(groups == g) for g in np.repeat(range(4), weights)])
    given = X[index], y[index], np.repeat(range(6), 15)
    copies = RankingSVM(**options).fit(*given)
    assert model.lam_ == pytest.approx(copies.lam_)
    assert model.primal_objective_ == pytest.approx(copies.primal_objective_, rel=1e-4)
    np.testing.assert_allclose(model.coef_, copies.coef_, atol=0.02)
    assert model.score(X, y, groups, weights[groups]) == pytest.approx(copies.score(*given))


def test_bad_data():
    X, y = two_grades()
    model = RankingSVM().fit(X, y)
    for changed, error, message in (
        ({"y": ["a"] * 80}, ValueError, "y"),
        ({"y": [1.0, np.inf] * 40}, ValueError, "y"),
        ({"y": [1.0, np.nan] * 40}, ValueError, r"y\[1\] is nan"),
        ({"y": np.ones(80)}, ValueError, "^y has no two rows of different grades"),
        ({"y": np.arange(80) % 2, "groups": np.arange(80) % 2}, ValueError, "^y has no two rows"),
        # the only group with pairs weighs nothing
        ({"y": np.arange(80) // 60, "groups": np.arange(80) // 40,
          "sample_weight": 1 - np.arange(80) // 40}, ValueError, "^y has no two rows"),
        ({"groups": np.zeros(79)}, ValueError, r"groups.shape == \(79,\), expected \(80,\)"),
        ({"groups": np.zeros((80, 1))}, ValueError, "groups.shape"),
        ({"groups": [50, 30]}, ValueError,
         r"sizes of consecutive groups, .* np.repeat\(np.arange\(len\(sizes\)\), sizes\)$"),
        ({"groups": [50, 31]}, ValueError, "one group for each row of X$"),
        ({"groups": [-10, 90]}, ValueError, "one group for each row of X$"),
        ({"groups": np.array([50.0, 30.0])}, ValueError, "sizes of consecutive groups"),
        ({"groups": [0.0, np.nan] * 40}, ValueError, r"groups\[1\] is nan"),
        ({"groups": np.array([0, "a"] * 40, dtype=object)}, TypeError, r"groups\[1\]"),
        ({"groups": [None] * 80}, ValueError, r"groups\[0\]"),
        ({"sample_weight": np.arange(80.0)}, ValueError,
         r"sample_weight\[1\] is 1.0 but sample_weight\[0\] is 0.0, in the same group"),
        ({"groups": np.arange(80) % 2, "sample_weight": [1.0, 2.0, 1.0, 3.0] * 20}, ValueError,
         r"sample_weight\[3\] is 3.0 but sample_weight\[1\] is 2.0"),
    ):  # fmt: skip
        with refused(model, error, message):
            model.fit(**{"X": X, "y": y} | changed)
    with pytest.raises(ValueError, match="a loss of sets of rows: a set of rows need not"):
        Distributed(RankingSVM()).fit([X[:40], X[40:]], [y[:40], y[40:]])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.score(X, None)


def pairs(n=60):
    """Rows a and b of pairs, whether a is before b; the same as rows, grades and groups."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n, 3))
    first = (a - b) @ [1.0, 0.5, 0.0] + 0.5 * rng.logistic(size=n) > 0
    X, y = np.stack([a, b], axis=1).reshape(-1, 3), np.stack([first, ~first], axis=1).ravel()
    return (a, b, first), (X, y, np.repeat(np.arange(n), 2))


def test_pairs_are_rows_of_differences():
    """Groups of two rows are a classifier of their differences, solved by the same calls."""
    (a, b, first), grouped = pairs(500)
    for X in (grouped[0], sp.csr_array(grouped[0])):
        model = RankingSVM(0.003, random_state=0).fit(X, *grouped[1:])
        # two classes have weights w and -w, of twice the squared norm for half the score
        rows = StructSVMClassifier(0.006, fit_intercept=False, standardize=False, random_state=0)
        scaled = (a - b) / model.feature_scale_
        rows.fit(sp.csr_array(scaled) if sp.issparse(X) else scaled, first)
        assert (model.solver_.steps, model.solver_.sampling) == ("projection", "permutation")
        assert model.certified_ and model.n_oracle_calls_ == rows.n_oracle_calls_ < 20 * 500
        assert model.primal_objective_ == pytest.approx(rows.primal_objective_, rel=1e-9)
        np.testing.assert_allclose(model.coef_ * model.feature_scale_, rows.coef_, rtol=1e-6)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_have_the_optimum_of_other_steps(n_jobs):
    """Also with groups that have no pair, rows that are equal, and weights of groups."""
    _, (X, y, groups) = pairs()
    X[2:4] = X[3]
    y, groups = np.append(y, [True, False, False]), np.append(groups, [60, 61, 61])
    X = np.concatenate([X, np.random.default_rng(1).normal(size=(3, 3))])
    weight = np.linspace(0.0, 2.0, 62)[groups]
    given = {"lam": 0.01, "tol": 1e-6, "random_state": 0, "max_iter": 5_000, "n_jobs": n_jobs}
    model, other = (
        RankingSVM(steps=steps, **given).fit(X, y, groups, weight) for steps in ("auto", "pairwise")
    )
    assert (model.solver_.steps, other.solver_.steps) == ("projection", "pairwise")
    bracket(model, other)


def test_pairs_go_on_with_larger_groups():
    _, (X, y, groups) = pairs()
    model = RankingSVM(0.01, tol=1e-4, warm_start=True, random_state=0).fit(X, y, groups)
    rows = np.random.default_rng(1).normal(size=(4, 3))
    data = np.concatenate([X, rows]), np.append(y, [1, 0, 1, 0]), np.append(groups, [60] * 4)
    assert model.fit(*data).solver_.steps == "pairwise"
    bracket(model, RankingSVM(0.01, tol=1e-4, random_state=0).fit(*data))
