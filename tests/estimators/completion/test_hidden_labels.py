"""Training on labels of which only a part is known.

The objective by enumeration is in tests/estimators/test_enumeration.py, solvers and tools in
test_states.py.
"""

import itertools
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.labellings import losses_of, objective
from helpers.real_data import load_conll2000
from helpers.trees import random_parents
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer

from sskit import SequenceTagger, TreeTagger
from sskit.datasets import make_chains
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW, FrankWolfe, SoftBCFW

K = 3
X, Y = make_chains(14, n_features=3, n_states=K, noise=1.5, max_length=4, random_state=0)
RNG = np.random.default_rng(0)
PARENTS = [random_parents(RNG, len(x)) for x in X]
TREES = list(zip(X, PARENTS, strict=True))
KINDS = [(*tree, RNG.integers(2, size=len(tree[1]))) for tree in TREES]
# the label 1 may not come after 0; nor may a sequence end so that nothing is left
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
DATA = {"chains": (SequenceTagger, X), "trees": (TreeTagger, TREES), "kinds": (TreeTagger, KINDS)}


def conceal(y):
    """Hide some labels and give sets for others; -1 is what is not known at all."""
    rng, found = np.random.default_rng(0), []
    for labels in y:
        forms = rng.choice(3, size=len(labels), p=[0.3, 0.4, 0.3])
        more = rng.integers(K, size=len(labels))
        forms_of = zip(labels.tolist(), forms, more.tolist(), strict=True)
        found.append([[-1, k, {k, other}][form] for k, form, other in forms_of])
    return found


HIDDEN = conceal(Y)


def make(kind, **given):
    defaults = {"lam": 0.05, "tol": 0.02, "random_state": 0, "ignore_label": -1}
    return DATA[kind][0](**defaults | given)


def weights_of(model):
    names = ("coef_", "transitions_", "start_", "end_", "root_", "leaf_")
    return [getattr(model, name).tobytes() for name in names if hasattr(model, name)]


@pytest.mark.parametrize("kind", DATA)
def test_rounds_and_their_history(kind):
    model = make(kind, tol=1e-3, max_iter=3000).fit(DATA[kind][1], HIDDEN)
    assert model.n_rounds_ == model.history_["round"].max() > 1
    assert (np.diff(model.round_objectives_) <= 0).all()
    assert (model.history_["gap"] >= -1e-9).all()
    assert (np.diff(model.history_["n_passes"]) >= 0).all()
    assert model.history_["n_passes"][-1] == model.n_iter_
    assert (np.diff(model.history_["time"]) >= 0).all()


@pytest.mark.parametrize("kind", DATA)
def test_labels_that_are_known_give_the_fit_without(kind):
    items = DATA[kind][1]
    plain = DATA[kind][0](lam=0.05, random_state=0).fit(items, Y)
    ones = [np.ones(len(labels)) for labels in Y]
    sets = [[{int(k)} if t % 2 else int(k) for t, k in enumerate(labels)] for labels in Y]
    for y, given in [(Y, {}), (sets, {}), (Y, {"token_weight": ones})]:
        model = DATA[kind][0](lam=0.05, random_state=0, ignore_label=-1).fit(items, y, **given)
        assert weights_of(model) == weights_of(plain)
        assert not hasattr(model, "stationary_")


def test_forms_of_labels():
    names = np.array(["N", "V", "D"])
    y = [[names[k] if t % 2 == 0 else "?" for t, k in enumerate(labels)] for labels in Y]
    before = pickle.dumps(y)
    model = make("chains", ignore_label="?").fit(X, y)
    assert pickle.dumps(y) == before and sorted(model.classes_) == sorted(names)
    full = [[set(names) if k == "?" else k for k in labels] for labels in y]
    others = [[form(labels) for labels in y] for form in
              (np.array, tuple, partial(np.array, dtype=object), pd.Series)]  # fmt: skip
    for other in [*others, full]:
        assert weights_of(make("chains", ignore_label="?").fit(X, other)) == weights_of(model)


