"""RankingSVM: grades within groups."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

from sskit import RankingSVM


def data(seed=0, n_groups=8, size=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 3))
    groups = np.repeat(np.arange(n_groups), size)
    y = np.round(X @ [1.0, 0.5, 0.0] + 3 * rng.normal(size=n_groups)[groups])
    return X, y, groups


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
    model = RankingSVM(0.05, solver=solver, tol=1e-3, random_state=0, max_iter=5000)
    model.fit(X, y, groups)
    found = objective(model.coef_[0], X, y, groups, 0.05)
    assert model.primal_objective_ == pytest.approx(found, rel=1e-9)
    assert model.certified_
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.1, 1.0):
        other = model.coef_[0] + scale * rng.normal(size=3)
        assert objective(other, X, y, groups, 0.05) >= model.dual_objective_


def test_score_is_the_share_of_pairs_in_order():
    X, y, groups = data()
    X = np.round(X)  # some scores are equal
    model = RankingSVM().fit(X, y, groups)
    scores, shares = model.predict(X), []
    for g in np.unique(groups):
        s, t = scores[groups == g], y[groups == g]
        a, b = np.nonzero(t[:, None] > t)
        if len(a):
            shares.append(np.mean((np.sign(s[a] - s[b]) + 1) / 2))
    assert model.score(X, y, groups) == pytest.approx(np.mean(shares))
    assert model.score(X, np.zeros(len(y)), groups) == 0.0


def test_levels_of_groups_do_not_matter():
    X, y, groups = data()
    model, other = (RankingSVM(0.01, tol=1e-4, random_state=0) for _ in range(2))
    model.fit(X, y, groups)
    other.fit(X, y + 100 * groups, groups)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.score(X, y, groups) > 0.9


def test_sparse_rows_and_searches():
    X, y, groups = data()
    X = X * (np.abs(X) > 0.5)
    one, other = (RankingSVM(0.1, tol=1e-4).fit(form, y, groups) for form in (X, sp.csr_array(X)))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-2)
    search = GridSearchCV(RankingSVM(), {"lam": [0.1, 0.01]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.5


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": ["a"] * 48}, "y"),
        ({"y": [1.0, np.inf] * 24}, "y"),
        ({"y": [1.0, np.nan] * 24}, r"y\[1\] is nan"),
        ({"groups": [1]}, "groups.shape"),
    ],
)
def test_bad_data(changed, message):
    X, y, groups = data()
    with pytest.raises(ValueError, match=message):
        RankingSVM().fit(**{"X": X, "y": y, "groups": groups} | changed)
