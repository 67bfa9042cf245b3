"""What all processes of a fit have agreed on."""

from dataclasses import dataclass

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.estimators.base.summary import Summary
from sskit.solvers.common.solver import Solver


@dataclass(frozen=True)
class Plan:
    """What every process needs to know to do its part of a fit; it can be pickled.

    Attributes
    ----------
    summary : Summary
        Of all data.
    solver : Solver
        With every "auto" replaced.
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    box : tuple of ndarray, or None
        Bounds of the weights.
    seed : int
        Of the parts, and of the order in which they are visited.
    stage : Stage or None
        By what the parts have completed their labels; None if all are known.
    """

    summary: Summary
    solver: Solver
    lam: float
    n_weights: int
    box: tuple | None
    seed: int
    stage: object = None

    def regularizer(self):
        """Return a regularizer with weights of its own."""
        if self.box is None:
            return Regularizer(self.lam, self.n_weights)
        return BoxRegularizer(self.lam, *self.box)
