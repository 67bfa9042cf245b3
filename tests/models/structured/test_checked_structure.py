"""Wrong answers of a structure raise errors that name the sample, before anything is learned."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.structures import Signs, best_sign, bind

from sskit import StructuredModel, StructuredSVM

rng = np.random.default_rng(0)
X = list(rng.normal(size=(6, 2)) + 3.0)
Y = [1, -1, 1, -1, 1, -1]


def at(i, wrong, right):
    """A method that answers wrongly for sample i only, where it meets its input or truth."""

    def method(first, *args):
        return wrong(first, *args) if first is X[i] else right(first, *args)

    return method


def feature(x, y):
    return y * x


def late(wrong):
    """A joint feature that is wrong for other labellings than the truth."""
    return at(4, lambda x, y: wrong(x, y) if y == -1 else feature(x, y), feature)


def fail(*args):
    raise KeyError("some key")


def zero_one(y_true, y):
    return float(y_true != y)


BAD = [
    ("joint_feature", at(3, lambda x, y: x[:1], feature), "joint_feature of sample 3 has length 1"),
    ("joint_feature", at(3, lambda x, y: x[:, None], feature), r"sample 3 has shape \(2, 1\)"),
    ("joint_feature", at(3, lambda x, y: 1.0, feature), r"sample 3 has shape \(\)"),
    ("joint_feature", at(3, lambda x, y: x * np.nan, feature), "sample 3 is not finite at 0"),
    ("joint_feature", at(3, lambda x, y: [0, np.inf], feature), "sample 3 is not finite at 1"),
    ("joint_feature", at(3, lambda x, y: ["a", "b"], feature), "sample 3 does not hold numbers"),
    ("joint_feature", at(3, lambda x, y: None, feature), "sample 3 does not hold numbers: None"),
    ("joint_feature", at(3, lambda x, y: [[1], [1, 2]], feature), "sample 3 does not hold numbers"),
    ("joint_feature", at(3, lambda x, y: x + 1j, feature), "sample 3 does not hold numbers"),
    ("joint_feature", at(3, lambda x, y: sp.eye(2), feature), r"3 has shape \(2, 2\)"),
    ("joint_feature", at(3, lambda x, y: sp.csr_array((1, 3)), feature), "3 has length 3, "),
    ("joint_feature", at(3, lambda x, y: sp.csr_array([[1j, 1]]), feature), "3 does not hold numb"),
    ("joint_feature", at(3, lambda x, y: sp.csr_array([[0, np.nan]]), feature), "3 is not finite"),
    ("joint_feature", late(lambda x, y: x[:1]), "joint_feature of sample 4 has length 1"),
    ("joint_feature", late(lambda x, y: x * np.inf), "joint_feature of sample 4 is not finite"),
    ("loss", lambda y_true, y: 1.0, "loss of the truth of sample 0 is 1.0, expected 0"),
    ("loss", lambda y_true, y: -zero_one(y_true, y), r"loss of sample \d is -1.0, expected a fin"),
    ("loss", lambda y_true, y: np.nan, "loss of sample 0 is nan, expected a finite number >= 0"),
    ("loss", lambda y_true, y: np.inf, "loss of sample 0 is inf"),
    ("loss", lambda y_true, y: None, "loss of sample 0 is None, expected a number"),
    ("loss", lambda y_true, y: np.ma.masked, "loss of sample 0 is masked, expected a number"),
    ("loss", lambda y_true, y: "0", "loss of sample 0 is '0', expected a number"),
    ("loss", lambda y_true, y: np.zeros(1), "loss of sample 0 is array.*, expected a number"),
    (
        "argmax",
        lambda x, w, y=None: best_sign(x, -w, y),
        r"argmax of sample \d returned a labelling that is worse than (the truth|one)",
    ),
    (
        "argmax",
        at(2, lambda x, w, y=None: 7, best_sign),
        "argmax of sample 2 returned a labelling that is worse than",
    ),
    (
        "argmax",
        lambda x, w, y=None: best_sign(x, w),
        r"argmax of sample \d returned a labelling that is worse than one that it returned before"
        ".* must add the loss",
    ),
]


def test_wrong_answers():
    for method, answer, match in BAD:
        classifier = StructuredSVM(Signs({method: answer}), lam=0.01, tol=1e-6, random_state=0)
        with pytest.raises((ValueError, TypeError), match=match):
            classifier.fit(X, Y)
        assert not [name for name in vars(classifier) if name.endswith("_")]


def test_an_oracle_that_takes_the_loss_away_is_told_of():
    model = Signs({"argmax": lambda x, w, y=None: -best_sign(x, -w, y)})
    with pytest.warns(UserWarning, match="argmax of Signs found no labelling with a loss at w = 0"):
        StructuredSVM(model, random_state=0).fit(X, Y)


def test_a_wrong_answer_leaves_a_fitted_estimator_as_it_was():
    classifier = StructuredSVM(Signs(), lam=0.1, random_state=0).fit(X, Y)
    before = dict(vars(classifier))
    classifier.model = Signs({"loss": lambda y_true, y: -1.0})
    with pytest.raises(ValueError, match="loss of sample 0"):
        classifier.fit(X, Y)
    assert {**vars(classifier), "model": None} == {**before, "model": None}


@pytest.mark.parametrize(
    ("method", "n_jobs"), [("joint_feature", None), ("loss", 2), ("argmax", None), ("argmax", 2)]
)
def test_exceptions_of_the_structure_name_the_sample(method, n_jobs):
    right = {"joint_feature": feature, "loss": zero_one, "argmax": best_sign}[method]
    answer = fail if method == "loss" else at(5, fail, right)
    with pytest.raises((KeyError, RuntimeError)) as caught:
        StructuredSVM(Signs({method: answer}), n_jobs=n_jobs).fit(X, Y)
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    i = 0 if method == "loss" else 5
    assert any(f"raised by {method} of Signs for sample {i}" in sentence for sentence in told)
    assert isinstance(caught.value, KeyError) or isinstance(caught.value.__cause__, KeyError)


def test_check_is_asked_of_every_sample():
    class Strict(Signs):
        def check(self, x, y):
            if y not in (1, -1):
                raise ValueError("labels must be 1 or -1")

    with pytest.raises((ValueError, RuntimeError)) as caught:
        StructuredSVM(Strict()).fit(X, [*Y[:-1], 2])
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert any("raised by check of Strict for sample 5" in sentence for sentence in told)


def test_wrong_attributes():
    for name, value, match in [
        ("n_weights", 3, "joint_feature of sample 0 has length 2, expected 3"),
        ("n_weights", "two", "n_weights of the model is 'two', expected the length of its"),
        ("n_weights", True, "n_weights of the model is True"),
        ("n_weights", 2.0, "n_weights of the model is 2.0"),
        *(("parallel", value, f"parallel of the model is {value!r}, expected 'threads' or 'proc")
          for value in ("process", None, True)),
    ]:  # fmt: skip
        model = Signs()
        setattr(model, name, value)
        with pytest.raises(ValueError, match=match):
            StructuredSVM(model).fit(X, Y)


def test_rounding_is_no_wrong_answer():
    def rounded(x, w, y_true=None):
        return best_sign(x, w * (1.0 + 1e-14 * rng.normal(size=len(w))), y_true)

    classifier = StructuredSVM(Signs({"argmax": rounded}), lam=1e-4, max_iter=30, tol=1e-9)
    with pytest.warns(match="stopped after 30 passes"):
        classifier.fit(X, Y)


def test_weights_belong_to_the_structure():
    seen = []

    def greedy(x, w, y_true=None):
        found = best_sign(x, w, y_true)
        seen.append(w)
        w[:] = np.nan
        return found

    clean = StructuredSVM(Signs(), random_state=0).fit(X, Y)
    greedy = StructuredSVM(Signs({"argmax": greedy}), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(greedy.coef_, clean.coef_)
    np.testing.assert_array_equal(greedy.predict(X), clean.predict(X))
    assert np.isfinite(greedy.coef_).all()
    assert all(np.isnan(w).all() for w in seen)


def test_the_base_class_asks_for_its_methods():
    model = StructuredModel()
    for call in (
        lambda: model.joint_feature(0, 0),
        lambda: model.loss(0, 0),
        lambda: model.argmax(0, np.zeros(1)),
    ):
        with pytest.raises(NotImplementedError, match="StructuredModel must implement"):
            call()
    assert model.bounds() is None
    model.check(0, 0)
    with pytest.raises((NotImplementedError, RuntimeError)):
        bind(model, [0], [0])
