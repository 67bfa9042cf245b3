"""Calibrated taggers: what users do with them, labels that are not known, and what is around."""

import numpy as np
import pytest
from helpers.ragged_checks import CHECKS
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import (
    CalibratedTagger,
    EarlyStopping,
    RegularizationPath,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.calibration.posterior import inner_tagger
from sskit.dask import Distributed
from sskit.preprocessing import TokenTransformer

TAGS = np.array(["B-X", "B-Y", "I-X", "I-Y", "O"])
METHODS = ("temperature", "matrix")


def tagged(n=40, seed=0, longest=6, tags=TAGS):
    """Sequences whose features tell of their labels, with noise."""
    rng = np.random.default_rng(seed)
    y = [tags[rng.integers(len(tags), size=rng.integers(1, longest + 1))] for _ in range(n)]
    X = [(row[:, None] == tags) + rng.normal(size=(len(row), len(tags))) for row in y]
    return X, y


@pytest.fixture(scope="module")
def data():
    return tagged()


def test_calibration_makes_held_out_labels_more_likely():
    tagger, (X, y) = SequenceTagger(random_state=0).fit(*tagged(60, seed=3)), tagged(200, seed=4)
    values = {}
    for method in METHODS:
        fitted = CalibratedTagger(tagger, method=method, cv="prefit").fit(X, y)
        assert fitted.estimator_ is tagger
        values[method] = fitted.log_likelihood_
        assert abs(np.log(fitted.confidence(X, y)).mean() - values[method]) < 1e-9
    assert values["temperature"] < values["matrix"]
    frozen = CalibratedTagger(FrozenEstimator(tagger)).fit(X, y)
    assert frozen.log_likelihood_ == values["matrix"]
    p = np.concatenate(list(fitted.predict_proba(X)))
    right = p.argmax(axis=1) == np.searchsorted(TAGS, np.concatenate(y))
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.08


def test_labels_that_a_split_does_not_know(data):
    X, y = data
    y = [labels.copy() for labels in y]
    y[-1][0] = "Z"  # only one sequence has it
    model = CalibratedTagger(SequenceTagger(random_state=0), method="matrix").fit(X, y)
    assert "Z" in model.classes_
    p = np.concatenate(list(model.predict_proba(X)))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert 0 < p[:, model.classes_ == "Z"].max() < 1
    # what the models of some splits cannot say is said by that of all data
    known = [[None] * len(x) for x in X]
    known[0][0] = "Z"
    (p, *_) = model.predict_proba(X, known=known)
    assert abs(p[0, model.classes_ == "Z"] - 1.0) < 1e-12
    model.sample(X, 3, random_state=0, known=known)
    assert model.predict(X, known=known)[0][0] == "Z"


def test_pipelines_and_searches():
    """That searches take calibrated taggers is in tests/estimators/test_laws."""
    X, y = tagged(16)
    tagger = SequenceTagger(random_state=0)
    scaled = make_pipeline(TokenTransformer(StandardScaler()), tagger)
    inner = GridSearchCV(tagger, {"lam": [0.1, 1.0]}, cv=2)
    for estimator in (scaled, inner, SequenceTagger(kernel="rbf", random_state=0)):
        model = CalibratedTagger(estimator, cv=KFold(2, shuffle=True, random_state=0))
        model.fit(X, y, sample_weight=np.ones(len(X)))
        np.testing.assert_allclose(model.predict_proba(X)[0].sum(axis=1), 1.0)
        assert model.classes_.tolist() == TAGS.tolist() and 0.2 < model.score(X, y) < 1


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ragged_checks(check):
    if check.__name__ == "check_fit_of_one_sequence":
        pytest.skip("one sequence cannot be split")
    check(CalibratedTagger(SequenceTagger(tol=0.3, random_state=0), cv=2))


@pytest.mark.parametrize("method", ["matrix", "temperature", "likelihood"])
def test_jobs_change_nothing(data, method):
    X, y = data
    weight = np.arange(len(X)) % 3
    one = CalibratedTagger(SequenceTagger(random_state=0), method=method)
    two = clone(one).set_params(n_jobs=2).fit(X, y, sample_weight=weight)
    one.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(two.estimator_.coef_, one.estimator_.coef_)
    for p, q in zip(two.predict_proba(X), one.predict_proba(X), strict=True):
        np.testing.assert_array_equal(p, q)


def test_sample_weights_are_copies_and_hidden_labels_do_not_count(data):
    X, y = data
    weight = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weight)
    tagger = SequenceTagger(random_state=0).fit(X, y)
    model, *others = (CalibratedTagger(tagger, method="temperature", cv="prefit") for _ in "123")
    model.fit(X, y, sample_weight=weight)
    others[0].fit([X[i] for i in copies], [y[i] for i in copies])
    hidden = [*(labels.tolist() for labels in y), [None] * len(X[0])]
    others[1].fit([*X, X[0]], hidden, sample_weight=[*weight, 1])
    for other in others:
        assert abs(other.calibration_["pairs"] - model.calibration_["pairs"]) < 1e-3
    assert abs(others[0].log_likelihood_ - model.log_likelihood_) < 1e-6


