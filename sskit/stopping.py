"""Stopping by the score on held-out data."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from sskit._parameters import AT_LEAST_ONE, FRACTION, parameter, parameters
from sskit._types import ArrayLike, History, RandomState, Samples, Scoring, Self
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.meta import DelegatingEstimator, common_attributes
from sskit.inputs.weights import check_sample_weight, weight_argument
from sskit.metrics.scoring import checked_score, find_scorer

if TYPE_CHECKING:
    from sskit.estimators.base.estimator import StructuredEstimator
    from sskit.inputs.token_vectorizer import TokenVectorizer


# Attributes of the weights at the end of a fit; the stored weights may be others.
UNKNOWN = dict.fromkeys(("dual_gap_", "primal_objective_", "dual_objective_"), np.nan)
UNKNOWN["certified_"] = False


class FittedStopping:
    """Types of the attributes that a fitted `EarlyStopping` has."""

    estimator_: Any
    best_score_: float
    best_iter_: int
    n_iter_: int
    scores_: History
    validation_indices_: np.ndarray
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    vectorizer_: TokenVectorizer


@parameters
class EarlyStopping(FittedStopping, DelegatingEstimator):
    """Ends the fit of an estimator once the score on held-out data no longer improves.

    After every pass the current weights predict the held-out data. The fit ends when the best
    score so far is `n_iter_no_change` passes old, and the weights that had it are kept. It works
    with any solver, and is most useful for "gdmm" without exact passes, which has no other measure
    of progress that reflects errors.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package. Its ``tol``, ``max_iter`` and ``max_time`` of its solver
        apply too, and may end the fit earlier; with ``tol=0`` only the score ends it.
        ``warm_start`` has no effect.
    scoring : str or callable, default=None
        Score of a model on the held-out data, the higher the better; None is the score of the
        estimator. A scorer, or the name of one of scikit-learn; where samples have many labels, as
        of tokens or nodes, a name such as "f1_macro" compares them one by one.
    validation_fraction : float, default=0.1
        Fraction of the training pairs that is held out, at random; at least one pair is held out,
        and one is not. Not used if fit gets validation data.
    n_iter_no_change : int, default=5
        Passes without a better score after which the fit ends (the patience).
    random_state : int, RandomState or None, default=None
        Seed of the held-out pairs. The estimator has its own seed for the order of the passes; if
        with one RandomState for both, the estimator gets a copy after pairs were drawn.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, with the weights of the best score. Nothing is proved about them:
        ``certified_`` is False, ``dual_gap_`` and the objectives are nan. ``history_`` covers the
        whole fit.
    best_score_ : float
        The best score; the earliest of several equal ones.
    best_iter_ : int
        Number of passes before it.
    n_iter_ : int
        Number of passes of the fit.
    scores_ : dict of ndarray
        Arrays of equal length, an entry for each pass: n_passes and score.
    validation_indices_ : ndarray of int
        Which training pairs were held out, in increasing order; empty if fit got validation data.
    classes_, n_features_in_, feature_names_in_, vectorizer_ : object
        As of the estimator, if it has them.

    Raises
    ------
    TypeError
        In fit, if the estimator is not one of this package.
    ValueError
        In fit, for wrong parameters or data, or if no score is a number.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` of the estimator ends the fit, or Ctrl-C; the best weights so far are kept.

    Notes
    -----
    The held-out pairs are not part of the objective: if data are few, fit to all of them with
    ``max_iter=best_iter_``. A label that occurs only in held-out pairs is never predicted and
    counts as an error.

    References
    ----------
    Prechelt (1998). Early stopping: but when? Neural networks: tricks of the trade (rules
    of this kind).

    Examples
    --------
    >>> from sskit import EarlyStopping, SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.solvers import GDMM
    >>> X, y = make_digit_strings(40, random_state=0)
    >>> tagger = SequenceTagger(solver=GDMM(gap_every=None), tol=0, random_state=0)
    >>> model = EarlyStopping(tagger, n_iter_no_change=3, random_state=0).fit(X, y)
    >>> model.n_iter_ - model.best_iter_
    3
    >>> model.predict(X[:1])[0].shape == y[0].shape
    True
    """

    estimator: StructuredEstimator = parameter(kw_only=False)
    scoring: Scoring = parameter(StrOptions(set(get_scorer_names())), callable, None, default=None)
    validation_fraction: float = parameter(FRACTION, default=0.1)
    n_iter_no_change: int = parameter(AT_LEAST_ONE, default=5)
    random_state: RandomState = parameter("random_state", default=None)

    def fit(
        self,
        X: ArrayLike | Samples,
        y: ArrayLike | Samples,
        sample_weight: ArrayLike | None = None,
        X_val: ArrayLike | Samples | None = None,
        y_val: ArrayLike | Samples | None = None,
        token_weight: Samples | None = None,
    ) -> Self:
        """Fit the estimator, and stop by the score.

        Parameters
        ----------
        X, y : object
            Input of the estimator.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in training; scores are not weighted.
        X_val, y_val : object, default=None
            Held-out data. None takes a fraction of X and y.
        token_weight : sequence of n_samples sequences of float, default=None
            Weights of the tokens in training, if the estimator takes them.

        Returns
        -------
        self : object
            The fitted meta-estimator.
        """
        self._check_parameters()
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must be given together")
        further, scorer = self._further(token_weight), find_scorer(self.estimator, self.scoring)
        clone(self.estimator)._options()
        try:
            train, held_out, indices = self._split(X, y, sample_weight, further, X_val, y_val)
            # after the split, which may have drawn from a random state that the estimator has too
            model = clone(self.estimator)
            watch = model._watch = HeldOutWatch(model, scorer, *held_out, self.n_iter_no_change)
            try:
                model.fit(**train)
            finally:
                del model._watch
        except (TypeError, ValueError, RuntimeError):
            # error messages are to name the items of the data, not those of a part of it
            clone(self.estimator)._make_task(X, y, sample_weight, **further)
            raise
        n_iter = model.n_iter_
        if not watch.scores or watch.scores[-1][0] < n_iter:
            # a pass that was cut short; its weights are in place already
            watch.evaluate(n_iter, model, {})
        if watch.best is None:
            raise ValueError("no score of the held-out data is a number")
        vars(model).update(watch.best | UNKNOWN)
        model.n_iter_ = watch.best_iter
        n_passes, scores = zip(*watch.scores, strict=True)
        fitted = {
            "estimator_": model,
            "best_score_": watch.best_score,
            "best_iter_": watch.best_iter,
            "n_iter_": n_iter,
            "scores_": {"n_passes": np.array(n_passes), "score": np.array(scores)},
            "validation_indices_": indices,
            **common_attributes(vars(model)),
        }
        return replace_fitted(self, fitted)

    def _split(self, X, y, sample_weight, further, X_val, y_val):
        """Return arguments of the fit, what is held out of them, and which samples these are."""
        from sklearn.model_selection import train_test_split  # megabytes that few need

        arguments = further | weight_argument(sample_weight)
        if X_val is not None:
            return arguments | {"X": X, "y": y}, (X_val, y_val), np.empty(0, dtype=np.intp)
        X, y = indexable(X, y)
        n_samples = _num_samples(X)
        arguments |= weight_argument(check_sample_weight(sample_weight, n_samples))
        if n_samples < 2:
            raise ValueError(f"n_samples={n_samples}: at least 2 are needed to hold one out")
        n_held_out = min(max(round(self.validation_fraction * n_samples), 1), n_samples - 1)
        options = {"test_size": n_held_out, "random_state": self.random_state}
        train, held_out = map(np.sort, train_test_split(np.arange(n_samples), **options))
        X_train, y_train = _safe_split(self.estimator, X, y, train)
        arguments = {name: _safe_indexing(values, train) for name, values in arguments.items()}
        held_out_data = _safe_split(self.estimator, X, y, held_out)
        return arguments | {"X": X_train, "y": y_train}, held_out_data, held_out


EarlyStopping.__module__ = "sskit"  # which exports it


class HeldOutWatch:
    """The score of a model after passes of its fit, when to stop, and the best weights.

    Parameters
    ----------
    model : StructuredEstimator
        To be fitted.
    scorer : callable
        Maps (fitted estimator, X, y) to a number, the higher the better.
    X_val, y_val : object
        Held-out data.
    patience : int
        Passes without a better score after which to stop.

    Attributes
    ----------
    scores : list of tuple (int, float)
        Passes and score.
    best_score : float
        Of the scores; -inf before the first.
    best_iter : int
        Passes at the best score, the earliest of several.
    best : dict or None
        Fitted attributes that had the best score.
    """

    def __init__(self, model, scorer, X_val, y_val, patience):
        self.model, self.scorer, self.held_out = model, scorer, (X_val, y_val)
        self.patience, self.scores = patience, []
        self.best_score, self.best_iter, self.best = -np.inf, 0, None

    def on_pass(self, n_iter, attributes):
        """Score the present weights.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        attributes : callable
            Returns the fitted attributes that follow from the weights.

        Returns
        -------
        stop : bool
            Whether the best score is old enough.
        """
        model, fitted = copy.copy(self.model), attributes()
        vars(model).update(fitted)
        self.evaluate(n_iter, model, fitted)
        return n_iter - self.best_iter >= self.patience

    def evaluate(self, n_iter, model, fitted):
        """Score a model; keep its fitted attributes if it is the best one so far."""
        score = checked_score(self.scorer(model, *self.held_out))
        self.scores.append((n_iter, score))
        if score > self.best_score:
            self.best_score, self.best_iter, self.best = score, n_iter, fitted
