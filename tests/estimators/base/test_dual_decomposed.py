"""Taggers trained factor by factor."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

from sskit import HierarchicalMultilabel, MultilabelPairwise, SequenceTagger, StructSVMClassifier
from sskit.datasets import make_chains
from sskit.metrics import sequence_accuracy_scorer, token_accuracy_scorer
from sskit.solvers import GDMM, SoftBCFW


@pytest.fixture(scope="module")
def chains():
    return make_chains(30, n_states=4, random_state=0)


def test_certified_like_the_others(chains):
    X, y = chains
    tagger = SequenceTagger(lam=1.0, tol=1e-3, random_state=0)
    tagger.fit(X, y)
    optimum = tagger.primal_objective_
    tagger.set_params(solver="gdmm", max_iter=5000).fit(X, y)
    assert tagger.certified_
    assert isinstance(tagger.solver_, GDMM)
    assert tagger.solver_.method == "bgcd"
    # P(0) is the mean number of tokens
    unit = np.mean([len(labels) for labels in y])
    assert tagger.dual_gap_ <= 1e-3 * unit
    assert abs(tagger.primal_objective_ - optimum) <= 1e-3 * unit
    assert tagger.dual_objective_ <= optimum
    assert {"lagrangian", "infeasibility", "n_scores"} < set(tagger.history_)


def test_without_exact_passes(chains):
    X, y = chains
    tagger = SequenceTagger(lam=1.0, solver=GDMM(gap_every=None), random_state=0).fit(X, y)
    assert not tagger.certified_
    assert np.isnan(tagger.dual_gap_)
    assert tagger.n_oracle_calls_ == 0
    assert tagger.score(X, y) > 0.5


def test_warning_says_what_was_reached(chains):
    X, y = chains
    for solver, told in (
        (GDMM(gap_every=None), "with no gap, and an infeasibility of 0"),
        (SoftBCFW(gap_every=None), "with no gap, and an infeasibility of 0"),
        ("gdmm", "with a relative duality gap of"),
    ):
        tagger = SequenceTagger(solver=solver, max_iter=2, random_state=0)
        with pytest.warns(ConvergenceWarning, match=f"after 2 passes {told}"):
            tagger.fit(X, y)
        assert np.isnan(tagger.dual_gap_) == (solver != "gdmm")


def test_soft_constraints(chains):
    X, y = chains
    tagger = SequenceTagger(lam=1.0, solver="soft_bcfw", tol=0.05, random_state=0).fit(X, y)
    assert isinstance(tagger.solver_, SoftBCFW)
    assert tagger.certified_
    assert tagger.dual_objective_ <= tagger.primal_objective_
    assert {"soft_gap", "lagrangian", "infeasibility"} < set(tagger.history_)
    unit = np.mean([len(labels) for labels in y])
    assert tagger.history_["soft_gap"][-1] <= 0.05 * unit
    exact = SequenceTagger(lam=1.0, tol=1e-3, random_state=0).fit(X, y)
    assert tagger.score(X, y) >= exact.score(X, y) - 0.1
    with pytest.raises(ValueError, match="^rescaling='slack' cannot be .*'soft_bcfw'"):
        SequenceTagger(solver="soft_bcfw", rescaling="slack").fit(X, y)


@pytest.fixture(scope="module")
def sets():
    return make_multilabel_classification(80, n_classes=6, random_state=0)


def test_sets_of_labels_certified_like_the_others(sets):
    X, y = sets
    model = MultilabelPairwise(inference="lp", tol=1e-3, max_iter=3000, random_state=0).fit(X, y)
    optimum = model.primal_objective_
    model.set_params(solver="gdmm").fit(X, y)
    assert model.certified_
    assert model.dual_gap_ <= 1e-3 * 6
    assert abs(model.primal_objective_ - optimum) <= 1e-3 * 6
    assert {"lagrangian", "infeasibility", "n_scores"} < set(model.history_)


@pytest.mark.parametrize("edges", [None, "tree", [[0, 1], [1, 2]]])
def test_sets_of_labels_with_few_pairs(sets, edges):
    """Labels without any pair are isolated nodes."""
    X, y = sets
    model = MultilabelPairwise(solver="gdmm", edges=edges, tol=1e-2, random_state=0).fit(X, y)
    assert model.certified_
    assert model.score(X, y) > 0.1


def test_soft_constraints_of_sets_of_labels():
    X, Y = make_multilabel_classification(60, n_classes=4, random_state=0)
    X = X / np.linalg.norm(X, axis=1).mean()
    soft = MultilabelPairwise(solver="soft_bcfw", inference="lp", tol=0.05, random_state=0)
    soft.fit(X, Y)
    exact = MultilabelPairwise(inference="lp", tol=0.05, random_state=0).fit(X, Y)
    assert not soft.certified_
    assert np.isnan(soft.dual_gap_)
    # a softened problem has its optimum near that of the relaxation
    assert soft.primal_objective_ >= exact.dual_objective_
    assert soft.score(X, Y) >= exact.score(X, Y) - 0.15


def test_what_has_no_factors_or_bounds_is_refused(sets):
    X, y = sets
    for model, message in (
        (StructSVMClassifier(solver="gdmm"), "'gdmm' needs a model that is a sum over nodes and"),
        (HierarchicalMultilabel(solver="gdmm"), "'gdmm' needs a model that is a sum over nodes"),
        (MultilabelPairwise(solver="gdmm", inference="graphcut"), "GDMM cannot solve .* bounds"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y[:, 0] if isinstance(model, StructSVMClassifier) else y)
        assert not hasattr(model, "coef_")


def test_sequences_of_one_token_and_one_label(chains):
    X, y = chains
    given = {"lam": 1.0, "solver": "gdmm", "random_state": 0}
    X, y = [x[:1] for x in X[:8]] + X[8:], [labels[:1] for labels in y[:8]] + y[8:]
    one, two = (
        SequenceTagger(**given | {"solver": solver, "tol": 1e-3, "max_iter": 5000}).fit(X, y)
        for solver in ("bcfw", "gdmm")
    )
    assert one.certified_ and two.certified_
    assert abs(one.primal_objective_ - two.primal_objective_) <= 2e-3 * np.mean([*map(len, y)])
    single = SequenceTagger(**given, tol=1e-3).fit(X[:8], y[:8])
    assert single.certified_
    assert (single.history_["infeasibility"] == 0.0).all()
    assert not single.transitions_.any()
    for solver in (GDMM(), GDMM(gap_every=None), GDMM(method="afw")):
        model = SequenceTagger(**given | {"solver": solver}).fit(X, [[0] * len(x) for x in X])
        assert not model.coef_.any()
        assert model.n_iter_ <= 10
        assert model.score(X, [[0] * len(x) for x in X]) == 1.0


def test_labels_that_training_has_not_seen(chains):
    X, y = chains
    model = SequenceTagger(lam=1.0, solver="gdmm", tol=0.1, random_state=0)
    model.fit(X[:15], [np.minimum(labels, 2) for labels in y[:15]])
    X, y = X[15:], y[15:]
    predicted, truth = np.concatenate(model.predict(X)), np.concatenate(y)
    assert set(predicted) <= {0, 1, 2}
    assert (truth == 3).any()
    # they count as errors, in every score
    assert model.score(X, y) == np.mean(predicted == truth) == token_accuracy_scorer(model, X, y)
    whole = [np.array_equal(a, b) for a, b in zip(model.predict(X), y, strict=True)]
    assert sequence_accuracy_scorer(model, X, y) == np.mean(whole)
