"""Taggers with calibrated probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, check_is_fitted

from sskit._labels import object_array
from sskit._meta_estimators import make_folds, unwrap
from sskit._numbers import check_k, n_workers
from sskit._parameters import JOBS, check_constraints, parameter, parameters
from sskit._tag_schemes import SCHEMES
from sskit._types import ArrayLike, Estimator, Folds, RandomState, Samples, Scheme, Self
from sskit.calibration.posterior import inner_tagger, posterior_class, posterior_of, proba_of_one
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import check_labels
from sskit.estimators.base.meta import MetaEstimator
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.combinations import check_combinations
from sskit.estimators.segments import SegmentTagger
from sskit.estimators.tree import TreeTagger
from sskit.inputs.ragged_array import split
from sskit.inputs.weights import check_sample_weight
from sskit.models.calibration.likelihood import fit_calibration
from sskit.models.calibration.scores import Calibration

if TYPE_CHECKING:
    from sskit.inputs.token_vectorizer import TokenVectorizer

TAGGERS = (SequenceTagger, TreeTagger, SegmentTagger)
# Parameters that may be set after the fit
USED_BY_PREDICT = ("risk", "scheme", "n_jobs")


class FittedCalibration:
    """Types of the attributes that a fitted `CalibratedTagger` has."""

    estimator_: Any
    calibration_: dict[str, Any]
    log_likelihood_: float
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    vectorizer_: TokenVectorizer


@parameters
class CalibratedTagger(FittedCalibration, MetaEstimator):
    r"""Probabilities of the labels of a tagger, calibrated on held-out data.

    A labelling has the probability

    .. math:: p(y \mid x) = \exp G(x, y) / Z(x) ,

    where G are the scores F(x, y) of a fitted :class:`SequenceTagger`, :class:`SegmentTagger` or
    :class:`TreeTagger` after a calibration: one factor of all scores, or more parameters, that make
    the labels of held-out data most likely. All probabilities are exact sums over all labellings,
    found by the sum-product algorithm in about the time of one or two predictions.

    Parameters
    ----------
    estimator : estimator
        A SequenceTagger, SegmentTagger or TreeTagger, with any `order`, features of edges, features
        of segments and hidden states of labels; or a pipeline, a search, an :class:`EarlyStopping`
        or a :class:`RegularizationPath` (with ``cv``) that ends in one.
    method : {"matrix", "temperature", "likelihood"}, default="matrix"
        Parameters of the calibration. "temperature" has one, the factor 1/T of all scores. "matrix"
        multiplies the scores of all labels of a node by a matrix, with a bias for each label, and
        adds a table to the scores of pairs of neighbours; a normal prior keeps it near
        "temperature" if there are few held-out data; of segments it is the same as "temperature".
        "likelihood" has none: the tagger itself is trained by the likelihood, with
        ``surrogate="log"``, on all data; a fitted one must have been.
    cv : int, cross-validation splitter, iterable or "prefit", default=3
        How the data are split. The calibration is fitted to held-out data of the splits, and used
        with a model of all data. With "prefit", or in a :class:`~sklearn.frozen.FrozenEstimator`,
        the estimator is fitted already, and `fit` takes held-out data.
    risk : {"labelling", "tokens", "segments"}, default=None
        What `predict` minimises: the probability of any error in a sequence, by the most probable
        labelling; the expected number of wrong tokens, by the most probable label of each; or, only
        with a SegmentTagger, for which "tokens" makes no sense, the expected number of segments
        that are wrong or missed. None returns the best labelling of the model, without a
        calibration. Can be set on a fitted estimator. With hidden states "labelling" raises an
        error, because the most probable labelling is NP-hard to find.
    scheme : str, default=None
        The scheme of spans in labels, see :func:`sskit.metrics.spans`; None means that of the
        parameter ``allowed_transitions`` of the tagger, or "bio". Can be set on a fitted
        estimator.
    n_jobs : int, default=None
        Number of models, that of all data and those of the splits, that are fitted at the same
        time, in processes of joblib, and of threads of the calibration and of predictions. Results
        do not depend on it.

    Attributes
    ----------
    estimator_ : estimator
        The model that was fitted to all data, or was fitted before.
    calibration_ : dict of ndarray
        The calibration of scores: "coef" (a number, or (K, K)) and "bias" (K,) for nodes; "pairs",
        the factor of all others; and "transitions" (m, K, K), "start" and "end" (K,), which are
        added to them, with m = 1 or a table for each kind of edge.
    log_likelihood_ : float
        Mean logarithm of the probability of the true labels of a held-out sequence; with
        "likelihood" of one that `fit` was given.
    classes_ : ndarray of shape (K,)
        The labels of the model, or of one of a split, sorted.
    n_features_in_ : int
        Number of features of the estimator, if it has one.

    Raises
    ------
    TypeError
        In fit, if the estimator does not end in a tagger of sequences or trees.
    ValueError
        In fit, for wrong parameters or data.

    Notes
    -----
    Held-out labels that are unknown (None, ``ignore_label`` of the tagger, or a label that no
    training sequence of the split has) do not count, any label of a set may be right, and
    sequences whose labels the tagger's ``allowed_transitions`` forbids are left out.

    All hidden states of a label have the same bias, and "matrix" combines the score of a state
    with the means of those of other labels. Probabilities of labels are sums over their states.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017). On calibration of modern neural networks. ICML
    (temperature and matrix scaling).

    Lafferty, McCallum, Pereira (2001). Conditional random fields: probabilistic models for
    segmenting and labeling sequence data. ICML.

    Examples
    --------
    >>> from sskit import CalibratedTagger, SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = CalibratedTagger(SequenceTagger(random_state=0)).fit(X[:50], y[:50])
    >>> p = tagger.predict_proba(X[50:])
    >>> p[0].shape == (len(y[50]), 10)
    True
    >>> bool(abs(p[0].sum(axis=1) - 1).max() < 1e-9)
    True
    """

    estimator: Estimator = parameter(kw_only=False)
    method: Literal["matrix", "temperature", "likelihood"] = parameter(default="matrix")
    cv: Folds | Literal["prefit"] = parameter("cv_object", StrOptions({"prefit"}), default=3)
    risk: Literal["labelling", "tokens", "segments"] | None = parameter(None, default=None)
    scheme: Scheme | None = parameter(StrOptions(set(SCHEMES)), None, default=None)
    n_jobs: int | None = parameter(*JOBS, default=None)

    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator to splits of the data, and the calibration to their held-out parts.

        Parameters
        ----------
        X, y : object
            Input of the estimator.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the sequences, for both; passed to the last step of a pipeline.

        Returns
        -------
        self : object
            The fitted meta-estimator.
        """
        check_constraints(self)
        frozen = isinstance(self.estimator, FrozenEstimator)
        prefit = frozen or (isinstance(self.cv, str) and self.cv == "prefit")
        check_tagger(self.estimator, prefit)
        self._check_risk(inner_tagger(self.estimator))
        if prefit or self.method == "likelihood":
            model = self.estimator if prefit else self._fitted(X, y, sample_weight)
            if self.method == "likelihood":
                check_likelihood(inner_tagger(model))
            X, y = indexable(X, y)
            weight = check_sample_weight(sample_weight, _num_samples(X))
            models, held_out = [model], [(X, y, weight)]
        else:
            model, models, held_out = self._fitted_to_splits(X, y, sample_weight)
        classes = np.unique(np.concatenate([fitted_classes(one) for one in [model, *models]]))
        parts = [
            self._held_out(one, *data, classes) for one, data in zip(models, held_out, strict=True)
        ]
        kinds = {len(part.scores.tables) for part in parts}
        if len(kinds) > 1:
            raise ValueError("the training parts of the splits have different kinds of edges")
        method = self.method
        if method == "matrix" and not posterior_class(inner_tagger(model)).has_matrix:
            method = "temperature"
        calibration, value = fit_calibration(method, parts, len(classes), kinds.pop(), self.n_jobs)
        fitted = {
            "estimator_": model,
            "calibration_": calibration._asdict(),
            "log_likelihood_": value,
            "classes_": classes,
        }
        if hasattr(model, "n_features_in_"):
            fitted["n_features_in_"] = model.n_features_in_
        return replace_fitted(self, fitted)

    def _fitted_to_splits(self, X, y, sample_weight):
        """Return the models of all data and of each training part, and the held-out parts."""
        # Errors are to name items of all data, not of a part: the model of all is the first, or
        # is fitted again where others are fitted meanwhile.
        together = n_workers(self.n_jobs, 2) > 1
        models = [] if together else [self._fitted(X, y, sample_weight)]
        try:
            X, y = indexable(X, y)
            weight = check_sample_weight(sample_weight, _num_samples(X))
            splits = make_folds(self.cv, X, y)
            parts = [None] if together else []
            parts += [train for train, _ in splits]
            bare = clone(self)  # fitted attributes of an earlier fit are not sent to processes
            models += Parallel(n_jobs=n_workers(self.n_jobs, len(parts)))(
                delayed(fit_part)(bare, X, y, weight, part) for part in parts
            )
        except Exception:
            if together:
                self._fitted(X, y, sample_weight)
            raise
        return models[0], models[1:], [self._part(X, y, weight, test) for _, test in splits]

    def _part(self, X, y, weight, rows):
        """Return some of the samples, None: all, with their weights."""
        if rows is None:
            return X, y, weight
        X, y = _safe_split(self.estimator, X, y, rows)
        return X, y, None if weight is None else _safe_indexing(weight, rows)

    def _fitted(self, X, y, weight):
        """Return a clone of the estimator that is fitted to data."""
        model, options = clone(self.estimator), {}
        if self.method == "likelihood":
            inner_tagger(model).set_params(surrogate="log")
        if weight is not None:
            steps = model.steps if hasattr(model, "named_steps") else None
            options = {f"{steps[-1][0]}__sample_weight" if steps else "sample_weight": weight}
        return model.fit(X, y, **options)

    def _held_out(self, model, X, y, weight, classes):
        """Return the target of data that a model has not seen."""
        weight = np.ones(_num_samples(X)) if weight is None else weight
        return posterior_of(model, X, classes).target(y, weight)

    def _check_risk(self, tagger):
        """Raise ValueError unless the labels of the least risk of a tagger can be found."""
        posterior_class(tagger).check_risk(tagger, self.risk)
        if isinstance(tagger, SegmentTagger):
            check_combinations(tagger, **{"of segments": "probabilities of segments"})
        if self.risk == "labelling":
            states = {"states": "hidden states"} if hasattr(tagger, "n_states_") else {}
            check_combinations(tagger, labelling="risk='labelling'", **states)

    def _infer(self, X, known=None, marginals=False):
        """Return the `TokenPosterior` or `SegmentPosterior` of data, with their probabilities."""
        calibration = self._fitted_calibration()
        posterior = posterior_of(self.estimator_, X, self.classes_)
        posterior.infer(calibration, known, self.n_jobs, marginals)
        return posterior

    def _fitted_calibration(self):
        """Return the calibration, if the fitted attributes have not been changed."""
        if "calibration_" not in vars(self):
            check_is_fitted(self)
        # set since the fit, perhaps; None, that of most, is always right
        changed = [name for name in USED_BY_PREDICT if getattr(self, name) is not None]
        if changed:
            check_constraints(self, *changed)
        check_labels(self)
        return Calibration(**self.calibration_)

    def _best(self, posterior):
        """Return the labellings of the least risk."""
        self._check_risk(posterior.tagger)
        return posterior.best(self.risk)

    def predict_proba(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the probability of each label at each token.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            Input of the estimator.
        known : sequence of n_samples items, default=None
            Known labels, as in :meth:`SequenceTagger.predict`: probabilities are conditional on
            them.

        Returns
        -------
        p : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i, n_classes) whose rows sum to one.

        Raises
        ------
        ValueError
            If X or known is wrong, or no labelling of a sequence agrees with the known labels.
        """
        if known is None:
            calibration = self._fitted_calibration()
            p = proba_of_one(self.estimator_, X, self.classes_, calibration)
            if p is not None:
                return p
        posterior = self._infer(X, known, marginals=True)
        return split(posterior.by_label(), posterior.offsets)

    def predict_log_proba(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the logarithm of the probability of each label at each token.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            Input of the estimator.
        known : sequence of n_samples items, default=None
            As in `predict_proba`.

        Returns
        -------
        log_p : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i, n_classes); -inf for probabilities that are
            zero, or below 1e-200.
        """
        with np.errstate(divide="ignore"):
            return object_array([*map(np.log, self.predict_proba(X, known))])

    def predict(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the labels of the least `risk`, or those of the model itself.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            Input of the estimator.
        known : sequence of n_samples items, default=None
            As in `predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i,) of labels, or what a SegmentTagger returns.
        """
        posterior = self._infer(X, known, self.risk == "tokens")
        return posterior.labels(self._best(posterior))

    def confidence(self, X: Samples, y: Samples) -> np.ndarray:
        """Return the probability of labellings, or of their known parts.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            Input of the estimator.
        y : sequence of n_samples items
            Labels of each sequence, which may be None or sets of labels; or a boolean array (T_i,
            n_classes), or None; as `known` in `predict_proba`.

        Returns
        -------
        p : ndarray of shape (n_samples,)
            The probability of all labellings that agree with it.
        """
        return np.exp(np.minimum(self._infer(X).log_probability(y), 0.0))

    def span_confidence(
        self, X: Samples, y: Samples | None = None, known: Samples | None = None
    ) -> np.ndarray:
        """Return the spans that labels describe, and the probability of each.

        Parameters
        ----------
        X : list of n_samples sequences
            Input of the estimator.
        y : sequence of n_samples label sequences (T_i,) of str, default=None
            Labels, in the `scheme`; None means those that `predict` returns.
        known : sequence of n_samples items, default=None
            As in `predict_proba`.

        Returns
        -------
        spans : ndarray of shape (n_samples,), object
            Each item is a list of tuples (type, first token, one after the last, probability
            that exactly this span occurs), in reading order.
        """
        posterior = self._infer(X, known, y is None and self.risk == "tokens")
        if y is None:
            y = posterior.labels(self._best(posterior))
        return posterior.spans(y, self.scheme)

    def sample(
        self,
        X: Samples,
        n_samples: int = 1,
        random_state: RandomState = None,
        known: Samples | None = None,
    ) -> np.ndarray:
        """Draw labellings by their probability.

        Parameters
        ----------
        X : list of n sequences or trees
            Input of the estimator.
        n_samples : int, default=1
            Number of labellings of each.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.
        known : sequence of n items, default=None
            As in `predict_proba`.

        Returns
        -------
        y : ndarray of shape (n,), object
            Each item is an ndarray of shape (n_samples, T_i) of labels.
        """
        check_k(n_samples, "n_samples")
        posterior = self._infer(X, known)
        uniform = check_random_state(random_state).uniform(size=(n_samples, posterior.offsets[-1]))
        return posterior.sample(uniform)

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the token accuracy of `predict`, or of segments their F1 score.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            Input of the estimator.
        y : list of n_samples sequences (T_i,)
            True labels. Tokens with the ``ignore_label`` of the tagger do not count; each label of
            a set is right.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sequences; each counts for all tokens of its sequence.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        posterior = self._infer(X, marginals=self.risk == "tokens")
        return posterior.score(y, self._best(posterior), sample_weight)


CalibratedTagger.__module__ = "sskit"  # which exports it


def check_tagger(estimator, prefit):
    """Raise TypeError unless an estimator is a tagger, or ends in one; ValueError if it loses it.

    Parameters
    ----------
    estimator : object
        What is to be calibrated.
    prefit : bool
        Whether it is fitted already.
    """
    for step, _ in unwrap(estimator):
        name = type(step).__name__
        if isinstance(step, CalibratedTagger):
            raise TypeError(f"estimator must be a tagger that is not calibrated yet, got a {name}")
        if getattr(step, "_fits_parts", False) and not prefit:
            raise TypeError(
                f"a {name} fits data in parts, which are not split further: fit it, and calibrate "
                "its estimator_ with cv='prefit'"
            )
        path = isinstance(step, MetaEstimator) and hasattr(step, "refit")
        if getattr(step, "refit", True) is False or (path and step.cv is None):
            needs = "cv and refit=True" if path else "refit=True"
            raise ValueError(f"estimator is a {name} that keeps no best tagger: it needs {needs}")
    if not isinstance(step, TAGGERS):
        got = f"the class {step.__name__}" if isinstance(step, type) else name
        raise TypeError(
            "estimator must be a SequenceTagger, a SegmentTagger, a TreeTagger, or a pipeline or "
            f"search that ends in one, got {got}; for graphs with cycles and sets of labels with "
            "scores of pairs the sum over all labellings has no efficient algorithm"
        )


def fit_part(calibrated, X, y, weight, rows):
    """Return the estimator of a `CalibratedTagger`, fitted to some of the samples, None: to all."""
    return calibrated._fitted(*calibrated._part(X, y, weight, rows))


def check_likelihood(tagger):
    """Raise ValueError unless a tagger was fitted by the likelihood."""
    if tagger.surrogate != "log":
        raise ValueError(
            "method='likelihood' takes the probabilities of the model itself: a fitted "
            f"{type(tagger).__name__} needs surrogate='log', got {tagger.surrogate!r}; or let it "
            "be fitted here"
        )


def fitted_classes(estimator):
    """Return the labels of the fitted tagger that an estimator ends in."""
    tagger = inner_tagger(estimator)
    check_is_fitted(tagger, "classes_")
    return tagger.classes_
