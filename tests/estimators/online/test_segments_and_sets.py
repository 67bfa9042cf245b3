"""Steps of segments and of sets of labels: their objective by enumeration, and what must stay."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import segments
from helpers.multilabel import all_sets, half_sets, set_feature
from helpers.pairwise import every_pair
from helpers.segments import feature, segmentations, span_loss, token_loss
from sklearn.base import clone

from sskit import HierarchicalMultilabel, MultilabelPairwise, SegmentTagger

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SOLVERS = ["auto", "multi_plane", "frank_wolfe", "cutting_plane"]
WEIGHTS = {
    SegmentTagger: (
        "coef_", "first_coef_", "last_coef_", "transitions_", "lengths_", "start_", "end_"
    ),
    MultilabelPairwise: ("coef_", "intercept_", "pairwise_"),
}  # fmt: skip


def flat(model):
    return np.concatenate([np.ravel(getattr(model, name)) for name in WEIGHTS[type(model)]])


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


def stiffness(n_rows, counts, n_states, n_coefs, n_weights):
    """By how much each weight is held: of features by the rows that had them."""
    of_features = np.tile(np.sqrt(1.0 + counts), n_coefs * n_states)
    others = np.full(n_weights - len(of_features), np.sqrt(1.0 + n_rows))
    return np.concatenate([of_features, others])


LOSSES = {"hamming_sum": None, "segments": None, "costs": {"a": {"b": 0.5}, "O": {"a": 2.0}}}


@every_pair(
    loss=LOSSES,
    solver=SOLVERS,
    weight=[None, np.arange(1.0, 7.0)],
    n_jobs=[None, 2],
    slack=[False, True],
)
def test_the_objective_of_a_step_of_segments(loss, solver, weight, n_jobs, slack):
    (X, y), (more, z) = spans(0, 1), spans(1, 2)
    given = {"lam": 0.1, "tol": 1e-3, "random_state": 0, "solver": solver, "n_jobs": n_jobs}
    given |= {"loss": LOSSES[loss] or loss, "rescaling": "slack" if slack else "margin"}
    model = SegmentTagger(**given)
    model.partial_fit(X, y, classes=["b", "a"], sample_weight=weight)
    assert model.max_length_.tolist() == [1, 1, 1]
    before = SegmentTagger(lam=1e9, prior=model).fit(more, z)  # aligned to longer segments
    model.partial_fit(more, z, sample_weight=weight)
    assert model.max_length_.tolist() == [1, 2, 1]
    assert model.certified_
    if not slack and solver != "frank_wolfe":  # which is slow
        assert model.dual_gap_ <= 2e-3 * model.primal_objective_ + 1e-3
    rows, limits = np.concatenate(X), [1, 2, 1]
    stiff = stiffness(len(rows), np.count_nonzero(rows, axis=0), 3, 3, len(flat(model)))
    hinges, states = [], {"O": 0, "a": 1, "b": 2}
    table = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.5], [1.0, 1.0, 0.0]])
    for x, labels in zip(more, z, strict=True):
        truth = [(0, 2, states["a"]), (2, 3, 0), (3, 4, states["b"]), (4, 5, 0)]
        right = feature(x, truth, limits, 2)
        assert labels == [(0, 2, "a"), (3, 4, "b")]
        values = []
        for each in segmentations(5, limits):
            if loss == "segments":
                wrong = span_loss(each, truth, np.array([0.0, 1.0, 1.0]))
            else:
                wrong = token_loss(each, truth, np.ones(5), table if loss == "costs" else None)
            behind = (feature(x, each, limits, 2) - right) @ flat(model)
            values.append(wrong * (1.0 + behind) if slack else wrong + behind)
        hinges.append(max(values))
    norm = stiff @ (flat(model) - flat(before)) ** 2
    expected = 0.05 * norm + np.average(hinges, weights=weight)
    if slack:  # the search may miss the maximum, and bounds it
        assert model.dual_objective_ - 1e-6 <= expected <= model.primal_objective_ + 1e-6
    else:
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-4)
    assert model.n_samples_seen_ == (12 if weight is None else 42.0)


@every_pair(
    inference=["exhaustive", "tree", "lp"],
    solver=[*SOLVERS, "gdmm"],
    weight=[None, np.arange(1.0, 9.0)],
    n_jobs=[None, 2],
    sparse=[False, True],
)
def test_the_objective_of_a_step_of_sets(inference, solver, weight, n_jobs, sparse):
    (X, y), (more, z) = sets(0), sets(1)
    edges = np.array([[0, 1], [1, 2]] if inference == "tree" else [[0, 1], [0, 2], [1, 2]])
    given = {"inference": inference, "solver": solver, "n_jobs": n_jobs, "edges": edges}
    model = MultilabelPairwise(
        lam=0.1, tol=1e-3, random_state=0, standardize=False, max_iter=3000, **given
    )
    data = [sp.csr_array(x) if sparse else x for x in (X, more)]
    before = flat(model.partial_fit(data[0], y, sample_weight=weight))
    model.partial_fit(data[1], z, sample_weight=weight)
    stiff = stiffness(8, np.count_nonzero(X, axis=0), 3, 1, len(before))
    # by gdmm pairs are relaxed in any case
    if inference == "lp" or solver == "gdmm":
        every = half_sets(3, edges)
    else:
        every = [(labels, None) for labels in all_sets(3)]
    hinges = []
    for x, truth in zip(more, z, strict=True):
        right = set_feature(x, truth, edges, True)
        hinges.append(
            max(
                np.abs(labels - truth).sum()
                + (set_feature(x, labels, edges, True, pairs) - right) @ flat(model)
                for labels, pairs in every
            )
        )
    norm = stiff @ (flat(model) - before) ** 2
    expected = 0.05 * norm + np.average(hinges, weights=weight)
    assert model.primal_objective_ == pytest.approx(expected, rel=1e-4)
    assert model.n_samples_seen_ == (16 if weight is None else 72.0)


def mixed():
    """Segments that features say nothing of: their hinges stay."""
    rng = np.random.default_rng(0)
    X, y = segments()
    return [rng.normal(size=(len(x), 1)) for x in X], y


GIVEN = {"lam": 0.1, "tol": 1e-4, "random_state": 0}
FAMILIES = {
    "segments": (SegmentTagger(**GIVEN), mixed()),
    "log": (SegmentTagger(surrogate="log", **GIVEN), mixed()),
    "sets": (MultilabelPairwise(**GIVEN), sets(0)),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0], **GIVEN), sets(0)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_repetitions_and_order_changes_nothing(family):
    """Of the samples of a step, after another one."""
    estimator, (X, y) = FAMILIES[family]
    repeats, start = [1, 2, 0, 3], clone(estimator).partial_fit(X, y)

    def stepped(numbers, weight=None):
        items, labels = [X[i] for i in numbers], [y[i] for i in numbers]
        return copy.deepcopy(start).partial_fit(items, labels, sample_weight=weight)

    weighted, plain = stepped([0, 1, 2, 3], repeats), stepped([0, 1, 1, 3, 3, 3])
    turned = stepped([3, 2, 1, 0], repeats[::-1])
    assert weighted.n_samples_seen_ == plain.n_samples_seen_ == turned.n_samples_seen_
    for other in (plain, turned):
        np.testing.assert_allclose(other.primal_objective_, weighted.primal_objective_, rtol=1e-3)
        np.testing.assert_allclose(other.coef_, weighted.coef_, atol=0.05)


@pytest.mark.parametrize("form", ["tags", "segments", "dicts"])
def test_labels_and_lengths_that_come_later(form):
    X, y = spans(0, 3, 4)
    if form == "dicts":
        X = [[{"up": 1.0, "down": float(t)} for t in range(len(x))] for x in X]
    if form == "tags":
        y = [["B-a", "I-a", "I-a", "O", "B-b", "O"]] * 4
        first = [["O", "B-b", "O", "O", "O", "O"]] * 4
    else:
        first = [[(1, 2, "b")]] * 4
    model = SegmentTagger(random_state=0).partial_fit(X, first, classes=["a", "b"])
    assert model.classes_.tolist() == ["O", "a", "b"] and model.max_length_.tolist() == [1, 1, 1]
    model.partial_fit(X, y, classes=["O", "a", "b"])
    assert model.max_length_.tolist() == [1, 3, 1] and model.lengths_.shape == (3, 3)
    for _ in range(3):
        model.partial_fit(X, y, classes=["b", "a"])
    assert model.score(X, y) == 1.0 and model.n_samples_seen_ == 20
    # segments that have been as long stay possible
    model.partial_fit(X, first)
    assert model.max_length_.tolist() == [1, 3, 1] and model.lengths_.any()
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
    X, y = sets(0, 40)
    X = X * [1.0, 100.0] + [5.0, 0.0]
    names = ["u", "v", "w"]
    framed = pd.DataFrame(y, columns=names)
    model = MultilabelPairwise(random_state=0, standardize=True).partial_fit(X[:20], framed[:20])
    model.partial_fit(X[20:], framed[20:])
    whole = MultilabelPairwise(random_state=0, standardize=True).fit(X, y)
    np.testing.assert_allclose(model.feature_scale_, whole.feature_scale_)
    assert model.predict(X).columns.tolist() == names
    sparse = MultilabelPairwise(random_state=0)
    sparse.partial_fit(X, sp.csr_array(y)).partial_fit(X, sp.csr_array(y))
    assert sp.issparse(sparse.predict(X))
    two = MultilabelPairwise(random_state=0).partial_fit(X, ["no"] * 40, classes=["yes", "no"])
    two.partial_fit(X, np.where(X[:, 0] > 5.0, "yes", "no"))
    assert set(two.predict(X)) == {"yes", "no"}
