"""Solvers: algorithms for the training problem of structured SVMs.

Pass one to the parameter ``solver`` of an estimator. Their parameters can be searched, for
example ``solver__averaging``.
"""

# Design
#
# What. A solver is a set of options (`BCFW(...)`), which starts a `Run`: the state, its passes and
# its certificates. `common.fit.Fit.reach` is the loop of every fit, path and part of data.
#
# Why so.
# - Python decides between passes (stopping, clock, history, schedules); a pass is compiled, runs
#   without the lock and calls no Python.
# - Steps differ in their two end points only: plain, pairwise and away steps are classes of a few
#   lines, chosen before the loop; one function takes the step.
# - Every number called a gap comes from an exact pass at these very weights. It is a certificate if
#   the oracle is exact or bounds what it misses; else ``certified`` is False.
# - Many steps between stored planes cost less than an oracle call, as scores follow from a small
#   Gram matrix: with slow oracles a fit takes 15 calls for each pair in place of 98.
# - The seed and the number of workers fix the result, not the speed of threads or the clock.
#
# Tried or considered, and left. Stopping at a fraction of P(0): with rare labels the optimum itself
# is below it, so the gap is compared with P(w) + P(0) / 1000. GDMM with other weights, step sizes,
# sweeps and stored passes: none gained time on letters with a small lam. Threads that write to one
# weight vector: the result would depend on their timing; shards have copies, and merge by the dual
# objective. Averages by default: they help plain steps only.

from sskit._public import export_from
from sskit.solvers.block_coordinate.bcfw import BCFW, MultiPlane
from sskit.solvers.block_coordinate.frank_wolfe import FrankWolfe
from sskit.solvers.common.run import DualPoint
from sskit.solvers.convex_concave import Completed
from sskit.solvers.cutting_plane.cutting_plane import CuttingPlane
from sskit.solvers.dual_decomposition.gdmm import GDMM, SoftBCFW
from sskit.solvers.exponentiated_gradient.eg import ExponentiatedGradient, LogPoint
from sskit.solvers.quasi_newton.lbfgs import LBFGS, PrimalPoint
from sskit.solvers.subgradient.subgradient import Subgradient

__all__ = [
    "BCFW",
    "GDMM",
    "LBFGS",
    "Subgradient",
    "CuttingPlane",
    "ExponentiatedGradient",
    "FrankWolfe",
    "MultiPlane",
    "SoftBCFW",
]

# What the parameter `solver` of estimators may name.
SOLVERS = {
    "auto": BCFW,
    "bcfw": BCFW,
    "multi_plane": MultiPlane,
    "frank_wolfe": FrankWolfe,
    "subgradient": Subgradient,
    "cutting_plane": CuttingPlane,
    "gdmm": GDMM,
    "soft_bcfw": SoftBCFW,
    "lbfgs": LBFGS,
    "exponentiated_gradient": ExponentiatedGradient,
}
# The short names of the papers.
ALIASES = {
    "mpbcfw": "multi_plane",
    "fw": "frank_wolfe",
    "ssg": "subgradient",
    "one_slack": "cutting_plane",
}

export_from(__name__, Completed, DualPoint, LogPoint, PrimalPoint)
