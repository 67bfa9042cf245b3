"""Hidden states of labels, and labels that are not known, of sequences, trees and graphs.

That objectives and predictions are those of the best states is in tests/estimators/
test_enumeration.py, of any solver in test_rounds.py, that refits go on in base/test_warm_start.py.
"""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import long_indices
from helpers.labellings import all_weights
from helpers.refusals import refused
from helpers.trees import random_parents
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sskit import GraphTagger, SegmentTagger, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.core.regularizer import Regularizer
from sskit.datasets import make_chains
from sskit.display import TransitionDisplay
from sskit.estimators.chain.completion import HiddenChains
from sskit.estimators.combinations import refusal
from sskit.estimators.completion import clusters
from sskit.estimators.completion.clusters import cluster_states
from sskit.metrics import token_accuracy_score
from sskit.solvers import BCFW, FrankWolfe, SoftBCFW
from sskit.solvers.convex_concave import Completion, CompletionRounds
from sskit.solvers.oracle_calls.pool import make_pool

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
    assert model.explain(X, 2, 1)["feature"].str.contains(r"/\d -> ").any()


def of_any(kind):
    """Data of a family, or of segments or rows, and the parameter for its numbers of states."""
    (X, y), name = DATA.get(kind, DATA[SequenceTagger]), "n_states_per_label"
    if kind is SegmentTagger:
        y = [[(t, t + 1, k) for t, k in enumerate(labels.tolist())] for labels in y]
    elif kind is StructSVMClassifier:
        X, y, name = np.concatenate(X), np.concatenate(y), "n_components"
    return X, y, name


KINDS_OF_STATES = pytest.mark.parametrize("family", [*FAMILIES, SegmentTagger, StructSVMClassifier])


@KINDS_OF_STATES
def test_one_state_is_the_label(family):
    X, y, name = of_any(family)
    plain = family(random_state=0).fit(X, y)
    for given in (1, {}, {"a": 1, "b": 1}):
        model = family(**{name: given}, n_init=3, random_state=0).fit(X, y)
        assert set(vars(model)) == set(vars(plain))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
    if family not in FAMILIES:
        return
    for found, labels in zip(model.predict_states(X), model.predict(X), strict=True):
        assert (model.state_labels_[found] == labels).all()
    # states of the only label cost nothing
    model.set_params(n_states_per_label=2).fit(X, [np.zeros(len(labels), int) for labels in y])
    assert model.primal_objective_ == 0.0 and not model.coef_.any()


@KINDS_OF_STATES
def test_wrong_numbers_of_states(family):
    X, y, name = of_any(family)
    for given, message in (
        ({"a": 0}, r"\['a'\] is 0, expected a positive integer"),
        ({"a": 1.5}, r"\['a'\] is 1.5, expected a positive integer"),
        ({"a": True}, r"\['a'\] is True, expected a positive integer"),
        ({"a": 99}, r"\['a'\] is 99, but y has"),
        (2**70, " is 1180591620717411303424, but y has .* (token|node|row)s only"),
    ):
        model = family(**{name: given})
        with refused(model, ValueError, name + message):
            model.fit(X, y)
    told = f"data in parts cannot be combined with {name}"
    assert told in refusal(family(**{name: 2}), parts="data in parts")


@OF_FAMILIES
def test_shapes_and_numbers_are_those_of_states(family):
    X, y = DATA[family]
    with pytest.raises(ValueError, match=r"shape \(5, 3\)"):
        family(bounds={"coef": (np.zeros((3, 3)), None)}, **FAST).fit(X, y)
    if family is GraphTagger:
        two = [np.where(labels == "c", "b", labels) for labels in y]
        with pytest.raises(ValueError, match="two labels of one state, but here are 3"):
            GraphTagger(n_states_per_label={"a": 2}, inference="qpbo").fit(X, two)


