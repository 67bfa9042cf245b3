"""Regularisation paths of estimators on training data."""

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit._warnings import warn
from sskit.core.stop import Stop
from sskit.estimators.base.estimator import QUIET, replace_fitted
from sskit.estimators.base.meta import common_attributes
from sskit.estimators.base.outcome import check_overflow
from sskit.estimators.base.prior import flat_prior
from sskit.estimators.combinations import check_combinations
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Proof, Status
from sskit.solvers.path.tracer import LikelihoodTracer, PathTracer, largest_fraction

# The end of a path whose user names none, as a fraction of the default lam of the estimator.
END = 1e-3
# What ends a path early, and what would let it go on: neither lam nor tol, which it has no use for.
REACHED = "The maximum {} was reached; increase {} or eps, or end the path before by lam_min."
PASSES = "number of passes at a breakpoint", "max_iter of the estimator"
LIMITS = {
    Status.MAX_ITER: REACHED.format(*PASSES),
    Status.MAX_TIME: REACHED.format("time", "max_time of the estimator's solver"),
    Status.INTERRUPTED: "The fit was interrupted; the path has the models until then.",
}


def trace(path, X, y, sample_weight, further):
    """Trace the path of an estimator on training data.

    Parameters
    ----------
    path : RegularizationPath
        Has the estimator and options; not changed.
    X, y : object
        The training data.
    sample_weight : array-like or None
        Weights of the samples.
    further : dict
        What else the fit of the estimator takes.

    Returns
    -------
    fitted : dict
        Fitted attributes of a `RegularizationPath`.
    """
    estimator = clone(path.estimator).set_params(lam=None, warm_start=False)
    options = estimator._options()
    solver = options.solver
    check_combinations(estimator, path="a path")
    if "averaging" in solver.get_params():
        solver.set_params(averaging=False)  # the next model starts from the last iterate
    task = estimator._make_task(X, y, sample_weight, options, **further)
    if task.completion is not None or (options.likelihood and not task.certifiable):
        check_combinations(estimator, path="a path", unknown="labels that are not known")
    # any lam will do until algorithm 6 has found the first one
    regularizer = estimator._make_regularizer(task, 1.0, flat_prior(estimator, task))
    solver = solver.resolved(task.problem, regularizer.bounded)
    bounds = None  # those of the weights minus the prior
    if regularizer.bounded:
        bounds = tuple(regularizer.offset(bound).copy() for bound in regularizer.box())
    stop, limits = Stop(solver.max_time), dict(options.solving)
    del limits["tol"], limits["max_iter"]
    fit = begin(solver, task.problem, regularizer, stop=stop, **limits)
    lam_min = END * task.default_lam if path.lam_min is None else path.lam_min
    ends = {"lam_min": lam_min, "max_breakpoints": path.max_breakpoints}
    precision = {"eps": path.eps, "kappa": path.kappa}
    of_surrogate = LikelihoodTracer if options.likelihood else PathTracer
    tracer = of_surrogate(fit, **precision, **ends, max_iter=estimator.max_iter)
    pieces = []
    # within the stop Ctrl-C ends the path, for half a path is of use
    with stop, np.errstate(**QUIET):
        for piece in tracer:
            check_overflow(piece.w, [piece.gap, piece.hinge, piece.sqnorm])
            pieces.append(piece)
    lam_end, status = pieces[-1].lam_end, tracer.status
    if status is not Status.CONVERGED:
        why = "" if stop.n_presses else ", below which the gap stays too large"
        warn(
            f"the path ends at lam={lam_end:.3g}{why}. {LIMITS.get(status, status.value)}",
            ConvergenceWarning,
        )

    def column(name):
        """Return the fitted attributes of all pieces."""
        return np.array([getattr(piece, name) for piece in pieces])

    fitted = common_attributes(task.attributes(pieces[0].w)) | {
        "lams_": column("lam"),
        "lam_end_": lam_end,
        "coefs_": np.array([task.to_user(piece.w) for piece in pieces]),
        "sqnorms_": column("sqnorm"),
        "dual_gaps_": column("gap"),
        "hinges_": column("hinge"),
        "max_gap_": largest_fraction(path.eps, pieces, tracer.origin_gap, fit.unit),
        "certified_": Proof.of(task.problem) > Proof.NOTHING and task.certifiable,
        "n_iter_": column("n_iter"),
        "n_oracle_calls_": column("n_oracle_calls"),
        "times_": column("time"),
        "lam_": max(float(path.estimator.lam or task.default_lam), lam_end),
        "_unit": fit.unit,
        "_origin": task.to_user(tracer.origin),
        "_origin_gap": tracer.origin_gap,
        "_bounds": bounds,
        "_losses": column("loss"),
        "_dual_sqnorms": column("dual_sqnorm"),
        "_dual_sums": column("v") if bounds else None,
        "_template": (estimator, task.to_attributes, solver),
    }
    if not options.likelihood:  # of which all labellings have dual weight
        fitted["n_support_planes_"] = column("n_support_planes")
    return fitted


def fitted_model(estimator, to_attributes, solver, w, lam, **certificate):
    """Return a clone of an estimator that has these weights.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not changed.
    to_attributes : callable
        Maps weights to fitted attributes.
    solver : Solver
        That found the weights.
    w : ndarray of shape (n_weights,)
        The weights.
    lam : float
        Regularisation strength.
    **certificate : object
        Further fitted attributes.

    Returns
    -------
    model : StructuredEstimator
        Fitted.
    """
    model = clone(estimator).set_params(lam=lam)
    fitted = to_attributes(np.array(w)) | {"lam_": lam, "solver_": solver} | certificate
    return replace_fitted(model, fitted)