def test_fits_that_end_early():
    for given in (
        {"max_iter": 5},
        {"solver": BCFW(max_time=1e-9)},
        {"solver": BCFW(max_time=0.01)},
    ):
        with pytest.warns(ConvergenceWarning, match="stopped after"):
            model = make("chains", tol=1e-9, **given).fit(X, HIDDEN)
        assert model.certified_ and not model.stationary_
        assert model.n_iter_ == 5 or "solver" in given
        known = [losses_of(labels, range(K), hidden=-1) for labels in HIDDEN]
        expected = objective(model, X, *zip(*known, strict=True))
        assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    y = [[-1 if isinstance(k, set) else k for k in labels] for labels in HIDDEN]
    with pytest.warns(ConvergenceWarning):
        model = make("chains", solver="gdmm", max_iter=60, tol=1e-9).fit(X, y)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_what_is_wrong_is_named(kind):
    items, ones = DATA[kind][1], [np.ones(len(labels)) for labels in Y]
    never, no_twos = np.zeros((K, K), dtype=bool), [np.minimum(labels, 1).tolist() for labels in Y]
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
            make(kind).fit(items, Y, token_weight=weights)
    for first, error, message in (
        (set(), ValueError, r"y\[0\]\[0\] is an empty set"),
        ({1, -1}, ValueError, r"y\[0\]\[0\] is a set with ignore_label=-1 in it"),
        ({0, "a"}, TypeError, r"y\[0\]\[0\]"),
        ({0, None}, ValueError, r"y\[0\]\[0\] is None|y\[0\]\[0\] is a set with a label that"),
        ([1], TypeError, r"y\[0\]\[0\] is .*, of type list: one label"),
    ):
        with pytest.raises(error, match=message):
            make(kind).fit(items, [[first, *HIDDEN[0][1:]], *HIDDEN[1:]])
    told = r"^(y\[\d+\]\[\d+\], which has no known label,|a set of .*) cannot be .* "
    for given, y, message in (
        ({}, [[-1] * len(labels) for labels in Y], "y has no labels but ignore_label=-1"),
        ({}, [[{0, 1, 2}] * len(labels) for labels in Y],
         "y determines nothing: every label is possible"),
        ({}, [HIDDEN[0][:-1], *HIDDEN[1:]], r"X\[0\] has \d rows but y\[0\] has \d labels"),
        ({"class_weight": "balanced"}, no_twos,
         "'balanced' needs (tokens|nodes) of each label, but 2 is in"),
        *(({"rescaling": "slack"}, HIDDEN, told + "rescaling='slack'"),
          ({"solver": SoftBCFW()}, HIDDEN, told + "solver=SoftBCFW"))[: 2 * (kind == "chains")],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            make(kind, **given).fit(items, y)
    for given, first in ((ALLOWED, [0, 1]), (never, [-1, -1])):
        items, y = [np.ones((1, 2))] * K + [np.ones((2, 2))] * 2, [[0], [1], [2], first, [2, -1]]
        with pytest.raises(ValueError, match=r"y\[3\]\[1\] leaves no labelling that is allowed"):
            make("chains", allowed_transitions=given).fit(items, y)


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


@pytest.mark.realdata
def test_chunks():
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    vectorizer = TokenTransformer(DictVectorizer())
    items = vectorizer.fit_transform(train.data[:500])
    rng = np.random.default_rng(0)
    y = [np.where(rng.random(len(t)) < 0.95, "?", t) for t in map(np.asarray, train.target[:500])]
    model = SequenceTagger(ignore_label="?", random_state=0).fit(items, y)
    assert model.score(vectorizer.transform(test.data), test.target) > 0.87
    assert (np.diff(model.round_objectives_) <= 0).all()


def test_score():
    model = make("chains").fit(X, HIDDEN)
    predicted = model.predict(X)
    right, weights = [], []
    for i, (labels, found) in enumerate(zip(HIDDEN, predicted, strict=True)):
        for label, k in zip(labels, found, strict=True):
            if label != -1:
                right.append(k in label if isinstance(label, set) else k == label)
                weights.append(i)
    assert model.score(X, HIDDEN) == pytest.approx(np.mean(right))
    weighted = np.average(right, weights=weights)
    assert model.score(X, HIDDEN, np.arange(len(X))) == pytest.approx(weighted)
    assert model.score(X, [[{int(k)} for k in t] for t in Y]) == model.score(X, Y)
    with pytest.raises(ValueError, match="has a label in y_true but ignore_label"):
        model.score(X[:1], [[-1] * len(X[0])])
    with pytest.raises(TypeError, match="y_true has labels of dtype <U1"):
        model.score(X[:1], [[{"a"}] * len(X[0])])


def test_a_round_that_was_cut_short_is_not_stationary():
    """Weights of zero complete labels as they were, but not those that more passes would find."""
    X, y = make_chains(20, n_features=3, n_states=3, noise=1.0, random_state=0)
    hidden = [{0, 1, 2} if t % 2 else int(k) for ks in y for t, k in enumerate(ks)]
    ends = np.cumsum([0, *map(len, y)])
    hidden = [hidden[a:b] for a, b in itertools.pairwise(ends)]
    tagger = SequenceTagger(solver=FrankWolfe(max_time=1e-6), random_state=0)
    with pytest.warns(ConvergenceWarning):
        tagger.fit(X, hidden)
    assert not np.any(tagger.coef_)
    assert tagger.n_rounds_ == 1
    assert not tagger.stationary_


# ---- rounds from several starts ------------------------------------------------------------------

HALF = [[-1 if t % 2 else int(k) for t, k in enumerate(labels)] for labels in Y]


class Several(SequenceTagger):
    """Begins with labels drawn at random, once for each seed."""

    seeds = (0,)

    def _bind(self, checked, summary):
        task = super()._bind(checked, summary)
        hidden = task.completion.complete.__self__

        def starts(solved):
            return (hidden.drawn(seed) for seed in self.seeds)

        return task._replace(completion=ConvexConcave(hidden.complete, starts))


def fitted(*seeds, **given):
    model = Several(0.05, ignore_label=-1, tol=1e-3, random_state=0, **{"max_iter": 9999} | given)
    model.seeds = seeds
    return model.fit(X, HALF)


def test_the_best_start_is_kept():
    alone = [fitted(seed) for seed in range(5)]
    ends = [model.round_objectives_[-1] for model in alone]
    assert len(set(np.round(ends, 6))) > 1
    together, best = fitted(*range(5)), alone[int(np.argmin(ends))]
    assert together.coef_.tobytes() == best.coef_.tobytes()
    assert together.round_objectives_.tolist() == best.round_objectives_.tolist()
    assert (together.n_rounds_, together.stationary_) == (best.n_rounds_, best.stationary_)
    assert together.n_iter_ == sum(model.n_iter_ for model in alone)
    assert together.n_oracle_calls_ == sum(model.n_oracle_calls_ for model in alone)
    history = together.history_
    assert np.unique(history["start"]).tolist() == [1, 2, 3, 4, 5]
    rounds = [history["round"][history["start"] == s].max() for s in range(1, 6)]
    assert all(n >= model.n_rounds_ for n, model in zip(rounds, alone, strict=True))
    assert (np.diff(history["n_passes"]) >= 0).all()
