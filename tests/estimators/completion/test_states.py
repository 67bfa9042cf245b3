"""Hidden states of the labels of sequences, trees and graphs.

That objectives and predictions are those of the best states is in tests/estimators/
test_enumeration.py, that refits go on in base/test_warm_start_law.py.
"""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.labellings import score_paths
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sskit import EarlyStopping, GraphTagger, SequenceTagger, TreeTagger
from sskit.display import TransitionDisplay
from sskit.estimators.base.combinations import refusal
from sskit.estimators.completion.convex_concave import CompletionRounds
from sskit.solvers import BCFW

NAMES = np.array(["a", "b", "c"])
OWNER = np.array([0, 0, 1, 2, 2])
FAST = {
    "n_states_per_label": {"a": 2, "c": 2}, "random_state": 0, "tol": 0.05, "lam": 0.05,
}  # fmt: skip


def data(family, n=14):
    """Small items whose rows have blobs within labels."""
    rng, X, y = np.random.default_rng(0), [], []
    for i in range(n):
        m = 2 + i % 4
        labels = rng.integers(3, size=m)
        rows = np.eye(3)[labels] + 2.0 * rng.integers(2, size=(m, 1)) + rng.normal(size=(m, 3))
        ring = np.stack([np.arange(m), np.arange(1, m + 1) % m], axis=1)[: m - (m < 3)]
        rest = {
            TreeTagger: (random_parents(rng, m),),
            GraphTagger: (ring, rng.random((len(ring), 2))),
        }
        X.append((rows, *rest[family]) if family in rest else rows)
        y.append(NAMES[labels])
    return X, y


FAMILIES = (SequenceTagger, TreeTagger, GraphTagger)
DATA = {family: data(family) for family in FAMILIES}
FITTED = {family: family(**FAST).fit(*DATA[family]) for family in FAMILIES}
OF_FAMILIES = pytest.mark.parametrize("family", FAMILIES, ids=lambda kind: kind.__name__)


@OF_FAMILIES
def test_fitted_attributes_and_reasons(family):
    model, (X, _) = FITTED[family], DATA[family]
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.n_states_.tolist() == [2, 1, 2]
    assert model.state_labels_.tolist() == ["a", "a", "b", "c", "c"]
    assert model.coef_.shape == (5, 3)
    pairs = model.pairwise_[0] if family is GraphTagger else model.transitions_
    assert pairs.shape == (5, 5)
    names = ["a/0", "a/1", "b/0", "c/0", "c/1"]
    assert set(np.asarray(model.weights_frame(top=None)["label"])) == set(names)
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        model.predict(X[:1], known=[np.ones((2, 5), dtype=bool)])
    with pytest.raises(NotFittedError):
        family().predict_states(X)
    with pytest.raises(AttributeError, match="state_labels_"):
        family().state_labels_  # noqa: B018
    if family is GraphTagger:
        scores = X[1][0] @ model.coef_.T
        best = np.stack([scores[:, k == OWNER].max(axis=1) for k in range(3)], axis=1)
        np.testing.assert_allclose(model.node_scores(X)[1], best)
        return
    with pytest.raises(ValueError, match="hidden states have no k best labellings"):
        model.predict_topk(X, 6)
    for i, t in [(1, 0), (2, 2)]:
        explanation = model.explain(X, i, t)
        assert explanation.attrs["label"] == model.predict(X)[i][t]
        margins = np.sort(model.decision_function(X)[i][t])
        assert explanation.attrs["margin"] == pytest.approx(margins[-1] - margins[-2])
        assert explanation["contribution"].sum() == pytest.approx(margins[-1] - margins[-2])
    assert model.explain(X, 2, 1)["feature"].str.contains(r"/\d -> ").any()


@OF_FAMILIES
def test_one_state_is_the_label(family):
    X, y = DATA[family]
    plain = family(random_state=0).fit(X, y)
    for given in (1, {}, {"a": 1, "b": 1}):
        model = family(n_states_per_label=given, n_init=3, random_state=0).fit(X, y)
        assert set(vars(model)) == set(vars(plain))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        for found, labels in zip(model.predict_states(X), model.predict(X), strict=True):
            assert (model.state_labels_[found] == labels).all()
    # states of the only label cost nothing
    model.set_params(n_states_per_label=2).fit(X, [np.zeros(len(labels), int) for labels in y])
    assert model.primal_objective_ == 0.0 and not model.coef_.any()


