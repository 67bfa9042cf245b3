"""Weights and explanations of pipelines have the names of their steps; bars are the weights."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import sskit
from sskit.datasets import make_chains
from sskit.display import FeatureWeightsDisplay
from sskit.inspection import errors_frame, explain, weights_frame
from sskit.preprocessing import TokenTransformer

plt = pytest.importorskip("matplotlib.pyplot")

TAGS = ["DET", "NOUN", "VERB"]
WORDS = ["the", "cat", "sleeps", "a", "dog", "barks"]


def sentences(n=20):
    """Sentences of two patterns, as dicts of words."""
    rng = np.random.default_rng(0)
    draws = [rng.integers(2, size=3) for _ in range(n)]
    return [[{"w": WORDS[k + 3 * j]} for k, j in enumerate(draw)] for draw in draws], [TAGS] * n


@pytest.fixture(scope="module")
def pipeline():
    steps = TokenTransformer(DictVectorizer()), sskit.SequenceTagger(random_state=0)
    return make_pipeline(*steps).fit(*sentences())


def test_names_come_through_pipelines_and_searches(pipeline):
    frame = weights_frame(pipeline, 2)
    node = frame[frame["kind"] == "node"]
    assert set(node[node["label"] == "NOUN"]["feature"]) >= {"w=cat", "w=dog"}
    names = pipeline[:-1].get_feature_names_out()
    assert frame.equals(pipeline[-1].weights_frame(2, names))
    assert frame.equals(weights_frame(pipeline[-1], np.uint8(2), feature_names=names))
    search = GridSearchCV(pipeline, {"sequencetagger__lam": [pipeline[-1].lam_]}, cv=2)
    assert weights_frame(search.fit(*sentences()), 2).equals(frame)
    hasher = TokenTransformer(FeatureHasher(8, input_type="dict"))
    found = weights_frame(clone(pipeline).set_params(tokentransformer=hasher).fit(*sentences()))
    assert all(name[0] == "x" for name in found[found["kind"] == "node"]["feature"])
    edged = clone(pipeline).set_params(tokentransformer__edges="w[-1]|w[0]").fit(*sentences())
    frame = weights_frame(edged)
    assert "+w[-1]|w[0]=the|dog" in set(frame[frame["kind"] == "edge"]["feature"])


def test_explanations_of_pipelines(pipeline):
    X, _ = sentences()
    explanation = explain(pipeline, X, 2, 1)
    assert explanation.attrs["label"] == "NOUN"
    assert f"w={X[2][1]['w']}" in explanation["feature"].tolist()
    margins = np.sort(pipeline.decision_function(X)[2][1])
    assert explanation.attrs["margin"] == pytest.approx(margins[-1] - margins[-2])
    inner = pipeline[:-1].transform(X)
    assert explain(pipeline[-1], inner, 2, 1).attrs == explanation.attrs
    assert explain(pipeline, X, 2, 1, rival="VERB").attrs["rival"] == "VERB"


def test_bars_are_the_weights(pipeline):
    display = FeatureWeightsDisplay.from_estimator(pipeline, top=2)
    assert list(display.panels) == TAGS and len(display.axes_) == 3
    assert display.figure_ is display.axes_[0].figure
    frame = weights_frame(pipeline, 2)
    for label, axes, bars in zip(TAGS, display.axes_, display.bars_, strict=True):
        rows = frame[(frame["kind"] == "node") & (frame["label"] == label)]
        assert [bar.get_width() for bar in bars] == rows["weight"].tolist()
        assert [text.get_text() for text in axes.get_yticklabels()] == rows["feature"].tolist()
        assert axes.get_title() == label and axes.yaxis_inverted()  # the largest on top


def test_chosen_and_many_labels_and_what_has_no_weights(pipeline):
    draw, (_, axes) = FeatureWeightsDisplay.from_estimator, plt.subplots(1, 2)
    display = draw(pipeline, labels=["VERB", "DET"], top=1, ax=axes)
    assert list(display.panels) == ["VERB", "DET"] and list(display.axes_) == list(axes)
    assert list(draw(pipeline, labels=["DET"], ax=axes[0]).axes_) == [axes[0]]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 6
    rows = sskit.StructSVMClassifier(random_state=0).fit(X, y)
    display = draw(rows)
    assert len(display.axes_) == len(display.figure_.axes) == 6
    none, new = clone(rows).fit(np.zeros((4, 2)), [0, 1, 2, 0]), sskit.SequenceTagger()
    for call, error, message in [
        (lambda: draw(pipeline, labels=["X"]), ValueError, "labels holds 'X'"),
        (lambda: draw(pipeline, ax=axes), ValueError, "axes must hold 3"),
        (lambda: draw(new), NotFittedError, "not fitted"),
        (lambda: draw(none), ValueError, "no label with weights of features to draw"),
        (lambda: weights_frame(new), NotFittedError, "not fitted"),
        (lambda: explain(make_pipeline(new), [], 0, 0), NotFittedError, "not fitted"),
        (lambda: errors_frame(new, [[[0.0]]], [[0]]), NotFittedError, "not fitted"),
        (lambda: explain(rows, X, 0, 0), TypeError,
         "StructSVMClassifier has no max-marginals, and no explain"),
        (lambda: errors_frame(rows, X, y), TypeError, "StructSVMClassifier has no max-marginals"),
        (lambda: errors_frame(pipeline, [[{}]], [TAGS]), ValueError, r"y_true\[0\] has"),
        (lambda: errors_frame(pipeline, *sentences(), top=-1), ValueError, "top"),
        (lambda: errors_frame(pipeline, *sentences(), n_reasons=-1), ValueError, "n_reasons"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            call()


def as_trees(X):
    return [(x, np.arange(len(x)) - 1) for x in X]


@pytest.mark.parametrize(
    ("estimator", "convert"),
    [
        (sskit.SequenceTagger(random_state=0), list),
        (sskit.CalibratedTagger(sskit.SequenceTagger(random_state=0), cv=2), list),
        (sskit.TreeTagger(random_state=0), as_trees),
        (GridSearchCV(sskit.SequenceTagger(random_state=0), {"lam": [0.1]}, cv=2), list),
    ],
)
def test_errors_are_all_listed_with_what_speaks_for_them(estimator, convert):
    X, y = make_chains(30, n_states=3, random_state=1)
    X = convert(X)
    model = estimator.fit(X, y)
    # some true labels are wrong, and one is new
    y = [labels.copy() for labels in y]
    y[3][0], y[4][1], y[5][2] = (y[3][0] + 1) % 3, (y[4][1] + 1) % 3, 7
    y_pred, frame = model.predict(X), errors_frame(model, X, y, None)
    wrong = {(i, t) for i, labels in enumerate(y) for t in np.flatnonzero(labels != y_pred[i])}
    places = list(zip(frame["sample"], frame["token"], strict=True))
    assert len(wrong) >= 3 and set(places) == wrong and len(places) == len(wrong)
    assert [y[i][t] for i, t in places] == frame["true"].tolist()
    assert [y_pred[i][t] for i, t in places] == frame["predicted"].tolist()
    confidence = frame["confidence"]
    assert (np.diff(confidence[np.isfinite(confidence)]) <= 0).all()
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        np.testing.assert_allclose(confidence, [proba[i][t][y_pred[i][t]] for i, t in places])
    inner = getattr(model, "estimator_", getattr(model, "best_estimator_", model))
    for _, (i, t, true, label, _, reasons) in frame.iterrows():
        parts = inner.explain(X, i, t, label=label, rival=None if true == 7 else true)
        best = parts.loc[parts["contribution"].idxmax()]
        if best["contribution"] > 0:
            told = best["feature"] or best["kind"]
            assert reasons.startswith(f"{told} {best['contribution']:+.2f}")
        assert reasons.count(" +") <= 3
    assert errors_frame(model, X, y, 2).equals(frame[:2])
    assert len(errors_frame(model, X, y_pred)) == 0


def test_errors_of_pipelines_have_names_and_hidden_labels_are_none(pipeline):
    X, y = sentences()
    frame = errors_frame(pipeline, X, [["NOUN", "NOUN", "VERB"], *y[1:]], n_reasons=1)
    assert frame["reasons"].tolist() == [frame["reasons"][0]]
    assert frame["reasons"][0].split()[0] in ("w=the", "w=a", "start")
    partly = pipeline[-1].__class__(ignore_label="?", random_state=0)
    X, y = make_chains(10, random_state=0)
    y = [np.array(["?", *labels[1:].astype(str)]) for labels in y]
    frame = errors_frame(partly.fit(X, y), X, y, None)
    assert "?" not in frame["true"].tolist()


def test_of_sets_of_labels_each_is_right(pipeline):
    X, y = sentences()
    truth = [[{"DET", "VERB"}, {"DET", "VERB"}, "VERB"], *y[1:]]
    frame = errors_frame(pipeline, X, truth)
    assert frame[["sample", "token", "predicted"]].values.tolist() == [[0, 1, "NOUN"]]
    margins = pipeline.decision_function(X)[0][1]
    classes = pipeline[-1].classes_.tolist()
    rivals = [margins[classes.index(label)] for label in ("DET", "VERB")]
    assert frame["confidence"][0] == pytest.approx(margins[classes.index("NOUN")] - max(rivals))


def test_an_explanation_reads_its_sequence_alone(monkeypatch):
    rng, read = np.random.default_rng(0), []
    X = [rng.normal(size=(3, 2)) for _ in range(30)]
    y = [rng.integers(2, size=3) for _ in X]
    tagger = sskit.SequenceTagger(tol=0.5, random_state=0).fit(X, y)
    whole = sskit.SequenceTagger._fitted_data

    def fitted_data(self, X):
        read.append(len(X))
        return whole(self, X)

    monkeypatch.setattr(sskit.SequenceTagger, "_fitted_data", fitted_data)
    frame = errors_frame(tagger, X, y, top=None)
    assert len(frame) > 10
    assert read == [30, 30] + [1] * (len(read) - 2)
    # an error names the sequence by its number all the same
    bad = [*X[:7], np.full((3, 2), np.nan), *X[8:]]
    with pytest.raises(ValueError, match=r"X\[7\]"):
        explain(tagger, bad, 7, 0)
    with pytest.raises(ValueError, match="known"):
        explain(tagger, X, 7, 0, known=[None])
