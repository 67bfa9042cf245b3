"""A step over a part of a stream minimises its objective and keeps what is known.

That of a step is lam_t / 2 |w - w_last|^2 by the counts of features, plus the hinges of the part.
"""

import copy
import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import labellings
from helpers.crossing import in_turn
from helpers.fits import FITS, HINGES, of_features
from helpers.refusals import refused
from sklearn.base import clone
from skops import io

from sskit import (
    GraphTagger,
    MultilabelPairwise,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.core.regularizer import Regularizer
from sskit.datasets import make_chains
from sskit.estimators.base.prior import blocks_to_flat
from sskit.solvers import MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CHAINS = FITS["chains"].data()
BLOCKS = (*labellings.BLOCKS, "intercept_")


def weights(model):
    return {name: getattr(model, name).copy() for name in BLOCKS if hasattr(model, name)}


NAMES = [name for name in FITS if hasattr(FITS[name].estimator, "partial_fit")]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_step_is_a_fit(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    given = {"random_state": 0, "tol": 0.1}
    fitted = clone(estimator).set_params(**given).fit(X, y)
    stepped = clone(estimator).set_params(**given).partial_fit(X, y)
    for key, value in weights(fitted).items():
        np.testing.assert_array_equal(getattr(stepped, key), value)
    assert stepped.n_samples_seen_ == fitted.n_samples_seen_ == len(y)
    assert stepped.lam_ == fitted.lam_
    assert all(map(np.array_equal, fitted.predict(X), stepped.predict(X)))


# Of models that find the maximum: that their hinges are right is a law of tests/models.
INEXACT = ("slack", "inexact", "graphs, bounds", "matchings")
LAW = [name for name in NAMES if name in HINGES and not any(word in name for word in INEXACT)]
WAYS = {
    "auto": {},
    "multi-plane": {"solver": "multi_plane"},
    "Frank-Wolfe": {"solver": "frank_wolfe", "n_jobs": 2},
    "cutting planes": {"solver": "cutting_plane"},
}


@pytest.mark.parametrize(("name", "way"), in_turn(LAW, WAYS, 2))
def test_the_objective_of_a_step(name, way):
    """The norm is that of how many rows have had a feature; bounds are kept."""
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    X, half, sparse = of_features(X, lambda x: x * (np.abs(x) > 0.5)), len(y) // 2, way == "auto"
    given = {"standardize": False, "max_iter": 30, "random_state": 0, "lam": 0.1}
    model = clone(estimator).set_params(**{k: given[k] for k in given if hasattr(estimator, k)})
    data = of_features(X, sp.csr_array) if sparse else X
    known = None if name.startswith(("sets", "hierarchy")) else clone(model).fit(data, y).classes_
    weight = np.arange(1.0, len(y) - half + 1) if sparse else None
    model.set_params(**WAYS[way]).partial_fit(data[:half], y[:half], known)
    before = vars(model).copy()
    model.partial_fit(data[half:], y[half:], sample_weight=weight)
    rows, later = (
        part if isinstance(part, np.ndarray)
        else np.concatenate([x[0] if isinstance(x, tuple) else x for x in part])
        for part in (X[:half], X[half:])
    )  # fmt: skip
    stiff = {key: np.full_like(value, len(rows)) for key, value in weights(model).items()}
    for key in {"coef_", "first_coef_", "last_coef_"} & stiff.keys():
        stiff[key] = np.broadcast_to(np.count_nonzero(rows, axis=0), stiff[key].shape)
    # with the labels and lengths of all samples
    weights_of_all = np.append(np.zeros(half), np.ones(len(y) - half) if weight is None else weight)
    edges = {"edges": model.edges_} if hasattr(model, "edges_") else {}
    task = clone(model).set_params(**edges)._make_task(data, y, weights_of_all)
    w, last, n_seen = (
        blocks_to_flat(each, task, "weights", strict=False)
        for each in (vars(model), before, vars(model) | stiff)
    )
    hinges = make_pool(task.problem).hinges(Regularizer(1.0, len(w)).padded(w))
    norm = np.sqrt(1.0 + n_seen) @ (w - last) ** 2
    expected = 0.05 * norm + task.problem.block_weight @ hinges
    assert model.primal_objective_ == pytest.approx(expected, rel=1e-9) and norm > 1e-6
    assert model._feature_counts_[-1] == len(rows) + len(later)
    low, high = estimator.bounds or (-np.inf, np.inf)
    assert w.min() >= low - 1e-12 and w.max() <= high + 1e-12
    assert model.lam_ == pytest.approx(0.1 * np.sqrt(1.0 + len(rows)))
    assert model.n_samples_seen_ == half + (len(y) - half if weight is None else weight.sum())


def test_a_prior_is_for_the_first_step():
    source = SequenceTagger(random_state=0).fit(*CHAINS)
    model = SequenceTagger(prior=source, lam=1e9, random_state=0)
    for prior in (source, np.zeros(27)):
        model.set_params(prior=prior).partial_fit(*CHAINS)
        np.testing.assert_allclose(model.coef_, source.coef_, atol=1e-6)


AFTER = ["chains", "rows", "trees", "matchings", "any graphs", "any graphs, slack"]
AFTER += ["segments", "segments, likelihood", "sets", "sets, tree", "hierarchy"]
AFTER += ["rows, likelihood", "chains, likelihood"]


@pytest.mark.parametrize("name", AFTER)
def test_steps_after_a_fit(name):
    """With n_jobs, and from a file, to the same bits."""
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    model = clone(estimator).set_params(random_state=0, tol=0.1).fit(X, y).set_params(tol=0.01)
    again, before = pickle.loads(pickle.dumps(model)), model.coef_.copy()
    model.partial_fit(X[:4], y[:4])
    np.testing.assert_array_equal(model.coef_, again.partial_fit(X[:4], y[:4]).coef_)
    assert model.n_samples_seen_ == len(y) + 4
    assert np.abs(model.coef_ - before).max() > 0
    data = io.dumps(model)  # which keep how often features have been seen
    copies = pickle.loads(pickle.dumps(model)), io.loads(data, io.get_untrusted_types(data=data))
    model.partial_fit(X[4:8], y[4:8])
    for again in copies:
        np.testing.assert_array_equal(again.partial_fit(X[4:8], y[4:8]).coef_, model.coef_)
    assert len(model.fit(X, y).history_["gap"]) and model.n_samples_seen_ == len(y)
    assert "_feature_counts_" not in vars(model)


def stepped(estimator, *data, **given):
    return clone(estimator).set_params(random_state=0).partial_fit(*data, **given)


ROWS = np.arange(12.0).reshape(6, 2) / 6.0
SETS = np.eye(3, dtype=int)[[0, 1, 2, 0, 1, 2]]
SPANS = [np.eye(5)[:, :2] + k for k in range(6)], [[(0, 2, "a"), (3, 4, "b")]] * 6
TAGGER, TAGS = SequenceTagger(tol=0.5), CHAINS[1]
EDGED = [(x, x[1:, :2] - x[:-1, :2]) for x in CHAINS[0]]
MATCHINGS = FITS["matchings"].data()


@cache
def started(name):
    """A model that has taken a step."""
    if name == "older":  # than steps of segments
        model = stepped(SegmentTagger(), *SPANS)
        del model.n_samples_seen_
        return model
    if name == "two numbers":
        model = SegmentTagger(segment_features=lambda x, start, stop: [stop - start, 1.0])
        return stepped(model, *SPANS).set_params(segment_features=lambda x, a, b: [1.0])
    estimator, *data = {
        "rows": (StructSVMClassifier(), ROWS, [0, 1, 2] * 2),
        "chains": (TAGGER, *CHAINS),
        "edges": (TAGGER, EDGED, TAGS),
        "matchings": (FITS["matchings"].estimator, *MATCHINGS),
        "segments": (SegmentTagger(), *SPANS),
        "sets": (MultilabelPairwise(), ROWS, SETS),
        "named": (MultilabelPairwise(), ROWS, pd.DataFrame(SETS, columns=["u", "v", "w"])),
        "two classes": (MultilabelPairwise(), ROWS, ["no", "yes"] * 3),
    }[name]
    return stepped(estimator, *data)


# A model that has taken a step, or a new one; the data of a step, further arguments; the message.
WRONG = [
    ("rows", (ROWS[:2], [0, 7]), {}, r"y\[1\] has 7, not among"),
    ("rows", (ROWS[:2], [0, 1]), {"classes": [0, 1]}, r"classes=\[0, 1\] is not the same as"),
    ("rows", (ROWS[:, :1], [0, 1] * 3), {}, "X has 1 features, but StructSVM"),
    ("rows", (ROWS * np.nan, [0, 1] * 3), {}, "NaN"),
    ("rows", (ROWS, [0, 1]), {}, "inconsistent"),
    ("rows", (ROWS[:2], [0, 1]), {"sample_weight": [-1, 1]}, "sample_weight"),
    (StructSVMClassifier(), (ROWS[:2], [1, 1]), {}, "at least 2 classes"),
    *((StructSVMClassifier(), (ROWS[:2], [0, 1]), {"classes": wrong}, "must be a list of labels")
      for wrong in ([[0, 1]], [])),
    ("chains", (CHAINS[0][:2], [TAGS[0], 9 + 0 * TAGS[1]]), {},
     r"y\[1\]\[0\] has 9, not among the classes \[0, 1, 2\]"),
    ("chains", ([x[:, :2] for x in CHAINS[0]], TAGS), {}, "X has 2 features, but Sequence"),
    ("chains", (EDGED, TAGS), {}, "X has 2 features of edges, but .* expecting no features"),
    ("edges", CHAINS, {}, "X has no features of edges, but .* expecting 2 features"),
    ("edges", ([(x, z[:, :1]) for x, z in EDGED], TAGS), {}, "1 features of edges, .* expecting 2"),
    ("matchings", MATCHINGS, {"classes": [0]}, "classes has no meaning with a model object"),
    ("matchings", ([x[:, :, :3] for x in MATCHINGS[0]], MATCHINGS[1]), {},
     "X has 3 joint features, but .* is expecting 4 joint features"),
    ("segments", (SPANS[0][:2], [SPANS[1][0], [(0, 1, "c")]]), {}, r"y\[1\] has 'c', not among"),
    ("segments", SPANS, {"classes": ["a"]}, r"classes=\['O', 'a'\] is not the same as"),
    ("segments", SPANS, {"classes": [["a"]]}, "classes must be a list of labels"),
    ("segments", ([x[:, :1] for x in SPANS[0]], SPANS[1]), {}, "X has 1 features, but SegmentTagg"),
    ("segments", SPANS, {"sample_weight": [-1.0] * 6}, "sample_weight"),
    ("segments", (SPANS[0][:1], [["O"] * 5]), {}, "y has tags, but that .* before had segments"),
    ("older", SPANS, {}, "does not know how many samples it has seen"),
    ("two numbers", SPANS, {}, "segment_features gives 1 numbers for a segment, but gave 2 in"),
    ("sets", (ROWS, SETS[:, :2]), {}, "y has 2 labels, but .* steps before had 3 labels"),
    ("sets", (ROWS, sp.csr_array(SETS)), {}, "y has the form 'sparse', but that of the steps"),
    ("sets", (ROWS[:, :1], SETS), {}, "X has 1 features, but MultilabelPairwise"),
    ("sets", (ROWS, SETS), {"classes": [0, 1, 2]}, "classes has no meaning with sets of la"),
    ("named", (ROWS, pd.DataFrame(SETS, columns=["u", "v", "x"])), {},
     "y has columns 'u', 'v', 'x', but that of the steps before had columns 'u', 'v', 'w'"),
    ("two classes", (ROWS, ["no", "other"] * 3), {}, r"y\[1\] has 'other', not among the classes"),
    (MultilabelPairwise(), (ROWS, ["no"] * 6), {}, "Only binary classification"),
    *((kind(), data, {"sample_weight": 1e308}, "sample_weight has the sum inf, expected one near")
      for kind, data in ((StructSVMClassifier, (ROWS, [0, 1] * 3)), (SequenceTagger, CHAINS),
                         (SegmentTagger, SPANS), (MultilabelPairwise, (ROWS, SETS)),
                         (GraphTagger, FITS["graphs"].data()))),
    *((kind(warm_start=True), data, {}, "partial_fit cannot .* warm_start=True") for kind, data in
      ((SequenceTagger, CHAINS), (SegmentTagger, SPANS), (MultilabelPairwise, (ROWS, SETS)))),
    (SequenceTagger(), CHAINS, {"token_weight": [[1.0] * 99] * 12}, r"token_weight\[0\]"),
    *((kind(class_weight="balanced"), data, {}, "with class_weight='balanced'") for kind, data in
      ((SequenceTagger, CHAINS), (SegmentTagger, SPANS))),
]  # fmt: skip


def test_what_is_wrong_leaves_the_estimator_as_it_was():
    for fitted, data, given, message in WRONG:
        model = copy.copy(started(fitted) if isinstance(fitted, str) else fitted)
        with refused(model, ValueError, message):
            model.partial_fit(*data, **given)


def test_kinds_that_come_later():
    X, y = FITS["trees"].data()

    def kinds(names):
        return [(*tree, np.resize(names, len(tree[1]))) for tree in X]

    model = TreeTagger(random_state=0, tol=0.1).partial_fit(kinds(["l"]), y)
    table = model.transitions_[0].copy()
    model.partial_fit(kinds(["k", "k"]), y)
    assert model.edge_kinds_.tolist() == ["k", "l"]
    # no edge of this kind has been in the step
    np.testing.assert_allclose(model.transitions_[1], table, atol=1e-12)
    with pytest.raises(ValueError, match="the edges of X have no kinds, but those of the steps"):
        model.partial_fit(X, y)


def test_memory_is_that_of_a_part():
    """What is kept between steps does not grow with their number."""
    X, y = make_chains(40, n_features=4, n_states=3, random_state=0)
    model, sizes = SequenceTagger(random_state=0, tol=0.5), []
    for k in range(8):
        model.partial_fit(X[5 * k : 5 * k + 5], y[5 * k : 5 * k + 5], classes=[0, 1, 2])
        model.history_ = {}
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes) - min(sizes) < 100


@pytest.mark.parametrize("name", ["chains", "trees"])
def test_names_of_columns_must_stay(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    framed = of_features(X, lambda x: pd.DataFrame(x).rename(columns="f{}".format))
    model = clone(estimator).set_params(random_state=0, tol=0.5).partial_fit(framed, y)
    names = model.feature_names_in_.tolist()
    model.partial_fit(framed, y).partial_fit(X, y)
    assert model.feature_names_in_.tolist() == names and names[0] == "f0"
    with pytest.raises(ValueError, match="X has .* as feature names, but .* is expecting"):
        model.partial_fit(of_features(framed, lambda x: x.iloc[:, ::-1]), y)


X, Y = make_chains(24, n_features=3, n_states=3, noise=1.2, max_length=5, random_state=0)
RNG = np.random.default_rng(0)
TREES = [(x, np.maximum(np.arange(len(x)) - 2, -1)) for x in X]
OF_TOKENS = [RNG.integers(0, 3, size=len(y)).astype(float) for y in Y]
# of a part no more than some labels occur, and others in sets only
SOME = [[(int(k), -1, {int(k), (int(k) + 1) % 3})[(i + t) % 3] for t, k in enumerate(y)]
        for i, y in enumerate(Y)]  # fmt: skip
PARTS = [slice(0, 8), slice(8, 16), slice(16, 24)]
GIVEN = {"ignore_label": -1, "random_state": 0, "lam": 0.05, "tol": 0.01}
CASES = {
    "chains": (SequenceTagger(**GIVEN), X),
    "trees": (TreeTagger(**GIVEN), TREES),
    "states": (SequenceTagger(n_states_per_label={1: 2}, **GIVEN), X),
    "trees, states": (TreeTagger(n_states_per_label={1: 2}, **GIVEN), TREES),
    "states, order 2": (SequenceTagger(n_states_per_label={1: 2}, order=2, **GIVEN), X),
}


def fresh(case):
    estimator, items = CASES[case]
    return clone(estimator), items


@pytest.mark.parametrize("case", CASES)
def test_steps_learn_from_what_is_known(case):
    model, items = fresh(case)
    for part in PARTS:
        model.partial_fit(items[part], SOME[part], classes=[0, 1, 2])
        assert (np.diff(model.round_objectives_) <= 0).all()
        assert model.certified_
        assert model.n_rounds_ == len(model.round_objectives_)
    assert model.n_samples_seen_ == 24
    assert model.score(items, Y) > 0.6
    known = fresh(case)[0].partial_fit(items[:8], Y[:8], classes=[0, 1, 2])
    assert known.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("case", ["chains", "trees"])
@pytest.mark.parametrize("y", [Y, SOME], ids=["known", "some"])
def test_weights_of_tokens_are_weights_of_losses(case, y):
    """A first step is a fit; and a token without weight says nothing in any."""
    (model, items), (whole, _), (plain, _) = fresh(case), fresh(case), fresh(case)
    whole.fit(items, y, token_weight=OF_TOKENS)
    model.partial_fit(items, y, classes=[0, 1, 2], token_weight=OF_TOKENS)
    plain.partial_fit(items, y, classes=[0, 1, 2])
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.primal_objective_ == whole.primal_objective_ != plain.primal_objective_
    one, other = copy.deepcopy(model), copy.deepcopy(model)
    one.partial_fit(items, y, token_weight=OF_TOKENS)
    assert other.partial_fit(items, y).coef_.tobytes() != one.coef_.tobytes()


def test_a_step_begins_at_the_completion_of_the_last_weights():
    model = fresh("chains")[0].partial_fit(X[:16], Y[:16])
    found, before = model.predict(X[16:]), model.coef_.copy()
    hidden = [[-1 if i and len(k) > 1 else int(k[0]), *[-1] * (len(k) - 1)]
              for i, k in enumerate(found)]  # fmt: skip
    model.partial_fit(X[16:], hidden)
    # what the last weights say already changes them little
    assert np.abs(model.coef_ - before).max() < 0.3 * np.abs(before).max()


def rings(rng, n, kinds):
    """Rings of four nodes of kinds, with labels by their features."""
    edges = np.stack([np.arange(4), (np.arange(4) + 1) % 4], axis=1)
    return [(rng.normal(size=(4, 3)), edges, rng.random((4, 2)), kinds) for _ in range(n)]


def test_kinds_and_pixels_of_steps_of_graphs():
    rng = np.random.default_rng(0)
    X = rings(rng, 4, ["a", "b", "a", "b"])
    Y = [np.array([0, 1, 0, 1])] * 4
    model = GraphTagger(random_state=0).partial_fit(X, Y, classes=[0, 1, 2])
    assert model.kind_classes_.tolist() == [[True, False, False], [False, True, False]]
    later = rings(rng, 4, ["c", "b", "c", "b"])
    model.partial_fit(later, [np.array([2, 2, 2, 2])] * 4)
    assert model.node_kinds_.tolist() == ["a", "b", "c"]
    expected = [[True, False, False], [False, True, True], [False, False, True]]
    assert model.kind_classes_.tolist() == expected
    message = "the nodes of X have no kinds, but those of the steps before have kinds"
    with refused(model, ValueError, message):
        model.partial_fit([x[:3] for x in X], Y)
    with refused(model, ValueError, r"^y\[0\] has 7, not among the classes"):
        model.partial_fit(X, [np.full(4, 7)] * 4)
    image = SimpleNamespace(
        features=[[1.0], [2.0]], edges=[[0, 1]], edge_features=[[1.0]], segments=[[0, 1]]
    )
    model = SegmentationModel(random_state=0).partial_fit([image], [np.array([[0, 1]])])
    with pytest.raises(ValueError, match="labels of nodes, but those of the steps before were of"):
        model.partial_fit([image], [[0, 1]])


def test_a_step_to_features_of_another_size_is_refused_rather_than_certified():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(16, 4)), rng.integers(2, size=(16, 4))
    model = MultilabelPairwise(edges="tree", solver=MultiPlane(batch_size=3), random_state=0)
    model.fit(X, Y)
    with refused(model, ValueError, "scale the features of X"):
        model.partial_fit(1.8e19 * (rng.random((16, 4)) < 0.1), Y)


# ---- segments and sets of labels: what must stay, and what may come later ----------------------


def spans(seed, longest, n=6):
    """Sequences with segments of two labels, and tokens outside."""
    rng = np.random.default_rng(seed)
    y = [[(0, longest, "a"), (longest + 1, longest + 2, "b")] for _ in range(n)]
    return [rng.normal(size=(longest + 3, 2)) for _ in range(n)], y


def sets(seed, n=8, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X[:, 1] *= rng.random(n) < 0.6
    return X, (rng.normal(size=(n, n_labels)) + X[:, :1] > 0).astype(int)


@pytest.mark.parametrize("form", ["tags", "segments", "dicts"])
def test_labels_and_lengths_that_come_later(form):
    X, y = spans(0, 3, 4)
    if form == "dicts":
        X = [[{"up": 1.0, "down": float(t)} for t in range(len(x))] for x in X]
    first = [[(1, 2, "b")]] * 4
    if form == "tags":
        y, first = [["B-a", "I-a", "I-a", "O", "B-b", "O"]] * 4, [["O", "B-b", *"OOOO"]] * 4
    model = SegmentTagger(random_state=0).partial_fit(X, first, classes=["a", "b"])
    assert model.classes_.tolist() == ["O", "a", "b"] and model.max_length_.tolist() == [1, 1, 1]
    model.partial_fit(X, y, classes=["O", "a", "b"])
    assert model.max_length_.tolist() == [1, 3, 1] and model.lengths_.shape == (3, 3)
    for _ in range(3):
        model.partial_fit(X, y, classes=["b", "a"])
    assert model.score(X, y) == 1.0 and model.n_samples_seen_ == 20
    # segments that have been as long stay possible
    assert model.partial_fit(X, first).max_length_.tolist() == [1, 3, 1] and model.lengths_.any()
    # a number is the limit, also of a label that has had more
    model.set_params(max_length=2).partial_fit(X, first)
    assert model.max_length_.tolist() == [1, 2, 2]


def test_priors_of_other_lengths_are_aligned():
    (X, y), (longer, z) = spans(0, 2), spans(0, 3)
    source = SegmentTagger(random_state=0).fit(X, y)
    near = SegmentTagger(lam=1e9, prior=source).fit(longer, z)
    np.testing.assert_allclose(near.lengths_[:, :2], source.lengths_, atol=1e-6)
    np.testing.assert_allclose(near.lengths_[:, 2], 0.0, atol=1e-6)
    again = SegmentTagger(lam=1e9, prior=near).fit(X, y)
    np.testing.assert_allclose(again.lengths_, source.lengths_, atol=1e-6)
    with pytest.raises(ValueError, match=r"prior\['lengths_'\] must be numbers of shape"):
        SegmentTagger(prior={"lengths_": np.ones(3)}).fit(X, y)


def test_pairs_of_the_first_step_stay():
    X, y = sets(0, 40, 5)
    other = sets(1, 40, 5)[1]
    model = MultilabelPairwise(edges="tree", random_state=0).partial_fit(X, y)
    edges = model.edges_.tolist()
    assert MultilabelPairwise(edges="tree", random_state=0).fit(X, other).edges_.tolist() != edges
    assert model.partial_fit(X, other).edges_.tolist() == edges
    # named pairs are those that are named; what stays has its weight
    strong = copy.deepcopy(model).set_params(edges=[[3, 4], edges[0]], lam=1e9)
    strong.partial_fit(X, other)
    assert sorted(strong.edges_.tolist()) == sorted([[3, 4], edges[0]])
    kept = strong.edges_.tolist().index(edges[0])
    np.testing.assert_allclose(strong.pairwise_[kept], model.pairwise_[0], atol=1e-6)


def test_columns_are_scaled_by_all_rows_and_predictions_keep_their_form():
    """Also by rows with the weights of their classes."""
    X, y = sets(0, 40)
    X, half = X * [1.0, 100.0] + [5.0, 0.0], np.arange(40) < 20
    framed = pd.DataFrame(y, columns=["u", "v", "w"])
    two, weighted = np.where(X[:, 0] > 5.0, "yes", "no"), {"yes": 3.0, "no": 0.5}
    pairs = MultilabelPairwise(standardize=True)
    rows = StructSVMClassifier(class_weight=weighted)
    for model, labels in ((pairs, framed), (pairs, sp.csr_array(y)), (pairs, two), (rows, two)):
        model = clone(model).partial_fit(X[half], labels[half])
        model.partial_fit(X[~half], labels[~half])
        whole = clone(model).fit(X, labels)
        np.testing.assert_allclose(model.feature_scale_, whole.feature_scale_)
        found = model.predict(X)
        assert type(found) is type(whole.predict(X)) and getattr(found, "columns", "uvw")[2] == "w"
    plain = StructSVMClassifier().fit(X, two)
    assert np.ptp(whole.feature_scale_ - plain.feature_scale_) > 1e-3


def test_a_stream_is_nearly_as_good_as_one_fit():
    X, y = make_chains(300, n_features=8, n_states=4, random_state=0)
    full = SequenceTagger(random_state=0).fit(X[:200], y[:200])
    model = SequenceTagger(random_state=0)
    for part in np.split(np.arange(200), 10):
        model.partial_fit(X[part[0] : part[-1] + 1], y[part[0] : part[-1] + 1], classes=range(4))
    assert model.score(X[200:], y[200:]) > full.score(X[200:], y[200:]) - 0.03
    assert model.n_samples_seen_ == 200
