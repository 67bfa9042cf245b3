"""Predictions of taggers: with a beam, under what is known, of sequences without tokens."""

import copy
import pickle
from contextlib import nullcontext
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.real_data import make_glyph_sentences
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.estimators.chain import decoding
from sskit.models.chain.transitions import check_possible
from sskit.oracles import beam_search
from sskit.preprocessing import TokenTransformer
from sskit.utils import RaggedArray

K = 3
X, Y = make_chains(30, n_features=4, n_states=K, noise=1.5, max_length=5, random_state=0)
# the label 1 may not come after 0, nor 2 after 1
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def draw(rng, rules):
    """What is known of sequences, so that something is left by the rules."""
    known = []
    for x in X:
        while True:
            mask = rng.random((len(x), K)) < 0.6
            mask[np.arange(len(x)), rng.integers(K, size=len(x))] = True
            reached = mask[0]
            for row in mask[1:]:
                reached = row & (reached.any() if rules is None else rules[reached].any(axis=0))
            if reached.any():
                break
        known.append(mask)
    return known


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("rules", [None, ALLOWED])
def test_a_beam_keeps_to_it(kernel, rules):
    """Where the beam loses all that is possible, the best labelling is found in its place."""
    model = SequenceTagger(lam=0.05, tol=0.1, random_state=0, kernel=kernel).fit(X, Y)
    model.set_params(allowed_transitions=rules)
    for seed in range(5):
        known = draw(np.random.default_rng(seed), rules)
        for size in (1, 2, None):
            found = model.set_params(beam_size=size).predict(X, known=known)
            for y, mask in zip(found, known, strict=True):
                assert mask[np.arange(len(y)), y].all()
                assert rules is None or rules[y[:-1], y[1:]].all()
    # empty sequences have nothing that could be known
    wider = model.predict([np.empty((0, 4)), *X, X[0][:0]], known=[[], *known, None])
    assert len(wider[0]) == len(wider[-1]) == 0
    assert all(map(np.array_equal, wider[1:-1], found))


TAGS = np.array(["B-x", "E-x", "I-x", "O", "S-x"])


@pytest.mark.parametrize("beam_size", [None, 2])
def test_what_contradicts_the_rules_is_named(beam_size):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (2, 4, 4)]
    y = [TAGS[[3, 4]], TAGS[[0, 2, 1, 3]], TAGS[[3, 0, 1, 3]]]
    model = SequenceTagger(allowed_transitions="bioes", lam=0.1, beam_size=beam_size).fit(X, y)
    calls = (model.predict, model.decision_function, partial(model.predict_topk, k=2))
    for known, message in (
        (["O", "O", "I-x", None], r"known\[2\]\[2\] .* follow those before"),
        (["E-x", None, None, None], r"known\[2\]\[0\] .* begin a sequence"),
        ([None, None, None, {"B-x", "I-x"}], r"known\[2\]\[3\] .* end a sequence"),
        (["B-x", {"B-x", "O"}, None, "O"], r"known\[2\]\[1\] .* follow those before"),
        (["O", {"B-x", "S-x"}, {"B-x", "I-x"}, {"S-x", "B-x"}], r"known\[2\]\[3\] .* follow"),
    ):
        for call in calls:
            with pytest.raises(ValueError, match=message):
                call(X, known=[None, None, known])
    for known in (["B-x", None, None, "O"], ["O", "B-x", "I-x", {"I-x", "E-x"}]):
        found, *_ = [call(X, known=[None, None, known])[2] for call in calls]
        for label, entry in zip(found, known, strict=True):
            assert entry is None or label in (entry if isinstance(entry, set) else {entry})


