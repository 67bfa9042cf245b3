"""Taggers that predict with a beam."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.real_data import make_glyph_sentences
from sklearn.base import clone

from sskit import SequenceTagger
from sskit.oracles import beam_search


@pytest.fixture(scope="module")
def glyphs():
    # transitions weigh as much as features do
    X, y = make_glyph_sentences(60, n_characters=30, n_features=10, noise=1.5, random_state=0)
    X = [x / 5 for x in X]
    tagger = SequenceTagger(tol=0.1, random_state=0).fit(X[:40], y[:40])
    return tagger, X, y


def with_beam(tagger, size, **parameters):
    """A fitted tagger with another beam."""
    return pickle.loads(pickle.dumps(tagger)).set_params(beam_size=size, **parameters)


def test_is_the_oracle(glyphs):
    tagger, X, _ = glyphs
    for size in (1, 3, 10):
        narrow, expected = with_beam(tagger, size), []
        for x in X:
            scores = np.asarray(x @ tagger.coef_.T)
            scores[0] += tagger.start_
            scores[-1] += tagger.end_
            expected.append(tagger.classes_[beam_search(scores, tagger.transitions_, size)[0]])
        threads = with_beam(tagger, size, n_jobs=3).predict(X)
        for found in (narrow.predict(X), narrow.predict([sp.csr_array(x) for x in X]), threads):
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


def test_bad_sizes_are_refused(glyphs):
    tagger, X, y = glyphs
    for size in (0, -1, 1.5, "all"):
        bad = with_beam(tagger, size)
        for call in (lambda bad=bad: clone(bad).fit(X[:5], y[:5]), lambda bad=bad: bad.predict(X)):
            with pytest.raises(ValueError, match="The 'beam_size' parameter of SequenceTagger mu"):
                call()