def test_a_completion_that_is_worse_than_the_truth_is_not_taken():
    """Of graphs for which message passing finds a worse one, P would rise."""
    X, y = DATA[GraphTagger]
    task = GraphTagger(inference="elimination", **FAST)._make_task(X, y, None)
    hidden, rng = task.completion, np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_weights)
    possible, offsets = hidden.partial.possible, hidden.data.offsets

    def drawn():
        return np.where(possible, rng.random(possible.shape), -1.0).argmax(axis=1)

    def hinges(states):
        padded = Regularizer(1.0, len(w)).padded(w)
        return make_pool(task.problem.with_truth(states)).hinges(padded)

    # better or the same for even graphs, anything for odd ones
    truth, even = drawn(), np.repeat(np.arange(len(X)) % 2 == 0, np.diff(offsets))
    found, completion = np.where(even, hidden.complete(w), drawn()), Completion()
    completion.complete, completion.offsets = lambda w: found, offsets
    rounds = CompletionRounds(completion, task.problem, truth)
    same, gain = rounds.gain(w)
    expected = np.minimum(hinges(found), hinges(truth))
    np.testing.assert_allclose(hinges(rounds.completed), expected)
    assert (hinges(found) > hinges(truth)).any() and not same
    assert gain == pytest.approx((hinges(truth) - expected).mean())
    completion.complete = lambda w: np.where(even, rounds.truth, found)
    rounds.truth = np.where(even, truth, rounds.completed)
    rounds.problem = task.problem.with_truth(rounds.truth)
    assert rounds.gain(w) == (True, 0.0)


def test_rules_empty_sequences_and_pictures():
    model, (X, _) = pickle.loads(pickle.dumps(FITTED[SequenceTagger])), DATA[SequenceTagger]
    with pytest.raises(ValueError, match=r"boolean array of shape \(3, 3\)"):
        model.set_params(allowed_transitions=np.ones((5, 5), dtype=bool)).predict(X)
    model.set_params(allowed_transitions=None)
    empty = [np.empty((0, 3)), X[0]]
    assert [len(states) for states in model.predict_states(empty)] == [0, len(X[0])]
    # after b comes b only
    model.allowed_transitions_ = ~np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]], dtype=bool)
    display = TransitionDisplay.from_estimator(model)
    assert display.columns == ["a/0", "a/1", "b/0", "c/0", "c/1", "(end)"]
    assert np.isnan(display.weights[3, [0, 1, 3, 4]]).all()
    np.testing.assert_array_equal(display.weights[1:3, :-1], model.transitions_[:2])


K = 3
XS, YS = make_chains(14, n_features=3, n_states=K, noise=1.5, max_length=4, random_state=0)
DRAWN = np.random.default_rng(0)
PARENTS = [random_parents(DRAWN, len(x)) for x in XS]
TREES = list(zip(XS, PARENTS, strict=True))
KINDS = [(*tree, DRAWN.integers(2, size=len(tree[1]))) for tree in TREES]
# the label 1 may not come after 0; nor may a sequence end so that nothing is left
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
ITEMS = {"chains": (SequenceTagger, XS), "trees": (TreeTagger, TREES), "kinds": (TreeTagger, KINDS)}


def conceal(y):
    """Hide some labels and give sets for others; -1 is what is not known at all."""
    rng, found = np.random.default_rng(0), []
    for labels in y:
        forms = rng.choice(3, size=len(labels), p=[0.3, 0.4, 0.3])
        more = rng.integers(K, size=len(labels))
        forms_of = zip(labels.tolist(), forms, more.tolist(), strict=True)
        found.append([[-1, k, {k, other}][form] for k, form, other in forms_of])
    return found


CONCEALED = conceal(YS)


def partly(kind, **given):
    defaults = {"lam": 0.05, "tol": 0.02, "random_state": 0, "ignore_label": -1}
    return ITEMS[kind][0](**defaults | given)


@pytest.mark.parametrize("kind", ITEMS)
def test_labels_that_are_known_give_the_fit_without(kind):
    items = ITEMS[kind][1]
    plain = ITEMS[kind][0](lam=0.05, random_state=0).fit(items, YS)
    ones = [np.ones(len(labels)) for labels in YS]
    sets = [[{int(k)} if t % 2 else int(k) for t, k in enumerate(labels)] for labels in YS]
    for y, weight in [(YS, None), (sets, None), (YS, ones)]:
        model = clone(plain).set_params(ignore_label=-1).fit(items, y, token_weight=weight)
        assert all_weights(model).tobytes() == all_weights(plain).tobytes()
        assert not hasattr(model, "stationary_")