def test_the_first_of_several_is_named():
    rng = np.random.default_rng(0)
    for _ in range(200):
        allowed, start, end = rng.random((3, 3)) < 0.5, rng.random(3) < 0.7, rng.random(3) < 0.7
        lengths = rng.integers(0, 5, size=4)
        masks = [(rng.random((n, 3)) < 0.7) | np.eye(3, dtype=bool)[rng.integers(3, size=n)]
                 for n in lengths]  # fmt: skip
        wrong = []
        for i, mask in enumerate(masks):
            reached, n = start, len(mask)
            for t in range(n):
                reached = (reached if t == 0 else allowed[reached].any(axis=0)) & mask[t]
                if not (reached & (end if t == n - 1 else True)).any():
                    # sequences of which nothing is known are looked at elsewhere
                    wrong += [] if mask.all() else [(i, t)]
                    break
        told = r"known\[{}\]\[{}\] ".format(*(wrong or [(0, 0)])[0])
        with pytest.raises(ValueError, match=told) if wrong else nullcontext():
            offsets = np.concatenate([[0], lengths.cumsum()])
            check_possible(np.concatenate(masks), offsets, allowed, start, end)
    check_possible(np.ones((2, 3), bool), np.array([0, 2]), allowed, start, end)


def test_it_is_routed_through_pipelines():
    with config_context(enable_metadata_routing=True):
        tagger = SequenceTagger(lam=0.05, tol=0.1).set_predict_request(known=True)
        model = make_pipeline(TokenTransformer(StandardScaler()), tagger).fit(X, Y)
        known = [[1, *[None] * (len(x) - 1)] for x in X]
        assert all(y[0] == 1 for y in model.predict(X, known=known))
    assert SequenceTagger().get_metadata_routing().predict.requests == {"known": None}


# ---- beams -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def glyphs():
    # transitions weigh as much as features do
    X, y = make_glyph_sentences(60, n_characters=30, n_features=10, noise=1.5, random_state=0)
    X = [x / 5 for x in X]
    tagger = SequenceTagger(tol=0.1, random_state=0).fit(X[:40], y[:40])
    return tagger, X, y


def with_beam(tagger, size, **parameters):
    """A fitted tagger with another beam."""
    return copy.copy(tagger).set_params(beam_size=size, **parameters)


def test_is_the_oracle(glyphs):
    tagger, X, _ = glyphs
    for size in (1, 3, 10):
        narrow, expected = with_beam(tagger, size), []
        for x in X:
            scores = np.asarray(x @ tagger.coef_.T)
            scores[0] += tagger.start_
            scores[-1] += tagger.end_
            expected.append(tagger.classes_[beam_search(scores, tagger.transitions_, size)[0]])
        threads, thin = with_beam(tagger, size, n_jobs=3), [sp.csr_array(x) for x in X]
        for found in (narrow.predict(X), narrow.predict(thin), threads.predict(X)):
            assert all(map(np.array_equal, found, expected))


def test_all_labels_are_the_best_labelling(glyphs):
    tagger, X, _ = glyphs
    best = tagger.predict(X)
    for size in (len(tagger.classes_), 10_000):
        assert all(map(np.array_equal, best, with_beam(tagger, size).predict(X)))
    lost = np.concatenate(with_beam(tagger, 1).predict(X)) != np.concatenate(best)
    assert 0.0 < np.mean(lost) < 0.5


def test_only_prediction_uses_it(glyphs):
    tagger, X, y = glyphs
    beam = clone(tagger).set_params(beam_size=1).fit(X[:40], y[:40])
    np.testing.assert_array_equal(beam.coef_, tagger.coef_)
    assert beam.dual_gap_ == tagger.dual_gap_ and beam.certified_
    for method, further in (("predict_topk", (1,)), ("decision_function", ())):
        found, expected = (getattr(each, method)(X[:5], *further) for each in (beam, tagger))
        assert all(map(np.array_equal, found, expected))
    assert beam.score(X, y) == np.mean(np.concatenate(beam.predict(X)) == np.concatenate(y))


def test_lost_labellings_are_found_exactly():
    # label 0 leads nowhere but is the best of the first token: a beam of one ends there
    X = [np.eye(3)[[1, 2]], np.eye(3)[[0]], np.eye(3)[[1, 2, 2]]] * 5
    y = [np.array([1, 2]), np.array([0]), np.array([1, 2, 2])] * 5
    allowed = np.array([[False] * 3, [True] * 3, [True] * 3])
    tagger = SequenceTagger(lam=0.01, allowed_transitions=allowed, random_state=0).fit(X, y)
    hard = [np.eye(3)[[0, 2]] * 10.0]
    (best,), (found,) = tagger.predict(hard), with_beam(tagger, 1).predict(hard)
    assert best[0] != 0
    np.testing.assert_array_equal(found, best)


