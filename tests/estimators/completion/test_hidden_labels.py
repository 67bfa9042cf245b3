"""Training on labels of which only a part is known, against enumeration of all labellings."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.real_data import load_conll2000
from helpers.trees import random_parents
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import EarlyStopping, RegularizationPath, SequenceTagger, TreeTagger
from sskit.datasets import make_chains
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW, GDMM, FrankWolfe, SoftBCFW

K = 3
ALL = frozenset(range(K))
X, Y = make_chains(14, n_features=3, n_states=K, noise=1.5, max_length=4, random_state=0)
RNG = np.random.default_rng(0)
PARENTS = [random_parents(RNG, len(x)) for x in X]
TREES = list(zip(X, PARENTS, strict=True))
KINDS = [(*tree, RNG.integers(2, size=len(tree[1]))) for tree in TREES]
# the label 1 may not come after 0; nor may a sequence end so that nothing is left
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
DATA = {"chains": (SequenceTagger, X), "trees": (TreeTagger, TREES), "kinds": (TreeTagger, KINDS)}


def conceal(y, seed=0, legal=False):
    """Hide some labels and give sets for others; None is what is not known at all."""
    rng, found = np.random.default_rng(seed), []
    for labels in y:
        forms = rng.choice(3, size=len(labels), p=[0.3, 0.4, 0.3])
        more = rng.integers(K, size=len(labels))
        found.append(
            [
                -1 if form == 0 else int(k) if form == 1 else {int(k), int(other)}
                for k, form, other in zip(labels, forms, more, strict=True)
            ]
        )
    return found


HIDDEN = conceal(Y)


def options(labels):
    """Return the labels that each token may have."""
    return [
        set(ALL) if label == -1 else label if isinstance(label, set | frozenset) else {label}
        for label in labels
    ]


def score(model, item, labels):
    x, *tree = item if isinstance(item, tuple) else (item,)
    total = sum(model.coef_[k] @ row for k, row in zip(labels, x, strict=True))
    if not tree:
        total += model.start_[labels[0]] + model.end_[labels[-1]]
        return total + sum(model.transitions_[pair] for pair in itertools.pairwise(labels))
    parents = tree[0]
    for v, u in enumerate(parents):
        if u < 0:
            total += model.root_[labels[v]]
        else:
            tables = model.transitions_
            if len(tree) > 1:
                tables = tables[model.edge_kinds_.tolist().index(tree[1][v])]
            total += tables[labels[u], labels[v]]
        if v not in parents:
            total += model.leaf_[labels[v]]
    return total


def objective(model, items, y, *, factors=(1.0,) * K, weights=None, allowed=None, loss=1.0):
    """Return P(w) by enumeration; the weight of a set is the mean of those of its labels."""
    coef = [model.coef_, model.transitions_]
    names = ("start_", "end_") if hasattr(model, "start_") else ("root_", "leaf_")
    coef += [getattr(model, name) for name in names]
    total = 0.0
    for i, (item, labels) in enumerate(zip(items, y, strict=True)):
        known = options(labels)
        cost = [0.0 if len(s) == K else np.mean([factors[k] for k in s]) for s in known]
        if weights is not None:
            cost = np.multiply(cost, weights[i])
        worst = best = -np.inf
        for guess in itertools.product(range(K), repeat=len(labels)):
            if allowed is not None and not all(allowed[p] for p in itertools.pairwise(guess)):
                continue
            value = score(model, item, guess)
            wrong = [k not in s for k, s in zip(guess, known, strict=True)]
            worst = max(worst, value + loss * np.dot(cost, wrong))
            best = max(best, value if not any(wrong) else -np.inf)
        total += worst - best
    return model.lam_ / 2 * sum((c**2).sum() for c in coef) + total / len(y)


def make(kind, **given):
    defaults = {"lam": 0.05, "tol": 0.02, "random_state": 0, "ignore_label": -1}
    return DATA[kind][0](**defaults | given)


def weights_of(model):
    names = ("coef_", "transitions_", "start_", "end_", "root_", "leaf_")
    return [getattr(model, name).tobytes() for name in names if hasattr(model, name)]


@pytest.mark.parametrize("kind", DATA)
def test_objective_is_that_of_enumeration_and_never_rises(kind):
    items = DATA[kind][1]
    model = make(kind, tol=1e-3, max_iter=3000).fit(items, HIDDEN)
    rounds = model.round_objectives_
    assert len(rounds) == model.n_rounds_ == model.history_["round"].max() > 1
    assert (np.diff(rounds) <= 0).all()
    assert rounds[-1] == pytest.approx(objective(model, items, HIDDEN), rel=1e-9)
    assert model.certified_
    assert model.stationary_ == (rounds[-1] == pytest.approx(model.primal_objective_, rel=1e-12))
    assert (model.history_["gap"] >= -1e-9).all()
    assert (np.diff(model.history_["n_passes"]) >= 0).all()
    assert model.history_["n_passes"][-1] == model.n_iter_
    assert (np.diff(model.history_["time"]) >= 0).all()


@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_weights_of_classes_and_tokens(kind):
    items = DATA[kind][1]
    factors = {0: 0.5, 1: 2.0, 2: 1.25}
    weights = [RNG.uniform(0.0, 2.0, size=len(labels)) for labels in Y]
    given = {"factors": [factors[k] for k in range(K)], "weights": weights}
    model = make(kind, class_weight=factors).fit(items, HIDDEN, token_weight=weights)
    assert (np.diff(model.round_objectives_) <= 0).all()
    expected = objective(model, items, HIDDEN, **given)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    whole = make(kind, class_weight=factors).fit(items, Y, token_weight=weights)
    assert whole.primal_objective_ == pytest.approx(objective(whole, items, Y, **given), rel=1e-9)
    assert not hasattr(whole, "n_rounds_")


def test_share_of_wrong_tokens():
    model = make("chains", loss="hamming").fit(X, HIDDEN)
    shares = [[1 / len(labels)] * len(labels) for labels in Y]
    expected = objective(model, X, HIDDEN, weights=shares)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


def test_balanced_weights_count_what_is_known():
    model = make("chains", class_weight="balanced").fit(X, HIDDEN)
    counts = np.zeros(K)
    for s in itertools.chain.from_iterable(map(options, HIDDEN)):
        if len(s) < K:
            counts[list(s)] += 1 / len(s)
    factors = counts.sum() / (K * counts)
    expected = objective(model, X, HIDDEN, factors=factors)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


def test_balanced_weights_of_a_label_that_nobody_knows():
    y = [np.where(labels == 2, 1, labels).tolist() for labels in Y]
    y[0][0] = ALL
    with pytest.raises(ValueError, match="'balanced' needs tokens of each label, but 2 is in"):
        make("chains", class_weight="balanced").fit(X, y)


def legal_labels():
    """Labels that keep to ALLOWED, some of them hidden."""
    y = [np.where(labels == 1, 2, labels) for labels in Y[:-1]] + [np.array([1, 2, 0])]
    items = [*X[:-1], RNG.normal(size=(3, 3))]
    return items, [[-1 if t % 2 else int(k) for t, k in enumerate(labels)] for labels in y]


def test_completions_are_allowed():
    items, y = legal_labels()
    seen = []
    model = make("chains", allowed_transitions=ALLOWED)
    model.fit(items, y)
    expected = objective(model, items, y, allowed=ALLOWED)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    for labels in model.predict(items, known=[[None if k < 0 else k for k in t] for t in y]):
        seen += list(itertools.pairwise(labels))
    assert all(ALLOWED[pair] for pair in seen)


def test_ignored_rules_hold_in_prediction_only():
    model = make("chains", allowed_transitions=ALLOWED, on_violation="ignore").fit(X, HIDDEN)
    expected = objective(model, X, HIDDEN)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


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


@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_a_set_of_all_labels_says_nothing(kind):
    items = DATA[kind][1]
    full = [[set(ALL) if k == -1 else k for k in labels] for labels in HIDDEN]
    assert weights_of(make(kind).fit(items, full)) == weights_of(make(kind).fit(items, HIDDEN))


def test_forms_of_labels():
    names = np.array(["N", "V", "D"])
    y = [[names[k] if t % 2 == 0 else "?" for t, k in enumerate(labels)] for labels in Y]
    model = make("chains", ignore_label="?").fit(X, y)
    for form in (
        [np.array(labels) for labels in y],
        [tuple(labels) for labels in y],
        [np.array(labels, dtype=object) for labels in y],
    ):
        assert weights_of(make("chains", ignore_label="?").fit(X, form)) == weights_of(model)
    assert sorted(model.classes_) == sorted(names)
    sets = [[{k, k} if k == "?" else frozenset([k]) for k in labels] for labels in y]
    with pytest.raises(ValueError, match=r"y\[\d+\]\[1\] is a set with ignore_label='\?' in it"):
        make("chains", ignore_label="?").fit(X, sets)
    kinds = pytest.importorskip("pandas").Series
    assert weights_of(
        make("chains", ignore_label="?").fit(X, [kinds(labels) for labels in y])
    ) == weights_of(model)


def test_sets_alone():
    rng = np.random.default_rng(1)
    y = [[{int(k), int((k + rng.integers(1, K)) % K)} for k in labels] for labels in Y]
    model = make("chains").fit(X, y)
    expected = objective(model, X, y)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    again = make("chains").fit(X, y)
    assert weights_of(again) == weights_of(model)
    ruled = make("chains", allowed_transitions=np.ones((K, K), dtype=bool)).fit(X, y)
    assert (np.diff(ruled.round_objectives_) <= 0).all()
    assert make("trees", tol=0.05).fit(TREES, y).certified_


def test_some_sequences_are_hidden_completely():
    y = [[-1] * len(labels) if i % 3 == 0 else labels for i, labels in enumerate(HIDDEN)]
    for kind in ("chains", "trees"):
        items = DATA[kind][1]
        model = make(kind).fit(items, y)
        expected = objective(model, items, y)
        assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


SOLVERS = {
    "plain": {"solver": BCFW(steps="fw", cache=False)},
    "averaging": {"solver": BCFW(averaging=True)},
    "pairwise": {"steps": "pairwise"},
    "away": {"steps": "away"},
    "multi_plane": {"solver": "multi_plane"},
    "frank_wolfe": {"solver": "frank_wolfe"},
    "cutting_plane": {"solver": "cutting_plane"},
    "bounds": {"bounds": (-0.5, 0.6)},
    "threads": {"n_jobs": 2},
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_solvers(name, kind):
    if name == "averaging" and "averaging" not in BCFW().get_params():
        pytest.skip("no averaging")
    items = DATA[kind][1]
    model = make(kind, tol=0.1, **SOLVERS[name]).fit(items, HIDDEN)
    assert (np.diff(model.round_objectives_) <= 0).all()
    expected = objective(model, items, HIDDEN)
    assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    reference = make(kind, tol=0.1).fit(items, HIDDEN)
    assert name == "bounds" or expected < 1.5 * reference.round_objectives_[-1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers_without_a_gap():
    y = [[-1 if isinstance(k, set) else k for k in labels] for labels in HIDDEN]
    for solver in ("subgradient", "gdmm"):
        model = make("chains", solver=solver, max_iter=60, tol=0.1).fit(X, y)
        assert model.n_rounds_ >= 1
        assert model.score(X, y) > 0.5


def test_numbers_in_single_precision_and_sparse():
    single = [x.astype(np.float32) for x in X]
    double = [x.astype(np.float64) for x in single]
    one = make("chains").fit(single, HIDDEN)
    two = make("chains").fit(double, HIDDEN)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-6, atol=1e-9)
    sparse = make("chains").fit([sp.csr_array(x) for x in double], HIDDEN)
    np.testing.assert_allclose(sparse.round_objectives_[-1], two.round_objectives_[-1], rtol=0.01)
    trees = [(sp.csr_array(x), parents) for x, parents in TREES]
    assert make("trees").fit(trees, HIDDEN).certified_


def test_passes_are_those_of_all_rounds():
    with pytest.warns(ConvergenceWarning, match="stopped after 5 passes"):
        model = make("chains", tol=1e-9, max_iter=5).fit(X, HIDDEN)
    assert model.n_iter_ == 5
    assert not model.stationary_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_that_end_early():
    for max_time in (1e-9, 0.01):
        model = make("chains", tol=1e-9, solver=BCFW(max_time=max_time)).fit(X, HIDDEN)
        assert model.certified_
        assert not model.stationary_
        expected = objective(model, X, HIDDEN)
        assert model.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)


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


def test_nothing_is_modified():
    y = pickle.dumps(HIDDEN)
    make("chains").fit(X, HIDDEN)
    assert pickle.dumps(HIDDEN) == y


def test_early_stopping():
    stopped = EarlyStopping(make("chains"), n_iter_no_change=2, random_state=0)
    stopped.fit(X, HIDDEN)
    passes = stopped.scores_["n_passes"]
    assert (np.diff(passes) == 1).all()
    assert 0.0 <= stopped.best_score_ <= 1.0


def test_search_and_cross_validation():
    search = GridSearchCV(make("chains", tol=0.1), {"lam": [0.01, 1.0]}, cv=2).fit(X, HIDDEN)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = cross_val_score(make("trees", tol=0.1), TREES, HIDDEN, cv=2)
    assert ((scores > 0) & (scores <= 1)).all()


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


def test_token_weights_are_routed():
    weights = [RNG.uniform(size=len(labels)) for labels in Y]
    plain = make_pipeline(TokenTransformer(StandardScaler()), make("chains")).fit(X, HIDDEN)
    with config_context(enable_metadata_routing=True):
        pipeline = clone(plain)
        pipeline[-1].set_fit_request(token_weight=True)
        pipeline.fit(X, HIDDEN, token_weight=weights)
        search = GridSearchCV(pipeline, {"sequencetagger__lam": [0.1]}, cv=2)
        search.fit(X, HIDDEN, token_weight=weights)
    assert weights_of(pipeline[-1]) != weights_of(plain[-1])


def test_token_weight_of_zero_is_no_loss():
    weights = [[0.0 if k == -1 else 1.0 for k in labels] for labels in HIDDEN]
    y = [[int(k) for k in labels] for labels in Y]
    model = make("chains").fit(X, y, token_weight=weights)
    expected = objective(model, X, y, weights=weights)
    assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)


ONES = [np.ones(len(labels)) for labels in Y]
BAD_WEIGHTS = [
    (3.0, TypeError, "one array of weights per sample, got float"),
    (ONES[:-1], ValueError, "X has 14 samples but token_weight has 13"),
    (
        [*ONES[:-1], [1.0]],
        ValueError,
        r"token_weight\[13\] must .* shape \(1,\)",
    ),
    ([[-1.0] * len(w) for w in ONES], ValueError, r"token_weight\[0\]\[0\] is -1.0, expected"),
    ([np.full(len(w), np.nan) for w in ONES], ValueError, r"token_weight\[0\]\[0\] is nan"),
    ([["a"] * len(w) for w in ONES], ValueError, r"token_weight\[0\]"),
    ([0 * w for w in ONES], ValueError, "token_weight is zero for all (token|node)s"),
]


@pytest.mark.parametrize(("weights", "error", "message"), BAD_WEIGHTS)
@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_wrong_token_weights(kind, weights, error, message):
    with pytest.raises(error, match=message):
        make(kind).fit(DATA[kind][1], Y, token_weight=weights)


def first(label):
    """Labels whose first token has something wrong."""
    return [[label, *HIDDEN[0][1:]], *HIDDEN[1:]]


BAD_LABELS = [
    ([[-1] * len(labels) for labels in Y], ValueError, "y has no labels but ignore_label=-1"),
    ([[ALL] * len(labels) for labels in Y], ValueError, "y says nothing: every label is possible"),
    (first(set()), ValueError, r"y\[0\]\[0\] is an empty set"),
    (first({1, -1}), ValueError, r"y\[0\]\[0\] is a set with ignore_label=-1 in it"),
    (first({0, "a"}), TypeError, r"y\[0\]\[0\]"),
    (first({0, None}), ValueError, r"y\[0\]\[0\] is None|y\[0\]\[0\] is a set with a label that"),
    (first([1]), TypeError, r"y\[0\]\[0\] is .*, of type list: one label"),
    (HIDDEN[:-1], ValueError, "X has 14 samples but y has 13"),
    ([HIDDEN[0][:-1], *HIDDEN[1:]], ValueError, r"X\[0\] has \d rows but y\[0\] has \d labels"),
]


@pytest.mark.parametrize(("y", "error", "message"), BAD_LABELS)
@pytest.mark.parametrize("kind", ["chains", "trees"])
def test_wrong_labels(kind, y, error, message):
    with pytest.raises(error, match=message):
        make(kind).fit(DATA[kind][1], y)


def test_labels_that_nothing_completes():
    items, y = legal_labels()
    y[3] = [0, 1, *y[3][2:]] if len(y[3]) > 1 else y[3]
    with pytest.raises(ValueError, match=r"y\[3\]\[1\] leaves no labelling that is allowed"):
        make("chains", allowed_transitions=ALLOWED).fit(items, y)
    never = np.zeros((K, K), dtype=bool)
    y = [[k] for k in range(K)] + [[-1, -1]]
    items = [np.ones((1, 2))] * K + [np.ones((2, 2))]
    with pytest.raises(ValueError, match=r"y\[3\]\[1\] leaves no labelling that is allowed"):
        make("chains", allowed_transitions=never).fit(items, y)


REFUSED = {
    "slack": ({"rescaling": "slack"}, "rescaling='slack'"),
    "kernel": ({"kernel": "rbf"}, "kernel='rbf'"),
    "repair": (
        {"allowed_transitions": ALLOWED, "on_violation": "repair"},
        "on_violation='repair'",
    ),
    "gdmm": ({"solver": "gdmm"}, "solver='gdmm'"),
    "soft_bcfw": ({"solver": SoftBCFW()}, "solver=SoftBCFW"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    given, message = REFUSED[name]
    with pytest.raises(
        ValueError,
        match=rf"^(y\[\d+\]\[\d+\], which has no known label,|a set of .*) cannot be .* {message}",
    ):
        make("chains", **given).fit(X, HIDDEN)
    if name == "slack":
        with pytest.raises(ValueError, match=message):
            make("trees", **given).fit(TREES, HIDDEN)


def test_refused_in_paths():
    model = make("chains")
    with pytest.raises(ValueError, match="a path cannot be combined with labels that are"):
        RegularizationPath(model).fit(X, HIDDEN)
    assert GDMM().keeps_dual_point is False


def test_saved_and_loaded():
    model = make("chains").fit(X, HIDDEN)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.round_objectives_, model.round_objectives_)
    assert again.score(X, Y) == model.score(X, Y)


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