@pytest.mark.parametrize(
    "given",
    [
        {"max_iter": 5},
        {"solver": BCFW(max_time=1e-9)},
        # weights of zero complete labels as they were, but not those that more passes would find
        {"solver": FrankWolfe(max_time=1e-9)},
    ],
)
def test_a_round_that_was_cut_short_is_not_stationary(given):
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        model = partly("chains", tol=1e-9, **given).fit(XS, CONCEALED)
    assert model.certified_ and not model.stationary_
    assert model.n_iter_ == 5 or model.n_rounds_ == 1


@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_what_is_wrong_is_named(kind):
    items, ones = ITEMS[kind][1], [np.ones(len(labels)) for labels in YS]
    never, no_twos = np.zeros((K, K), dtype=bool), [np.minimum(labels, 1).tolist() for labels in YS]
    no_twos[0][0] = {0, 1, 2}
    for weights, error, message in (
        (3.0, TypeError, "one array of weights per sample, got float"),
        (ones[:-1], ValueError, "X has 14 samples but token_weight has 13"),
        ([*ones[:-1], [1.0]], ValueError, r"token_weight\[13\] must .* shape \(1,\)"),
        ([-1.0 * w for w in ones], ValueError, r"token_weight\[0\]\[0\] is -1.0, expected"),
        ([np.nan * w for w in ones], ValueError, r"token_weight\[0\]\[0\] is nan"),
        ([["a"] * len(w) for w in ones], ValueError, r"token_weight\[0\]"),
        ([0 * w for w in ones], ValueError, "token_weight is zero for all (token|node)s"),
    ):
        with pytest.raises(error, match=message):
            partly(kind).fit(items, YS, token_weight=weights)
    for first, error, message in (
        (set(), ValueError, r"y\[0\]\[0\] is an empty set"),
        ({1, -1}, ValueError, r"y\[0\]\[0\] is a set with ignore_label=-1 in it"),
        ({0, "a"}, TypeError, r"y\[0\]\[0\]"),
        ({0, None}, ValueError, r"y\[0\]\[0\] is None|y\[0\]\[0\] is a set with a label that"),
        ([1], TypeError, r"y\[0\]\[0\] is .*, of type list: one label"),
    ):
        with pytest.raises(error, match=message):
            partly(kind).fit(items, [[first, *CONCEALED[0][1:]], *CONCEALED[1:]])
    told = r"^(y\[\d+\]\[\d+\], which has no known label,|a set of .*) cannot be .* "
    for given, y, message in (
        ({}, [[-1] * len(labels) for labels in YS], "y has no labels but ignore_label=-1"),
        ({}, [[{0, 1, 2}] * len(labels) for labels in YS],
         "y determines nothing: every label is possible"),
        ({}, [CONCEALED[0][:-1], *CONCEALED[1:]], r"X\[0\] has \d rows but y\[0\] has \d labels"),
        ({"class_weight": "balanced"}, no_twos,
         "'balanced' needs (tokens|nodes) of each label, but 2 is in"),
        *[({"solver": SoftBCFW()}, CONCEALED, told + "solver=SoftBCFW")][: kind == "chains"],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            partly(kind, **given).fit(items, y)
    for given, first in ((ALLOWED, [0, 1]), (never, [-1, -1])):
        items, y = [np.ones((1, 2))] * K + [np.ones((2, 2))] * 2, [[0], [1], [2], first, [2, -1]]
        with pytest.raises(ValueError, match=r"y\[3\]\[1\] leaves no labelling that is allowed"):
            partly("chains", allowed_transitions=given).fit(items, y)


def test_of_a_set_any_label_is_right_and_what_is_not_known_does_not_count():
    """As in the metric, which is tested in tests/test_metrics.py."""
    model = partly("chains").fit(XS, CONCEALED)
    for weight in (None, np.arange(len(XS))):
        options = {"ignore_label": -1, "sample_weight": weight}
        expected = token_accuracy_score(CONCEALED, model.predict(XS), **options)
        assert model.score(XS, CONCEALED, weight) == expected
    with pytest.raises(ValueError, match="has a label in y_true but ignore_label"):
        model.score(XS[:1], [[-1] * len(XS[0])])
    with pytest.raises(TypeError, match="y_true has labels of dtype <U1"):
        model.score(XS[:1], [[{"a"}] * len(XS[0])])


HALF = [[-1 if t % 2 else int(k) for t, k in enumerate(labels)] for labels in YS]


@dataclass(frozen=True, kw_only=True)
class Drawn(HiddenChains):
    seeds: tuple

    def starts(self, solved):
        return (self.drawn(seed) for seed in self.seeds)


class Several(SequenceTagger):
    """Begins with labels drawn at random, once for each seed."""

    seeds = (0,)

    def _bind(self, checked, summary):
        task = super()._bind(checked, summary)
        return task._replace(completion=Drawn(**vars(task.completion), seeds=self.seeds))


def fitted(*seeds, **given):
    model = Several(0.05, ignore_label=-1, tol=1e-3, random_state=0, **{"max_iter": 9999} | given)
    model.seeds = seeds
    return model.fit(XS, HALF)


def test_passes_and_time_are_those_of_all_starts():
    n_iter = fitted(0).n_iter_
    for given, told in (
        ({"max_iter": n_iter - 1}, "maximum number of passes"),
        ({"solver": BCFW(max_time=1e-9)}, "maximum time"),
    ):
        with pytest.warns(ConvergenceWarning, match=told):
            model = fitted(0, 1, 2, **given)
        assert np.unique(model.history_["start"]).tolist() == [1]
    assert model.n_rounds_ == 1
    assert fitted(0, 1, 2, max_iter=n_iter).n_iter_ == n_iter


def test_the_best_start_is_kept():
    alone = [fitted(seed) for seed in range(5)]
    ends = [model.round_objectives_[-1] for model in alone]
    assert len(set(np.round(ends, 6))) > 1
    together, best = fitted(*range(5)), alone[int(np.argmin(ends))]
    assert together.coef_.tobytes() == best.coef_.tobytes()
    assert together.round_objectives_.tolist() == best.round_objectives_.tolist()
    assert (together.n_rounds_, together.stationary_) == (best.n_rounds_, best.stationary_)
    for name in ("n_iter_", "n_oracle_calls_"):
        assert getattr(together, name) == sum(getattr(model, name) for model in alone)
    history = together.history_
    assert np.unique(history["start"]).tolist() == [1, 2, 3, 4, 5]
    for start, model in enumerate(alone, 1):
        assert history["round"][history["start"] == start].max() >= model.n_rounds_
    assert (np.diff(history["n_passes"]) >= 0).all()


N_STATES = np.array([2, 1, 3])


def blobs(n=60):
    """Rows of three labels around as many far points as they have states, and these."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=n)
    blob = rng.integers(N_STATES[labels])
    rows = 10.0 * np.eye(6)[(np.cumsum(N_STATES) - N_STATES)[labels] + blob]
    return rows + 0.1 * rng.normal(size=rows.shape), labels, blob


@pytest.mark.parametrize("seed", range(3))
def test_far_points_are_states(seed):
    X, labels, blob = blobs()
    states = cluster_states(X, labels, N_STATES, np.random.RandomState(seed))
    assert (np.repeat(np.arange(3), N_STATES)[states] == labels).all()
    for k in range(3):
        own = states[labels == k]
        assert len({*zip(own.tolist(), blob[labels == k].tolist(), strict=True)}) == N_STATES[k]
        assert (np.diff(np.bincount(own - own.min())) <= 0).all()


@pytest.mark.parametrize("form", ["float32", "float16", "csr", "wide csr", "tiny", "huge"])
def test_rows_of_any_form_have_the_same_states(form, monkeypatch):
    X, labels, _ = blobs()
    expected = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    if form in ("csr", "wide csr"):
        X = long_indices(X) if form == "wide csr" else sp.csr_array(X)
    else:
        scale = {"tiny": 1e-200, "huge": 1e200}.get(form)
        X = X.astype(form) if scale is None else scale * X
    found = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    np.testing.assert_array_equal(found, expected)
    # rows without label have no state, and of many rows some are drawn
    monkeypatch.setattr(clusters, "MOST_ROWS", 6)
    labels = np.where(np.arange(60) % 3, labels, -1)
    states = cluster_states(X, labels, N_STATES, np.random.RandomState(0))
    assert ((states >= 0) == (labels >= 0)).all()


def test_more_states_than_rows():
    for scale in (1.0, 0.0):
        X, labels = np.full((4, 2), scale), np.array([0, 0, 1, 0])
        states = cluster_states(X, labels, np.array([3, 2]), np.random.RandomState(0))
        assert states.tolist() == [0, 0, 3, 0]