# ---- sequences without tokens --------------------------------------------------------------


RNG = np.random.default_rng(0)
TOKENS = [
    [
        {"w": str(RNG.integers(30)), "b": [str(k) for k in RNG.integers(9, size=2)], "n": number}
        for number in RNG.normal(size=RNG.integers(1, 12)).tolist()
    ]
    for _ in range(40)
]


def tokens_fit(n_labels=3, **options):
    """A tagger of tokens that are dicts."""
    rng = np.random.default_rng(n_labels)
    labels = [rng.integers(n_labels, size=len(x)).tolist() for x in TOKENS]
    labels[0] = [j % n_labels for j in range(len(labels[0]))]
    return SequenceTagger(random_state=0, tol=0.3, **options).fit(TOKENS, labels)


def objects_are_made(*args, **kwargs):
    raise AssertionError("objects of a request are made")


@pytest.mark.parametrize("n_labels", [1, 2, 3, 7, 8, 9, 16])
def test_one_sequence_is_labelled_as_among_others(n_labels, monkeypatch):
    """By fewer objects: the most frequent request."""
    model = tokens_fit(n_labels)
    with_new = [*TOKENS, [{"w": "new"}], [{"new": 1.0}] * 3]
    expected = model.predict(with_new)
    changed = pickle.loads(pickle.dumps(model))
    changed.coef_ = np.ascontiguousarray(model.coef_)
    monkeypatch.setattr(decoding, "make_request", objects_are_made)
    for x, y in zip(with_new, expected, strict=True):
        for one in (model, changed):
            np.testing.assert_array_equal(one.predict([x])[0], y)
            assert one.predict([x])[0].dtype == y.dtype
    with pytest.raises(AssertionError, match="objects of a request are made"):
        model.predict(with_new[:2])


@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize(
    "options",
    [{"order": 2}, {"n_states_per_label": 2}, {"beam_size": 1}, {"kernel": "rbf"}],
    ids=" ".join,
)
def test_one_sequence_of_other_models_is_labelled_as_among_others(options, rules):
    model = tokens_fit(**options)
    if rules:
        model.set_params(allowed_transitions=~np.eye(3, dtype=bool))
    singly = [model.predict([x])[0] for x in TOKENS]
    assert all(map(np.array_equal, singly, model.predict(TOKENS)))


def test_what_was_changed_after_a_fit_is_found_with_one_sequence_too():
    fitted, x = tokens_fit(), TOKENS[:1]
    expected = fitted.predict(x)[0]

    def changed(name, value):
        model = copy.copy(fitted)
        setattr(model, name, value)
        return model

    for name, value in (
        ("coef_", fitted.coef_.astype(np.float32)),
        ("transitions_", np.asfortranarray(fitted.transitions_)),
        ("start_", fitted.start_.astype(np.float32)),
    ):
        np.testing.assert_array_equal(changed(name, value).predict(x)[0], expected)
    names = np.array(["a", "b", "c"])
    np.testing.assert_array_equal(changed("classes_", names).predict(x)[0], names[expected])
    for name, value, message in (
        ("coef_", np.full_like(fitted.coef_, np.nan), r"coef_\[.*\] is nan"),
        ("coef_", fitted.coef_[:, 1:], "coef_ must have the shape"),
        ("coef_", fitted.coef_[1:], "coef_ must have the shape"),
        ("coef_", None, "coef_ must be an array of numbers"),
        ("transitions_", np.full((3, 3), np.inf), r"transitions_\[0, 0\] is inf"),
        ("transitions_", np.zeros((3, 2)), "transitions_ must have the shape"),
        ("start_", np.array([0, 1e200, 0]), r"start_\[1\] is 1e\+200"),
        ("end_", np.zeros(4), "end_ must have the shape"),
        ("end_", "abc", "end_ must be an array of numbers"),
        ("classes_", np.arange(4), "must have the shape"),
    ):
        with pytest.raises(ValueError, match=message):
            changed(name, value).predict(x)
    with pytest.raises(ValueError, match="too large"):
        fitted.predict([[{"n": 1e300}, {"w": "1"}]])
    with pytest.raises(NotFittedError):
        SequenceTagger().predict(x)


