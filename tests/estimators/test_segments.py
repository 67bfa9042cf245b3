"""SegmentTagger fits and predicts segments as enumeration does, and names what it refuses."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.labellings import all_weights, max_marginals, owners
from helpers.refusals import refused
from helpers.segments import codes, features, segmentations
from sklearn.base import clone

from sskit import SegmentTagger
from sskit.metrics import span_f1_score, spans

rng = np.random.default_rng(0)
TAGS = [
    ["O", "B-a", "I-a", "B-a", "O", "B-b"],
    ["B-b", "O"],
    ["I-b", "B-a", "I-a", "I-a"],
    ["O"],
] * 5
X = [
    rng.normal(size=(len(tags), 3)) + 2 * np.eye(3)[["Oab".index(tag[-1]) for tag in tags]]
    for tags in TAGS
]
LENGTHS, K = [len(x) for x in X], 3
SPANS = [[(a, b, k) for k, a, b in spans(tags)] for tags in TAGS]


def fit(y=TAGS, **parameters):
    return SegmentTagger(random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("loss", ["hamming", "segments"])
def test_fits_and_their_attributes(loss, rescaling):
    model = fit(loss=loss, rescaling=rescaling)
    assert model.certified_ and model.classes_.tolist() == ["O", "a", "b"]
    assert model.max_length_.tolist() == [1, 3, 1] and model.outside_ == 0
    assert not model.first_coef_[[0, 2]].any() and not model.lengths_[[0, 2]].any()
    for longest, found in ((4, [1, 4, 4]), (10**9, [1, 6, 6]), ({"b": 2}, [1, 3, 2])):
        model.set_params(max_length=longest, tol=0.5)
        assert model.fit(X, TAGS).max_length_.tolist() == found
    bare = fit(loss=loss, rescaling=rescaling, first_last=False, lengths=False)
    assert not {"first_coef_", "last_coef_", "lengths_"} & set(vars(bare))


def test_lists_and_tags_of_all_schemes_are_the_same():
    model, once = fit(), [[iter(segment) for segment in each] for each in SPANS]
    others = fit([np.array(tags) for tags in TAGS]), fit(SPANS), fit(once)
    for other in others:
        assert other.primal_objective_ == model.primal_objective_
        np.testing.assert_array_equal(other.coef_, model.coef_)
    assert others[1].form_ == "segments"
    found = list(model.predict_segments(X))
    assert list(others[1].predict(X)) == found
    same = SegmentTagger(random_state=0).fit(X, found)
    for scheme in ("iob1", "bioes", "bilou"):
        tags = model.set_params(scheme=scheme).predict(X)
        assert [[(a, b, k) for k, a, b in spans(row, scheme)] for row in tags] == found
        other = SegmentTagger(scheme=scheme, random_state=0).fit(X, tags)
        assert list(other.predict_segments(X)) == list(same.predict_segments(X))
    numbers = [[(a, b, "ab".index(k)) for a, b, k in row] for row in SPANS]
    model = fit(numbers, outside=-1)
    assert model.classes_.tolist() == [-1, 0, 1]
    assert {type(k) for row in model.predict(X) for _, _, k in row} == {int}


def test_wrong_segments_are_named():
    first = [  # in place of the first sequence
        (TAGS, ["O"], r"X\[0\] has 6 rows but y\[0\] has 1"),
        (TAGS, ["O", "X-a", "O", "O", "O", "O"], r"^y\[0\]\[1\] is 'X-a'"),
        (TAGS, ["O", 3, "O", "O", "O", "O"], r"y\[0\]\[1\] is 3"),
        (TAGS, ["B-O", "O", "O", "O", "O", "O"], r"y\[0\]\[0\] has the label 'O'"),
        (SPANS, [(0, 7, "a")], r"y\[0\]\[0\] must be .* 0 <= start < end <= 6"),
        *((SPANS, [wrong], r"y\[0\]\[0\] must be a segment") for wrong in
          ((0.0, 2, "a"), (2, 2, "a"), (0, 2), ([0], 1, "a"))),
        (SPANS, [(2, 4, "a"), (0, 3, "a")], r"y\[0\]\[0\] begins at token 2"),
        (SPANS, [(0, 1, None)], r"y\[0\]\[0\] is None"),
        (SPANS, [(0, 1, 3)], "sort among themselves"),
        (SPANS, [(0, 1, "O")], r"y\[0\]\[0\] has the label 'O'"),
        ([[]] * 20, [(0, 1, 3)], "a label of y is 3 but outside is 'O'|outside is"),
        (SPANS, 3, r"y\[0\] must be a sequence of tags"),
        (SPANS, np.array("B-a"), r"y\[0\] must be a sequence"),
    ]  # fmt: skip
    for y, message in (
        (None, "^y must be a list"),
        (3, "^y must be"),
        (TAGS[:3], "X has 20 samples but y has 3"),
        *(([item, *others[1:]], message) for others, item, message in first),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fit(y)


def draw(seed):
    """What is known of sequences, and leaves something; other forms are in test_enumeration.py."""
    rng = np.random.default_rng(seed)
    free = [np.eye(K, dtype=bool)[rng.integers(K, size=n)] for n in LENGTHS]
    return [(rng.random(mask.shape) < 0.5) | mask for mask in free]


def test_score_is_the_f1_of_spans():
    """That weights are copies is in test_laws.py."""
    model = fit(lam=5.0)
    assert model.score(X, TAGS) == pytest.approx(span_f1_score(TAGS, model.predict(X)))
    assert model.score(X, SPANS) == model.score(X, TAGS) > 0
    assert model.score([X[3]], [["O"]]) == 0.0


OPTIONS = [
    {},
    {"loss": "hamming", "class_weight": "balanced"},
    {"surrogate": "log"},
    {"first_last": True, "lengths": True, "rescaling": "slack"},
    {"segment_features": lambda x, start, stop: [stop - start, x[0, 0]]},
    {"n_states_per_label": 2},
]


def test_hidden_states_of_labels():
    """Objectives are in completion/test_rounds.py; predictions, below, those of enumeration."""
    model = fit(SPANS, n_states_per_label={"a": 2}, tol=0.5)
    assert model.state_labels_.tolist() == ["O", "a", "a", "b"]
    assert set(model.weights_frame(top=None)["label"]) <= {"O/0", "a/0", "a/1", "b/0"}
    steps = clone(model).partial_fit(X[:4], SPANS[:4], classes=["a", "b"])
    steps.partial_fit(X[4:], SPANS[4:])
    assert steps.n_samples_seen_ == 20 and steps.n_states_.tolist() == [1, 2, 1]
    with pytest.raises(ValueError, match="hidden states have no k best labellings"):
        model.predict_topk(X, 2)
    with pytest.raises(
        ValueError, match="surrogate='log' cannot be combined with n_states_per_label"
    ):
        clone(model).set_params(surrogate="log").fit(X, SPANS)
    model.n_states_ = np.array([1, 2])
    with pytest.raises(ValueError, match="n_states_ must have the shape"):
        model.predict(X)


def test_there_are_as_many_labellings_as_there_can_be():
    model, lists = fit(tol=0.5), fit(SPANS)
    assert lists.predict_topk([np.empty((0, 3))], 2)[0].tolist() == [[]]
    assert lists.predict_topk(X[:1], 2)[0].shape == (2,)
    # of a token there are as many as labels that may stand alone
    alone, more = (model.predict_topk([X[0][:1]], k)[0] for k in (50, 99))
    assert len(alone) == len(more) > 2 and len(np.unique(alone)) == len(alone)


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_empty_sequences_are_nothing_in_a_fit(options):
    empty, weight = np.empty((0, 3)), np.linspace(1, 2, len(X))
    for y in (SPANS, TAGS):
        model = SegmentTagger(random_state=0, tol=0.1, **options).fit(X, y, weight)
        some, tags = [empty, *X[:3], empty, *X[3:]], [[], *y[:3], [], *y[3:]]
        more = clone(model).fit(some, tags, [9.0, *weight[:3], 0.0, *weight[3:]])
        for name in ("coef_", "transitions_", "max_length_", "lam_", "primal_objective_"):
            np.testing.assert_array_equal(getattr(more, name), getattr(model, name))
    # errors keep the numbers of all sequences
    for data, y, message in (
        ([*some[:2], X[1] * np.nan, *some[3:]], tags, r"^X\[2\] contains NaN"),
        (some, [*tags[:5], ["O"] * 9, *tags[6:]], r"^X\[5\] has \d rows but y\[5\] has 9 labels"),
        ([empty] * 2, [[]] * 2, r"^X\[0\] is empty: a sequence needs one row or more"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            clone(model).fit(data, y)


def test_costs_of_pairs_of_labels():
    """The objective is that of enumeration in completion/test_rounds.py."""
    table = np.array([[0, 1, 1], [1, 0, 4], [0.5, 1, 0]])
    for one, other in (
        ({"loss": "hamming_sum"}, {"loss": 1 - np.eye(3)}),
        ({"loss": table}, {"loss": {"a": {"b": 4}, "b": {"O": 0.5}}}),
        # a token of "b", whose segments have one, cannot begin one where it should not
        ({"loss": table.tolist(), "class_weight": {"b": 3.0}}, {"loss": table * [[1], [1], [3]]}),
    ):
        found, expected = (fit(lam=0.1, tol=1e-6, **given) for given in (one, other))
        assert found.primal_objective_ == pytest.approx(expected.primal_objective_, rel=1e-5)
    with pytest.raises(ValueError, match="the costs of pairs changed"):
        fit(loss=table, warm_start=True).set_params(loss="hamming_sum").fit(X, TAGS)


def test_wrong_parameters_are_named():
    long = [["O", "B-a", "I-a", "I-a", "O", "B-b"], *TAGS[1:]]
    for parameters, message in (
        ({"max_length": 2}, r"y\[0\]\[1\] is or begins a segment of 3 tokens"),
        ({"max_length": {"a": 0}}, r"max_length\['a'\] is 0"),
        ({"outside": None}, "outside is None: labels must not be missing"),
        ({"outside": float("nan")}, "outside is nan: labels must not be missing"),
        ({"loss": 1 - np.eye(2)}, r"loss must have shape \(3, 3\), a row for each true label"),
        ({"bounds": {"edge_coef": (0, 1)}}, "no block 'edge_coef'"),
        ({"prior": {"spring_": 1}}, "no block"),
    ):
        model = SegmentTagger(**parameters)
        with refused(model, (ValueError, TypeError), message):
            model.fit(X, long)


def spread_of(x, start, end):
    """Return how far the values of a segment lie apart."""
    values = x[start:end, 0]
    between = values.max() - values.min()
    return np.array([between, between > 1])


# segments of two tokens at most
SHORT = X, [[tag.replace("I-a", "B-a") if t > 2 else tag for t, tag in enumerate(y)] for y in TAGS]
MODELS = {
    name: SegmentTagger(lam=0.3, random_state=0, **options).fit(*SHORT)
    for name, options in {
        "all": {},
        "longer": {"max_length": 4},
        "bare": {"first_last": False, "lengths": False},
        "whole": {"segment_features": spread_of, "max_length": {"b": 2}},
        "states": {"n_states_per_label": {"a": 2}, "max_length": 2},
    }.items()
}


def scores_of(model, x, found):
    """F(x, y) of segments of states from the fitted attributes."""
    limits, ends = model.max_length_[owners(model)].tolist(), hasattr(model, "first_coef_")
    longest, whole = max(limits), None
    if hasattr(model, "segment_coef_"):
        whole = [[spread_of(x, t, t + n + 1) for n in range(longest)] for t in range(len(x))]
        whole = np.array(whole)
    options = {"ends": ends, "lengths": ends, "whole": whole}
    return features(x, found, limits, longest, **options) @ all_weights(model)


@pytest.mark.parametrize("name", MODELS)
def test_the_best_segments_under_it_are_those_of_enumeration(name):
    model, owner, known = MODELS[name], owners(MODELS[name]), draw(len(name) + 5)
    found, tags = model.predict_segments(X, known=known), model.predict(X, known=known)
    marginals = model.decision_function(X, known=known)
    if name == "states":
        states = model.predict_states(X, known=known)
    else:
        top, top_scores = model.predict_topk(X, 4, return_scores=True, known=known)
    for i, (x, mask) in enumerate(zip(X, known, strict=True)):
        options = [
            segments
            for segments in segmentations(len(x), model.max_length_[owner].tolist())
            if all(mask[a:b, owner[k]].all() for a, b, k in segments)
        ]
        scores = scores_of(model, x, options)
        order = np.argsort(-scores)
        # of "bare" a segment and its halves score the same, but for rounding
        best = [
            [(a, b, str(model.classes_[owner[k]])) for a, b, k in options[one] if k != 0]
            for one in order[: np.sum(scores > scores.max() - 1e-12)]
        ]
        assert found[i] == [(a, b, k) for k, a, b in spans(tags[i])]
        assert found[i] in best and (len(best) == 1 or name == "bare")
        if name == "states":
            assert states[i].tolist() == (codes(options[order[0]]) >> 1).tolist()
        else:
            np.testing.assert_allclose(top_scores[i], scores[order][:4])
            assert len({tuple(row) for row in top[i].tolist()}) == min(4, len(options))
        labels = np.array([owner[codes(segments) >> 1] for segments in options])
        np.testing.assert_allclose(marginals[i], max_marginals(labels, scores, K))


def test_what_is_outside_is_known_only_where_it_was():
    model = SegmentTagger(lam=0.3, random_state=0).fit(X[:1], [[(0, 2, "a"), (2, 6, "b")]])
    with pytest.raises(ValueError, match=r"known\[0\]\[0\] has 'O', which is no label"):
        model.predict(X[:1], known=[["O"] * 6])


def whole(n=40):
    """Return sequences whose segments are constant or not, at any level: only the whole tells."""
    rng, XS, y = np.random.default_rng(0), [], []
    for _ in range(n):
        values, segments, t = [], [], 0
        for _ in range(3):
            size, label = int(rng.integers(2, 5)), int(rng.integers(2))
            apart = rng.permutation(np.linspace(0, 2, size)) if label else np.zeros(size)
            values.append(rng.normal(0, 3) + apart)
            segments.append((t, t + size, "ab"[label]))
            t += size
        XS.append(np.concatenate(values)[:, None])
        y.append(segments)
    return XS, y


XS, YS = whole()


def fit_whole(**parameters):
    given = {"lam": 0.01, "segment_features": spread_of, "random_state": 0} | parameters
    return SegmentTagger(**given).fit(XS[:30], YS[:30])


def test_what_only_the_whole_segment_tells_is_learnt():
    model, without = fit_whole(), fit_whole(segment_features=None)
    assert model.certified_ and model.segment_coef_.shape == (2, 2)
    assert model.score(XS[30:], YS[30:]) > 0.85 > 0.5 > without.score(XS[30:], YS[30:])
    assert not {"segment_coef_", "segment_features_"} & set(vars(without))
    # one by one, beside an empty one, and of sparse rows
    expected = list(model.predict(XS[:4]))
    assert list(model.predict([XS[0], np.empty((0, 1)), *XS[1:4]])) == [
        expected[0], [], *expected[1:]
    ]  # fmt: skip
    assert [model.predict([x])[0] for x in XS[:4]] == expected
    rows = [sp.csr_matrix(x) for x in XS]
    model.set_params(segment_features=lambda x, a, b: spread_of(x.toarray(), a, b))
    assert model.fit(rows[:30], YS[:30]).score(rows[30:], YS[30:]) > 0.85


def test_wrong_features_of_segments_are_named():
    numbers = r"^segment_features\(X\[0\], 0, 1\) must "
    for answer, message in (
        (lambda x, a, b: [], numbers + "be numbers"),
        (lambda x, a, b: 3.0, numbers + "be numbers of"),
        (lambda x, a, b: ["a"], numbers + "hold num"),
        (lambda x, a, b: [[1], [1, 2]], r"X\[0\], 0, 1\) is no array"),
        (lambda x, a, b: np.ones(1 + (b - a > 1)),
         r"^segment_features\(X\[0\], 0, 2\) has the shape \(2,\)"),
        (lambda x, a, b: [np.nan], r"^segment_features\(X\[0\], 0, 1\)\[0\] is nan"),
        (lambda x, a, b: [1e120], r"\[0\] is 1e\+120, expected finite numbers"),
    ):  # fmt: skip
        model, before = SegmentTagger(segment_features=answer), [x.copy() for x in XS]
        with refused(model, ValueError, message):
            model.fit(XS, YS)
        # with the numbers of all sequences
        later = re.sub(r"(?<=X\\\[)\d", lambda found: str(int(found[0]) + 1), message)
        with refused(model, ValueError, later):
            model.fit([np.empty((0, 1)), *XS], [[], *YS])
        assert all(map(np.array_equal, XS, before))
    # those in predict by the sequences that are given
    model = fit_whole(lam=1.0, tol=0.5)
    for value in (np.ones((3, 2)), None, np.full((2, 2), np.nan), np.ones((2, 0))):
        with pytest.raises(ValueError, match="segment_coef"):
            changed = pickle.loads(pickle.dumps(model))
            changed.segment_coef_ = value
            changed.predict(XS)
    model.segment_features_ = lambda x, a, b: [0.0, np.nan]
    with pytest.raises(ValueError, match=r"^segment_features\(X\[1\], 0, 1\)\[1\] is nan"):
        model.predict([np.empty((0, 1)), XS[0], XS[1]])


def test_errors_of_the_function_name_the_segment():
    def fails_later(x, start, end):
        return [x[end + 1].sum()] if end == 3 else [0.0]

    for function, told, kind, message in (
        (lambda x, start, end: x.sort(), "segment_features(X[1], 0, 1)", ValueError, "read-only"),
        (lambda x: [1.0], "segment_features(X[1], 0, 1)", TypeError, "takes 1 positional argument"),
        (fails_later, "segment_features(X[3], 0, 3)", IndexError, "out of bounds"),
    ):
        model, before = SegmentTagger(segment_features=function), [x.copy() for x in XS]
        # Python 3.10 has no notes: an exception of its own
        with refused(model, (kind, RuntimeError), None) as caught:
            model.fit([np.empty((0, 1)), XS[0], XS[1], [[0.0], [0.0], [0.0]]], [[], *YS[:2], []])
        error = caught.value
        assert f"raised by {told}" in [*getattr(error, "__notes__", ()), str(error)]
        raised = error if type(error) is kind else error.__cause__
        assert type(raised) is kind and message in str(raised)
        assert all(map(np.array_equal, XS, before))


def test_bounds_prior_and_warm_starts():
    assert np.abs(fit_whole(bounds={"segment_coef": (-0.1, 0.1)}).segment_coef_).max() <= 0.1
    model = fit_whole(lam=1e6, prior={"segment_coef_": np.eye(2)})
    for near in (model, fit_whole(lam=1e6, prior=model)):
        np.testing.assert_allclose(near.segment_coef_, np.eye(2), atol=1e-4)
    for function, told in ((None, "the weights"), (lambda x, a, b: [1.0, b - a], "segment_feat")):
        model = fit_whole(warm_start=True, tol=0.5).set_params(segment_features=function)
        with pytest.raises(ValueError, match=f"{told}.* changed"):
            model.fit(XS[:30], YS[:30])
