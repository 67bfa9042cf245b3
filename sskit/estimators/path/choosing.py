"""Choosing lam by cross-validation: a few fits in each fold, around the default."""

import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from sskit._numbers import n_workers
from sskit.core.stop import Stop
from sskit.estimators.base.estimator import QUIET
from sskit.estimators.base.meta import checked_score
from sskit.estimators.base.outcome import refuse_overflow
from sskit.estimators.base.weights import resolved_lam
from sskit.estimators.path.tracing import fitted_model
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status

# What is tried, times the lam that is to be beaten; falling.
FACTORS = (4.0, 2.0, 1.0, 0.5, 0.25)
# Of these, what is tried where no fit can begin where another one ended.
FEW = (4.0, 1.0, 0.25)
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
    sample_weight : array-like or None
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

    def __init__(self, estimator, X, y, sample_weight, tol=0.0, **further):
        self.estimator = clone(estimator)
        self.estimator.set_params(warm_start=False, tol=max(tol, self.estimator.tol))
        solver = self.estimator._check_parameters()
        self._task = self.estimator._make_rescaled_task(X, y, sample_weight, **further)
        solver = self.estimator._solver_for(self._task.problem, solver)
        bounded = self._task.layout.bounds(self.estimator.bounds) is not None
        self._solver = solver.resolved(self._task.problem, bounded)
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
        with np.errstate(**QUIET):
            solution = self._solution(lam)
        refuse_overflow(solution.w, [])
        self.complete &= solution.status is Status.CONVERGED
        to_attributes = self._task.attributes
        return fitted_model(self.estimator, to_attributes, self._solver, solution.w, lam)

    def _solution(self, lam):
        """Return the `Solution` of one lam, from where the last one ended if that can be."""
        problem, completion = self._task.problem, self._task.completion
        make_regularizer = partial(self.estimator._make_regularizer, self._solver, self._task, lam)
        # a stop that is not entered leaves Ctrl-C to others
        limits = self.estimator._limits() | {"stop": Stop(self._solver.max_time)}
        if completion is not None:
            return completion.solve(
                self._solver, problem, make_regularizer, **limits, on_pass=lambda *_: False
            )
        tol, max_iter = limits.pop("tol"), limits.pop("max_iter")
        if self._run is None or not self.goes_on:
            self._run = begin(self._solver, problem, make_regularizer(), **limits)
        else:
            self._run.change_lam(lam)
        return self._run.solution(self._run.reach(tol, max_iter=max_iter))


@dataclass
class FoldScores:
    """What is left of the fits of one fold.

    Attributes
    ----------
    scores : list of float
        Test score at each factor, as many as were tried.
    fit_times, score_times : list of float
        Seconds that the fit took, and its score.
    complete : bool
        Whether all fits reached their tolerance.
    """

    scores: list = field(default_factory=list)
    fit_times: list = field(default_factory=list)
    score_times: list = field(default_factory=list)
    complete: bool = True

    def falls(self, factors):
        """Return whether the score is below that of the default since lam fell below it."""
        default = factors.index(1.0)
        return len(self.scores) > default + 1 and self.scores[-1] < self.scores[default]


@dataclass
class Choice:
    """Chooses lam among a few multiples of the lam that an estimator has by itself.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not changed.
    cv : int, splitter or iterable
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.
    tol : float
        Tolerance of the fits of folds, if it is larger than that of the estimator.
    n_jobs, verbose : int or None
        Of joblib, for the loop over the folds.
    """

    estimator: object
    cv: object
    scoring: object
    tol: float
    n_jobs: object
    verbose: int

    def scores(self, X, y, sample_weight, groups, further):
        """Fit and score in each fold.

        Parameters
        ----------
        X, y : object
            The data.
        sample_weight : array-like or None
            Weights of the samples in training.
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
        folds : list of FoldScores
            One for each fold.
        """
        from sklearn.model_selection import check_cv  # not at import: megabytes that few need

        scorer = check_scoring(self.estimator, self.scoring)
        # all data first: errors are to name their items, not those of a fold
        whole = FallingFits(self.estimator, X, y, sample_weight, **further)
        factors = FACTORS if whole.goes_on else FEW
        center = resolved_lam(self.estimator, whole.default_lam)
        ratio = center / whole.default_lam
        del whole
        try:
            folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            splits = list(folds.split(X, y, groups))
        except TypeError as error:
            raise TypeError(
                f"cv must make pairs of indices, got {self.cv!r:.80}: {error}"
            ) from error
        if not splits:
            raise ValueError("cv makes no folds, expected one at least")
        workers = Parallel(n_jobs=n_workers(self.n_jobs, len(splits)), verbose=self.verbose)
        found = workers(
            delayed(self._fold)(X, y, sample_weight, further, *split, scorer, factors, ratio)
            for split in splits
        )
        return center * np.array(factors), factors.index(1.0), found

    def _fold(self, X, y, sample_weight, further, train, test, scorer, factors, ratio):
        """Return the `FoldScores` of one fold."""
        X_train, y_train = _safe_split(self.estimator, X, y, train)
        X_test, y_test = _safe_split(self.estimator, X, y, test, train)
        if sample_weight is not None:
            sample_weight = _safe_indexing(sample_weight, train)
        given = {name: _safe_indexing(values, train) for name, values in further.items()}
        # of an estimator that takes groups in fit its own score takes them too
        own = self.scoring is None and "groups" in further
        of_score = {"groups": _safe_indexing(further["groups"], test)} if own else {}
        fits = FallingFits(self.estimator, X_train, y_train, sample_weight, self.tol, **given)
        fold = FoldScores()
        for factor in factors:
            began = time.perf_counter()
            # the default says how lam goes with the number of samples
            model = fits.fit(factor * ratio * fits.default_lam)
            fitted = time.perf_counter()
            fold.scores.append(checked_score(scorer(model, X_test, y_test, **of_score)))
            fold.fit_times.append(fitted - began)
            fold.score_times.append(time.perf_counter() - fitted)
            if fold.falls(factors):
                break
        fold.complete = fits.complete
        return fold


