"""Hidden states of the labels of segments: completions by enumeration, attributes, refusals.

Rounds and their objective are in completion/test_rounds.py.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.segments import codes, feature, segmentations

from sskit import SegmentTagger

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


def test_attributes_and_what_is_not_as_it_was_fitted():
    """Predictions are those of enumeration, in tests/estimators/test_segments.py."""
    model = SegmentTagger(**GIVEN, **STATES).fit(X, Y)
    assert model.state_labels_.tolist() == ["O", "a", "a", "b"]
    assert set(model.weights_frame(top=None)["label"]) <= {"O/0", "a/0", "a/1", "b/0"}
    with pytest.raises(ValueError, match="hidden states have no k best labellings"):
        model.predict_topk(X, 2)
    with pytest.raises(ValueError, match="surrogate='log' cannot be combined with n_states_per_la"):
        model.set_params(surrogate="log").fit(X, Y)
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


def test_fits_go_on():
    """That one state is the label is in test_states.py."""
    warm = SegmentTagger(warm_start=True, **GIVEN | {"tol": 0.1}, **STATES).fit(X, Y)
    reached = warm.round_objectives_[-1]
    assert warm.set_params(tol=1e-3).fit(X, Y).round_objectives_[-1] <= reached + 1e-9
    stepped = SegmentTagger(**GIVEN, **STATES).partial_fit(X[:4], Y[:4], classes=["a", "b"])
    stepped.partial_fit(X[4:], Y[4:])
    assert stepped.n_samples_seen_ == 8 and stepped.n_states_.tolist() == [1, 2, 1]
