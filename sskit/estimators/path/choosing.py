"""The choice of lam by cross-validation: a few fits in each fold, around the default."""

from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from sskit._meta_estimators import make_folds
from sskit._numbers import n_workers
from sskit.core.stop import Stop
from sskit.estimators.base.estimator import QUIET
from sskit.estimators.base.outcome import check_overflow
from sskit.estimators.base.prior import flat_prior
from sskit.estimators.path.tracing import fitted_model
from sskit.metrics.scoring import checked_score, find_scorer
from sskit.solvers.common.solution import Status

# What is tried, times the lam that is to be beaten; falling.
FACTORS = (4.0, 2.0, 1.0, 0.5, 0.25)
# Of these, what is tried where no fit can begin where another one ended.
FEW = (4.0, 1.0, 0.25)
# How often it goes on beyond the largest or the smallest of them, where that is the one to choose.
MOST_EXTENSIONS = 2
# How likely it has to be that a difference is none of chance: 1.9 standard errors with three folds.
LIKELY = 0.9


class FallingFits:
    """Fits of an estimator to the same data at falling lam, each from where the last one ended.

    Ctrl-C ends them all: half a choice is of no use.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not changed.
    X, y : object
        The training data.
    sample_weight : array-like, default=None
        Weights of the samples.
    tol : float, default=0.0
        Tolerance of the fits, if it is larger than that of the estimator.
    **further : object
        What else its fit takes.

    Attributes
    ----------
    default_lam : float
        The estimator's own default for these data.
    goes_on : bool
        Whether a fit begins where the last one ended: the solver keeps a dual point, and all
        labels are known.
    complete : bool
        Whether all fits so far reached their tolerance.
    """

    def __init__(self, estimator, X, y, sample_weight=None, tol=0.0, **further):
        self.estimator = clone(estimator)
        self.estimator.set_params(warm_start=False, tol=max(tol, self.estimator.tol))
        self._task = self.estimator._make_task(X, y, sample_weight, **further)
        solver = self._task.options.solver
        if not self._task.options.likelihood:
            solver = self.estimator._solver_for(self._task.problem, solver)
        bounded = self._task.layout.bounds(self.estimator.bounds) is not None
        self._solver = solver.resolved(self._task.problem, bounded)
        self._prior = flat_prior(self.estimator, self._task)
        self.default_lam = self._task.default_lam
        self.goes_on = self._solver.keeps_dual_point and self._task.completion is None
        self._run, self.complete = None, True

    def fit(self, lam):
        """Return the fitted estimator of one lam.

        Parameters
        ----------
        lam : float
            Regularisation strength.

        Returns
        -------
        model : StructuredEstimator
            A clone with fitted attributes.
        """
        estimator, task, solver = self.estimator, self._task, self._solver
        make_regularizer = partial(estimator._make_regularizer, task, lam, self._prior)
        # a stop that is not entered leaves Ctrl-C to others
        limits = task.options.solving | {"stop": Stop(solver.max_time)}
        with np.errstate(**QUIET):
            if self._run is None or not self.goes_on:
                solution, _ = task.solve(solver, make_regularizer, on_pass=None, **limits)
                self._run = solution.fit
            else:
                self._run.change_lam(lam)
                reached = self._run.reach(limits["tol"], max_iter=limits["max_iter"])
                solution = self._run.solution(reached)
        check_overflow(solution.w, [])
        self.complete &= solution.status is Status.CONVERGED
        return fitted_model(estimator, task.attributes, solver, solution.w, lam)