@OF_FAMILIES
def test_two_styles_of_a_label_are_found(family):
    """A label whose rows lie on both sides of another's is beyond a linear model of labels."""
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(5), np.arange(1, 6) % 5], axis=1)
    y = [np.array(["side", "middle"])[rng.integers(2, size=5)] for _ in range(40)]
    X = []
    for labels in y:
        x = np.where(labels == "side", rng.choice([-3.0, 3.0], size=5), 0.0)
        rows = np.stack([x + 0.3 * rng.normal(size=5), np.ones(5)], axis=1)
        rest = {TreeTagger: ([-1, 0, 0, 1, 1],), GraphTagger: (ring, None)}
        X.append((rows, *rest[family]) if family in rest else rows)
    given = {"random_state": 0, "lam": 1e-3}
    plain = family(**given).fit(X[:20], y[:20]).score(X[20:], y[20:])
    model = family(n_states_per_label={"side": 2}, **given).fit(X[:20], y[:20])
    assert plain < 0.9
    assert model.score(X[20:], y[20:]) == 1.0


SOLVERS = {
    "pairwise": {"steps": "pairwise", "cache": True},
    "away": {"steps": "away", "sampling": "gap"},
    "plain": {"solver": BCFW(steps="fw", cache=False)},
    "uniform": {"sampling": "uniform", "cache": False},
    "max gap": {"sampling": "max_gap"},
    "threads": {"n_jobs": 2},
    "bounds": {"bounds": (-0.5, 0.6)},
    "multi-plane": {"solver": "multi_plane"},
    "Frank-Wolfe": {"solver": "frank_wolfe"},
    "cutting plane": {"solver": "cutting_plane"},
    "subgradient": {"solver": "subgradient", "max_iter": 30},
    "averaged": {"solver": BCFW(averaging=True)},
}
HIDDEN = {"ignore_label": "?", "random_state": 0, "tol": 0.1, "lam": 0.05}
CASES = {
    "sequences": SequenceTagger(**FAST),
    "trees": TreeTagger(**FAST),
    "graphs": GraphTagger(**FAST),
    "graphs, elimination": GraphTagger(**FAST, inference="elimination"),
    "graphs, messages": GraphTagger(**FAST, inference="trws"),
    "sequences, labels": SequenceTagger(**HIDDEN),
    "trees, labels": TreeTagger(**HIDDEN),
}


def told(case):
    """Items and labels, of which some may be not known or one of two."""
    X, y = DATA[type(CASES[case])]
    if "labels" in case:
        y = [[k if t % 3 == 0 else "?" if t % 3 == 1 else {k, "a"} for t, k in enumerate(labels)]
             for labels in y]  # fmt: skip
    return X, y


