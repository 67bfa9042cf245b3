"""What can be calibrated: labels that are not known, and estimators around taggers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from sskit import CalibratedTagger, EarlyStopping, RegularizationPath, SequenceTagger, TreeTagger
from sskit.calibration import inner_tagger
from sskit.dask import Distributed
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


@pytest.mark.parametrize("wrap", ["tagger", "stopping", "trees"])
@pytest.mark.parametrize("hidden", ["?", {"B-X", "O"}])
def test_hidden_labels(wrap, hidden):
    X, y = tagged()
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
    assert single.score(X, partly) == model.estimator_.score(X, partly)
    assert single.score(X, partly, weight) == model.estimator_.score(X, partly, weight)
    assert single.score(X, y) == token_accuracy_score(y, single.predict(X))
    # each part is held out from one model, and what is known of it has this probability
    told, log_p = [[None if label == "?" else label for label in row] for row in partly], []
    log_likelihood = np.log(single.confidence(X, told)).mean()
    assert log_likelihood == pytest.approx(single.log_likelihood_, abs=1e-9)
    for train, test in KFold(2).split(X):
        model.estimator_ = clone(tagger).fit([X[i] for i in train], [partly[i] for i in train])
        log_p.append(np.log(model.confidence([X[i] for i in test], [told[i] for i in test])))
    assert abs(np.concatenate(log_p).mean() - model.log_likelihood_) < 1e-9


def test_what_cannot_be_calibrated_is_told():
    (X, y), inner = tagged(), CalibratedTagger(SequenceTagger())
    hidden, parts = SequenceTagger(ignore_label="?"), Distributed(SequenceTagger(random_state=0))
    in_parts = [X[:15], X[15:]], [y[:15], y[15:]]
    # the item is that of all data, not of a part
    missing = r"y\[1\]\[0\] is None: labels must not be missing"
    for estimator, data, message in (
        (RegularizationPath(SequenceTagger()), (X, y), "RegularizationPath .* needs cv and refit"),
        (RegularizationPath(SequenceTagger(), cv=2, refit=False), (X, y), "needs cv and refit=Tr"),
        (
            GridSearchCV(SequenceTagger(), {"lam": [1.0]}, refit=False),
            (X, y),
            "it needs refit=True",
        ),
        (inner, (X, y), "not calibrated yet, got a CalibratedTagger"),
        (make_pipeline(inner), (X, y), "not calibrated yet, got a CalibratedTagger"),
        (SequenceTagger(), (X, with_hidden(y, None)), missing),
        (EarlyStopping(hidden), (X, with_hidden(y, None)), missing),
        (parts, in_parts, "a Distributed fits data in parts, .* cv='prefit'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            CalibratedTagger(estimator, cv=2).fit(*data)
    parts.fit(*in_parts)
    model = CalibratedTagger(parts.estimator_, cv="prefit").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[0].sum(axis=1), 1.0)
    # and what was changed after the fit is found
    calibration, classes = model.calibration_, model.classes_
    for damage in ({"bias": np.zeros(1)}, {"transitions": np.zeros((0, 3, 3))}):
        model.calibration_ = calibration | damage
        with pytest.raises((IndexError, ValueError)):
            model.predict_proba(X[:2])
    model.calibration_, model.classes_ = calibration, np.zeros((len(classes), 1))
    with pytest.raises(ValueError, match="classes_ must be an array of labels"):
        model.predict_proba(X[:2])


def test_a_hidden_label_says_what_all_of_its_set_say():
    X, y = tagged()
    tagger = SequenceTagger(ignore_label="?", random_state=0).fit(X, y)
    found = [
        CalibratedTagger(tagger, cv="prefit", method="matrix").fit(X, with_hidden(y, hidden))
        for hidden in (None, "?", set(TAGS), "of no model", {"of no model"})
    ]
    for model in found:
        assert model.log_likelihood_ == found[0].log_likelihood_


def test_held_out_labels_that_say_nothing():
    X, y = tagged()
    hidden = y[:15] + [["?"] * len(row) for row in y[15:]]
    tagger = SequenceTagger(ignore_label="?", random_state=0)
    model = CalibratedTagger(tagger, cv=Half(), method="matrix").fit(X, hidden)
    # any labels agree with what is not known
    assert model.log_likelihood_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0].sum(axis=1), 1.0)


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
