"""Regularisation paths as estimators."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer_names
from sklearn.utils import indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from sskit._parameters import (
    AT_LEAST_ONE,
    FRACTION,
    JOBS,
    NON_NEGATIVE,
    POSITIVE,
    check_constraints,
    parameter,
    parameters,
)
from sskit._types import ArrayLike, Folds, History, Samples, Scoring, Self
from sskit._warnings import warn
from sskit.core.regularizer import BoxRegularizer
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.meta import DelegatingEstimator, common_attributes
from sskit.estimators.path.choosing import choose, score_folds
from sskit.estimators.path.tracing import fitted_model, trace
from sskit.inputs.weights import check_sample_weight, weight_argument
from sskit.solvers.common.solution import relative
from sskit.solvers.path.tracer import dual_objective_at

if TYPE_CHECKING:
    from sskit.estimators.base.estimator import StructuredEstimator
    from sskit.inputs.token_vectorizer import TokenVectorizer


class FittedPath:
    """Types of the attributes that a fitted `RegularizationPath` has."""

    lam_: float
    lams_: np.ndarray
    lam_end_: float
    coefs_: np.ndarray
    dual_gaps_: np.ndarray
    sqnorms_: np.ndarray
    hinges_: np.ndarray
    max_gap_: float
    certified_: bool
    n_support_planes_: np.ndarray
    n_iter_: np.ndarray
    n_oracle_calls_: np.ndarray
    times_: np.ndarray
    best_lam_: float
    best_score_: float
    default_lam_: float
    best_estimator_: Any
    cv_results_: History
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    vectorizer_: TokenVectorizer


@parameters
class RegularizationPath(FittedPath, DelegatingEstimator):
    r"""Models for all lam, each within eps of its optimum; or, with `cv`, the choice of one.

    Without `cv` the path of an estimator is traced from large lam to small. Between two
    breakpoints one weight vector serves all lam: a duality gap proves that its objective exceeds
    the optimum by at most the fraction `eps` of itself (and of a thousandth of P(0)). Above the
    first breakpoint the weights are linear in 1 / lam; those of a likelihood are zero.

    With `cv` lam is chosen instead. In each fold the estimator is fitted at four times, twice,
    once, a half and a quarter of its lam: its default for the data of the fold or, if it sets lam,
    the corresponding multiple of that default. The largest lam comes first, and each fit continues
    from the last one. Where the largest or the smallest is the one to choose, two more lam beyond
    it are tried, at most twice. Among all lam that may be as good as the best by their mean scores,
    the one nearest to the default is chosen, which is the default unless another is clearly better.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package. For a path its solver must have a dual point (not
        "subgradient"), and all labels must be known; its ``max_iter`` is per breakpoint, ``lam`` is
        that of `predict`, and ``tol`` and ``warm_start`` have no effect. With a ``prior`` the path
        begins there: it is the model of infinite lam.
        With `cv` any estimator may be given: its ``lam``, or the default, is the one to compare
        with, and ``tol``, if it is larger than `eps`, is the tolerance in the folds.
    eps : float, default=0.1
        Largest gap of all models, as a fraction of the objective like ``tol`` of the estimator, of
        P(w) + P(0) / 1000; below 1. With `cv` that of the models of the folds.
    kappa : float, default=0.9
        Fraction of `eps` to which the model of a breakpoint is solved, between 0 and 1: a smaller
        one makes fewer breakpoints with more passes each. Not with `cv`.
    lam_min : float, default=None
        End of the path. None means a thousandth of the estimator's default lam. A path ends
        earlier only if the data can be fitted without a hinge. Not with `cv`.
    max_breakpoints : int, default=None
        Largest number of models. None means no limit. Not with `cv`.
    cv : int, cross-validation generator or iterable, default=None
        Folds for choosing lam, as in scikit-learn. None traces a path and chooses none.
    scoring : str or callable, default=None
        Score of a model on held-out data of a fold; None is the score of the estimator. A scorer,
        or the name of one of scikit-learn; where samples have many labels, as of tokens or nodes,
        a name such as "f1_macro" compares them one by one.
    refit : bool, default=True
        With `cv`, whether the estimator is then fitted to all data with the chosen lam and its own
        ``tol``.
    n_jobs : int, default=None
        Number of folds that are fitted in parallel.
    verbose : int, default=0
        Verbosity of the loop over the folds.

    Attributes
    ----------
    lam_ : float
        With `cv` the choice, `best_lam_`; without, that of ``predict``: the lam of the estimator
        or its default, or `lam_end_` if that is larger.
    lams_ : ndarray of shape (J,)
        Breakpoints, decreasing: model j serves lam from ``lams_[j]`` down to the next one. This
        and all attributes up to `times_` exist only without `cv`.
    lam_end_ : float
        The smallest lam that the last model serves; 0 if it serves all.
    coefs_ : ndarray of shape (J, n_weights)
        Weights of the models, flat.
    dual_gaps_ : ndarray of shape (J,)
        Duality gap of each model at its breakpoint, absolute.
    sqnorms_ : ndarray of shape (J,)
        Squared norm of the weights of each model, minus the prior; with a kernel that of its
        functions.
    hinges_ : ndarray of shape (J,)
        Mean hinge of each model, or mean log-loss with ``surrogate="log"``: with lam / 2 times
        ``sqnorms_`` it is the primal objective.
    max_gap_ : float
        Upper bound of `relative_gap_at` of any lam: eps, or more if the oracle may miss the
        maximum and bounds it, because what it may have missed is part of the gaps.
    certified_ : bool
        Whether all gaps are proofs: the oracle is exact, or bounds what it misses.
    n_support_planes_ : ndarray of shape (J,)
        Planes with dual weight, those of the truth aside; not with ``surrogate="log"``.
    n_iter_, n_oracle_calls_ : ndarray of shape (J,)
        Passes and oracle calls until each model was found, from the beginning.
    times_ : ndarray of shape (J,)
        Seconds until each model was found.
    best_lam_, best_score_ : float
        The choice and its mean score; only with `cv`.
    default_lam_ : float
        The lam to compare with: that of the estimator, or its default for all data; only with
        `cv`.
    best_estimator_ : estimator
        Fitted on all data with `best_lam_`; only with `cv` and unless `refit` is False.
    cv_results_ : dict of ndarray
        An entry for each lam, decreasing: param_lam, mean_test_score, std_test_score and
        split0_test_score, split1_test_score, ...; only with `cv`. lam is that for all data: the
        folds were fitted at the same multiple of their own default. nan if a fold skipped the
        smallest lam, because the one before had scored below the default.
    classes_, n_features_in_, feature_names_in_, vectorizer_ : object
        As in the estimator, if it has them and a model of all data was fitted.

    Raises
    ------
    TypeError
        In fit, if the estimator is not one of this package.
    ValueError
        In fit, for wrong parameters or data, and parameters that cannot be combined.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` of the estimator ends the path, a fit of a fold, or the fit of
        `best_estimator_`; or if Ctrl-C, without `cv`, ends the path, which then has the models
        that are done. With `cv` Ctrl-C raises KeyboardInterrupt, except during the last fit.

    Notes
    -----
    C = 1 / (lam n) is the same for a part of the data and for all, so a lam of the folds is larger
    by n over the size of the fold, as the default of an estimator is by itself.

    "Clearly better" means by Student's t at 90 %: by 1.9 standard errors with three folds, 1.5
    with five. The standard error is that of differences between two lam in the same fold, pooled
    over all lam, because three differences may agree by chance. With one fold there is none, and
    the best score decides. If no fit can continue from another, as with the solver "gdmm" or
    completed labels, only a quarter, one and four times lam are tried.

    References
    ----------
    Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block
    Frank-Wolfe optimization of structured SVMs. ICML. Section 4, algorithms 6 and 7.

    Ndiaye, Le, Fercoq, Salmon, Takeuchi (2019). Safe grid search with optimal complexity. ICML
    (how far a pair of primal and dual points serves).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import RegularizationPath, StructSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=1e-3)
    >>> path.fit(X, y).certified_
    True
    >>> model = path.estimator_at(0.02)
    >>> model.predict(X[::50])
    array([0, 1, 2])
    >>> bool(model.dual_gap_ <= 0.1)
    True
    >>> choice = RegularizationPath(StructSVMClassifier(random_state=0), cv=5).fit(X, y)
    >>> len(choice.cv_results_["param_lam"]), choice.predict(X[::50])
    (5, array([0, 1, 2]))
    """

    estimator: StructuredEstimator = parameter(kw_only=False)
    eps: float = parameter(FRACTION, default=0.1)
    kappa: float = parameter(FRACTION, default=0.9)
    lam_min: float | None = parameter(NON_NEGATIVE, None, default=None)
    max_breakpoints: int | None = parameter(AT_LEAST_ONE, None, default=None)
    cv: Folds | None = parameter("cv_object", default=None)
    scoring: Scoring = parameter(StrOptions(set(get_scorer_names())), callable, None, default=None)
    refit: bool = parameter("boolean", default=True)
    n_jobs: int | None = parameter(*JOBS, default=None)
    verbose: int = parameter("verbose", default=0)

    def fit(
        self,
        X: ArrayLike | Samples,
        y: ArrayLike | Samples,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        token_weight: Samples | None = None,
    ) -> Self:
        """Trace the path, or choose lam.

        Parameters
        ----------
        X, y : object
            Input of the estimator.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in training; scores are not weighted.
        groups : array-like of shape (n_samples,), default=None
            Groups of the samples: for the splitter `cv`, and for the fit of the estimator and its
            score, if they take groups.
        token_weight : sequence of n_samples sequences of float, default=None
            Weights of the tokens in training, if the estimator takes them.

        Returns
        -------
        self : object
            The fitted path.
        """
        self._check_parameters()
        check_constraints(self.estimator, "lam")  # not that of the path, but what `predict` takes
        further = self._further(token_weight)
        if groups is not None and has_fit_parameter(self.estimator, "groups"):
            further["groups"] = groups
        elif groups is not None and self.cv is None:
            raise ValueError("groups say how folds are made; set cv")
        if self.cv is None:
            fitted = trace(self, X, y, sample_weight, further)
        else:
            fitted = self._choose(X, y, sample_weight, groups, further)
        return replace_fitted(self, fitted)

    def _choose(self, X, y, sample_weight, groups, further):
        """Return the fitted attributes of a choice of lam."""
        X, y = indexable(X, y)
        sample_weight = check_sample_weight(sample_weight, _num_samples(X))
        arguments = further | weight_argument(sample_weight)
        lams, default, scores, complete = score_folds(self, X, y, groups, arguments)
        short = [k for k, reached in enumerate(complete) if not reached]
        if short:
            warn(
                f"fits of the folds {short} stopped before their tolerance, at max_iter of the "
                "estimator or max_time of its solver: their scores are those of the last steps",
                ConvergenceWarning,
            )
        index, means = choose(lams, scores, default), scores.mean(axis=0)
        if index in (0, len(lams) - 1):
            warn(
                f"the best lam is the {'largest' if index == 0 else 'smallest'} that was tried, "
                f"{lams[index]:.3g}, {lams[index] / lams[default]:.3g} times the default: set lam "
                "of the estimator near to it and choose again",
            )
        lam, folds = float(lams[index]), {"mean": means, "std": scores.std(axis=0)}
        folds |= {f"split{k}": column for k, column in enumerate(scores)}
        chosen = {
            "cv_results_": {"param_lam": lams}
            | {f"{name}_test_score": column for name, column in folds.items()},
            "best_lam_": lam,
            "best_score_": float(means[index]),
            "lam_": lam,
            "default_lam_": float(lams[default]),
        }
        if not self.refit:
            return chosen
        model = clone(self.estimator).set_params(lam=lam)
        model.fit(X, y, **arguments)
        return chosen | {"best_estimator_": model} | common_attributes(vars(model))

    def coef_at(self, lam: float) -> np.ndarray:
        """Return the weights that serve one lam.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            Flat weights.

        Raises
        ------
        ValueError
            If the path ends before this lam.
        """
        return self._weights_at(self._check_lam(lam))[0]

    def gap_at(self, lam: float) -> float:
        """Return an upper bound of how far the objective of these weights exceeds the optimum.

        Up to the first breakpoint it is `primal_objective_at` minus `dual_objective_at`; above it,
        where the hinge of the weights is not known, it is the bound of algorithm 6.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        gap : float
            Absolute. A proof if `certified_`, else an estimate.
        """
        lam = self._check_lam(lam)
        if lam >= self.lams_[0]:
            fraction = self.lams_[0] / lam
            # convex in 1 / lam, from what the oracle may have missed at the origin
            return float(self.dual_gaps_[0] * fraction + self._origin_gap * (1.0 - fraction))
        return max(self.primal_objective_at(lam) - self.dual_objective_at(lam), 0.0)

    def relative_gap_at(self, lam: float) -> float:
        """Return `gap_at` as a fraction of the objective, as in ``tol`` and `eps`.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        fraction : float
            Of the primal objective plus P(0) / 1000; at most `max_gap_`.
        """
        return relative(self.gap_at(lam), self.primal_objective_at(lam), self._unit)

    def dual_objective_at(self, lam: float) -> float:
        """Return a lower bound of the optimal objective, from the dual point of a piece.

        With the primal objective of any weights, however computed, it gives a duality gap.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        dual : float
            Absolute. A dual objective, whether the path is `certified_` or not.
        """
        lam = self._check_lam(lam)
        j = self._piece_of(lam)
        return float(
            dual_objective_at(lam, self.lams_[j], self._losses[j], partial(self._conjugate, j))
        )

    def primal_objective_at(self, lam: float) -> float:
        """Return the objective of the weights that serve one lam.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        primal : float
            Absolute. Above the first breakpoint, where the hinge of the weights is not known, an
            upper bound.
        """
        lam = self._check_lam(lam)
        if lam > self.lams_[0]:
            return self.dual_objective_at(lam) + self.gap_at(lam)
        j = self._piece_of(lam)
        return 0.5 * lam * float(self.sqnorms_[j]) + float(self.hinges_[j])

    def _conjugate(self, j, factor):
        """Return the conjugate of ||w - prior||^2 / 2 at a multiple of the dual sum of piece j."""
        if self._bounds is None:
            # a file of 1.0.0rc1 has hinges without a prior, where both norms are the same
            return 0.5 * factor**2 * vars(self).get("_dual_sqnorms", self.sqnorms_)[j]
        return -BoxRegularizer(1.0, *self._bounds).dual(factor * self._dual_sums[j], 0.0)

    def estimator_at(self, lam: float) -> Any:
        """Return a fitted estimator with the weights that serve one lam.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        estimator : estimator
            A clone. Its ``dual_gap_`` is that of `gap_at`; of the attributes about the progress of
            a fit it has ``solver_``, ``n_iter_`` and ``n_oracle_calls_``, those of the path until
            this model was found.
        """
        lam = self._check_lam(lam)
        w, j = self._weights_at(lam)
        proof = {"dual_gap_": self.gap_at(lam), "certified_": self.certified_}
        counts = {name: int(getattr(self, name)[j]) for name in ("n_iter_", "n_oracle_calls_")}
        return fitted_model(*self._template, w, lam, **proof, **counts)

    def _fitted_estimator(self):
        """Return the estimator that predicts: the one that was chosen, or that of `lam_`."""
        check_is_fitted(self)
        if hasattr(self, "best_estimator_"):
            return self.best_estimator_
        if not hasattr(self, "lams_"):
            raise NotFittedError(
                "with refit=False lam is chosen, but no model of all data is fitted; set refit=True"
            )
        return self.estimator_at(self.lam_)

    def _check_lam(self, lam):
        """Return a lam that the path serves, as a float."""
        check_is_fitted(self)
        if not hasattr(self, "lams_"):
            raise ValueError(
                "there is a path only without cv: with it models of a few lam are compared in the "
                "folds, and only best_estimator_ is kept; fit with cv=None"
            )
        if not POSITIVE.is_satisfied_by(lam):
            raise ValueError(f"lam must be a positive finite number, got {lam!r}")
        value = float(lam)
        if value < self.lam_end_:
            raise ValueError(
                f"lam={lam:g} is below the end of the path, {self.lam_end_:.6g}; fit it with a "
                "smaller lam_min, or more max_breakpoints or max_iter"
            )
        return value

    def _weights_at(self, lam):
        """Return the weights that serve a lam, of their own, and the number of their piece."""
        if lam > self.lams_[0]:
            return self._origin + self.lams_[0] / lam * (self.coefs_[0] - self._origin), 0
        j = self._piece_of(lam)
        return self.coefs_[j].copy(), j

    def _piece_of(self, lam):
        """Return the number of the piece that serves a lam."""
        return max(int(np.searchsorted(-self.lams_, -lam, "right")) - 1, 0)
