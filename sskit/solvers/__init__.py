"""Solvers: algorithms for the training problem of structured SVMs.

Pass one to the parameter ``solver`` of an estimator. Their parameters can be searched, for
example ``solver__averaging``.
"""

from sskit._public import export_from
from sskit.solvers.block_coordinate.bcfw import BCFW, MultiPlane
from sskit.solvers.block_coordinate.frank_wolfe import FrankWolfe
from sskit.solvers.common.run import DualPoint
from sskit.solvers.cutting_plane.cutting_plane import CuttingPlane
from sskit.solvers.dual_decomposition.gdmm import GDMM, SoftBCFW
from sskit.solvers.quasi_newton.lbfgs import LBFGS, PrimalPoint
from sskit.solvers.subgradient.subgradient import Subgradient

__all__ = [
    "BCFW",
    "GDMM",
    "LBFGS",
    "Subgradient",
    "CuttingPlane",
    "FrankWolfe",
    "MultiPlane",
    "SoftBCFW",
]

export_from(__name__, DualPoint, PrimalPoint)
