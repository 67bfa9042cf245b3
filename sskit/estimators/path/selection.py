"""Choosing lam by cross-validation over paths."""

import time
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from sskit._numbers import n_workers
from sskit.estimators.base.meta import checked_score
from sskit.estimators.path.models import piece_of
from sskit.estimators.path.tracing import TracedPath


@dataclass(frozen=True)
class FoldPath:
    """What is left of the path of one fold: scores instead of weights.

    Attributes
    ----------
    lams : ndarray of shape (J,)
        Breakpoints, falling.
    lam_end : float
        The smallest lam that the path serves.
    scores : ndarray of shape (J,)
        Test score of each model.
    fit_times, score_times : ndarray of shape (J,)
        Seconds until the model was found, and those that its score took.
    n_oracle_calls : int
        In all.
    complete : bool
        Whether the path ended where it should, not where the solver got no further.
    fallen : bool
        Whether it ended because the score had been below its best for long.
    """

    lams: np.ndarray
    lam_end: float
    scores: np.ndarray
    fit_times: np.ndarray
    score_times: np.ndarray
    n_oracle_calls: int
    complete: bool
    fallen: bool


class Patience:
    """Says when a fold needs no further models: the score has been below its best for long.

    Parameters
    ----------
    factor : float
        By which lam has to fall; inf is for ever.
    start : float
        From where on at the latest. At large lam, where little is learned, a score may fall for
        long and rise again.
    """

    def __init__(self, factor, start):
        self.factor = factor
        self.start = start
        self.best = self.lam = None

    def ends(self, score, lam):
        """Take note of a model and the smallest lam that it serves; return whether it may be last.

        Parameters
        ----------
        score : float
            Its score.
        lam : float
            The smallest lam that it serves.

        Returns
        -------
        end : bool
            Whether none has been as good as the best while lam fell by the factor.
        """
        if self.best is None or not score < self.best:
            self.best, self.lam = score, min(lam, self.start)
        return lam * self.factor < self.lam


def trace_folds(estimator, X, y, sample_weight, *, cv, scoring, options, patience, n_jobs, verbose):
    """Trace one path for each fold and score its models on what the fold left out.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not changed.
    X, y : object
        The data.
    sample_weight : array-like or None
        Weights of the samples in training.
    cv : int, splitter or iterable
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.
    options : dict
        How to trace, see `TracedPath`.
    patience : float
        By which factor lam falls before the path of a fold ends, see `Patience`.
    n_jobs, verbose : int or None
        Of joblib.

    Returns
    -------
    folds : list of FoldPath
        One for each fold. Weights are dropped as soon as they are scored.
    """
    from sklearn.model_selection import check_cv  # not at import: megabytes that few need

    scorer = check_scoring(estimator, scoring)
    try:
        splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y))
    except TypeError as error:
        raise TypeError(f"cv must make pairs of indices, got {cv!r:.80}: {error}") from error
    if not splits:
        raise ValueError("cv makes no folds, expected one at least")
    return Parallel(n_jobs=n_workers(n_jobs, len(splits)), verbose=verbose)(
        delayed(trace_fold)(estimator, X, y, sample_weight, train, test, scorer, options, patience)
        for train, test in splits
    )


def trace_fold(estimator, X, y, sample_weight, train, test, scorer, options, patience):
    """Trace the path of one fold.

    Parameters
    ----------
    estimator, X, y, sample_weight, options, patience : object
        As for `trace_folds`.
    train, test : ndarray of int
        Samples of the fold.
    scorer : callable
        Maps (fitted estimator, X, y) to a number.

    Returns
    -------
    fold : FoldPath
        Its scores.
    """
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, y_test = _safe_split(estimator, X, y, test, train)
    if sample_weight is not None:
        sample_weight = _safe_indexing(sample_weight, train)
    rows = []
    path = TracedPath(estimator, X_train, y_train, sample_weight, options)
    path.begin()
    scoring_time, patience = 0.0, Patience(patience, path.default_lam)
    for piece in path:
        began = time.perf_counter()
        score = checked_score(scorer(path.model(piece.w, piece.lam), X_test, y_test))
        score_time = time.perf_counter() - began
        rows.append((piece.lam, score, piece.time - scoring_time, score_time))
        scoring_time += score_time
        fallen = patience.ends(score, piece.lam_end)
        if fallen:
            break
    lams, scores, fit_times, score_times = map(np.array, zip(*rows, strict=True))
    return FoldPath(
        lams,
        piece.lam_end,
        scores,
        fit_times,
        score_times,
        piece.n_oracle_calls,
        path.complete,
        fallen,
    )


def has_ragged_items(y):
    """Return whether the first item of a target is a sequence of labels, not a label."""
    first = next(iter(y), None) if np.iterable(y) else None
    try:
        return not isinstance(first, (str, bytes)) and np.ndim(first) > 0
    except ValueError:  # rows of different lengths
        return True


def merge_folds(folds):
    """Return the scores of all folds at the union of their breakpoints.

    Models, and with them scores, change at breakpoints only; no score is interpolated but by
    the model that serves the lam.

    Parameters
    ----------
    folds : list of FoldPath
        Of one data set.

    Returns
    -------
    results : dict of ndarray
        The columns of ``cv_results_`` of `GridSearchCV`.
    """
    from scipy.stats import rankdata  # not at import: megabytes that few need

    end = max(fold.lam_end for fold in folds)
    lams = np.unique(np.concatenate([fold.lams for fold in folds]))[::-1]
    lams = lams[lams >= end]
    results = {}
    for name in ("fit_time", "score_time", "test_score"):
        source = {"test_score": "scores"}.get(name, name + "s")
        columns = np.array([getattr(f, source)[piece_of(lams, f.lams)] for f in folds])
        if name == "test_score":
            results["param_lam"] = np.ma.masked_array(lams, mask=False)
            results["params"] = [{"lam": float(lam)} for lam in lams]
            results |= {f"split{k}_{name}": column for k, column in enumerate(columns)}
        results[f"mean_{name}"] = columns.mean(axis=0)
        results[f"std_{name}"] = columns.std(axis=0)
    ranks = rankdata(-results["mean_test_score"], method="min")
    results["rank_test_score"] = ranks.astype(np.int32)
    return results


def choose(results, refit):
    """Return the index of the lam to choose.

    Parameters
    ----------
    results : dict
        From `merge_folds`, lam falling.
    refit : bool, "one_standard_error" or callable
        The best mean score, the largest lam of several; the largest lam whose mean score is
        within one standard error of the best; or what the function makes of the results.

    Returns
    -------
    index : int
        Into the columns of the results.
    """
    if callable(refit):
        index = refit(results)
        n = len(results["params"])
        if not isinstance(index, (int, np.integer)) or not 0 <= index < n:
            raise ValueError(f"refit must return an index from 0 to {n - 1}, got {index!r}")
        return int(index)
    means = results["mean_test_score"]
    if np.isnan(means).all():
        raise ValueError("the mean test scores of all lam are NaN")
    best = int(np.nanargmax(means))
    if refit != "one_standard_error":
        return best
    n_folds = sum(name.startswith("split") for name in results)
    error = results["std_test_score"][best] / np.sqrt(max(n_folds - 1, 1))
    return int(np.flatnonzero(means >= means[best] - error)[0])
