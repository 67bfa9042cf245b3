"""Bounds on the weights, for every estimator: batch steps against steps block by block."""

import numpy as np
import pytest
from helpers.fits import BOX, FITS, Matching, graphs, matchings, sets, trees
from sklearn.base import clone

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    SegmentationModel,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.solvers import BCFW, FrankWolfe

BOUNDED = {name: (fit.estimator, fit.data) for name, fit in FITS.items() if fit.bounded} | {
    "graphs, narrow": (SegmentationModel(**BOX), graphs(2)),
    "trees": (TreeTagger(**BOX), trees),
    "sets": (MultilabelPairwise(**BOX), sets),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, 1], **BOX), sets),
    "structure": (StructuredSVM(Matching(), bounds=(-0.1, 0.2)), matchings),
    "structure, slack": (StructSVMClassifier(rescaling="slack", **BOX), FITS["rows"].data),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_batch_steps_find_the_optimum_that_steps_of_blocks_prove(name):
    estimator, data = BOUNDED[name]
    X, y = data()
    best, slow = (
        clone(estimator).set_params(solver=solver, lam=0.1, tol=tol, random_state=0).fit(X, y)
        for solver, tol in ((BCFW(steps="pairwise"), 1e-6), (FrankWolfe(), 0.05))
    )
    assert slow.certified_ == best.certified_
    if best.certified_:
        # both have seen lower and upper bounds of one optimum
        assert slow.dual_objective_ <= best.primal_objective_ + 1e-9
        assert slow.primal_objective_ >= best.dual_objective_ - 1e-9
    if estimator.bounds is not None:
        lower, upper = estimator.bounds
        assert ((slow.coef_ >= lower) & (slow.coef_ <= upper)).all()
        # and they bind: without them the optimum is another one
        assert np.isin(best.coef_, (lower, upper)).any()