def table(lams, folds):
    """Return the scores of all folds.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        What was tried, falling.
    folds : list of FoldScores
        Of as many or fewer.

    Returns
    -------
    results : dict of ndarray
        The columns of ``cv_results_`` of `GridSearchCV`; nan where a fold stopped before.
    """
    from scipy.stats import rankdata  # not at import: megabytes that few need

    results = {}
    for name in ("fit_time", "score_time", "test_score"):
        columns = np.full((len(folds), len(lams)), np.nan)
        for column, fold in zip(columns, folds, strict=True):
            values = getattr(fold, {"test_score": "scores"}.get(name, name + "s"))
            column[: len(values)] = values
        if name == "test_score":
            results["param_lam"] = np.ma.masked_array(lams, mask=False)
            results["params"] = [{"lam": float(lam)} for lam in lams]
            results |= {f"split{k}_{name}": column for k, column in enumerate(columns)}
        results[f"mean_{name}"] = columns.mean(axis=0)
        results[f"std_{name}"] = columns.std(axis=0)
    means = results["mean_test_score"]
    ranks = rankdata(-np.where(np.isnan(means), -np.inf, means), method="min")
    results["rank_test_score"] = ranks.astype(np.int32)
    return results


def choose(results, default, refit):
    """Return the index of the lam to choose.

    Parameters
    ----------
    results : dict
        From `table`.
    default : int
        Index of the lam that is to be beaten.
    refit : bool or callable
        What the function makes of the results; else that of the lams whose mean scores may be as
        good as the best, see `margins`, which is nearest to the default.

    Returns
    -------
    index : int
        Into the columns of the results.

    Raises
    ------
    ValueError
        If no score of the default is a number, or the function returns no index.
    """
    if callable(refit):
        index = refit(results)
        n = len(results["params"])
        if not isinstance(index, (int, np.integer)) or not 0 <= index < n:
            raise ValueError(f"refit must return an index from 0 to {n - 1}, got {index!r}")
        return int(index)
    scores = np.array([column for name, column in results.items() if name.startswith("split")])
    scores = scores[~np.isnan(scores[:, default])]
    if not len(scores):
        raise ValueError("the test scores of the default lam are NaN in all folds")
    best = int(np.nanargmax(scores.mean(axis=0)))
    # of the same folds: what makes one fold harder than others is no error of a difference
    lost = scores[:, [best]] - scores
    good = lost.mean(axis=0) <= margins(lost)
    good[best] = True
    lams = np.log([params["lam"] for params in results["params"]])
    return int(np.argmin(np.where(good, np.abs(lams - lams[default]), np.inf)))


def margins(lost):
    """Return by how much mean scores may differ without being different.

    Parameters
    ----------
    lost : ndarray of shape (n_folds, n_lams)
        What each lam lacks of the score of the best in the same fold; may be nan.

    Returns
    -------
    margins : ndarray of shape (n_lams,)
        Standard errors of the mean times the quantile of Student's t; 0 for a single fold, nan
        for a lam that lacks a score.
    """
    from scipy.special import stdtrit  # not at import: megabytes that few need

    n_folds = len(lost)
    if n_folds == 1:
        return np.zeros(lost.shape[1])
    variances = lost.var(axis=0, ddof=1)
    # few differences may agree by chance: those of all lam say how much they vary
    known = variances[~np.isnan(variances)]
    typical = known.sum() / max(len(known) - 1, 1)  # that of the best is 0
    quantile = stdtrit(n_folds - 1, LIKELY)
    return quantile * np.sqrt(np.maximum(variances, typical) / n_folds)