def score_folds(path, X, y, groups, further):
    """Fit and score in each fold.

    Parameters
    ----------
    path : RegularizationPath
        The estimator; not changed.
    X, y : object
        The data.
    groups : array-like or None
        Of the samples, for the splitter.
    further : dict of sequences
        What else the estimator's fit takes, for each sample.

    Returns
    -------
    lams : ndarray of shape (n_lams,)
        What was tried, as lam for all data, falling.
    default : int
        Index of the one that is to be beaten.
    scores : ndarray of shape (n_folds, n_lams)
        Those of the folds; nan where a fold stopped before.
    complete : list of bool
        Whether all fits of a fold reached their tolerance.
    """
    estimator, scorer = path.estimator, find_scorer(path.estimator, path.scoring)
    # all data first: errors are to name their items, not those of a fold
    whole = FallingFits(estimator, X, y, **further)
    factors = np.array(FACTORS if whole.goes_on else FEW)
    center = float(estimator.lam or whole.default_lam)
    ratio = center / whole.default_lam
    del whole
    splits = make_folds(path.cv, X, y, groups, classifier=is_classifier(estimator))
    # of an estimator that takes groups in fit its own score takes them too
    scored = ["groups"] if path.scoring is None and "groups" in further else []
    workers = Parallel(n_jobs=n_workers(path.n_jobs, len(splits)), verbose=path.verbose)
    # arguments, not parts of a function: backends of joblib send each of these once
    given = estimator, scorer, path.eps, ratio, X, y, further, scored

    def try_out(factors):
        scored_folds = workers(
            delayed(score_fold)(*given, k, factors, *fold) for k, fold in enumerate(splits)
        )
        return map(np.array, zip(*scored_folds, strict=True))

    scores, complete = try_out(factors)
    for _ in range(MOST_EXTENSIONS):
        beyond = extension(factors, choose(factors, scores, factors.tolist().index(1.0)))
        if not len(beyond):
            break
        further_scores, further_complete = try_out(beyond)
        order = np.argsort(-np.append(factors, beyond))
        factors = np.append(factors, beyond)[order]
        scores = np.hstack([scores, further_scores])[:, order]
        complete = complete & further_complete
    return center * factors, factors.tolist().index(1.0), scores, complete.tolist()


def extension(factors, index):
    """Return two more factors beyond the one that is chosen; none if it is inside.

    Parameters
    ----------
    factors : ndarray of shape (n,)
        What was tried, falling.
    index : int
        The one to choose.

    Returns
    -------
    beyond : ndarray
        Falling.
    """
    if index == 0:
        return factors[0] * np.array([4.0, 2.0])
    return factors[-1] * np.array([0.5, 0.25]) if index == len(factors) - 1 else np.empty(0)


def score_fold(estimator, scorer, tol, ratio, X, y, further, scored, k, factors, train, test):
    """Return the scores of the fold k, and whether all fits reached their tolerance."""
    try:
        X_train, y_train = _safe_split(estimator, X, y, train)
        held_out = _safe_split(estimator, X, y, test, train)
        further_of_fold = {name: _safe_indexing(values, train) for name, values in further.items()}
        of_score = {name: _safe_indexing(further[name], test) for name in scored}
        fits = FallingFits(estimator, X_train, y_train, tol=tol, **further_of_fold)
        scores, factors = np.full(len(factors), np.nan), factors.tolist()
        default = factors.index(1.0) if 1.0 in factors else len(factors)
        for place, factor in enumerate(factors):
            # the default has the dependence of lam on the number of samples
            model = fits.fit(factor * ratio * fits.default_lam)
            scores[place] = checked_score(scorer(model, *held_out, **of_score))
            if place > default and scores[place] < scores[default]:
                break  # the smallest lam, whose fit takes the most passes, would be no better
    except ValueError as error:
        raise ValueError(f"fold {k}: {error}") from error
    return scores, fits.complete


def choose(lams, scores, default):
    """Return the index of the lam to choose.

    It is that of the lams whose mean scores may be as good as the best which is nearest to the
    default. Means may differ by their standard error, by all lams together, as few differences may
    agree by chance, times the quantile of Student's t; of a single fold there is none.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        What was tried, falling.
    scores : ndarray of shape (n_folds, n_lams)
        Those of the folds; nan where a fold stopped before.
    default : int
        Index of the lam that is to be beaten.

    Returns
    -------
    index : int
        Into the lams.

    Raises
    ------
    ValueError
        If no score of the default is a number.
    """
    from scipy.special import stdtrit  # not at import: megabytes that few need

    scores = scores[~np.isnan(scores[:, default])]
    n_folds = len(scores)
    if not n_folds:
        raise ValueError("the test scores of the default lam are NaN in all folds")
    best = int(np.nanargmax(scores.mean(axis=0)))
    # of the same folds: what makes one fold harder than others is no error of a difference
    lost, margin = scores[:, [best]] - scores, 0.0
    if n_folds > 1:
        variance = np.nanmean(np.delete(lost, best, axis=1).var(axis=0, ddof=1))
        margin = stdtrit(n_folds - 1, LIKELY) * np.sqrt(variance / n_folds)
    good = lost.mean(axis=0) <= margin
    good[best] = True
    lams = np.log(lams)
    return int(np.argmin(np.where(good, np.abs(lams - lams[default]), np.inf)))
