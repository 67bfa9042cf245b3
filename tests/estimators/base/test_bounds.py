"""Bounds on the weights are kept and bind, for every estimator."""

import numpy as np
import pytest
from helpers.fits import BOX, FITS, Matching, graphs, matchings, sets, trees
from helpers.objectives import bracket
from sklearn.base import clone

import sskit
from sskit.solvers import BCFW, FrankWolfe

BOUNDED = {name: (fit.estimator, fit.data) for name, fit in FITS.items() if fit.bounded} | {
    "graphs, narrow": (sskit.SegmentationModel(**BOX), graphs(2)),
    "trees": (sskit.TreeTagger(**BOX), trees),
    "sets": (sskit.MultilabelPairwise(**BOX), sets),
    "hierarchy": (sskit.HierarchicalMultilabel([-1, 0, 0, 1], **BOX), sets),
    "structure": (sskit.StructuredSVM(Matching(), bounds=(-0.1, 0.2)), matchings),
    "structure, slack": (sskit.StructSVMClassifier(rescaling="slack", **BOX), FITS["rows"].data),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_batch_steps_find_the_optimum_that_steps_of_blocks_prove(name):
    estimator, data = BOUNDED[name]
    best, slow = (
        clone(estimator).set_params(solver=solver, lam=0.1, tol=tol, random_state=0).fit(*data())
        for solver, tol in ((BCFW(steps="pairwise"), 1e-6), (FrankWolfe(), 0.05))
    )
    assert slow.certified_ == best.certified_
    if best.certified_:
        bracket(best, slow)
    if estimator.bounds is not None:
        lower, upper = estimator.bounds
        assert ((slow.coef_ >= lower) & (slow.coef_ <= upper)).all()
        # and they bind: without them the optimum is another one
        assert np.isin(best.coef_, (lower, upper)).any()


INF = np.inf
LOW = -np.arange(9.0).reshape(3, 3) / 40
OF_BLOCKS = [
    ("rows", {"coef": (0, INF)}),
    ("rows", {"coef": (-INF, 0.1), "intercept": (-0.1, 0.2)}),
    ("rows, scaled", {"coef": (LOW, 0.3)}),
    ("chains", {"coef": (0, INF)}),
    ("chains", {"transitions": (np.full((3, 3), -0.1), 0.05), "end": (-INF, 0)}),
    ("chains, edges", {"edge_coef": (-0.05, 0.1)}),
    ("chains, edges", {"edge_coef": (np.where(np.eye(3), -INF, [np.full((3, 3), 0.1)] * 2), INF)}),
    ("chains, second order", {"triples": (-0.01, 0.02)}),
    ("graphs", {"pairwise": (0.25, 0.25)}),
]


@pytest.mark.parametrize(("name", "bounds"), OF_BLOCKS)
def test_bounds_by_block(name, bounds):
    estimator, data = FITS[name].estimator, FITS[name].data()
    free = clone(estimator).set_params(lam=0.05, tol=1e-3, random_state=0).fit(*data)
    model = clone(free).set_params(bounds=bounds).fit(*data)
    for block, (lower, upper) in bounds.items():
        weights = getattr(model, f"{block}_")
        assert (weights >= lower).all() and (weights <= upper).all()
        assert ((weights == lower) | (weights == upper)).any()
    assert model.primal_objective_ > free.dual_objective_
    wrong = {
        block: (np.zeros((7, *np.shape(getattr(model, f"{block}_")))), None) for block in bounds
    }
    with pytest.raises(ValueError, match=r"array of shape \("):
        model.set_params(bounds=wrong).fit(*data)
