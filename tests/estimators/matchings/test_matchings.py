"""MatchingModel: what it learns, input and output, scores, bad input, scikit-learn's tools."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from sskit import EarlyStopping, MatchingModel, RegularizationPath, StructSVMClassifier
from sskit import StructuredModel as Structure
from sskit.datasets import make_point_sets
from sskit.oracles import best_matching

OPTIONS = {"lam": 0.01, "tol": 0.05, "random_state": 0}
SETS = make_point_sets(16, n_points=4, n_outliers=1, noise=0.5, random_state=0)
X, Y = [0.2 * x for x in SETS.data], SETS.target
SIDES = [(x, x[:, 0, :2], x[0, :, :1]) for x in X]


@pytest.fixture(scope="module")
def fitted():
    return MatchingModel(**OPTIONS).fit(X, Y)


class Points(Structure):
    """The same in Python: pairs and their number; every item may stay alone."""

    def joint_feature(self, x, y):
        chosen = np.flatnonzero(y >= 0)
        return np.append(x[chosen, y[chosen]].sum(axis=0), len(chosen))

    def loss(self, y_true, y):
        return np.mean(y != y_true)

    def argmax(self, x, w, y_true=None):
        return best_matching(x @ w[:-1] + w[-1], truth=y_true, cost=1.0 / len(x))[0]


def test_equals_the_structure_in_python(fitted):
    written = StructSVMClassifier(Points(), solver="cutting_plane", **OPTIONS).fit(X, Y)
    assert max(fitted.dual_objective_, written.dual_objective_) <= min(
        fitted.primal_objective_, written.primal_objective_
    )
    exact = OPTIONS | {"tol": 1e-5, "lam": 0.1, "solver": "cutting_plane"}
    one, other = (
        MatchingModel(**exact).fit(X, Y),
        StructSVMClassifier(Points(), **exact).fit(X, Y),
    )
    together = np.concatenate([one.coef_, one.intercept_])
    np.testing.assert_allclose(together, other.coef_, atol=0.05)
    assert one.primal_objective_ == pytest.approx(other.primal_objective_, abs=1e-5)


def test_attributes_and_what_is_predicted(fitted):
    assert fitted.certified_ and fitted.n_features_in_ == 5
    assert fitted.coef_.shape == (5,) and fitted.intercept_.shape == (1,)
    assert fitted.left_coef_.shape == (0,) and fitted.right_coef_.shape == (0,)
    found = fitted.predict(X)
    assert found.shape == (16,) and found.dtype == object
    right = [np.mean(a == b) for a, b in zip(found, Y, strict=True)]
    assert fitted.score(X, Y) == pytest.approx(np.mean(right))
    assert fitted.score(X, Y) > 0.7
    for x, partners, scores in zip(X, found, fitted.decision_function(X), strict=True):
        np.testing.assert_allclose(scores, x @ fitted.coef_ + fitted.intercept_)
        best, value = best_matching(scores)
        chosen = np.flatnonzero(partners >= 0)
        assert scores[chosen, partners[chosen]].sum() == pytest.approx(value)
        np.testing.assert_array_equal(partners, best)


def test_items_say_who_stays_alone():
    """A feature of an item is worth as much as the same number on all of its pairs."""
    rng = np.random.default_rng(0)
    tables = [(np.ones((3, 4, 1)), rng.normal(size=(3, 2)), rng.normal(size=(4, 1)))] * 2
    model = MatchingModel(random_state=0).fit(tables, [[0, 1, -1]] * 2)
    model.coef_, model.intercept_ = np.array([0.5]), np.array([0.25])
    model.left_coef_, model.right_coef_ = np.array([1.0, -2.0]), np.array([3.0])
    pairs, left, right = tables[0]
    expected = 0.75 - left @ [1.0, -2.0]
    scores = expected[:, None] - right @ [3.0]
    np.testing.assert_allclose(model.decision_function(tables)[0], scores)
    alone = left @ [1.0, -2.0], right @ [3.0]
    partners = best_matching(np.full((3, 4), 0.75), *alone)[0]
    np.testing.assert_array_equal(model.predict(tables)[1], partners)


def test_features_of_items_are_learnt():
    rng = np.random.default_rng(1)
    tables, y = [], []
    for _ in range(20):
        left = rng.normal(size=(4, 1))
        tables.append((rng.normal(size=(4, 4, 1)), left, None))
        y.append(best_matching(tables[-1][0][..., 0], 2.0 * left[:, 0])[0])
    with_items = MatchingModel(**OPTIONS).fit(tables, y)
    without = MatchingModel(**OPTIONS).fit([table[0] for table in tables], y)
    assert with_items.left_coef_[0] > 0
    assert with_items.score(tables, y) > without.score([table[0] for table in tables], y) + 0.1


def test_complete_matchings():
    rng = np.random.default_rng(2)
    pairs = [rng.normal(size=(3, 4, 2)) for _ in range(10)]
    y = [best_matching(x @ [2.0, -1.0], complete=True)[0] for x in pairs]
    model = MatchingModel(complete=True, **OPTIONS).fit(pairs, y)
    assert model.intercept_[0] == 0.0
    assert model.score(pairs, y) > 0.9
    # nothing is worth a match, and yet all are matched
    low = [x - 100.0 * model.coef_ for x in pairs]
    assert all((partners >= 0).all() for partners in model.predict(low))
    with pytest.raises(ValueError, match=r"X\[1\] has 3 left and 2 right items, but complete=True"):
        model.predict([pairs[0], np.zeros((3, 2, 2))])
    with pytest.raises(ValueError, match=r"y\[2\]\[1\] is -1, .* from 0 to 3 \(complete=True\)"):
        model.fit(pairs, [*y[:2], [0, -1, 2], *y[3:]])


def test_sides_without_items():
    empty = [np.zeros((0, 3, 5)), np.zeros((2, 0, 5)), np.zeros((0, 0, 5))]
    model = MatchingModel(**OPTIONS).fit([*X, *empty], [*Y, [], [-1, -1], []])
    found = model.predict(empty)
    assert [partners.tolist() for partners in found] == [[], [-1, -1], []]
    assert [scores.shape for scores in model.decision_function(empty)] == [(0, 3), (2, 0), (0, 0)]
    for none in ([], np.zeros(0), np.zeros(0, dtype="U1")):
        assert model.score(empty[:1], [none]) == 1.0
    # only these: nothing to learn, and no error
    alone = MatchingModel(random_state=0).fit(empty, [[], [-1, -1], []])
    assert not alone.coef_.any()


@pytest.mark.parametrize("loss", ["hamming", "hamming_sum"])
def test_the_unit_of_the_objective(loss):
    model = MatchingModel(1e6, **{k: v for k, v in OPTIONS.items() if k != "lam"}, loss=loss)
    # with all weights nearly zero the objective is the mean of the largest losses
    expected = 1.0 if loss == "hamming" else 5.0
    assert model.fit(X, Y).primal_objective_ == pytest.approx(expected, abs=1e-3)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_items_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    model = MatchingModel(random_state=0).fit(SIDES[:4], Y[:4])
    rows, columns = rng.permutation(5), rng.permutation(5)
    pairs, left, right = SIDES[int(rng.integers(len(SIDES)))]
    moved = pairs[rows][:, columns], left[rows], right[columns]
    one, other = model.predict([(pairs, left, right), moved])
    back = np.append(columns, -1)[other]
    np.testing.assert_array_equal(back, one[rows])


def test_weights_are_copies():
    weighted = MatchingModel(**OPTIONS).fit(X[:6], Y[:6], sample_weight=[2, 1, 1, 0, 1, 1])
    index = [0, 0, 1, 2, 4, 5]
    copies = MatchingModel(**OPTIONS).fit([X[i] for i in index], [Y[i] for i in index])
    assert max(weighted.dual_objective_, copies.dual_objective_) <= min(
        weighted.primal_objective_, copies.primal_objective_
    )
    half = weighted.score(X[:2], Y[:2], sample_weight=[1, 3])
    each = [weighted.score(X[i : i + 1], Y[i : i + 1]) for i in range(2)]
    assert half == pytest.approx((each[0] + 3 * each[1]) / 4)


def test_forms_of_input(fitted):
    lists = [x.tolist() for x in X]
    single = [x.astype(np.float32).astype(np.float64) for x in X]
    for one, other in [
        (X, lists), (X, np.stack(X)), (X, tuple(X)), ([(x, None, None) for x in X], X),
        (single, [x.astype(np.float32) for x in X]), (X, [np.asfortranarray(x) for x in X]),
    ]:  # fmt: skip
        for a, b in zip(fitted.predict(one), fitted.predict(other), strict=True):
            np.testing.assert_array_equal(a, b)
    again = MatchingModel(**OPTIONS).fit(np.stack(X), np.stack(Y))
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    one = MatchingModel(**OPTIONS).fit(X, [partners.tolist() for partners in Y])
    np.testing.assert_array_equal(one.coef_, fitted.coef_)


def test_nothing_is_modified():
    before = pickle.dumps((SIDES, Y))
    model = MatchingModel(**OPTIONS).fit(SIDES, Y)
    model.predict(SIDES)
    assert pickle.dumps((SIDES, Y)) == before


WRONG_X = [
    ([], ValueError, "0 sample"),
    (3, TypeError, "X must be a list with one array of features of pairs"),
    ([np.zeros((2, 2))], ValueError, r"X\[0\] must have shape \(n_left, n_right, n_features\)"),
    ([np.zeros((2, 2, 0))], ValueError, r"X\[0\] has 0 features of pairs"),
    (["abc"], TypeError, r"X\[0\] is a str, expected an array"),
    ([(X[0], None)], ValueError, r"X\[0\] is a tuple of length 2, .* \(pairs, left, right\)"),
    ([(X[0], X[0][0], X[0])], ValueError, r"X\[0\]\[2\] must have shape \(n_right, n_right_"),
    ([(X[0], X[0][:2, 0], None)], ValueError, r"X\[0\]\[1\] has 2 rows for the 5 left items"),
    ([(X[0], None, X[0][:2, 0])], ValueError, r"X\[0\]\[2\] has 2 rows for the 5 right items"),
    ([X[0], X[1][..., :2]], ValueError, r"X\[1\] has 2 features of pairs, 0 of left"),
    ([X[0], SIDES[1]], ValueError, r"X\[1\] has 5 features of pairs, 2 of left and 1 of right"),
    ([X[0], np.full((2, 2, 5), np.nan)], ValueError, r"X\[1\]\[0, 0, 0\] is nan, expected a fin"),
    (
        [X[0], np.full((2, 2, 5), 1e200)],
        ValueError,
        r"X\[1\]\[0, 0, 0\] is 1e\+200, expected a num",
    ),
    ([np.full((2, 2, 5), 1j)], ValueError, r"X\[0\] has dtype complex128"),
]
WRONG_Y = [
    (Y[:3], ValueError, "X has 16 samples but y has 3"),
    ([*Y[:3], [0, 1], *Y[4:]], ValueError, r"y\[3\] has 2 partners, but X\[3\] has 5 left items"),
    ([*Y[:3], [0, 1, 2, 3, 9], *Y[4:]], ValueError, r"y\[3\]\[4\] is 9, .* from 0 to 4, or -1 for"),
    ([*Y[:3], [0, -2, 2, 3, 1], *Y[4:]], ValueError, r"y\[3\]\[1\] is -2, expected a right item"),
    ([*Y[:3], [0, 2, 2, 3, 1], *Y[4:]], ValueError, r"y\[3\]\[2\] is 2, which is the partner of"),
    ([*Y[:3], [0.0] * 5, *Y[4:]], ValueError, r"y\[3\] must hold integers of shape \(5,\)"),
    ([*Y[:3], [True] * 5, *Y[4:]], ValueError, r"y\[3\] must hold integers"),
    ([*Y[:3], "abcde", *Y[4:]], TypeError, r"y\[3\] is a str"),
    (7, TypeError, "y must be a list with one array of partners"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG_X)
def test_wrong_features(fitted, wrong, error, message):
    y = [np.zeros(0, dtype=int)] * (len(wrong) if isinstance(wrong, list) else 1)
    with pytest.raises(error, match=message):
        MatchingModel().fit(wrong, y)
    if "0 of left" not in message and "2 of left" not in message:
        with pytest.raises(error, match=message):
            fitted.predict(wrong)


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG_Y)
def test_wrong_partners(fitted, wrong, error, message):
    with pytest.raises(error, match=message):
        MatchingModel().fit(X, wrong)
    with pytest.raises(error, match=message):
        fitted.score(X, wrong)


def test_other_features_than_in_training(fitted):
    with pytest.raises(ValueError, match=r"X\[0\] has 2 features .* expected 5 .* as in training"):
        fitted.predict([X[0][..., :2]])
    with pytest.raises(ValueError, match=r"X\[0\] has 5 features of pairs, 2 of left"):
        fitted.predict(SIDES)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared"}, "loss"),
        ({"complete": "yes"}, "complete"),
        ({"lam": -1.0}, "lam"),
        ({"solver": "gdmm"}, "the solver 'gdmm' needs a model that is a sum over"),
        ({"rescaling": "other"}, "rescaling"),
        ({"bounds": {"pairs": (0, 1)}}, "the blocks of this model are 'coef', 'intercept'"),
        ({"prior": [1.0, 2.0]}, r"prior has the shape \(2,\), expected \(6,\)"),
        ({"prior": {"slope_": [1.0]}}, "prior has no block 'slope_'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MatchingModel(**parameters).fit(X, Y)


def test_what_it_has_not(fitted):
    with pytest.raises(TypeError, match="kernel"):
        MatchingModel(kernel="rbf")
    for name in ("partial_fit", "predict_proba", "explain", "weights_frame", "predict_topk"):
        assert not hasattr(fitted, name)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_", np.zeros(4), r"X\[0\] has 5 features"),
        ("coef_", np.zeros((5, 1)), r"coef_ must have the shape"),
        ("coef_", np.full(5, np.nan), r"coef_\[0\] is nan"),
        ("coef_", "abc", "coef_ must be an array of numbers"),
        ("intercept_", np.zeros(2), r"intercept_ must have the shape \(1,\)"),
        ("left_coef_", None, "left_coef_ must be an array of numbers"),
        ("right_coef_", np.zeros((1, 1)), "right_coef_ must have the shape"),
    ],
)
def test_damaged_attributes(fitted, name, value, message):
    damaged = pickle.loads(pickle.dumps(fitted))
    setattr(damaged, name, value)
    for method in (damaged.predict, damaged.decision_function):
        with pytest.raises(ValueError, match=message):
            method(X)


def test_not_fitted():
    for method in (MatchingModel().predict, MatchingModel().decision_function):
        with pytest.raises(NotFittedError):
            method(X)


def test_bounds_prior_and_slack():
    bounded = MatchingModel(bounds={"coef": (0.0, 1.0)}, **OPTIONS).fit(X, Y)
    assert (bounded.coef_ >= 0).all() and (bounded.coef_ <= 1).all()
    free = MatchingModel(**OPTIONS).fit(X, Y)
    near = MatchingModel(prior=free, **OPTIONS | {"lam": 1e3}).fit(X, Y)
    np.testing.assert_allclose(near.coef_, free.coef_, atol=0.01)
    slack = MatchingModel(rescaling="slack", **OPTIONS).fit(X, Y)
    assert slack.certified_ and slack.score(X, Y) > 0.7


def test_warm_start_goes_on():
    model = MatchingModel(warm_start=True, **OPTIONS | {"tol": 0.2}).fit(X[:12], Y[:12])
    model.set_params(tol=0.05).fit(X, Y)
    cold = MatchingModel(**OPTIONS).fit(X, Y)
    assert model.primal_objective_ == pytest.approx(cold.primal_objective_, rel=0.1)
    with pytest.raises(ValueError, match=r"y\[0\] changed"):
        model.fit(X, [Y[1], *Y[1:]])
    with pytest.raises(ValueError, match="loss changed from hamming to hamming_sum"):
        model.set_params(loss="hamming_sum").fit(X, Y)


def test_tools_of_scikit_learn():
    search = GridSearchCV(MatchingModel(**OPTIONS), {"lam": [0.01, 1.0]}, cv=2, n_jobs=2)
    search.fit(X, Y)
    assert search.best_estimator_.score(X, Y) == search.score(X, Y)
    assert len(cross_val_score(MatchingModel(**OPTIONS), X, Y, cv=2)) == 2
    model = clone(MatchingModel(complete=True, loss="hamming_sum"))
    assert model.get_params()["complete"] and "MatchingModel" in model._repr_html_()
    tags = get_tags(model)
    assert tags.estimator_type == "matcher" and not tags.input_tags.two_d_array
    assert list(inspect.signature(MatchingModel).parameters)[0] == "lam"


def test_paths_and_early_stopping():
    path = RegularizationPath(MatchingModel(random_state=0), eps=0.3, lam_min=0.05).fit(X, Y)
    at = path.estimator_at(0.1)
    assert at.score(X, Y) > 0.5
    early = EarlyStopping(MatchingModel(random_state=0), random_state=0).fit(X, Y)
    assert early.score(X, Y) > 0.5


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_nothing(fitted, n_jobs):
    many = MatchingModel(n_jobs=n_jobs, **OPTIONS).fit(X, Y)
    np.testing.assert_array_equal(many.coef_, fitted.coef_)
    for a, b in zip(many.predict(X), fitted.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
