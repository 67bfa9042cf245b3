"""The models of a path: which weights serve which lam, and how good they are."""

import numbers
from functools import partial

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sskit.core.regularizer import BoxRegularizer
from sskit.estimators.base.meta import ask, estimator_has
from sskit.estimators.path.tracing import fitted_model
from sskit.solvers.common.tolerance import relative
from sskit.solvers.path.tracer import dual_objective_at

LARGEST_LAM = float(np.finfo(np.float64).max)


class PathModels:
    """The models of a fitted `RegularizationPath`, by lam."""

    def coef_at(self, lam):
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
        lam = self._check_lam(lam)
        return weights_at(lam, self.lams_, self.coefs_, self._origin)[0]

    def gap_at(self, lam):
        """Return by how much the objective of these weights exceeds the optimum at most.

        Up to the first breakpoint that is `primal_objective_at` minus `dual_objective_at`; above
        it, where the hinge of the weights is not known, what algorithm 6 proves.

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
            share = self.lams_[0] / lam
            # convex in 1 / lam, from what the oracle may have missed at the origin
            return float(self.dual_gaps_[0] * share + self._origin_gap * (1.0 - share))
        return max(self.primal_objective_at(lam) - self.dual_objective_at(lam), 0.0)

    def relative_gap_at(self, lam):
        """Return `gap_at` as a share of the objective, as ``tol`` and `eps` mean it.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        share : float
            Of the primal objective plus P(0) / 1000; at most `max_gap_`.
        """
        return relative(self.gap_at(lam), self.primal_objective_at(lam), self._unit)

    def dual_objective_at(self, lam):
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
        j = piece_of(lam, self.lams_)
        return float(
            dual_objective_at(lam, self.lams_[j], self._losses[j], partial(self._conjugate, j))
        )

    def primal_objective_at(self, lam):
        """Return the objective of the weights that serve one lam.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        primal : float
            Absolute. Above the first breakpoint, where the hinge of the weights is not known, what
            it is at most.
        """
        lam = self._check_lam(lam)
        if lam > self.lams_[0]:
            return self.dual_objective_at(lam) + self.gap_at(lam)
        j = piece_of(lam, self.lams_)
        return 0.5 * lam * float(self.sqnorms_[j]) + float(self.hinges_[j])

    def _conjugate(self, j, factor):
        """Return the conjugate of ||w||^2 / 2 at a multiple of the dual sum of piece j."""
        if self._bounds is None:
            return 0.5 * factor**2 * self.sqnorms_[j]
        return -BoxRegularizer(1.0, *self._bounds).dual(factor * self._dual_sums[j], 0.0)

    def estimator_at(self, lam):
        """Return a fitted estimator with the weights that serve one lam.

        Parameters
        ----------
        lam : float
            At least `lam_end_`.

        Returns
        -------
        estimator : estimator
            A clone. Its ``dual_gap_`` is that of `gap_at`; of the attributes that tell of the
            course of a fit it has ``solver_``, ``n_iter_`` and ``n_oracle_calls_``, those of the
            path until this model was found.
        """
        lam = self._check_lam(lam)
        w, j = weights_at(lam, self.lams_, self.coefs_, self._origin)
        return fitted_model(
            *self._template,
            w,
            lam,
            dual_gap_=self.gap_at(lam),
            certified_=self.certified_,
            n_iter_=int(self.n_iter_[j]),
            n_oracle_calls_=int(self.n_oracle_calls_[j]),
        )

    def predict(self, X, lam=None, *, known=None):
        """Predict with the model of one lam.

        Parameters
        ----------
        X : object
            What the estimator takes.
        lam : float, default=None
            None means `best_estimator_`, if there is one, else `lam_`.
        known : object, default=None
            What is known of some labels, as the estimator takes it, if it does.

        Returns
        -------
        y : object
            What the estimator predicts.
        """
        return ask(self._model(lam).predict, X, known=known)

    @estimator_has("predict_topk")
    def predict_topk(self, X, k, *, return_scores=False, lam=None, known=None):
        """Return the k best predictions of each sample, by the model of one lam.

        Parameters
        ----------
        X : object
            What the estimator takes.
        k : int
            Number of predictions.
        return_scores : bool, default=False
            Whether to return their scores too.
        lam : float, default=None
            As for `predict`.
        known : object, default=None
            What is known of some labels, as the estimator takes it, if it does.

        Returns
        -------
        y : object
            What the estimator returns.
        """
        topk = self._model(lam).predict_topk
        return ask(topk, X, k, return_scores=return_scores, known=known)

    @estimator_has("decision_function")
    def decision_function(self, X, lam=None, *, known=None):
        """Return the scores of the model of one lam.

        Parameters
        ----------
        X : object
            What the estimator takes.
        lam : float, default=None
            As for `predict`.
        known : object, default=None
            What is known of some labels, as the estimator takes it, if it does.

        Returns
        -------
        scores : object
            What the estimator returns.
        """
        return ask(self._model(lam).decision_function, X, known=known)

    def score(self, X, y, lam=None, sample_weight=None):
        """Score the model of one lam.

        Parameters
        ----------
        X, y : object
            What the estimator takes.
        lam : float, default=None
            As for `predict`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            By `scoring`, or of the estimator.
        """
        return self._score_of(self._model(lam), X, y, sample_weight)

    def _model(self, lam):
        """Return the fitted estimator of one lam, or the one that was chosen."""
        check_is_fitted(self)
        if lam is None and hasattr(self, "best_estimator_"):
            return self.best_estimator_
        if lam is None and not hasattr(self, "lams_"):
            raise NotFittedError(
                "with refit=False lam is chosen, but no model of all data is fitted; set refit=True"
            )
        return self.estimator_at(self.lam_ if lam is None else lam)

    def _check_lam(self, lam):
        """Return a lam that the path serves, as a float."""
        check_is_fitted(self)
        if not hasattr(self, "lams_"):
            raise ValueError(
                "there is a path only without cv: with it models of a few lam are compared in the "
                "folds, and best_estimator_ is what is kept; fit with cv=None"
            )
        number = isinstance(lam, numbers.Real) and not isinstance(lam, bool)
        # a float16 cannot be compared with a limit beyond its own
        value = float(lam) if isinstance(lam, np.floating) else lam
        if not number or not 0 < value <= LARGEST_LAM:
            raise ValueError(f"lam must be a positive finite number, got {lam!r}")
        lam = float(value)
        if lam < self.lam_end_:
            raise ValueError(
                f"lam={lam:g} is below the end of the path, {self.lam_end_:.6g}; fit it with a "
                "smaller lam_min, or more max_breakpoints or max_iter"
            )
        return lam


def weights_at(lam, lams, coefs, origin):
    """Return the weights that serve one lam.

    Parameters
    ----------
    lam : float
        At least the end of the path.
    lams : ndarray of shape (J,)
        Breakpoints, falling.
    coefs : ndarray of shape (J, n_weights)
        Weights of the pieces.
    origin : ndarray of shape (n_weights,)
        Weights of infinite lam.

    Returns
    -------
    w : ndarray of shape (n_weights,)
        Of its own.
    j : int
        Number of the piece.
    """
    j = piece_of(lam, lams)
    if lam <= lams[0]:
        return coefs[j].copy(), j
    return origin + lams[0] / lam * (coefs[0] - origin), 0


def piece_of(lam, lams):
    """Return the number of the piece, of falling breakpoints, that serves lam (or each lam)."""
    return np.maximum(np.searchsorted(-np.asarray(lams), -np.asarray(lam), "right") - 1, 0)
