"""Base of estimators that fit another estimator of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sskit._parameters import check_constraints
from sskit._public import PublicMixin
from sskit._types import ArrayLike, BaseEstimator, MetaEstimatorMixin, Method, Samples, available_if
from sskit.estimators.base.estimator import StructuredEstimator
from sskit.inputs.weights import weight_argument
from sskit.metrics.scoring import checked_score, find_scorer


def estimator_has(name: str) -> Callable[[Method], Method]:
    """Return a decorator of a method that is there if `estimator` has a method of a name.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    decorator : callable
        For methods.
    """
    return available_if(lambda self: hasattr(self.estimator, name))


class MetaEstimator(PublicMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of estimators with the parameter `estimator`, one of this package."""

    _fits_parts = False  # does `fit` take data in parts?

    def _check_parameters(self):
        """Raise an error for the first parameter that is wrong."""
        check_constraints(self)
        if not isinstance(self.estimator, StructuredEstimator):
            named = self.estimator if isinstance(self.estimator, type) else type(self.estimator)
            got = "the class " * (named is self.estimator) + named.__name__
            if hasattr(self.estimator, "named_steps"):
                got += f"; in a pipeline, put {type(self).__name__} last"
            raise TypeError(
                f"estimator must be one of this package, such as SequenceTagger(), got {got}"
            )

    def _further(self, token_weight):
        """Return what the fit of the estimator takes beside the weights of samples."""
        if token_weight is None:
            return {}
        if not has_fit_parameter(self.estimator, "token_weight"):
            name = type(self.estimator).__name__
            raise TypeError(f"{name}.fit takes no weights of tokens; leave token_weight at None")
        return {"token_weight": token_weight}

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "target_tags", "input_tags"):
            setattr(tags, name, getattr(inner, name))
        return tags


class DelegatingEstimator(MetaEstimator):
    """Base of meta-estimators that predict with one fitted estimator."""

    def _fitted_estimator(self):
        """Return the estimator that predicts."""
        check_is_fitted(self)
        return self.estimator_

    def _answer(self, name, X, *arguments, known=None, **options):
        """Return what a method of the fitted estimator does."""
        if known is not None:
            options["known"] = known
        return getattr(self._fitted_estimator(), name)(X, *arguments, **options)

    def predict(self, X: ArrayLike | Samples, known: ArrayLike | Samples | None = None) -> Any:
        """Predict with the fitted estimator.

        Parameters
        ----------
        X : object
            Input of the estimator.
        known : object, default=None
            Known labels, if the estimator takes them.

        Returns
        -------
        y : object
            Predictions of the estimator.
        """
        return self._answer("predict", X, known=known)

    @overload
    def predict_topk(
        self,
        X: ArrayLike | Samples,
        k: int,
        *,
        return_scores: Literal[False] = False,
        known: Samples | None = None,
    ) -> np.ndarray: ...

    @overload
    def predict_topk(
        self,
        X: ArrayLike | Samples,
        k: int,
        *,
        return_scores: Literal[True],
        known: Samples | None = None,
    ) -> tuple[np.ndarray, np.ndarray]: ...

    @estimator_has("predict_topk")
    def predict_topk(
        self,
        X: ArrayLike | Samples,
        k: int,
        *,
        return_scores: bool = False,
        known: Samples | None = None,
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the k best predictions of each sample.

        Parameters
        ----------
        X : object
            Input of the estimator.
        k : int
            Number of predictions.
        return_scores : bool, default=False
            Whether to return their scores too.
        known : object, default=None
            Known labels, if the estimator takes them.

        Returns
        -------
        y : object
            What the estimator returns.
        """
        return self._answer("predict_topk", X, k, return_scores=return_scores, known=known)

    @estimator_has("decision_function")
    def decision_function(self, X: ArrayLike | Samples, known: Samples | None = None) -> np.ndarray:
        """Return the scores of the labels.

        Parameters
        ----------
        X : object
            Input of the estimator.
        known : object, default=None
            Known labels, if the estimator takes them.

        Returns
        -------
        scores : object
            What the estimator returns.
        """
        return self._answer("decision_function", X, known=known)

    @estimator_has("predict_proba")
    def predict_proba(self, X: ArrayLike | Samples) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : object
            Input of the estimator.

        Returns
        -------
        p : ndarray
            What the estimator returns.
        """
        return self._answer("predict_proba", X)

    @estimator_has("predict_log_proba")
    def predict_log_proba(self, X: ArrayLike | Samples) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : object
            Input of the estimator.

        Returns
        -------
        log_p : ndarray
            What the estimator returns.
        """
        return self._answer("predict_log_proba", X)

    def score(
        self, X: ArrayLike | Samples, y: ArrayLike | Samples, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score the fitted estimator.

        Parameters
        ----------
        X, y : object
            Input of the estimator.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            By `scoring`, or of the estimator.
        """
        scorer = find_scorer(self.estimator, self.scoring)
        model = self._fitted_estimator()
        return checked_score(scorer(model, X, y, **weight_argument(sample_weight)))


def common_attributes(fitted):
    """Return those fitted attributes that all kinds of estimators may have."""
    names = ("classes_", "n_features_in_", "feature_names_in_", "vectorizer_")
    return {name: fitted[name] for name in names if name in fitted}
