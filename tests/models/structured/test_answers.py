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


def features(i, *cases):
    """Wrong joint features of sample i, and what is said of them."""
    return [("joint_feature", at(i, wrong, feature), f"sample {i} {said}") for wrong, said in cases]


def late(wrong):
    """A joint feature that is wrong for other labellings than the truth."""
    return lambda x, y: wrong(x, y) if y == -1 else feature(x, y)


def fail(*args):
    raise KeyError("some key")


def zero_one(y_true, y):
    return float(y_true != y)


def wrong_by(answer):
    """A loss of wrong labels."""
    return lambda y_true, y: answer if y_true != y else 0.0


BAD = [
    *features(
        3,
        (lambda x, y: x[:1], "has length 1"),
        (lambda x, y: x[:, None], r"has shape \(2, 1\)"),
        (lambda x, y: 1.0, r"has shape \(\)"),
        (lambda x, y: x * np.nan, "is not finite at 0"),
        (lambda x, y: [1.0, 1e200], "is 1e.200, whose square overflows"),
        (lambda x, y: ["a", "b"], "does not hold numbers"),
        (lambda x, y: [[1], [1, 2]], "does not hold numbers"),
        (lambda x, y: x + 1j, "does not hold numbers"),
        (lambda x, y: sp.eye(2), r"has shape \(2, 2\)"),
        (lambda x, y: sp.csr_array((1, 3)), "has length 3, "),
        (lambda x, y: sp.csr_array([[1j, 1]]), "does not hold numbers"),
        (lambda x, y: sp.csr_array([[0, np.nan]]), "is not finite"),
    ),
    *features(
        4,
        (late(lambda x, y: x[:1]), "has length 1"),
        (late(lambda x, y: x * np.inf), "is not finite"),
    ),
    ("loss", lambda y_true, y: 1.0, "loss of the truth of sample 0 is 1.0, expected 0"),
    ("loss", lambda y_true, y: -zero_one(y_true, y), r"loss of sample \d is -1.0, expected a fin"),
    ("loss", lambda y_true, y: np.nan, "loss of sample 0 is nan, expected a finite number >= 0"),
    ("loss", lambda y_true, y: None, "loss of sample 0 is None, expected a number"),
    ("loss", wrong_by(1e200), r"loss of sample 0 is 1e\+200, expected .* >= 0 up to 1e"),
    ("loss", wrong_by(10**400), "loss of sample 0 is 1000.*, expected a number"),
    ("loss", wrong_by(np.complex128(1.0)), r"loss of sample 0 is .*1\+0j.*, expected a number"),
    ("loss", lambda y_true, y: np.ma.masked, "loss of sample 0 is masked, expected a number"),
    ("argmax", lambda x, w, y=None: best_sign(x, -w, y), r"\d .* worse than (the truth|one)"),
    ("argmax", at(2, lambda x, w, y=None: 7, best_sign), "of sample 2 returned .* worse than"),
    ("argmax", lambda x, w, y=None: best_sign(x, w), "returned before.* must add the loss"),
]


def test_wrong_answers():
    fitted = StructuredSVM(Signs(), lam=0.1, random_state=0).fit(X, Y)
    before = dict(vars(fitted))
    for method, answer, match in BAD:
        classifier = StructuredSVM(Signs({method: answer}), lam=0.01, tol=1e-6, random_state=0)
        with pytest.raises((ValueError, TypeError), match=match):
            classifier.fit(X, Y)
        assert not [name for name in vars(classifier) if name.endswith("_")]
    # a fitted one stays as it was
    fitted.model = Signs({"loss": lambda y_true, y: -1.0})
    with pytest.raises(ValueError, match="loss of sample 0"):
        fitted.fit(X, Y)
    assert {**vars(fitted), "model": None} == {**before, "model": None}
    model = Signs({"argmax": lambda x, w, y=None: -best_sign(x, -w, y)})
    with pytest.warns(UserWarning, match="argmax of Signs found no labelling with a loss at w = 0"):
        StructuredSVM(model, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("method", "n_jobs"),
    [("joint_feature", None), ("loss", 2), ("argmax", None), ("argmax", 2), ("check", None)],
)
def test_exceptions_of_the_structure_name_the_sample(method, n_jobs):
    model, i = Signs({method: at(5, fail, getattr(Signs(), method))}), 5
    if method == "loss":
        model, i = Signs({method: fail}), 0
    if method == "check":
        model.check = at(5, fail, lambda *args: None)
    with pytest.raises((KeyError, RuntimeError)) as caught:
        StructuredSVM(model, n_jobs=n_jobs).fit(X, Y)
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert any(f"raised by {method} of Signs for sample {i}" in sentence for sentence in told)
    assert isinstance(caught.value, KeyError) or isinstance(caught.value.__cause__, KeyError)


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

    models = Signs(), Signs({"argmax": greedy})
    clean, greedy = (StructuredSVM(model, random_state=0).fit(X, Y) for model in models)
    np.testing.assert_array_equal(greedy.coef_, clean.coef_)
    np.testing.assert_array_equal(greedy.predict(X), clean.predict(X))
    assert all(np.isnan(w).all() for w in seen)


def test_the_base_class_asks_for_its_methods():
    model = StructuredModel()
    given = {"joint_feature": (0, 0), "loss": (0, 0), "argmax": (0, np.zeros(1))}
    for method, arguments in given.items():
        with pytest.raises(NotImplementedError, match="StructuredModel must implement"):
            getattr(model, method)(*arguments)
    assert model.bounds() is None
    model.check(0, 0)
    with pytest.raises((NotImplementedError, RuntimeError)):
        bind(model, [0], [0])
