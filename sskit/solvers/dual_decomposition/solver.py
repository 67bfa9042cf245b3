"""What solvers that work factor by factor share."""

from sskit.solvers.common.idle_options import NO_PAIRS, SETS
from sskit.solvers.common.solver import Solver


class FactorSolver(Solver):
    """Base of the solvers that visit nodes and edges: whom they refuse.

    A subclass has a `name`, by which estimators know it, and starts a `FactorRun`.
    """

    keeps_dual_point = False
    keeps_bounds = False
    looks_at_all = False
    name = ""

    def _kinds(self, problem, bounded):
        """Return what the problem is, in the code of the rules of idle options."""
        kinds = super()._kinds(problem, bounded)
        factors = None if problem is None else problem.decomposition()
        if factors is not None and factors.of_label_sets:
            kinds.add(SETS)
            if factors.n_edges == 0:
                kinds.add(NO_PAIRS)
        return kinds

    def _factors(self, problem):
        """Return the factors of a problem that can be solved; else raise ValueError."""
        factors = problem.decomposition()
        if factors is None:
            raise ValueError(
                f"the solver {self.name!r} needs a model that is a sum over nodes and edges with "
                f"scores of their own, which {type(problem).__name__} has not; use the solver "
                "'bcfw'"
            )
        return factors
