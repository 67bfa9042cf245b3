"""Taggers that tell probabilities."""

import numbers
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, check_is_fitted

from sskit._tag_schemes import SCHEMES
from sskit.estimators.base.estimator import check_constraints, replace_fitted
from sskit.estimators.base.fitted_state import check_labels, raise_damaged
from sskit.estimators.base.known import check_known
from sskit.estimators.base.meta import MetaEstimator
from sskit.estimators.calibration.members import (
    TAGGERS,
    check_tagger,
    fitted_calibration,
    fitted_classes,
    inner_estimator,
    possible_labels,
    refuse_known,
    refuse_labelling,
    scores_of,
)
from sskit.estimators.calibration.mixture import Mixture
from sskit.inputs.ragged import split, stack_labels
from sskit.inputs.ragged_array import locate, object_array
from sskit.inputs.weights import check_sample_weight
from sskit.metrics import token_accuracy_score
from sskit.models.calibration.likelihood import METHODS, HeldOut, fit_calibration

RISKS = ("labelling", "tokens", "spans")


class CalibratedTagger(MetaEstimator):
    r"""Probabilities of the labels of a tagger, calibrated on held-out data.

    A labelling has the probability

    .. math:: p(y \mid x) = \exp G(x, y) / Z(x) ,

    where G are the scores F(x, y) of a fitted :class:`SequenceTagger` or :class:`TreeTagger`
    after a calibration: one factor of all scores, or more parameters, that make the labels of
    held-out data most likely. All probabilities are exact sums over all labellings, found by the
    sum-product algorithm in about the time of one or two predictions.

    Parameters
    ----------
    estimator : estimator
        A SequenceTagger of either order, with features of edges or without, or a TreeTagger, both
        with hidden states of labels or without; or a pipeline, a search, an
        :class:`EarlyStopping` or a :class:`RegularizationPath` (with ``cv``) that ends in one.
    method : {"matrix", "vector", "temperature"}, default="matrix"
        Parameters of the calibration: "temperature" has one, the factor 1/T of all scores.
        "vector" has a factor and a bias of the scores of each label, and a factor of all other
        scores. "matrix" mixes the scores of all labels of a node by a matrix, and adds a table to
        the scores of pairs of neighbours. The last two have a normal prior around the first, so
        that few held-out data change little.
    cv : int, cross-validation splitter, iterable or "prefit", default=3
        How the data are split. With "prefit", or in a :class:`~sklearn.frozen.FrozenEstimator`,
        the estimator is fitted already, and `fit` is given held-out data.
    ensemble : bool, default=True
        Whether the models of all splits are kept, whose probabilities are averaged; or one is
        fitted to all data, and its scores take the calibration of those. Averages take as many
        times as long; which is better depends on the data, see the user guide.
    risk : {"labelling", "tokens", "spans"}, default=None
        What `predict` is to keep small: the probability of any error in a sequence, by the most
        probable labelling; the expected number of wrong tokens, by the most probable label at
        each; or one less the F1 score of spans, see Notes. None returns the labelling that the
        model itself finds best, without a calibration. Can be set on a fitted estimator. Where
        labels have several hidden states the most probable labelling is NP-hard to find, and
        "labelling" is refused.
    scheme : str, default=None
        What labels say of spans, see :func:`sskit.metrics.spans`; None means that of the
        parameter ``allowed_transitions`` of the tagger, or "bio". Can be set on a fitted
        estimator.
    n_jobs : int, default=None
        Number of threads of predictions.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted models: one for each split, or a single one.
    calibration_ : dict of ndarray
        What becomes of scores: "coef" (a number, (K,) or (K, K)) and "bias" (K,) of those of
        nodes; "pairs", the factor of all others; "transitions" (m, K, K), "start" and "end" (K,),
        which are added to them, with m = 1 or a table for each kind of edge.
    log_likelihood_ : float
        Mean logarithm of the probability of the true labels of a held-out sequence.
    classes_ : ndarray of shape (K,)
        The labels that some model knows, sorted.
    n_features_in_ : int
        Number of features of the estimator, if it tells it.

    Raises
    ------
    TypeError
        In fit, if the estimator does not end in a tagger of sequences or trees.
    ValueError
        In fit, for wrong parameters or data.

    Notes
    -----
    Of held-out labels those that are not known (None, ``ignore_label`` of the tagger, or a label
    that no training sequence of the split has) do not count, of a set any may be right, and
    sequences whose labels the tagger's ``allowed_transitions`` forbids are left out. An average
    is a distribution over labellings too, a mixture: what is known of a sequence also changes how
    much each model counts.

    Of labels with several hidden states all of these share a bias and factors, and "matrix" mixes
    the score of a state with the means of those of other labels. Probabilities of labels are sums
    over their states.

    Of an ensemble ``risk=None`` and ``risk="labelling"`` return the most probable of what the
    models propose. With ``risk="spans"`` the spans maximise the ratio
    2 E[hits] / (E[true spans] + predicted spans) over all sequences of X together, found by
    Dinkelbach's iteration over exact dynamic programmes; E are expectations under the model.
    Spans less probable than .005 are not considered. For sequences only.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger (2017). On calibration of modern neural networks. ICML
    (temperature, vector and matrix scaling).

    Lafferty, McCallum, Pereira (2001). Conditional random fields: probabilistic models for
    segmenting and labeling sequence data. ICML.

    Dinkelbach (1967). On nonlinear fractional programming. Management Science 13.

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

    _parameter_constraints = {
        "estimator": [object],
        "method": [StrOptions(set(METHODS))],
        "cv": [
            Interval(numbers.Integral, 2, None, closed="left"), StrOptions({"prefit"}),
            HasMethods(["split", "get_n_splits"]), "array-like", list, tuple, None,
        ],
        "ensemble": ["boolean"],
        "risk": [StrOptions(set(RISKS)), None],
        "scheme": [StrOptions(set(SCHEMES)), None],
        "n_jobs": [numbers.Integral, None],
    }  # fmt: skip

    def __init__(
        self,
        estimator,
        *,
        method="matrix",
        cv=3,
        ensemble=True,
        risk=None,
        scheme=None,
        n_jobs=None,
    ):
        self._keep(locals())

    def fit(self, X, y, sample_weight=None):
        """Fit the estimator on splits of the data, and the calibration on what they leave out.

        Parameters
        ----------
        X, y : object
            What the estimator takes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the sequences, in both; handed on to the last step of a
            pipeline.

        Returns
        -------
        self : object
            The fitted meta-estimator.
        """
        check_constraints(self)
        check_tagger(self._unfrozen(), CalibratedTagger)
        refuse_labelling([inner_estimator(self.estimator)], self.risk)
        gate = self.estimator
        while isinstance(gate, MetaEstimator):
            if gate._fits_parts and not self._is_prefit():
                raise TypeError(
                    f"a {type(gate).__name__} fits data in parts, which are not split further: fit "
                    "it, and calibrate its estimator_ with cv='prefit'"
                )
            gate = gate.estimator
        if isinstance(gate, TAGGERS) and not self._is_prefit():
            # complaints about the data are to name its items, not those of a part of it
            gate = clone(gate)
            gate._check_parameters()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # each fit says it again
                gate._gate(X, y, sample_weight)
        X, y = indexable(X, y)
        weight = check_sample_weight(sample_weight, _num_samples(X))
        if self._is_prefit():
            estimators, held_out = [self._unfrozen()], [(X, y, weight)]
            models = estimators
        else:
            splits = list(check_cv(self.cv, y=None).split(X, y))
            models = [self._fitted(*self._part(X, y, weight, train)) for train, _ in splits]
            held_out = [self._part(X, y, weight, test) for _, test in splits]
            estimators = models if self.ensemble else [self._fitted(X, y, weight)]
        classes = [fitted_classes(model) for model in [*models, *estimators]]
        classes = np.unique(np.concatenate(classes))
        parts = [
            self._held_out(model, *data, classes)
            for model, data in zip(models, held_out, strict=True)
        ]
        kinds = {len(part.scores.tables) for part in parts}
        if len(kinds) > 1:
            raise ValueError("the training parts of the splits have different kinds of edges")
        calibration, value = fit_calibration(self.method, parts, len(classes), kinds.pop())
        fitted = {
            "estimators_": list(estimators),
            "calibration_": calibration._asdict(),
            "log_likelihood_": value,
            "classes_": classes,
        }
        if hasattr(estimators[0], "n_features_in_"):
            fitted["n_features_in_"] = estimators[0].n_features_in_
        replace_fitted(self, fitted)
        return self

    def _is_prefit(self):
        """Return whether the estimator is fitted and stays as it is."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        return frozen or (isinstance(self.cv, str) and self.cv == "prefit")

    def _unfrozen(self):
        """Return the estimator without its FrozenEstimator."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        return self.estimator.estimator if frozen else self.estimator

    def _part(self, X, y, weight, rows):
        """Return some of the samples with their weights."""
        X, y = _safe_split(self.estimator, X, y, rows)
        return X, y, None if weight is None else _safe_indexing(weight, rows)

    def _fitted(self, X, y, weight):
        """Return a clone of the estimator that is fitted to data."""
        model, options = clone(self.estimator), {}
        if weight is not None:
            steps = model.steps if hasattr(model, "named_steps") else None
            options = {f"{steps[-1][0]}__sample_weight" if steps else "sample_weight": weight}
        return model.fit(X, y, **options)

    def _held_out(self, model, X, y, weight, classes):
        """Return the `HeldOut` of data that a model has not seen."""
        scores = scores_of(model, X, classes)
        ignored = getattr(inner_estimator(model), "ignore_label", None)
        possible = possible_labels(y, scores, classes, ignored)
        # what this model cannot say does not count
        possible[~possible[:, scores.owner].any(axis=1)] = True
        n = len(scores.offsets) - 1
        return HeldOut(scores, possible, np.ones(n) if weight is None else weight)

    def _mixture(self, X, known=None):
        """Return the `Mixture` of the models, for checked data."""
        check_is_fitted(self)
        check_constraints(self, "risk", "scheme", "n_jobs")
        check_labels(self)
        if not isinstance(self.estimators_, list) or not self.estimators_:
            raise_damaged(self, "estimators_ must be a list of fitted estimators")
        members = [scores_of(model, X, self.classes_) for model in self.estimators_]
        calibration = fitted_calibration(self, len(members[0].tables))
        offsets = members[0].offsets
        possible = None
        if known is not None:
            tree = members[0].forest is not None
            words = ("node", "trees") if tree else ("token", "sequences")
            possible = check_known(known, np.diff(offsets), self.classes_, *words)
        mixture = Mixture(members, calibration, possible, self.n_jobs)
        impossible = mixture.impossible()
        if len(impossible):
            if possible is not None:
                refuse_known(self.estimators_[0], X, known, self.classes_)
                raise ValueError(
                    f"known[{impossible[0]}] leaves no labelling that the models allow"
                )
            raise ValueError(f"X[{impossible[0]}] has no labelling that the models allow")
        return mixture

    def predict_proba(self, X, known=None):
        """Return the probability of each label at each token.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            What the estimator takes.
        known : sequence of n_samples items, default=None
            What is known of the labels, as in :meth:`SequenceTagger.predict`: probabilities are
            conditional on it.

        Returns
        -------
        p : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i, n_classes) whose rows sum to one.

        Raises
        ------
        ValueError
            If X or known is wrong, or what is known leaves a sequence no labelling.
        """
        mixture = self._mixture(X, known)
        return split(mixture.marginals(), mixture.offsets)

    def predict_log_proba(self, X, known=None):
        """Return the logarithm of the probability of each label at each token.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            What the estimator takes.
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

    def predict(self, X, known=None):
        """Return the labels that keep the `risk` small, or those of the model itself.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            What the estimator takes.
        known : sequence of n_samples items, default=None
            As in `predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i,) of labels.
        """
        mixture = self._mixture(X, known)
        refuse_labelling(map(inner_estimator, self.estimators_), self.risk)
        if self.risk == "tokens":
            labels = mixture.marginals().argmax(axis=1)
        elif self.risk == "spans":
            labels = mixture.best_spans(self._scheme(), self.classes_)
        else:
            labels = mixture.best_labelling(calibrated=self.risk is not None)
        return split(self.classes_[labels], mixture.offsets)

    def confidence(self, X, y):
        """Return the probability of labellings, or that what is known of them is right.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            What the estimator takes.
        y : sequence of n_samples items
            Labels of each sequence, of which some may be None or sets of labels; or a boolean
            array (T_i, n_classes), or None; as `known` in `predict_proba`.

        Returns
        -------
        p : ndarray of shape (n_samples,)
            The probability of all labellings that agree with it.
        """
        mixture = self._mixture(X)
        words = "token", "sequences", "y"
        possible = check_known(y, np.diff(mixture.offsets), self.classes_, *words)
        return mixture.probability_of(possible)

    def span_confidence(self, X, y=None, known=None):
        """Return the spans that labels describe, and the probability of each.

        Parameters
        ----------
        X : list of n_samples sequences
            What the estimator takes.
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
        mixture = self._mixture(X, known)
        if y is None:
            y = self.predict(X, known)
        stacked = stack_labels(y, np.diff(mixture.offsets))

        def name_of(t):
            return "y[{}][{}]".format(*locate(mixture.offsets, t))

        return object_array(mixture.spans(self._scheme(), self.classes_, stacked, name_of))

    def sample(self, X, n_samples=1, random_state=None, known=None):
        """Draw labellings by their probability.

        Parameters
        ----------
        X : list of n sequences or trees
            What the estimator takes.
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
        if not isinstance(n_samples, numbers.Integral) or isinstance(n_samples, bool) or (
            n_samples < 1
        ):  # fmt: skip
            raise ValueError(f"n_samples must be a positive integer, got {n_samples!r}")
        mixture = self._mixture(X, known)
        labels = mixture.sample(int(n_samples), check_random_state(random_state))
        columns = np.split(self.classes_[labels], mixture.offsets[1:-1], axis=1)
        return object_array([np.ascontiguousarray(some) for some in columns])

    def score(self, X, y, sample_weight=None):
        """Return the token accuracy of `predict`: the share of tokens with the right label.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            What the estimator takes.
        y : list of n_samples sequences (T_i,)
            True labels. Tokens with the ``ignore_label`` of the tagger do not count; where y has a
            set of labels, each of them is right.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sequences; each counts for all tokens of its sequence.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        predicted = self.predict(X)
        ignored = getattr(inner_estimator(self.estimators_[0]), "ignore_label", None)
        return token_accuracy_score(y, predicted, ignore_label=ignored, sample_weight=sample_weight)

    def _scheme(self):
        """Return the scheme of the labels of spans."""
        if self.scheme is not None:
            return self.scheme
        rules = getattr(inner_estimator(self.estimators_[0]), "allowed_transitions", None)
        return rules if isinstance(rules, str) else "bio"
