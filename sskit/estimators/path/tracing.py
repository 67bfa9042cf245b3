"""Paths of estimators on training data."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit.core.stop import Stop
from sskit.estimators.base.columns import ScaledAttributes
from sskit.estimators.base.estimator import QUIET
from sskit.estimators.base.outcome import refuse_overflow
from sskit.solvers.common.continuation import Continuation
from sskit.solvers.common.solution import Proof, Status
from sskit.solvers.path.tracer import PathTracer

# The end of a path whose user names none, as a share of the default lam of the estimator.
END = 1e-3
# What ends a path early, and what would let it go on: neither lam nor tol, which it has no use for.
LIMITS = {
    Status.MAX_ITER: (
        "The maximum number of passes at a breakpoint was reached; increase max_iter of the "
        "estimator or eps, or end the path before by lam_min."
    ),
    Status.MAX_TIME: (
        "The maximum time was reached; increase max_time of the estimator's solver or eps, or end "
        "the path before by lam_min."
    ),
    Status.INTERRUPTED: "The fit was interrupted; the path has the models until then.",
}


class TracedPath:
    """The path of an estimator on training data, piece by piece.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not changed.
    X, y : object
        The training data.
    sample_weight : array-like or None
        Weights of the samples.
    options : dict
        Of `RegularizationPath`: eps, kappa, lam_min and max_breakpoints.
    **further : object
        What else the fit of the estimator takes.

    Attributes
    ----------
    default_lam : float
        The estimator's own default for these data.
    bounds : tuple or None
        Bounds (lower, upper) of the weights, each of shape (n_weights,); None if there are none.
    certified : bool
        Whether the gaps are certificates: the oracle is exact or bounds what it misses.
    unit : float
        P(0), the mean largest loss; there once the path has begun.
    stop : Stop
        Within it Ctrl-C ends the path, once there is a piece; else it raises KeyboardInterrupt.
        There once the path has begun.
    """

    def __init__(self, estimator, X, y, sample_weight, options, **further):
        self.estimator = clone(estimator).set_params(lam=None, warm_start=False)
        solver = self.estimator._check_parameters()
        if self.estimator.prior is not None:
            raise ValueError(
                "a path cannot be traced with a prior: its first models and their bounds are those "
                "of weights near zero; set prior=None"
            )
        if not solver.keeps_dual_point:
            raise ValueError(
                f"a path cannot be traced by {type(solver).__name__}, which keeps no dual point; "
                "use the solver 'bcfw' or 'frank_wolfe'"
            )
        if "averaging" in solver.get_params():
            solver.set_params(averaging=False)  # the next model starts from the last iterate
        task = self.estimator._make_rescaled_task(X, y, sample_weight, **further)
        if task.completion is not None:
            raise ValueError(
                "a path cannot be traced where labels are not known, nor with hidden states, "
                "components, types or parts: the objective is not convex; search lam with "
                "GridSearchCV"
            )
        self.to_attributes, self.default_lam = task.to_attributes, task.default_lam
        proven = Proof.of(task.problem) > Proof.NOTHING
        self.certified = proven and task.certifiable
        # any lam will do until algorithm 6 has found the first one
        self._regularizer = regularizer = self.estimator._make_regularizer(solver, task, 1.0)
        self.solver = solver.resolved(task.problem, regularizer.bounded)
        self._problem, self._options = task.problem, options
        if options["lam_min"] is None:
            self._options = options | {"lam_min": END * self.default_lam}
        self.origin = regularizer.coef()
        self.bounds = None
        if regularizer.bounded:
            self.bounds = tuple(bound.copy() for bound in regularizer.box())

    def begin(self):
        """Get ready for the pieces; the time of the solver runs from here."""
        self.stop = Stop(self.solver.max_time)
        continuation = Continuation(
            self.solver,
            self._problem,
            self._regularizer,
            n_jobs=self.estimator.n_jobs,
            random_state=self.estimator.random_state,
            verbose=self.estimator.verbose,
            stop=self.stop,
        )
        self.unit = continuation.unit
        self._tracer = PathTracer(continuation, max_iter=self.estimator.max_iter, **self._options)

    def __iter__(self):
        """Yield the pieces, from the largest lam on."""
        pieces = iter(self._tracer)
        while True:
            with np.errstate(**QUIET):
                piece = next(pieces, None)
            if piece is None:
                return
            refuse_overflow(piece.w, [piece.gap, piece.hinge, piece.sqnorm])
            yield piece

    @property
    def origin_gap(self):
        """The gap at infinite lam: 0 unless the oracle may have missed something there."""
        return self._tracer.origin_gap

    @property
    def complete(self):
        """Whether the path ended where it should, not where the solver got no further."""
        return self._tracer.status is Status.CONVERGED

    def warn(self, lam_end, stacklevel):
        """Warn if the path is not complete."""
        if not self.complete:
            why = "" if self.stop.requested else ", below which the gap stays too large"
            status = self._tracer.status
            warnings.warn(
                f"the path ends at lam={lam_end:.3g}{why}. {LIMITS.get(status, status.value)}",
                ConvergenceWarning,
                stacklevel=stacklevel + 1,
            )

    def in_units_of_the_user(self):
        """Return what makes attributes of weights in the user's units, and weights such."""
        if isinstance(self.to_attributes, ScaledAttributes):
            return self.to_attributes.to_attributes, self.to_attributes.to_user
        return self.to_attributes, lambda w: w


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
    model._set_fitted(to_attributes(w) | {"lam_": lam, "solver_": solver} | certificate)
    return model