def test_what_is_wrong_is_named(data):
    X, y = data
    tagger = SequenceTagger(random_state=0)
    for estimator, message in (
        (StructSVMClassifier(), "Sequence.*Segment.*TreeTagger, .* got StructSVMClassifier"),
        (SequenceTagger, "got the class SequenceTagger"),
        (StandardScaler(), "got StandardScaler"),
    ):
        with pytest.raises(TypeError, match=message):
            CalibratedTagger(estimator).fit(X, y)
    broken, last = [*X[:-1], np.full_like(X[-1], np.nan)], len(X) - 1
    prefit = CalibratedTagger(clone(tagger).fit(X, y), cv="prefit")
    model = CalibratedTagger(tagger, cv=2, method="temperature").fit(X, y)
    codes = [np.searchsorted(TAGS, labels) for labels in y]
    for call, message in (
        (lambda: CalibratedTagger(tagger, cv=[]).fit(X, y), "cv makes no folds, expected one"),
        (lambda: CalibratedTagger(tagger, cv=[(0, 1)]).fit(X, y), "^train of fold 0 of cv must"),
        # items are those of all data
        (lambda: CalibratedTagger(tagger).fit(broken, y), rf"X\[{last}\]"),
        (lambda: CalibratedTagger(tagger, n_jobs=2).fit(broken, y), rf"X\[{last}\]"),
        (lambda: CalibratedTagger(tagger, n_jobs=2).fit(X, y[1:]), "X has 40 samples but y has 39"),
        (lambda: CalibratedTagger(tagger, n_jobs=2, cv=[]).fit(X, y), "cv makes no folds"),
        (lambda: prefit.fit(X, [["O"], *y[1:]]), r"y\[0\] has 1 "),
        (lambda: model.sample(X, 0), "n_samples must be a positive integer, got 0"),
        (lambda: model.confidence(X, [["O"]]), "X has 40 samples but y has 1"),
        (lambda: model.predict_proba(X, known=[["Q"] * len(x) for x in X]), r"\[0\] has 'Q'"),
        (lambda: model.predict_proba([np.ones((2, 3))]), "features"),
        (lambda: clone(model).predict_proba(X), "not fitted"),
        (lambda: clone(model).set_params(cv=2).fit(X, codes).span_confidence(X, codes),
         "labels of spans are strings"),
        (lambda: model.set_params(risk="x").predict(X), "'risk' parameter"),
        (lambda: model.set_params(risk=None, scheme="x").predict(X), "'scheme' parameter"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def with_hidden(y, label):
    """The same labels, with another one at the first token of every second sequence."""
    return [[label, *row[1:]] if i % 2 else list(row) for i, row in enumerate(y)]


@pytest.mark.parametrize("wrap", ["tagger", "stopping", "trees"])
@pytest.mark.parametrize("hidden", ["?", {"B-X", "O"}])
def test_hidden_labels(wrap, hidden):
    X, y = tagged(30)
    tagger = SequenceTagger(ignore_label="?", random_state=0)
    if wrap == "stopping":
        tagger = EarlyStopping(tagger, random_state=0)
    if wrap == "trees":
        tagger = TreeTagger(ignore_label="?", random_state=0)
        X = [(x, [-1, *range(len(x) - 1)]) for x in X]
    partly, weight = with_hidden(y, hidden), np.arange(len(X))
    model = CalibratedTagger(tagger, cv=2, method="temperature").fit(X, partly)
    np.testing.assert_array_equal(model.classes_, TAGS)
    single = CalibratedTagger(model.estimator_, cv="prefit").fit(X, partly)
    assert single.score(X, partly, weight) == model.estimator_.score(X, partly, weight)
    # each part is held out from one model, and what is known of it has this probability
    told, log_p = [[None if label == "?" else label for label in row] for row in partly], []
    log_likelihood = np.log(single.confidence(X, told)).mean()
    assert log_likelihood == pytest.approx(single.log_likelihood_, abs=1e-9)
    for train, test in KFold(2).split(X):
        model.estimator_ = clone(tagger).fit([X[i] for i in train], [partly[i] for i in train])
        log_p.append(np.log(model.confidence([X[i] for i in test], [told[i] for i in test])))
    assert abs(np.concatenate(log_p).mean() - model.log_likelihood_) < 1e-9


def test_what_cannot_be_calibrated_is_told():
    (X, y), inner = tagged(30), CalibratedTagger(SequenceTagger())
    hidden, parts = SequenceTagger(ignore_label="?"), Distributed(SequenceTagger(random_state=0))
    in_parts, half_hidden = ([X[:15], X[15:]], [y[:15], y[15:]]), (X, with_hidden(y, None))
    # the item is that of all data, not of a part
    missing = r"y\[1\]\[0\] is None: labels must not be missing"
    for estimator, data, message in (
        (RegularizationPath(SequenceTagger()), (X, y), "RegularizationPath .* needs cv and refit"),
        (RegularizationPath(SequenceTagger(), cv=2, refit=False), (X, y), "needs cv and refit=Tr"),
        (GridSearchCV(hidden, {"lam": [1.0]}, refit=False), (X, y), "it needs refit=True"),
        (None, (X, y), "must be a SequenceTagger, .*, got NoneType"),
        (inner, (X, y), "not calibrated yet, got a CalibratedTagger"),
        (make_pipeline(inner), (X, y), "not calibrated yet, got a CalibratedTagger"),
        (SequenceTagger(), half_hidden, missing),
        (EarlyStopping(hidden), half_hidden, missing),
        (parts, in_parts, "a Distributed fits data in parts, .* cv='prefit'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            CalibratedTagger(estimator, cv=2).fit(*data)
    parts.fit(*in_parts)
    model = CalibratedTagger(parts.estimator_, cv="prefit").fit(X, y)
    # and what was changed after the fit is found
    calibration, classes = model.calibration_, model.classes_
    for damage in ({"bias": np.zeros(1)}, {"transitions": np.zeros((0, 3, 3))}):
        model.calibration_ = calibration | damage
        # the last one: NumPy before 2.0, of an index into nothing
        with pytest.raises((IndexError, ValueError, DeprecationWarning)):
            model.predict_proba(X[:2])
    model.calibration_, model.classes_ = calibration, np.zeros((len(classes), 1))
    with pytest.raises(ValueError, match="classes_ must be an array of labels"):
        model.predict_proba(X[:2])


def test_a_hidden_label_says_what_all_of_its_set_say():
    X, y = tagged(30)
    tagger = SequenceTagger(ignore_label="?", random_state=0).fit(X, y)
    found = [
        CalibratedTagger(tagger, cv="prefit", method="matrix").fit(X, with_hidden(y, hidden))
        for hidden in (None, "?", set(TAGS), "of no model", {"of no model"})
    ]
    for model in found:
        assert model.log_likelihood_ == found[0].log_likelihood_


def test_held_out_labels_that_say_nothing():
    X, y = tagged(30)
    hidden = y[:15] + [["?"] * len(row) for row in y[15:]]
    tagger = SequenceTagger(ignore_label="?", random_state=0)
    folds = [(np.arange(15), np.arange(15, 30))]
    model = CalibratedTagger(tagger, cv=folds, method="matrix").fit(X, hidden)
    # any labels agree with what is not known
    assert model.log_likelihood_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0].sum(axis=1), 1.0)


@pytest.mark.parametrize("around", [EarlyStopping, RegularizationPath])
def test_estimators_around_taggers(around):
    X, y = tagged(30)
    options = {"random_state": 0} if around is EarlyStopping else {"cv": 2}
    estimator = around(SequenceTagger(random_state=0), **options)
    model = CalibratedTagger(estimator, cv=2, method="temperature")
    model.fit(X, y, sample_weight=np.arange(30) % 3 + 1.0)
    # the tagger inside, with the same calibration
    tagger = inner_tagger(model)
    assert isinstance(tagger, SequenceTagger)
    single = CalibratedTagger(tagger, cv="prefit", method="temperature").fit(X, y)
    single.calibration_ = model.calibration_
    assert all(map(np.array_equal, model.predict_proba(X), single.predict_proba(X)))
    drawn, expected = (each.sample(X, 2, random_state=0) for each in (model, single))
    assert all(map(np.array_equal, drawn, expected))
    assert list(model.span_confidence(X)) == list(single.span_confidence(X))
    known = [[None] * (len(x) - 1) + ["O"] for x in X]
    for risk in (None, "labelling", "tokens"):
        predicted = model.set_params(risk=risk).predict(X, known=known)
        assert all(row[-1] == "O" for row in predicted)
