"""Segments of which a part is not known: what agrees, the loss and the rounds, by enumeration."""

import numpy as np
import pytest
from helpers.segments import features, segmentations
from sklearn.base import clone

from sskit import SegmentTagger
from sskit.dask import Distributed
from sskit.inputs.chains.segments import check_segmentations

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N = "?"
LIMITS = np.array([1, 3, 2])
GIVEN = {"lam": 0.05, "tol": 1e-3, "random_state": 0, "max_length": {"a": 3, "b": 2}}
BLOCKS = "coef_", "first_coef_", "last_coef_", "transitions_", "lengths_"
TAGS = [
    ["B-a", "I-a", N, "O", "B-b"],
    ["O", N, N, "I-a", "I-a"],
    ["B-b", "I-b", "B-a", N, "B-b"],
    [N, "I-b", "O", "B-a", N],
    ["B-a", "I-a", "I-a", "O", "O"],
    [N, N, N],
    ["O", "B-b", "O"],
]


def data():
    rng, means = np.random.default_rng(1), {"O": 0, N: 0, "a": 1, "b": 2}
    rows = [np.eye(3)[[means[tag[-1]] for tag in tags]] for tags in TAGS]
    return [rng.normal(size=x.shape) + 0.3 * x for x in rows]


X = data()


def wrong(spans, tags):
    """Which tokens contradict their tags; behind an unknown tag an I may begin a segment."""
    codes = [("Oab"[k], t == a) for a, b, k in spans for t in range(a, b)]
    out = []
    for t, (tag, (label, begins)) in enumerate(zip(tags, codes, strict=True)):
        open_ = tag[0] == "I" and tags[t - 1] == N
        right = tag[-1] == label and (open_ or begins == (tag[0] != "I"))
        out.append(tag != N and not right)
    return out


def agrees(spans, tags):
    return not any(wrong(spans, tags))


def losses(tags, loss, owner=(0, 1, 2)):
    """All segmentations of states of these labels, which of them agree, and what each costs."""
    states = segmentations(len(tags), LIMITS[list(owner)])
    found = [[(a, b, owner[k]) for a, b, k in spans] for spans in states]
    right = [agrees(spans, tags) for spans in found]
    some = [{*spans} for spans, good in zip(found, right, strict=True) if good]
    known, possible = set.intersection(*some), set.union(*some)
    if loss == "segments":
        cost = [
            sum(k > 0 for *_, k in {*spans} - possible) + sum(k > 0 for *_, k in known - {*spans})
            for spans in found
        ]
        return states, right, cost
    return states, right, [sum(wrong(spans, tags)) for spans in found]


def whole(x, start, stop):
    return [float(stop - start), x[start:stop, 0].max()]


def table_of(function, x):
    n = len(x)
    if function is None:
        return None
    return np.array([[function(x, s, min(s + d + 1, n)) for d in range(3)] for s in range(n)])


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("loss", ["segments", "hamming_sum"])
@pytest.mark.parametrize(
    ("function", "owner"), [(None, (0, 1, 2)), (whole, (0, 1, 2)), (None, (0, 1, 1, 2))]
)
def test_the_objective_of_the_last_round_is_that_of_enumeration(loss, function, owner, rescaling):
    params = {"loss": loss, "segment_features": function, "rescaling": rescaling}
    model = SegmentTagger(ignore_label=N, **params, **GIVEN)
    model.set_params(n_states_per_label={"a": owner.count(1)}).fit(X, TAGS)
    names = [*BLOCKS, *["segment_coef_"] * bool(function), "start_", "end_"]
    w = np.concatenate([np.ravel(getattr(model, name)) for name in names])
    total = 0.0
    for x, tags in zip(X, TAGS, strict=True):
        found, right, cost = losses(tags, loss, owner)
        limits, table = LIMITS[list(owner)], table_of(function, x)
        scores = features(x, found, limits, 3, whole=table) @ w
        assert min(cost) == 0 and not np.array(cost)[right].any()
        gains, cost = scores - scores[right].max(), np.array(cost)
        total += (cost + gains if rescaling == "margin" else cost * (1 + gains)).max()
    objective = 0.5 * GIVEN["lam"] * w @ w + total / len(X)
    if rescaling == "margin":
        assert model.round_objectives_[-1] == pytest.approx(objective, rel=1e-6)
    else:  # whose search bounds what it may have missed
        assert objective <= model.round_objectives_[-1] <= objective + model.dual_gap_
    assert (np.diff(model.round_objectives_) <= 1e-9).all()
    assert model.certified_


def test_completions_are_the_best_that_agree():
    task = SegmentTagger(ignore_label=N, **GIVEN)._make_task(X, TAGS, None)
    rng, completion = np.random.default_rng(0), task.completion
    for w in rng.normal(size=(5, task.problem.n_weights)):
        blocks = task.layout.split(w)
        flat = [blocks[name[:-1]] for name in (*BLOCKS, "start_", "end_")]
        flat, codes = np.concatenate([np.ravel(block) for block in flat]), []
        for x, tags in zip(X, TAGS, strict=True):
            some = [spans for spans in segmentations(len(tags), LIMITS) if agrees(spans, tags)]
            best = some[np.argmax(features(x, some, LIMITS, 3) @ flat)]
            codes += [2 * k + (t == a) for a, b, k in best for t in range(a, b)]
        assert completion.complete(w).tolist() == codes
    drawn = {completion.drawn(seed).tobytes() for seed in range(5)}
    assert len(drawn) > 1