@pytest.mark.parametrize(
    ("case", "way"),
    [
        pytest.param(*pair, marks=() if pair in in_turn(CASES, SOLVERS, 4) else pytest.mark.slow)
        for pair in itertools.product(CASES, SOLVERS)
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers(case, way):
    """Rounds of any solver fall, and end near those of the others."""
    X, y = told(case)
    model = clone(CASES[case]).set_params(**SOLVERS[way]).fit(X, y)
    assert (np.diff(model.round_objectives_) <= 0).all()
    if way != "subgradient":  # which has no certificate
        assert model.certified_
    if way not in ("subgradient", "bounds"):
        plain = clone(CASES[case]).fit(X, y)
        assert model.round_objectives_[-1] <= 1.15 * plain.round_objectives_[-1]


@OF_FAMILIES
def test_wrong_numbers_of_states(family):
    X, y = DATA[family]
    for given, message in (
        (0, "'n_states_per_label' parameter of .* must be an int in the range"),
        ("two", "'n_states_per_label' parameter of .* must be"),
        ({"a": 0}, r"n_states_per_label\['a'\] is 0, expected a positive integer"),
        ({"a": 1.5}, r"n_states_per_label\['a'\] is 1.5, expected a positive integer"),
        ({"a": 99}, r"n_states_per_label\['a'\] is 99, but y has"),
        (2**70, "n_states_per_label is 1180591620717411303424, but y has .* (token|node)s only"),
    ):
        with pytest.raises(ValueError, match=message):
            family(n_states_per_label=given).fit(X, y)
    parts = {"parts": "data in parts"}
    told = "data in parts cannot be combined with n_states_per_label"
    assert told in refusal(family(**FAST), **parts) and refusal(family(), **parts) is None
    if family is GraphTagger:
        two = [np.where(labels == "c", "b", labels) for labels in y]
        with pytest.raises(ValueError, match="two labels of one state, but here are 3"):
            GraphTagger(n_states_per_label={"a": 2}, inference="qpbo").fit(X, two)


@OF_FAMILIES
def test_damaged_attributes_are_named(family):
    pairs = "pairwise_" if family is GraphTagger else "transitions_"
    for name, value in [
        *(("n_states_", np.array(wrong)) for wrong in
          ([2, 1], [2, 0, 3], [2, 1, 1], [2.0, 1.0, 2.0])),
        ("n_states_", "many"), ("coef_", np.zeros((3, 3))), (pairs, np.zeros((3, 3))),
    ]:  # fmt: skip
        model = pickle.loads(pickle.dumps(FITTED[family]))
        setattr(model, name, value)
        for method in (model.predict, model.decision_function, model.predict_states):
            with pytest.raises(ValueError, match=r"_.* is not as it was fitted"):
                method(DATA[family][0])


def test_a_completion_that_is_worse_than_the_truth_is_not_taken():
    """Of graphs for which message passing finds a worse one, P would rise."""
    X, y = DATA[GraphTagger]
    task = GraphTagger(**FAST)._make_task(X, y, None)
    hidden, rng = task.completion.hidden, np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_weights)
    possible, offsets = hidden.partial.possible, hidden.data.offsets
    model = pickle.loads(pickle.dumps(FITTED[GraphTagger]))
    fitted = hidden.model.layout.split(w)
    model.coef_, model.pairwise_ = fitted["coef"], hidden.model.form.tables(fitted["pairwise"])

    def drawn():
        return np.where(possible, rng.random(possible.shape), -1.0).argmax(axis=1)

    def scores(states):
        found = []
        for item, own in zip(X, np.split(states, offsets[1:-1]), strict=True):
            every, values = score_paths(model, item)
            found.append(values[(every == own).all(axis=1)][0])
        return np.array(found)

    best, truth = hidden.complete(w), drawn()
    # better or the same for even graphs, anything for odd ones
    even = np.repeat(np.arange(len(X)) % 2 == 0, np.diff(offsets))
    found = np.where(even, best, drawn())
    rounds = CompletionRounds(lambda w: found, None, None, task.problem, truth, offsets=offsets)
    same, gain = rounds.gain(w)
    expected = np.maximum(scores(found), scores(truth))
    np.testing.assert_allclose(scores(rounds.completed), expected)
    assert (scores(found) < scores(truth)).any() and not same
    assert gain == pytest.approx((expected - scores(truth)).mean())
    rounds.find = lambda w: np.where(even, truth, found)
    rounds.truth = np.where(even, truth, rounds.completed)
    rounds.problem = task.problem.with_truth(rounds.truth)
    assert rounds.gain(w) == (True, 0.0)


@pytest.mark.parametrize("case", CASES)
def test_sparse_rows_starts_and_bounds(case):
    X, y = told(case)
    precise = clone(CASES[case]).set_params(tol=1e-4, max_iter=9999)
    thin = [(sp.csr_array(x[0]), *x[1:]) if isinstance(x, tuple) else sp.csr_array(x) for x in X]
    dense, sparse = (clone(precise).fit(items[:8], y[:8]) for items in (X, thin))
    # rounding decides between completions that are nearly as good, and so how many rounds there are
    for place, rel in ((0, 1e-3), (-1, 0.05)):
        found, expected = (model.round_objectives_[place] for model in (sparse, dense))
        assert found == pytest.approx(expected, rel=rel)
    stopped = EarlyStopping(
        clone(CASES[case]).set_params(tol=0.3), n_iter_no_change=2, random_state=0
    ).fit(X, y)
    assert 0.0 <= stopped.best_score_ <= 1.0
    assert (np.diff(stopped.scores_["n_passes"]) == 1).all()
    if "labels" in case:
        return
    last = [clone(CASES[case]).set_params(n_init=n).fit(X, y).round_objectives_[-1] for n in (1, 3)]
    assert last[1] <= last[0]
    box = {"coef": (np.full((5, 3), -0.1), 0.1)}
    assert np.abs(clone(CASES[case]).set_params(bounds=box).fit(X, y).coef_).max() <= 0.1
    with pytest.raises(ValueError, match=r"shape \(5, 3\)"):
        box = {"coef": (np.zeros((3, 3)), None)}
        clone(CASES[case]).set_params(bounds=box).fit(X, y)


def test_rules_beams_empty_sequences_and_pictures():
    model, (X, _) = pickle.loads(pickle.dumps(FITTED[SequenceTagger])), DATA[SequenceTagger]
    with pytest.raises(ValueError, match=r"boolean array of shape \(3, 3\)"):
        model.set_params(allowed_transitions=np.ones((5, 5), dtype=bool)).predict(X)
    model.set_params(allowed_transitions=None, beam_size=5)
    assert all(map(np.array_equal, model.predict(X), FITTED[SequenceTagger].predict(X)))
    states = model.set_params(beam_size=2).predict_states(X)
    for path, labels in zip(states, model.predict(X), strict=True):
        assert (NAMES[OWNER[path]] == labels).all()
    empty = [np.empty((0, 3)), X[0]]
    assert [len(states) for states in model.predict_states(empty)] == [0, len(X[0])]
    assert model.decision_function(empty[:1])[0].shape == (0, 3)
    display = TransitionDisplay.from_estimator(model)
    assert display.columns == ["a/0", "a/1", "b/0", "c/0", "c/1", "(end)"]
    np.testing.assert_array_equal(display.weights[1:, :-1], model.transitions_)
    # after b comes b only
    model.allowed_transitions_ = ~np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool)
    display = TransitionDisplay.from_estimator(model, ends=False)
    assert np.isnan(display.weights[2, [0, 1, 3, 4]]).all()
    assert np.isfinite(display.weights[:2]).all()
