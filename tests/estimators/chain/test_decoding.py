"""A beam is the oracle's, one sequence is labelled as among others, and what is known is kept to.

That beams keep to it too is in tests/estimators/test_enumeration.py.
"""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.estimators.chain import decoding
from sskit.oracles import beam_search
from sskit.utils import RaggedArray

K = 3
X, Y = make_chains(30, n_features=4, n_states=K, noise=1.5, max_length=5, random_state=0)


TAGS = np.array(["B-x", "E-x", "I-x", "O", "S-x"])


@pytest.mark.parametrize("beam_size", [None, 2])
def test_what_contradicts_the_rules_is_named(beam_size):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (2, 4, 4)]
    y = [TAGS[[3, 4]], TAGS[[0, 2, 1, 3]], TAGS[[3, 0, 1, 3]]]
    model = SequenceTagger(allowed_transitions="bioes", lam=0.1, beam_size=beam_size).fit(X, y)
    calls = (model.predict, model.decision_function, partial(model.predict_topk, k=2))
    start = ["E-x", None, None, None]
    for known, message in (
        ([None, None, ["O", "O", "I-x", None]], r"known\[2\]\[2\] .* follow those before"),
        ([None, None, start], r"known\[2\]\[0\] .* begin a sequence"),
        ([None, [*[None] * 3, {"B-x", "I-x"}], start], r"known\[1\]\[3\] .* end a sequence"),
        ([None, ["B-x", {"B-x", "O"}, None, "O"], start], r"known\[1\]\[1\] .* follow"),
        ([None, None, ["O", {"B-x", "S-x"}, {"B-x", "I-x"}, {"S-x", "B-x"}]], r"\[3\] .* follow"),
    ):
        for call in calls:
            with pytest.raises(ValueError, match=message):
                call(X, known=known)
    for known in (["B-x", None, None, "O"], ["O", "B-x", "I-x", {"I-x", "E-x"}]):
        found, *_ = [call(X, known=[None, None, known])[2] for call in calls]
        for label, entry in zip(found, known, strict=True):
            assert entry is None or label in (entry if isinstance(entry, set) else {entry})


# ---- beams -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """A tagger in which transitions weigh as much as features do."""
    return SequenceTagger(tol=0.1, random_state=0).fit([x / 5 for x in X], Y)


def with_beam(tagger, size, **parameters):
    """A fitted tagger with another beam."""
    return copy.copy(tagger).set_params(beam_size=size, **parameters)


@pytest.mark.parametrize("size", [1, 2, 10_000])
def test_is_the_oracle(fitted, size):
    narrow, expected = with_beam(fitted, size), []
    for x in X:
        scores = np.asarray(x @ fitted.coef_.T)
        scores[0] += fitted.start_
        scores[-1] += fitted.end_
        expected.append(fitted.classes_[beam_search(scores, fitted.transitions_, size)[0]])
    threads, thin = with_beam(fitted, size, n_jobs=3), [sp.csr_array(x) for x in X]
    for found in (narrow.predict(X), narrow.predict(thin), threads.predict(X)):
        assert all(map(np.array_equal, found, expected))
    lost = np.concatenate(narrow.predict(X)) != np.concatenate(fitted.predict(X))
    assert lost.any() if size == 1 else size == 2 or not lost.any()


def test_only_prediction_uses_it(fitted):
    beam = with_beam(fitted, 1)
    np.testing.assert_array_equal(clone(beam).fit([x / 5 for x in X], Y).coef_, fitted.coef_)
    for method, further in (("predict_topk", (1,)), ("decision_function", ())):
        found, expected = (getattr(each, method)(X[:5], *further) for each in (beam, fitted))
        assert all(map(np.array_equal, found, expected))
    assert beam.score(X, Y) == np.mean(np.concatenate(beam.predict(X)) == np.concatenate(Y))


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


def test_empty_sequences_keep_the_names_of_others():
    """What else holds of them: tests/models/test_request.py; in a fit they are nothing."""
    model = SequenceTagger(tol=0.5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"X\[2\] contains NaN at row 0, column 0"):
        model.predict([[], X[0], np.nan * X[1]])
    with pytest.raises(ValueError, match=r"X\[2\] has 1 features but X\[0\] has"):
        model.predict([X[0], [], X[1][:, :1]])
    with pytest.raises(ValueError, match=r"X\[0\] is empty: a sequence needs one row or more"):
        clone(model).fit([[]], [[]])
    stacked = RaggedArray(np.concatenate(X[:2]), [0, 0, len(X[0]), len(X[0]) + len(X[1])])
    assert [len(labels) for labels in model.predict(stacked)] == [0, len(X[0]), len(X[1])]
