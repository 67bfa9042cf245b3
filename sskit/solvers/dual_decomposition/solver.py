"""What solvers that work factor by factor share."""

from sklearn.utils import check_random_state

from sskit.core.stop import Stop
from sskit.solvers.common.idle_options import NO_PAIRS, SETS
from sskit.solvers.common.solver import Solver
from sskit.solvers.oracle_calls.exact_pass import Evaluator


class FactorSolver(Solver):
    """Base of the solvers that visit nodes and edges: whom they refuse, and how they go on.

    A subclass has a `name`, by which estimators know it, and a `title`, by which messages do;
    it implements `start` and ``_watch(run, evaluator, tol, verbose)``, and ``_asks_oracles()``
    says whether there are exact passes.
    """

    keeps_dual_point = False
    keeps_bounds = False
    name = ""
    title = ""

    def _kinds(self, problem, bounded):
        """Return what the problem is, in the code of the rules of idle options."""
        kinds = super()._kinds(problem, bounded)
        factors = None if problem is None else problem.decomposition()
        if factors is not None and factors.of_label_sets:
            kinds.add(SETS)
            if factors.n_edges == 0:
                kinds.add(NO_PAIRS)
        return kinds

    def _factors(self, problem, regularizer):
        """Return the factors of a problem that can be solved; else raise ValueError."""
        if regularizer.bounded:
            raise ValueError(
                f"{self.title} cannot solve problems with bounds; use the solver 'bcfw'"
            )
        factors = problem.decomposition()
        if factors is None:
            raise ValueError(
                f"the solver {self.name!r} needs a model that is a sum over nodes and edges with "
                f"scores of their own, which {type(problem).__name__} has not; use the solver "
                "'bcfw'"
            )
        return factors

    def solve(
        self,
        problem,
        regularizer,
        *,
        tol=1e-2,
        max_iter=1000,
        n_jobs=None,
        random_state=None,
        verbose=0,
        on_pass=None,
        start=None,
        stop=None,
    ):
        """Solve a problem; see the notes on stopping.

        Parameters
        ----------
        problem : Problem
            What to solve; has factors.
        regularizer : Regularizer
            Holds lam and w = 0; must have no bounds.
        tol : float, default=1e-2
            Relative tolerance.
        max_iter : int, default=1000
            Largest number of passes (n_blocks visits each).
        n_jobs : int, default=None
            Threads of exact passes.
        random_state : int, RandomState or None, default=None
            Source of randomness.
        verbose : int, default=0
            Above 0, log every pass at level INFO, else at level DEBUG.
        on_pass : callable, default=None
            Called after every pass with (n_iter, function that returns w); a true result
            stops the fit.
        start : None
            There is no dual point to start from.
        stop : Stop, default=None
            Says when to end early. None does so at Ctrl-C and after `max_time`.

        Returns
        -------
        solution : Solution
            The weights and what is known of them.
        """
        if start is not None:
            raise ValueError(f"{self.title} keeps no dual point and cannot start at one")
        with Stop(self.max_time) if stop is None else stop as stop:
            run = self.start(problem, regularizer, check_random_state(random_state))
            evaluator = Evaluator(problem, n_jobs, stop) if self._asks_oracles() else None
            watch = self._watch(run, evaluator, tol, verbose)
            return watch.solution(watch.reach(max_iter, stop, on_pass))
