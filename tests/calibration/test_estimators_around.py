"""What can be calibrated: labels that are not known, and estimators around taggers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from sskit import (
    CalibratedTagger,
    EarlyStopping,
    RegularizationPath,
    SequenceTagger,
    TreeTagger,
)
from sskit.calibration import inner_tagger
from sskit.dask import Distributed
from sskit.datasets import make_chains
from sskit.metrics import token_accuracy_score

TAGS = np.array(["B-X", "I-X", "O"])


def tagged(n=30, seed=0):
    """Sequences whose features tell of their labels, with noise."""
    rng = np.random.default_rng(seed)
    y = [TAGS[rng.integers(3, size=rng.integers(2, 6))].tolist() for _ in range(n)]
    X = [1.0 * (np.array(row)[:, None] == TAGS) + rng.normal(size=(len(row), 3)) for row in y]
    return X, y


def with_hidden(y, label):
    """The same labels, with another one at the first token of every second sequence."""
    return [[label, *row[1:]] if i % 2 else list(row) for i, row in enumerate(y)]


class Half:
    """One split, into the first sequences and the others."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1

    def split(self, X, y=None, groups=None):
        half = len(X) // 2
        yield np.arange(half), np.arange(half, len(X))


@pytest.mark.parametrize("wrap", [lambda tagger: tagger, EarlyStopping])
@pytest.mark.parametrize("hidden", ["?", {"B-X", "O"}])
def test_hidden_labels(wrap, hidden):
    X, y = tagged()
    tagger = wrap(SequenceTagger(ignore_label="?", random_state=0))
    if isinstance(tagger, EarlyStopping):
        tagger.set_params(random_state=0)
    partly = with_hidden(y, hidden)
    model = CalibratedTagger(tagger, cv=2, method="temperature").fit(X, partly)
    log_p = []
    np.testing.assert_array_equal(model.classes_, TAGS)
    # each part is held out from one model, and what is known of it has this probability
    told = [[None if label == "?" else label for label in row] for row in partly]
    for train, test in KFold(2).split(X):
        model.estimator_ = clone(tagger).fit([X[i] for i in train], [partly[i] for i in train])
        log_p.append(np.log(model.confidence([X[i] for i in test], [told[i] for i in test])))
    assert abs(np.concatenate(log_p).mean() - model.log_likelihood_) < 1e-9


@pytest.mark.parametrize("hidden", ["?", {"B-X", "O"}])
def test_scores_of_hidden_labels_are_those_of_the_tagger(hidden):
    X, y = tagged()
    tagger = SequenceTagger(ignore_label="?", random_state=0).fit(X, y)
    model = CalibratedTagger(tagger, cv="prefit", method="matrix").fit(X, y)
    partly, weight = with_hidden(y, hidden), np.arange(len(X))
    assert model.score(X, partly) == tagger.score(X, partly)
    assert model.score(X, partly, weight) == tagger.score(X, partly, weight)
    assert model.score(X, y) == token_accuracy_score(y, model.predict(X))


def test_a_hidden_label_says_what_all_of_its_set_say():
    X, y = tagged()
    tagger = SequenceTagger(ignore_label="?", random_state=0).fit(X, y)
    found = [
        CalibratedTagger(tagger, cv="prefit", method="matrix").fit(X, with_hidden(y, hidden))
        for hidden in (None, "?", set(TAGS), "of no model", {"of no model"})
    ]
    for model in found:
        assert model.log_likelihood_ == found[0].log_likelihood_


def test_none_is_no_label_of_training_data():
    X, y = tagged()
    for tagger in (SequenceTagger(), EarlyStopping(SequenceTagger(ignore_label="?"))):
        # the item is that of all data, not of a part
        with pytest.raises(ValueError, match=r"y\[1\]\[0\] is None: labels must not be missing"):
            CalibratedTagger(tagger, cv=2).fit(X, with_hidden(y, None))


def test_held_out_labels_that_say_nothing():
    X, y = tagged()
    hidden = y[:15] + [["?"] * len(row) for row in y[15:]]
    tagger = SequenceTagger(ignore_label="?", random_state=0)
    model = CalibratedTagger(tagger, cv=Half(), method="matrix").fit(X, hidden)
    # any labels agree with what is not known
    assert model.log_likelihood_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0].sum(axis=1), 1.0)


