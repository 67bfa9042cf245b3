"""What is known of labels before sequences are cut: the best segments under it."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.segments import codes, feature, segmentations
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import EarlyStopping, RegularizationPath, SegmentTagger
from sskit.metrics import spans
from sskit.preprocessing import TokenTransformer

rng = np.random.default_rng(0)
TAGS = [
    ["O", "B-a", "I-a", "B-a", "O", "B-b"],
    ["B-b", "O"],
    ["I-b", "B-a", "I-a", "I-a"],
    ["O"],
] * 4
X = [
    rng.normal(size=(len(tags), 3)) + np.eye(3)[["Oab".index(tag[-1]) for tag in tags]]
    for tags in TAGS
]
LENGTHS = [len(x) for x in X]
K = 3


def spread(x, start, end):
    """Return how far the values of a segment lie apart."""
    return [np.ptp(x[start:end, 0])]


MODELS = {
    name: SegmentTagger(lam=0.3, random_state=0, **options).fit(X, TAGS)
    for name, options in {
        "all": {},
        "longer": {"max_length": 4},
        "bare": {"first_last": False, "lengths": False},
        "whole": {"segment_features": spread, "max_length": {"b": 2}},
    }.items()
}
NAMES = ["coef_", "first_coef_", "last_coef_", "transitions_", "lengths_", "segment_coef_"]


def score_of(model, x, segments):
    """F(x, y) from the fitted attributes."""
    limits, ends = model.max_length_.tolist(), hasattr(model, "first_coef_")
    phi = feature(x, segments, limits, max(limits), ends=ends, lengths=ends)
    sums = np.zeros(K * hasattr(model, "segment_coef_"))
    for a, b, k in segments if len(sums) else ():
        sums[k] += spread(x, a, b)[0]
    phi = np.concatenate([phi[: -2 * K], sums, phi[-2 * K :]])
    found = [getattr(model, name).ravel() for name in NAMES if hasattr(model, name)]
    return phi @ np.concatenate([*found, model.start_, model.end_])


def draw(seed):
    """What is known of sequences: items of every form, and what they allow."""
    rng, known, masks = np.random.default_rng(seed), [], []
    for n in LENGTHS:
        mask = rng.random((n, K)) < 0.5
        mask[np.arange(n), rng.integers(K, size=n)] = True
        form = rng.integers(4)
        if form == 0:
            known.append(None)
            mask[:] = True
        elif form == 1:
            known.append(mask)
        else:
            entries = [np.array(["O", "a", "b"])[row].tolist() for row in mask]
            known.append([None if len(s) == K else s[0] if len(s) == 1 else {*s} for s in entries])
        masks.append(mask)
    return known, masks


@pytest.mark.parametrize("name", MODELS)
def test_the_best_segments_under_it_are_those_of_enumeration(name):
    model = MODELS[name]
    known, masks = draw(len(name))
    found = model.predict_segments(X, known=known)
    tags = model.predict(X, known=known)
    top, top_scores = model.predict_topk(X, 4, return_scores=True, known=known)
    marginals = model.decision_function(X, known=known)
    for i, (x, mask) in enumerate(zip(X, masks, strict=True)):
        options = [
            segments
            for segments in segmentations(len(x), model.max_length_.tolist())
            if all(mask[a:b, k].all() for a, b, k in segments)
        ]
        scores = np.array([score_of(model, x, segments) for segments in options])
        order = np.argsort(-scores)
        best = [(a, b, str(model.classes_[k])) for a, b, k in options[order[0]] if k != 0]
        assert found[i] == best
        assert [(a, b, k) for k, a, b in spans(tags[i])] == best
        np.testing.assert_allclose(top_scores[i], scores[order][:4])
        assert len({tuple(row) for row in top[i].tolist()}) == min(4, len(options))
        expected = np.full((len(x), K), -np.inf)
        for segments, score in zip(options, scores, strict=True):
            cells = np.arange(len(x)), codes(segments) >> 1
            expected[cells] = np.maximum(expected[cells], score)
        np.testing.assert_allclose(marginals[i], expected)


def test_what_is_known_spreads_and_says_nothing_of_where_segments_begin():
    model = MODELS["all"]
    known = [["a"] * n for n in LENGTHS]
    for segments, n in zip(model.predict_segments(X, known=known), LENGTHS, strict=True):
        assert [k for *_, k in segments] == ["a"] * len(segments)
        assert sum(b - a for a, b, _ in segments) == n
    # "a" may have three tokens, and the best of all lengths is taken
    assert {len(s) for s in model.predict_segments(X, known=known)} != set(LENGTHS)
    outside = [["O"] * n for n in LENGTHS]
    assert all(len(s) == 0 for s in model.predict_segments(X, known=outside))


@pytest.mark.parametrize("name", ["all", "bare"])
def test_forms_of_features_threads_and_empty_sequences(name):
    model, (known, _) = MODELS[name], draw(5)
    wanted = model.predict(X, known=known)
    for given in ([sp.csr_array(x) for x in X], [x.tolist() for x in X]):
        assert all(map(np.array_equal, model.predict(given, known=known), wanted))
    model.set_params(n_jobs=2)
    assert all(map(np.array_equal, model.predict(X, known=known), wanted))
    model.set_params(n_jobs=None)
    wider = model.predict([np.empty((0, 3)), *X], known=[[], *known])
    assert len(wider[0]) == 0
    assert all(map(np.array_equal, wider[1:], wanted))
    assert len(model.predict([np.empty((0, 3))], known=[None])[0]) == 0
    for known in ([None] * len(X), [np.ones((n, K), dtype=bool) for n in LENGTHS]):
        assert all(map(np.array_equal, model.predict(X, known=known), model.predict(X)))
        scores = model.decision_function(X, known=known)
        assert all(map(np.array_equal, scores, model.decision_function(X)))


def test_labels_that_are_numbers():
    y = [[(a, b, "ab".index(k)) for k, a, b in spans(tags)] for tags in TAGS]
    model = SegmentTagger(lam=0.3, outside=-1, random_state=0).fit(X, y)
    known, _ = draw(1)
    numbers = {"O": -1, "a": 0, "b": 1}

    def number(entry):
        return {number(k) for k in entry} if isinstance(entry, set) else numbers.get(entry)

    other = [k if k is None or isinstance(k, np.ndarray) else [*map(number, k)] for k in known]
    found = model.predict(X, known=other)
    same = MODELS["all"].predict_segments(X, known=known)
    assert [[(a, b, "ab"[k]) for a, b, k in row] for row in found] == list(same)


def test_what_cannot_be_known_is_named():
    model = MODELS["all"]
    for known, error, message in (
        ([None], ValueError, "X has 3 samples but known has 1"),
        ([[None] * 5 + ["B-b"], None, None], ValueError, r"known\[0\]\[5\] has 'B-b', which is no"),
        ([None, None, np.ones((1, 3), bool)], ValueError, r"known\[2\] must have shape \(4, 3\)"),
        ([None, "aO", None], TypeError, r"known\[1\] must be a sequence of labels"),
    ):
        for method in (model.predict, model.predict_segments, model.decision_function):
            with pytest.raises(error, match=message):
                method(X[:3], known=known)
        with pytest.raises(error, match=message):
            model.predict_topk(X[:3], 2, known=known)
    # there is no label outside where no token was
    model = SegmentTagger(lam=0.3, random_state=0).fit(X[:1], [[(0, 2, "a"), (2, 6, "b")]])
    with pytest.raises(ValueError, match=r"known\[0\]\[0\] has 'O', which is no label"):
        model.predict(X[:1], known=[["O"] * 6])


def test_it_is_routed_through_pipelines_and_tools():
    known = [["b", *[None] * (n - 1)] for n in LENGTHS]
    with config_context(enable_metadata_routing=True):
        tagger = SegmentTagger(lam=0.3).set_predict_request(known=True)
        model = make_pipeline(TokenTransformer(StandardScaler()), tagger).fit(X, TAGS)
        assert all(tags[0] == "B-b" for tags in model.predict(X, known=known))
    stopped = EarlyStopping(SegmentTagger(), random_state=0).fit(X, TAGS)
    assert all(tags[0] == "B-b" for tags in stopped.predict(X, known))
    path = RegularizationPath(SegmentTagger(random_state=0), eps=0.5, lam_min=0.1).fit(X, TAGS)
    assert all(tags[0] == "B-b" for tags in path.predict(X, known=known))