EMPTIES = {
    "list": lambda p: [],
    "tuple": lambda p: (),
    "array": lambda p: np.empty((0, p)),
    "array of no width": lambda p: np.empty((0, 0)),
    "csr": lambda p: sp.csr_array((0, p)),
    "frame": lambda p: pd.DataFrame(np.empty((0, p))),
}


OPTIONS = [{}, {"kernel": "rbf"}, {"beam_size": 2}, {"order": 2}, {"edges": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_empty_sequences_are_predicted(options):
    edged, data, y = "edges" in options, X, Y
    if edged:
        data, options = [(x, np.diff(x, axis=0)) for x in X], {}
    model = SequenceTagger(tol=0.5, lam=0.1, random_state=0, **options).fit(data, y)
    n_labels, expected = len(model.classes_), model.predict(data[:3])
    truth = [[], *y[:2], [], [], y[2], []]
    for make in EMPTIES.values():
        empty = make(4)
        empty = (empty, np.empty((0, 4))) if edged else empty
        with_empty = [empty, *data[:2], empty, empty, data[2], empty]
        predicted = model.predict(with_empty)
        assert [len(labels) for labels in predicted] == [len(labels) for labels in truth]
        assert all(map(np.array_equal, [predicted[i] for i in (1, 2, 5)], expected))
        assert predicted[0].dtype == model.classes_.dtype
        shapes = [scores.shape for scores in model.decision_function([empty, data[0]])]
        assert shapes == [(0, n_labels), (len(y[0]), n_labels)]
        labels, scores = model.predict_topk([data[0], empty], 3, return_scores=True)
        assert labels[0].shape == (3, len(y[0])) and labels[1].shape == (1, 0)
        np.testing.assert_array_equal(scores[1], [0.0])
        assert model.score(with_empty, truth) == model.score(data[:3], y[:3])
        for nothing in ([empty], [empty] * 3):
            assert [len(labels) for labels in model.predict(nothing)] == [0] * len(nothing)
            assert model.decision_function(nothing)[0].shape == (0, n_labels)
            assert model.predict_topk(nothing, 2)[0].shape == (1, 0)
        # in a fit they are nothing
        some, every = clone(model).fit(data[:3], y[:3]), clone(model).fit(with_empty, truth)
        np.testing.assert_array_equal(some.transitions_, every.transitions_)
        with pytest.raises(ValueError, match=r"X\[0\] is empty: a sequence needs one row or more"):
            clone(model).fit([empty], [[]])


def test_empty_sequences_keep_the_names_of_others():
    model = SequenceTagger(tol=0.5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"X\[2\] contains NaN at row 0, column 0"):
        model.predict([[], X[0], np.nan * X[1]])
    with pytest.raises(ValueError, match=r"X\[2\] has 1 features but X\[0\] has"):
        model.predict([X[0], [], X[1][:, :1]])
    stacked = RaggedArray(np.concatenate(X[:2]), [0, 0, len(X[0]), len(X[0]) + len(X[1])])
    assert [len(labels) for labels in model.predict(stacked)] == [0, len(X[0]), len(X[1])]


@pytest.mark.parametrize("inner", [DictVectorizer(), FeatureHasher(8), StandardScaler()])
def test_empty_sequences_in_pipelines(inner):
    X, y = [[{"a": 1.0}, {"b": 2.0}], [{"b": 1.0}]], [["A", "B"], ["B"]]
    if isinstance(inner, StandardScaler):
        X = [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [3.0]})]
    pipeline = make_pipeline(TokenTransformer(inner), SequenceTagger(random_state=0)).fit(X, y)
    empty = X[0][:0]
    predicted = pipeline.predict([empty, X[0], empty, X[1]])
    assert [len(labels) for labels in predicted] == [0, 2, 0, 1]
    np.testing.assert_array_equal(predicted[1], pipeline.predict(X)[0])
    assert [len(labels) for labels in pipeline.predict([empty, empty])] == [0, 0]
    pipeline.fit([X[0], empty, X[1]], [y[0], [], y[1]])
    np.testing.assert_array_equal(predicted[1], pipeline.predict(X)[0])
