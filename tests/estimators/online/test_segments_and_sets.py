"""Steps of segments and of sets of labels: weights, and what must stay.

Their objective is in test_steps.py.
"""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import segments
from sklearn.base import clone

from sskit import HierarchicalMultilabel, MultilabelPairwise, SegmentTagger

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
    X, y = sets(0, 40)
    X, half = X * [1.0, 100.0] + [5.0, 0.0], np.arange(40) < 20
    framed = pd.DataFrame(y, columns=["u", "v", "w"])
    two = np.where(X[:, 0] > 5.0, "yes", "no")
    for labels in (framed, sp.csr_array(y), two):
        model = MultilabelPairwise(random_state=0, standardize=True)
        model.partial_fit(X[half], labels[half]).partial_fit(X[~half], labels[~half])
        whole = clone(model).fit(X, labels)
        np.testing.assert_allclose(model.feature_scale_, whole.feature_scale_)
        found = model.predict(X)
        assert type(found) is type(whole.predict(X)) and getattr(found, "columns", "uvw")[2] == "w"