def test_forms_and_schemes_say_the_same():
    model = SegmentTagger(ignore_label=N, **GIVEN).fit(X, TAGS)
    numbers = [[-100 if tag == N else tag for tag in tags] for tags in TAGS]
    other = clone(model).set_params(ignore_label=-100).fit(X, numbers)
    assert other.coef_.tobytes() == model.coef_.tobytes() and other.form_ == "tags"
    for y, scheme, expected in (
        # label and beginning of each token: known, or not
        ([["B-a", N, "I-a"]], "bio", [0, 3, 2]),
        ([["O", N, "B-a"]], "bio", [0, 1, 0]),
        ([["B-a", "E-a", N]], "bioes", [0, 0, 1]),
        ([["S-a", N, "E-a"]], "bioes", [0, 1, 2]),
        ([[N, N, "O"]], "iob1", [1, 3, 0]),
        ([[(0, 1, "a"), (1, 3, N)]], "bio", [0, 1, 3]),
        ([[(0, 1, N), (1, 2, N)]], "bio", [1, 1, 0]),
    ):
        found = check_segmentations(y, np.array([3]), scheme, "O", None, N)
        assert found.unknown.tolist() == expected, y
    known = [tags if N not in tags else ["O"] * len(tags) for tags in TAGS]
    plain = SegmentTagger(**GIVEN).fit(X, known)
    same = SegmentTagger(ignore_label=N, **GIVEN).fit(X, known)
    assert same.coef_.tobytes() == plain.coef_.tobytes() and not hasattr(same, "n_rounds_")


def test_the_score_leaves_out_what_agrees():
    model = SegmentTagger(ignore_label=N, **GIVEN).fit(X, TAGS)
    for tags, x in zip(TAGS, X, strict=True):
        if {*tags} == {N}:
            continue
        (spans,) = model.predict_segments([x])
        found = segmentations(len(tags), LIMITS)
        some = [{(a, b, "Oab"[k]) for a, b, k in each} for each in found if agrees(each, tags)]
        known, possible = set.intersection(*some), set.union(*some)
        known = {span for span in known if span[2] != "O"}
        hits, wrong = len(known & {*spans}), len({*spans} - possible)
        total = len(known) + hits + wrong
        assert model.score([x], [tags]) == pytest.approx(2 * hits / total if total else 0.0)


def test_fits_go_on_in_steps_and_in_parts():
    model = SegmentTagger(ignore_label=N, **GIVEN)
    warm = clone(model).set_params(warm_start=True, tol=0.1).fit(X, TAGS)
    reached = warm.round_objectives_[-1]
    assert warm.set_params(tol=1e-3).fit(X, TAGS).round_objectives_[-1] <= reached + 1e-9
    with pytest.raises(ValueError, match="warm_start=True cannot continue"):
        warm.fit(X, [[tag.replace(N, "O") for tag in tags] for tags in TAGS])
    steps = clone(model).partial_fit(X[:4], TAGS[:4], classes=["a", "b"])
    assert steps.partial_fit(X[4:], TAGS[4:]).n_samples_seen_ == len(X)
    parts = Distributed(model).fit([X[:4], X[4:]], [TAGS[:4], TAGS[4:]])
    objective = clone(model).fit(X, TAGS).round_objectives_[-1]
    assert parts.estimator_.round_objectives_[-1] <= 1.2 * objective


def test_a_start_without_any_whole_stretch_or_with_edges():
    """Of sequences without a known token, and those whose parts are single tokens."""
    y = [[N if t % 2 else tag for t, tag in enumerate(tags)] for tags in TAGS]
    y[0] = ["B-a", N, N, "O", N]
    model = SegmentTagger(ignore_label=N, segment_features=whole, **GIVEN).fit(X, y)
    assert model.round_objectives_[-1] <= model.round_objectives_[0]


def test_what_is_wrong_or_cannot_be_combined():
    model = SegmentTagger(ignore_label=N, **GIVEN)
    for params, y, message in (
        ({}, [[N] * len(tags) for tags in TAGS], r"y has no labels but ignore_label='\?'"),
        ({}, [[(0, len(tags), N)] for tags in TAGS], r"y has no labels but ignore_label='\?'"),
        ({"ignore_label": None}, TAGS, r"y\[0\]\[2\] is '\?', but labels are"),
        ({"surrogate": "log"}, TAGS, "surrogate='log' cannot be combined with token 2 of y"),
        ({}, [[(0, 2, "a"), (1, 3, N)], *([] for _ in X[1:])], r"y\[0\]\[1\] begins at token 1"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**params).fit(X, y)


def test_enumeration_has_something_to_find():
    """Otherwise the tests above would compare nothing."""
    for tags in TAGS[:4]:
        found, right, cost = losses(tags, "segments")
        assert 1 < sum(right) < len(found) and len({*cost}) > 2
    assert SegmentTagger(ignore_label=N, **GIVEN).fit(X, TAGS).n_rounds_ > 1
