"""Taggers that are trained factor by factor are certified like the others.

That their bounds agree with those of all other solvers is in test_used_solver.py.
"""

import numpy as np
import pytest
from helpers.objectives import bracket
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning

from sskit import MultilabelPairwise, SequenceTagger
from sskit.datasets import make_chains
from sskit.solvers import GDMM, SoftBCFW

CHAINS = make_chains(30, n_states=4, random_state=0)


SETS = make_multilabel_classification(80, n_classes=6, random_state=0)


def test_certified_like_the_others():
    """P(0) is the mean number of tokens, or of labels; those without a pair are isolated nodes."""
    for model, (X, y), unit in (
        (SequenceTagger(lam=1.0), CHAINS, np.mean([*map(len, CHAINS[1])])),
        (MultilabelPairwise(edges=None), SETS, 6),
    ):
        model.set_params(tol=1e-3, max_iter=5000, random_state=0, solver="gdmm").fit(X, y)
        assert model.certified_ and isinstance(model.solver_, GDMM)
        assert model.solver_.method == "bgcd" and model.dual_gap_ <= 1e-3 * unit
        assert {"lagrangian", "infeasibility", "n_scores"} < set(model.history_)


def test_without_exact_passes():
    """That such a fit converges, uncertified and without a call of the oracle, is in test_gdmm."""
    for solver, told in (
        (GDMM(gap_every=None), "with no gap, and an infeasibility of 0"),
        (SoftBCFW(gap_every=None), "with no gap, and an infeasibility of 0"),
        ("gdmm", "with a relative duality gap of"),
    ):
        tagger = SequenceTagger(solver=solver, max_iter=2, random_state=0)
        with pytest.warns(ConvergenceWarning, match=f"after 2 passes {told}"):
            tagger.fit(*CHAINS)
        assert np.isnan(tagger.dual_gap_) == (solver != "gdmm")


def test_soft_constraints():
    tagger = SequenceTagger(lam=1.0, solver="soft_bcfw", tol=0.05, random_state=0).fit(*CHAINS)
    exact = SequenceTagger(lam=1.0, tol=1e-3, random_state=0).fit(*CHAINS)
    assert isinstance(tagger.solver_, SoftBCFW)
    bracket(tagger, exact)
    assert {"lagrangian", "infeasibility"} < set(tagger.history_)
    assert tagger.history_["soft_gap"][-1] <= 0.05 * np.mean([*map(len, CHAINS[1])])
    assert tagger.score(*CHAINS) >= exact.score(*CHAINS) - 0.1
    with pytest.raises(ValueError, match="^rescaling='slack' cannot be .*'soft_bcfw'"):
        tagger.set_params(rescaling="slack").fit(*CHAINS)
