"""A shrunk model gives the labels that were promised, and predictions become lists of objects."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sskit import SegmentTagger, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.datasets import make_digit_strings
from sskit.utils import RaggedArray, shrink, to_lists

RNG = np.random.default_rng(0)


def sentences(n):
    """Return sentences whose words tell labels, with numbers that do not."""
    labels = RNG.integers(3, size=(n, 5))

    def token(k):
        return {"word": f"{k}{RNG.integers(9)}", f"noise{RNG.integers(60)}": 1.0}

    return [list(map(token, row)) for row in labels], [[f"L{k}" for k in row] for row in labels]


def trees(X):
    return [(x, np.arange(len(x)) - 1) for x in X]


X, Y = sentences(80)
HELD_OUT = sentences(40)[0]
MODELS = {
    "sequences": (SequenceTagger, lambda X: X),
    "trees": (TreeTagger, trees),
    "segments": (SegmentTagger, lambda X: X),
}


def fitted(kind, **options):
    """Return a fitted model, and what it labels."""
    make, samples = MODELS[kind]
    y = [[(t, t + 1, k) for t, k in enumerate(row)] for row in Y] if kind == "segments" else Y
    return make(random_state=0, **options).fit(samples(X), y), samples(HELD_OUT)


def labels(model, X):
    return np.concatenate([np.asarray(y) for y in model.predict(X)])


@pytest.mark.parametrize("kind", MODELS)
def test_features_go_and_labels_stay_or_change_as_is_allowed(kind):
    model, held_out = fitted(kind, tol=0.1)
    before, names = labels(model, held_out), model.feature_names_in_.copy()
    sizes = [len(names)]
    for allowed in (0.0, 0.1, 1.0):
        shrunk = shrink(model, held_out, max_changed=allowed)
        small = shrunk.model
        assert shrunk.changed == np.mean(labels(small, held_out) != before) <= allowed
        sizes.append(shrunk.n_features)
        assert small.n_features_in_ == sizes[-1] == len(small.vectorizer_.feature_names_)
        # those that stay have their weights, and there is no certificate
        at = np.searchsorted(names.astype(str), small.feature_names_in_.astype(str))
        np.testing.assert_array_equal(small.coef_, model.coef_[..., at])
        assert not small.certified_ and np.isnan(small.dual_gap_)
        assert small.get_params() == model.get_params()
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == shrunk.n_before > sizes[1]
    assert sizes[-1] == 1
    # the model itself has not changed
    np.testing.assert_array_equal(labels(model, held_out), before)
    assert list(model.feature_names_in_) == list(names) and model.certified_


def test_hidden_states_files_and_steps(tmp_path):
    skops = pytest.importorskip("skops.io")
    model = SequenceTagger(n_states_per_label=2, random_state=0, max_iter=5, tol=0.5).fit(X, Y)
    small = shrink(model, HELD_OUT).model
    skops.dump(small, tmp_path / "small.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "small.skops")
    restored = skops.load(tmp_path / "small.skops", trusted=unknown)
    np.testing.assert_array_equal(labels(restored, HELD_OUT), labels(model, HELD_OUT))
    small = shrink(SequenceTagger(random_state=0).fit(X, Y), HELD_OUT).model
    assert len(small.partial_fit(X[:3], Y[:3]).predict(HELD_OUT)) == len(HELD_OUT)


def test_bad_input():
    named = SequenceTagger(random_state=0, tol=0.5).fit(X[:5], Y[:5])
    unnamed = SequenceTagger(max_iter=1, tol=1.0).fit(*make_digit_strings(5))
    of_rows = StructSVMClassifier(tol=1.0).fit(np.eye(4), [0, 1, 0, 1])
    for model, samples, options, error, message in [
        (SequenceTagger(), X, {}, NotFittedError, "not fitted"),
        (named, X, {"max_changed": -0.1}, ValueError, "max_changed"),
        (named, X, {"max_changed": "few"}, TypeError, "max_changed"),
        (named, [[]], {}, ValueError, "X has no tokens"),
        (named, [], {}, ValueError, "sample"),
        (named, named.vectorizer_.transform(X), {}, ValueError, "X must have tokens that are"),
        (unnamed, X, {}, TypeError, "named features.*this SequenceTagger"),
        (of_rows, np.eye(4), {}, TypeError, "this StructSVMClassifier"),
    ]:
        with pytest.raises(error, match=message):
            shrink(model, samples, **options)


# ---- lists of Python's own objects --------------------------------------------------------------


def test_predictions_become_lists_of_pythons_own_objects():
    X, y = [[{"w": "a"}, {"w": "b"}], [], [{"w": "b"}]] * 3, [["A", "B"], [], ["B"]] * 3
    tagger = SequenceTagger(random_state=0).fit(X, y)
    assert to_lists(tagger.predict(X)) == y
    best, scores = tagger.predict_topk(X[:1], 2, return_scores=True)
    assert json.loads(json.dumps(to_lists(best)))[0][0] == y[0]
    assert type(to_lists(scores)[0][0]) is float
    segments = SegmentTagger(random_state=0).fit([np.eye(2)] * 3, [[(0, 1, "x")]] * 3)
    found = to_lists(segments.predict([np.eye(2)]))
    assert found == [[(0, 1, "x")]] and type(found[0][0][0]) is int
    ragged = RaggedArray(np.arange(3), [0, 1, 3])
    assert to_lists((ragged, np.int64(4), None)) == ([[0], [1, 2]], 4, None)
