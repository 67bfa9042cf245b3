"""Hidden states of the labels of segments: objectives, completions and answers by enumeration."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair
from helpers.segments import codes, feature, segmentations, span_loss, token_loss
from sklearn.base import clone

from sskit import SegmentTagger
from sskit.dask import Distributed

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
OWNER = np.array([0, 1, 1, 2])
LIMITS = np.array([1, 2, 1])
BLOCKS = "coef_", "first_coef_", "last_coef_", "transitions_", "lengths_", "start_", "end_"
STATES = {"n_states_per_label": {"a": 2}}
GIVEN = {"lam": 0.05, "tol": 0.01, "random_state": 0, "max_length": {"a": 2, "b": 1}}


def data(n=8):
    rng, X, y = np.random.default_rng(0), [], []
    for i in range(n):
        y.append([[(0, 2, "a"), (2, 3, "a")], [(1, 2, "b"), (2, 4, "a")], [(3, 4, "b")]][i % 3])
        X.append(rng.normal(size=(4, 2)))
        X[-1][y[-1][0][0], 0] += rng.choice([-2.0, 2.0])
    return X, y


X, Y = data()
LOSSES = {"segments": None, "hamming_sum": None, "hamming": None, "costs": {"a": {"b": 0.5}}}
WAYS = {
    "auto": {},
    "multi-plane": {"solver": "multi_plane"},
    "frank_wolfe": {"solver": "frank_wolfe", "max_iter": 200},
    "cutting planes": {"solver": "cutting_plane"},
    "bounds": {"bounds": (-0.5, 0.6)},
    "two starts": {"n_init": 2},
    "class weights": {"class_weight": {"b": 2.0}},
}


def labels_of(segments):
    return [(start, stop, int(OWNER[k])) for start, stop, k in segments]


def truth_of(y):
    """Segments of labels by number, tokens outside among them."""
    found = {start: (start, stop, "Oab".index(label)) for start, stop, label in y}
    spans, t = [], 0
    while t < 4:
        spans.append(found.get(t, (t, t + 1, 0)))
        t = spans[-1][1]
    return spans


def loss_of(segments, truth, loss, factors):
    """The loss of segments of labels, which have factors."""
    if loss == "segments":
        return span_loss(segments, truth, factors * [0, 1, 1])
    table = 1.0 - np.eye(3)
    if loss == "costs":
        table[1, 2] = 0.5
    total = token_loss(segments, truth, factors[codes(truth) >> 1], table)
    return total / 4 if loss == "hamming" else total


def every(model, x):
    """All segmentations of states, and their scores."""
    w = np.concatenate([np.ravel(getattr(model, name)) for name in BLOCKS])
    spans = [*segmentations(4, LIMITS[OWNER])]
    return spans, np.array([feature(x, each, LIMITS[OWNER], 2) @ w for each in spans])


@every_pair(
    loss=LOSSES, way=WAYS, weight=[None, np.arange(1.0, 9.0)], n_jobs=[None, 2], slack=[False, True]
)
def test_the_objective_is_that_of_the_best_states(loss, way, weight, n_jobs, slack):
    model = SegmentTagger(loss=LOSSES[loss] or loss, n_jobs=n_jobs, **GIVEN, **STATES)
    model.set_params(rescaling="slack" if slack else "margin", **WAYS[way])
    model.fit(X, Y, sample_weight=weight)
    assert model.n_states_.tolist() == [1, 2, 1] and model.certified_
    assert (np.diff(model.round_objectives_) <= 0).all()
    factors, hinges = np.array([1.0, 1.0, 2.0 if way == "class weights" else 1.0]), []
    for x, y in zip(X, Y, strict=True):
        truth, (spans, values) = truth_of(y), every(model, x)
        labels = [labels_of(each) for each in spans]
        losses = np.array([loss_of(each, truth, loss, factors) for each in labels])
        behind = values - values[[each == truth for each in labels]].max()
        hinges.append(np.max(losses * (1.0 + behind) if slack else losses + behind))
    squares = sum((getattr(model, name) ** 2).sum() for name in BLOCKS)
    expected = 0.025 * squares + np.average(np.maximum(hinges, 0.0), weights=weight)
    if slack:  # the search may miss the maximum, and bounds it
        assert expected <= model.round_objectives_[-1] + 1e-9
    else:
        assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


def test_attributes_and_what_is_not_as_it_was_fitted():
    """Predictions are those of enumeration, in test_tagger.py."""
    model = SegmentTagger(**GIVEN, **STATES).fit(X, Y)
    assert model.state_labels_.tolist() == ["O", "a", "a", "b"]
    assert set(model.weights_frame(top=None)["label"]) <= {"O/0", "a/0", "a/1", "b/0"}
    with pytest.raises(ValueError, match="hidden states have no k best labellings"):
        model.predict_topk(X, 2)
    model.n_states_ = np.array([1, 2])
    with pytest.raises(ValueError, match="n_states_ must have the shape"):
        model.predict(X)


def means(x, start, stop):
    return [x[start:stop, 0].mean(), 1.0]


@pytest.mark.parametrize(
    ("features", "form"), [(None, np.asarray), (None, sp.csr_array), (means, np.asarray)]
)
def test_completions_are_the_best_states_of_the_true_segments(features, form):
    model = SegmentTagger(segment_features=features, **GIVEN, **STATES)
    task = model._make_task([form(x) for x in X], Y, None)
    rng = np.random.default_rng(0)
    for _ in range(5):
        w = rng.normal(size=task.problem.n_weights)
        blocks = task.layout.split(w)
        flat = np.concatenate([np.ravel(blocks[name[:-1]]) for name in BLOCKS])
        found = np.split(task.completion.complete(w), len(X))
        for x, y, states in zip(X, Y, found, strict=True):
            best, most = None, -np.inf
            for spans in segmentations(4, LIMITS[OWNER]):
                value = feature(x, spans, LIMITS[OWNER], 2) @ flat
                for a, b, k in spans if features else ():
                    value += blocks["segment_coef"][k] @ means(x, a, b)
                if labels_of(spans) == truth_of(y) and value > most:
                    best, most = spans, value
            assert states.tolist() == codes(best).tolist()
    starts = [*task.completion.starts(None)]
    assert len(starts) == 1 and (OWNER[starts[0] >> 1] == task.completion.codes >> 1).all()


def test_one_state_is_the_label_and_fits_go_on():
    plain = SegmentTagger(**GIVEN).fit(X, Y)
    one = SegmentTagger(n_states_per_label=1, n_init=3, **GIVEN).fit(X, Y)
    assert set(vars(one)) == set(vars(plain)) and one.coef_.tobytes() == plain.coef_.tobytes()
    warm = SegmentTagger(warm_start=True, **GIVEN | {"tol": 0.1}, **STATES).fit(X, Y)
    reached = warm.round_objectives_[-1]
    assert warm.set_params(tol=1e-3).fit(X, Y).round_objectives_[-1] <= reached + 1e-9
    stepped = SegmentTagger(**GIVEN, **STATES).partial_fit(X[:4], Y[:4], classes=["a", "b"])
    stepped.partial_fit(X[4:], Y[4:])
    assert stepped.n_samples_seen_ == 8 and stepped.n_states_.tolist() == [1, 2, 1]


def test_what_is_wrong_or_cannot_be_combined():
    """What stands around it is in test_combinations.py."""
    model = SegmentTagger(**GIVEN, **STATES)
    for given, message in (
        ({"n_states_per_label": {"a": 1.5}}, r"n_states_per_label\['a'\] is 1.5, expected a pos"),
        ({"n_states_per_label": {"a": 99}}, r"n_states_per_label\['a'\] is 99, but y has 32 tok"),
        ({"surrogate": "log"}, "surrogate='log' cannot be combined with n_states_per_label"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**given).fit(X, Y)
    with pytest.raises(ValueError, match="data in parts cannot be combined"):
        Distributed(model).fit([X, X], [Y, Y])