@pytest.mark.parametrize("hidden", ["?", {"B-X", "O"}])
def test_hidden_labels_of_trees(hidden):
    X, y = tagged()
    trees = [(x, [-1, *range(len(x) - 1)]) for x in X]
    partly = with_hidden(y, hidden)
    tagger = TreeTagger(ignore_label="?", random_state=0)
    model = CalibratedTagger(tagger, cv=2, method="temperature")
    model.fit(trees, partly)
    np.testing.assert_array_equal(model.classes_, TAGS)
    single = CalibratedTagger(model.estimator_, cv="prefit", method="matrix").fit(trees, partly)
    assert single.score(trees, partly) == model.estimator_.score(trees, partly)
    told = [[None if label == "?" else label for label in row] for row in partly]
    log_p = np.log(single.confidence(trees, told)).mean()
    assert abs(log_p - single.log_likelihood_) < 1e-9


@pytest.mark.parametrize(
    "estimator",
    [
        EarlyStopping(SequenceTagger(random_state=0), random_state=0),
        RegularizationPath(SequenceTagger(random_state=0), cv=2),
    ],
)
def test_estimators_around_taggers(estimator):
    X, y = tagged()
    model = CalibratedTagger(estimator, cv=2, method="temperature")
    model.fit(X, y, sample_weight=np.arange(30) % 3 + 1.0)
    # the tagger inside, with the same calibration
    tagger = inner_tagger(model)
    assert isinstance(tagger, SequenceTagger)
    single = CalibratedTagger(tagger, cv="prefit", method="temperature").fit(X, y)
    single.calibration_ = model.calibration_
    for p, q in zip(model.predict_proba(X), single.predict_proba(X), strict=True):
        np.testing.assert_array_equal(p, q)
    drawn = model.sample(X, 2, random_state=0)
    assert [some.shape for some in drawn] == [(2, len(x)) for x in X]
    assert len(model.span_confidence(X)) == len(X)
    known = [[None] * (len(x) - 1) + ["O"] for x in X]
    for risk in (None, "labelling", "tokens"):
        predicted = model.set_params(risk=risk).predict(X, known=known)
        assert all(row[-1] == "O" for row in predicted)


def test_estimators_that_keep_no_tagger_are_refused():
    data, inner = tagged(), CalibratedTagger(SequenceTagger())
    for estimator, needs in (
        (RegularizationPath(SequenceTagger()), "RegularizationPath .* needs cv and refit=True"),
        (RegularizationPath(SequenceTagger(), cv=2, refit=False), "needs cv and refit=True"),
        (GridSearchCV(SequenceTagger(), {"lam": [1.0]}, refit=False), "it needs refit=True"),
    ):
        with pytest.raises(ValueError, match=needs):
            CalibratedTagger(estimator).fit(*data)
    for estimator in (inner, make_pipeline(inner)):  # what is calibrated already
        with pytest.raises(TypeError, match="not calibrated yet, got a CalibratedTagger"):
            CalibratedTagger(estimator).fit(*data)


def test_data_in_parts():
    X, y = tagged()
    parts = Distributed(SequenceTagger(random_state=0))
    with pytest.raises(TypeError, match="a Distributed fits data in parts, .* cv='prefit'"):
        CalibratedTagger(parts, cv=2).fit([X[:15], X[15:]], [y[:15], y[15:]])
    parts.fit([X[:15], X[15:]], [y[:15], y[15:]])
    model = CalibratedTagger(parts.estimator_, cv="prefit", method="temperature").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[0].sum(axis=1), 1.0)


def test_what_was_changed_after_the_fit_is_found():
    X, y = make_chains(20, n_states=3, random_state=0)
    model = CalibratedTagger(SequenceTagger(random_state=0), cv=2).fit(X, y)
    calibration, classes = model.calibration_, model.classes_
    for damage in ({"bias": np.zeros(1)}, {"transitions": np.zeros((0, 3, 3))}):
        model.calibration_ = calibration | damage
        with pytest.raises((IndexError, ValueError)):
            model.predict_proba(X[:2])
    model.calibration_, model.classes_ = calibration, np.zeros((len(classes), 1))
    with pytest.raises(ValueError, match="classes_ must be an array of labels"):
        model.predict_proba(X[:2])
