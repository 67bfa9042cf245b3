"""Taggers that are fitted to tokens as they are: dicts of attributes, or lists of strings."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import sskit
from sskit.datasets import load_conll, save_conll
from sskit.inputs import ragged
from sskit.metrics import spans
from sskit.preprocessing import TokenVectorizer

WORDS = [["the", "dog", "barks"], ["stop"], ["a", "dog", "is", "it"], ["the", "end"]] * 5
X = [
    [
        {"w": word, "n": len(word), "previous": {"w": sentence[t - 1]} if t else {}}
        for t, word in enumerate(sentence)
    ]
    for sentence in WORDS
]
LISTS = [[["w=" + word, "c=" + word[0]] for word in sentence] for sentence in WORDS]
TAGS = {"the": "D", "a": "D", "dog": "N", "end": "N", "it": "P"}
Y = [[TAGS.get(word, "V") for word in sentence] for sentence in WORDS]
SEGMENTS = [[(0, len(sentence), "S")] for sentence in WORDS]
TREES = [(tokens, np.arange(-1, len(tokens) - 1)) for tokens in X]
EDGES = [(tokens, np.ones((len(tokens) - 1, 1))) for tokens in X]
make = partial(sskit.SequenceTagger, random_state=0)
CASES = {
    "sequences": (make(), X, Y),
    "lists": (make(), LISTS, Y),
    "kernel": (make(kernel="rbf"), X, Y),
    "states": (make(n_states_per_label=2), X, Y),
    "second order": (make(order=2), X, Y),
    "slack": (make(rescaling="slack"), X, Y),
    "edges": (make(), EDGES, Y),
    "segments": (sskit.SegmentTagger(random_state=0), X, SEGMENTS),
    "tags": (sskit.SegmentTagger(random_state=0), X, [["B-S", *["I-S"] * (len(x) - 1)] for x in X]),
    "trees": (sskit.TreeTagger(random_state=0), TREES, Y),
}


def flat(labellings):
    """Return labellings that compare."""
    return [list(labels) for labels in labellings]


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_model_of_the_vectorizer(case):
    model, data, labels = CASES[case]
    copied = pickle.dumps((data, labels))
    fitted = clone(model).fit(data, labels)
    assert pickle.dumps((data, labels)) == copied
    vectorizer, names = fitted.vectorizer_, fitted.vectorizer_.feature_names_
    assert fitted.feature_names_in_.tolist() == names and fitted.n_features_in_ == len(names)
    if isinstance(data[0], tuple):
        tokens, others = zip(*data, strict=True)
        rows = list(zip(vectorizer.transform(tokens), others, strict=True))
    else:
        rows = vectorizer.transform(data)
    plain = clone(model).fit(rows, labels)
    assert not hasattr(plain, "vectorizer_")
    for name in {"coef_", "transitions_", "dual_coef_", "dual_gap_"} & {*dir(plain)}:
        np.testing.assert_array_equal(getattr(fitted, name), getattr(plain, name))
    assert flat(fitted.predict(data)) == flat(fitted.predict(rows)) == flat(plain.predict(rows))
    assert fitted.score(data, labels) == plain.score(rows, labels) > 0.9
    for method, further in (("decision_function", ()), ("predict_topk", (2,))):
        if case == "kernel" or (case == "states" and method == "predict_topk"):
            continue
        answers = getattr(plain, method)(rows, *further)
        assert all(map(np.array_equal, getattr(fitted, method)(data, *further), answers))
        for i in range(4):  # one by one, to the last bit
            single = getattr(fitted, method)(data[i : i + 1], *further)[0]
            np.testing.assert_array_equal(single, answers[i])


@pytest.mark.parametrize("case", ["sequences", "lists", "edges", "trees"])
def test_names_of_features_come_with_them(case):
    model, data, labels = CASES[case]
    fitted = clone(model).fit(data, labels)
    names = set(fitted.vectorizer_.feature_names_)
    assert {"w=dog", "w=the"} <= set(fitted.weights_frame()["feature"].dropna()) & names
    frame = fitted.explain(data, 2, 1)
    assert set(frame.loc[frame["kind"] == "feature", "feature"]) <= names
    assert frame["contribution"].sum() == pytest.approx(frame.attrs["margin"])


def test_tokens_without_features_tell_nothing():
    """Whether they come first or not; forms of sentences are in preprocessing."""
    data, labels = [[[], []], *LISTS], [["V", "V"], *Y]
    fitted = make().fit(data, labels)
    last = flat(make().fit(data[::-1], labels[::-1]).predict(data[::-1]))
    assert flat(fitted.predict(data)) == last[::-1]
    # new ones neither
    new = [[], [{"other": "z"}], [{}], [{"w": "dog", "previous": {"w": "the"}, "n": 3}]]
    found = make().fit(X, Y).predict(new)
    assert [len(labels) for labels in found] == [0, 1, 1, 1] and found[3].tolist() == ["N"]


@pytest.mark.parametrize("case", ["sequences", "segments", "trees"])
def test_errors_name_the_attribute(case):
    model, data, labels = CASES[case]
    tokens = [{"w": "the"}, {"w": "dog", "n": float("nan")}]
    bad = [*data[:3], (tokens, np.array([-1, 0])) if case == "trees" else tokens]
    fresh, fitted = clone(model), clone(model).fit(data, labels)
    calls = [partial(fresh.fit, y=labels[:4]), fitted.predict, fitted.decision_function]
    if case != "segments":
        calls += [partial(fitted.explain, i=3, t=0), partial(fitted.partial_fit, y=labels[:4])]
    for call in calls:
        with pytest.raises(ValueError, match=r"^X\[3\]\[1\]\['n'\] is nan: leave out what is"):
            call(bad)
    assert not hasattr(fresh, "vectorizer_")


def test_matrices_and_tokens_are_not_mixed():
    rows = TokenVectorizer().fit_transform(X)
    plain, fitted = make().fit(rows, Y), make().fit(X, Y)
    message = "X has tokens that are dicts or strings, but this SequenceTagger was fitted to"
    for call in (plain.predict, partial(plain.explain, i=0, t=0), partial(plain.partial_fit, y=Y)):
        with pytest.raises(TypeError, match=message):
            call(X)
    with pytest.raises(ValueError, match="X has 2 features, but SequenceTagger is expecting"):
        fitted.predict([np.ones((2, 2))])
    with pytest.raises(TypeError, match=r"X\[0\]\[0\] is 'the' of the type str: a token is a dict"):
        make().fit(WORDS, Y)
    refitted = fitted.fit(rows, Y)
    assert not hasattr(refitted, "vectorizer_") and not hasattr(refitted, "feature_names_in_")


def test_steps_keep_the_first_vectorizer():
    classes = sorted(set(TAGS.values()) | {"V"})
    model = make().partial_fit(X[:2], Y[:2], classes=classes)
    vectorizer, names = model.vectorizer_, model.feature_names_in_
    assert "w=it" not in vectorizer.vocabulary_
    rows = vectorizer.transform(X[2:4])
    peer = make().partial_fit(vectorizer.transform(X[:2]), Y[:2], classes=classes)
    for data in (X[2:4], rows):
        model.partial_fit(data, Y[2:4])
        peer.partial_fit(rows, Y[2:4])
        assert model.vectorizer_ is vectorizer and model.feature_names_in_ is names
    np.testing.assert_array_equal(model.coef_, peer.coef_)
    # a fit starts anew
    assert "w=it" in model.fit(X, Y).vectorizer_.vocabulary_


def test_warm_start_goes_on_with_the_same_features():
    model = make(warm_start=True).fit(X[:4], Y[:4])
    # samples appended, no new features
    before = model.fit(X[:8], Y[:8]).coef_
    more = [*X[:8], [{"w": "new"}]], [*Y[:8], ["N"]]
    for data in (more, (X[:1], Y[:1])):
        with pytest.raises(ValueError, match="warm_start=True cannot continue the last fit, becau"):
            model.fit(*data)
    assert model.coef_ is before
    # a prior is aligned by names
    fitted = make(prior=model, lam=1e6).fit(*more)
    columns = [fitted.feature_names_in_.tolist().index(k) for k in model.feature_names_in_]
    np.testing.assert_allclose(fitted.coef_[:, columns], model.coef_, atol=1e-3)


WRAPS = partial(sskit.EarlyStopping, random_state=0), partial(sskit.RegularizationPath, cv=2)


@pytest.mark.parametrize("wrap", WRAPS, ids=["stopping", "path"])
def test_estimators_of_taggers(wrap):
    fitted = wrap(make()).fit(X, Y)
    assert flat(fitted.predict(X)) == Y
    assert fitted.vectorizer_.feature_names_ == fitted.feature_names_in_.tolist()
    assert flat(sskit.CalibratedTagger(fitted, cv=2).fit(X, Y).predict(X)) == Y


# Words of blanks, as tokenisers return them, and the signs that CRFsuite parts attributes by.
ODD = ["New", " ", "", "\t\n", "York", "a=b", "a:b", "=", ":", "a=b:c=", "\\:", "\xa0"]


def test_blank_words_and_signs_in_attributes_are_like_all_others(tmp_path):
    tags = ["B-LOC", *["I-LOC"] * 4, *["O", "B-a:b"] * 3, "I-a:b"]
    assert spans(tags)[0] == ("LOC", 0, 5)  # a name over tokens without a letter
    dicts = [[{"w": word, "w[1]:x=": word} for word in some] for some in (ODD, ODD[::-1])]
    lists = [[[f"{key}={word}" for key, word in token.items()] for token in x] for x in dicts]
    y = [tags, tags[::-1]]
    fits = [sskit.SequenceTagger(lam=1e-3, random_state=0).fit(X, y) for X in (dicts, lists)]
    names = fits[0].feature_names_in_.tolist()
    assert names == fits[1].feature_names_in_.tolist() == sorted(sum(lists[0], []))
    np.testing.assert_array_equal(*(tagger.coef_ for tagger in fits))
    for tagger, X in zip(fits, (dicts, lists), strict=True):
        assert [labels.tolist() for labels in tagger.predict(X)] == y
    # and through a file, whose lines end where lines end only
    words = [word for word in ODD if "\n" not in word]
    source, path = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("".join(f"{word}\tO\n" for word in words), encoding="utf-8")
    X, _ = load_conll(source, columns=["w", "tag"])
    assert [token["w"] for token in X[0]] == words
    save_conll(path, [tags[: len(words)]], source=source)
    assert load_conll(path, columns=["w", "tag"]) == (X, [tags[: len(words)]])


def test_rows_that_a_fit_has_made_are_not_validated_again(monkeypatch):
    X, y = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}]], [["A", "B"], ["B"]]
    expected = sskit.SequenceTagger(random_state=0).fit(X, y)

    def refuse(*args):
        raise AssertionError("rows are validated")

    monkeypatch.setattr(ragged, "as_matrix", refuse)
    monkeypatch.setattr(ragged, "check_finite", refuse)
    fitted = sskit.SequenceTagger(random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, expected.coef_)
    sskit.SegmentTagger(random_state=0).fit(X, [["O", "B-x"], ["O"]])
    sskit.SegmentTagger(random_state=0).fit([*X[:1], []], [["O", "B-x"], []])
