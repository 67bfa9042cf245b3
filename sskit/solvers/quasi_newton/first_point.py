"""Where fits by the likelihood begin whose hidden states are summed over."""

from sskit.solvers.common.fit import begin, solve
from sskit.solvers.quasi_newton.lbfgs import PrimalPoint

# Passes over states that are known; more would change little once the states are summed over.
FIRST_PASSES = 10


def first_point(summed, solver, problem, make_regularizer, *, tol, max_iter, on_pass, **options):
    """Return the point at which a fit begins.

    Parameters
    ----------
    summed : object
        Its method ``first_weights(solved)`` is given a function that returns the weights of a
        problem with a likelihood, (n_weights,), and returns an iterable of weights to begin with.
    solver : Solver
        Resolved.
    problem : Problem
        With the sums over hidden states.
    make_regularizer : callable
        Returns a new regularizer.
    tol, max_iter, on_pass, **options : object
        As of `solve`; passes before the first point are not reported.

    Returns
    -------
    point : PrimalPoint
        Of several that with the lowest objective.
    """
    limits = options | {"tol": tol, "max_iter": min(max_iter, FIRST_PASSES), "on_pass": None}

    def solved(part):
        return solve(solver, part, make_regularizer(), **limits).w

    def primal(point):
        return begin(solver, problem, make_regularizer(), start=point, **options).run.primal

    points = [PrimalPoint(w) for w in summed.first_weights(solved)]
    return min(points, key=primal) if len(points) > 1 else points[0]
