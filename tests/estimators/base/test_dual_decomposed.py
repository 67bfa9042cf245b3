"""Taggers trained factor by factor."""

import numpy as np
import pytest
from helpers.real_data import make_glyph_sentences
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    RegularizationPath,
    SequenceTagger,
    StructSVMClassifier,
)
from sskit.datasets import make_chains
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
    tagger = SequenceTagger(solver=GDMM(gap_every=None), max_iter=2, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="after 2 passes with no gap, and an infeasibility of 0"
    ):
        tagger.fit(X, y)
    tagger.set_params(solver="gdmm")
    with pytest.warns(ConvergenceWarning, match="after 2 passes with a relative duality gap of"):
        tagger.fit(X, y)


def test_forbidden_transitions_stay_away(chains):
    X, y = chains
    allowed = np.zeros((4, 4), dtype=bool)
    for labels in y:
        allowed[labels[:-1], labels[1:]] = True
    allowed[0, 0] = True
    tagger = SequenceTagger(
        lam=1.0, solver="gdmm", allowed_transitions=allowed, tol=0.05, max_iter=3000, random_state=0
    ).fit(X, y)
    assert tagger.certified_
    for labels in tagger.predict(X):
        assert allowed[labels[:-1], labels[1:]].all()


def test_weight_of_two_is_a_copy(chains):
    X, y = chains
    optima = []
    for data, weight in (((X + X[:5], y + y[:5]), None), ((X, y), [2] * 5 + [1] * 25)):
        tagger = SequenceTagger(lam=1.0, solver="gdmm", tol=1e-3, max_iter=5000, random_state=0)
        tagger.fit(*data, sample_weight=weight)
        optima.append((tagger.dual_objective_, tagger.primal_objective_))
    assert max(optima[0][0], optima[1][0]) <= min(optima[0][1], optima[1][1])


def test_hundreds_of_labels_that_are_strings():
    X, y = make_glyph_sentences(60, n_characters=300, n_features=40, noise=0.8, random_state=0)
    y = [np.array([f"c{label}" for label in labels]) for labels in y]
    solver = GDMM(gap_every=None)
    tagger = SequenceTagger(solver=solver, tol=0.1, random_state=0).fit(X, y)
    assert tagger.score(X, y) > 0.9
    assert set(np.concatenate(tagger.predict(X[:3]))) <= set(tagger.classes_)


def test_models_without_factors_say_so(chains):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'gdmm' needs a model that is a sum over nodes and edges"):
        StructSVMClassifier(solver="gdmm").fit(X, y)
    X, y = chains
    with pytest.raises(ValueError, match="^rescaling='slack' cannot be .*'gdmm'"):
        SequenceTagger(solver="gdmm", rescaling="slack").fit(X, y)
    with pytest.raises(ValueError, match="a path cannot be combined with solver=.*no dual point"):
        RegularizationPath(SequenceTagger(solver="gdmm")).fit(X, y)
    with pytest.raises(ValueError, match=r"X\[3\].*NaN"):
        SequenceTagger(solver="gdmm").fit([*X[:3], X[3] * np.nan], y[:4])


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


def test_soft_constraints_say_what_was_reached(chains):
    X, y = chains
    tagger = SequenceTagger(solver=SoftBCFW(gap_every=None), max_iter=2, random_state=0)
    match = "after 2 passes with no gap, and an infeasibility of 0"
    with pytest.warns(ConvergenceWarning, match=match):
        tagger.fit(X, y)
    assert np.isnan(tagger.dual_gap_)


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


def test_what_sets_of_labels_cannot_have(sets):
    X, y = sets
    with pytest.raises(ValueError, match="GDMM cannot solve problems with bounds"):
        MultilabelPairwise(solver="gdmm", inference="graphcut").fit(X, y)
    with pytest.raises(ValueError, match="'gdmm' needs a model that is a sum over nodes and edges"):
        HierarchicalMultilabel(solver="gdmm").fit(X, y)
    with pytest.raises(ValueError, match="^rescaling='slack' cannot be .*'gdmm'"):
        MultilabelPairwise(solver="gdmm", rescaling="slack").fit(X, y)
    model = MultilabelPairwise(solver="gdmm")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    assert not hasattr(model, "coef_")


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
