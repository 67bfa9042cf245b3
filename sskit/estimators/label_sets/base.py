"""What estimators of sets of labels share."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import StrOptions

from sskit._numbers import array, shortened
from sskit._parameters import parameter, parameters
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.columns import StandardizeMixin
from sskit.estimators.base.estimator import StructuredEstimator, TrainingTask
from sskit.estimators.base.facts import Labels, RowFacts, TrainingData, WeightSums, averaged, same
from sskit.estimators.base.fitted_state import check_fitted, check_labels, check_numbers
from sskit.estimators.base.known import check_known
from sskit.estimators.base.linear import check_scores, linear_scores, row_scale
from sskit.estimators.base.partial_labels import PartialLabels
from sskit.estimators.reasons.columns import read_rows
from sskit.inputs.edges import check_edges
from sskit.inputs.label_sets import (
    check_entries,
    check_indicator,
    check_known_sets,
    check_sets,
    check_two_classes,
    label_names,
    target_form,
)
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight

# Times the mean squared norm of a row, over their number; chosen on ten tables, see the user guide.
LAM_FACTOR = 0.1
LARGEST_SCORE = np.finfo(np.float64).max / 16


@dataclass(frozen=True, kw_only=True)
class LabelSetFacts(RowFacts):
    """What rows and sets of labels say of all data; `labels` are two classes, or None."""

    form: str = same("y has the form {!r}, but that of part {} has the form {!r}")
    n_labels: int = same("y has {} labels, but that of part {} has {}")
    label_names: tuple | None = same("the columns of y are {}, but those of part {} are {}")
    # of rows that have a pair of labels, where the model depends on it
    shares: np.ndarray | None = averaged()


@parameters
class LabelSetClassifier(ClassifierMixin, StandardizeMixin, StructuredEstimator):
    """Base of the estimators of sets of labels.

    A subclass implements ``_make_model(facts)``, the model for training data;
    ``_structure(model)``, fitted attributes of it; ``_kind()``, of which the fitted estimator makes
    it again; and, where its model depends on which labels go together, ``_shares(truths, weight)``.
    """

    _facts = LabelSetFacts
    loss: str = parameter("hamming_sum", StrOptions({"hamming", "hamming_sum"}))
    label_weight: object = parameter(None, "array-like", None)
    fit_intercept: bool = parameter(True, "boolean")

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. float64, float32 or, if dense, float16 in C order are read where they lie,
            also memory-mapped, unless columns are scaled (`standardize`); other numbers become
            float64.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            Label indicator: 1 or True where a row has a label, 0 or False elsewhere. If it is
            sparse, predictions are too, and if it is a data frame, they are one with its columns,
            which name the labels. Two classes of any type make one label, which the rows of the
            second class have.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        return self._set_fitted(self._fit(X, y, sample_weight))

    def _gate(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        check_entries(y)
        names = label_names(y)
        y = check_classes(y)
        data, target, columns = read_rows(self, X, y, multi_output=True)
        given, classes = check_sets(target, part)
        classes, form = (classes if names is None else names), target_form(target, names)
        label_costs(self.loss, self.label_weight, given.shape[1])
        weight = check_sample_weight(sample_weight, len(given), part=part)
        # refuses features that are too large, whatever lam
        scale = row_scale(data, weight)
        weights, shares = WeightSums.of(len(given), weight), None
        if weights.largest:
            shares = self._shares(given, weights.block_weights(len(given), weight))
        facts = {
            "labels": Labels(classes, np.zeros(len(classes))) if form == "classes" else None,
            "form": form,
            "n_labels": given.shape[1],
            "label_names": tuple(classes.tolist()) if form == "frame" else None,
            "shares": shares,
        }
        known = PartialLabels(classes, given)
        return TrainingData(data, known, weight, columns, scale, facts)

    def _shares(self, sets, weight):
        """Return what `label_shares` does if the model depends on it, else None."""

    def _check_facts(self, facts):
        """Raise ValueError if the model cannot have so many labels."""
        if facts.labels is not None:
            check_two_classes(facts.labels.values)
        self._make_model(facts)

    def _bind(self, checked, facts):
        """Bind the model to checked data, given the facts of all; return a `TrainingTask`."""
        data, (classes, sets, *_), weight, columns, *_ = checked
        if facts.form == "classes":
            sets = facts.labels.renumber(classes, sets)
            classes = facts.labels.values
        cost = label_costs(self.loss, self.label_weight, facts.n_labels)
        share = facts.weights.block_weights(len(sets), weight)
        model = self._make_model(facts)
        problem = model.bind(data, sets, cost, share)
        shared = {
            "classes_": classes,
            "n_features_in_": facts.n_features,
            "_form": facts.form,
            **self._structure(model),
            **columns.attributes(),
        }
        if not self.fit_intercept:
            shared["intercept_"] = np.zeros(facts.n_labels)
        to_attributes, lam = BlockAttributes(model.layout, shared), default_lam(facts.scale, cost)
        return TrainingTask(problem, lam, to_attributes)

    @property
    def _model(self):
        """The model of the fitted estimator; that of an equal one serves all requests."""
        kind, name, *options = self._kind()
        shape = np.size(getattr(self, name)) // 2, 2
        check_numbers(self, {name: shape}, integer=True, finite=False)
        edges = getattr(self, name).astype(np.int64, copy=False).tobytes()
        return fitted_model(kind, self.n_features_in_, len(self.coef_), edges, *options)

    def _answer(self, X, known):
        """Return scores of the labels alone, the best sets, and which labels are not free to be so.

        All of shape (n, L); the last is None if nothing is known.
        """
        check_fitted(self)
        scores = self._scores_of_rows(check_rows(self, X, reset=False))
        fixed = None
        if known is not None:
            fixed = self._model.implied(self._known_sets(known, scores.shape))
        return scores, self._model.best_sets(scores, self._pairs(), fixed), fixed

    def _known_sets(self, known, shape):
        """Return what is known of labels, checked: 1, 0, or -1 for nothing."""
        self._check_columns(known, "known")
        if self._form != "classes":
            return check_known_sets(known, *shape)
        # of two classes there is one label, which the rows of the second one have
        if hasattr(known, "to_numpy") or isinstance(known, np.ndarray):
            known = np.asarray(known).tolist()
        if isinstance(known, (list, tuple)):
            known = [None if entry is None else [entry] for entry in known]
        allowed = check_known(known, np.ones(shape[0], dtype=int), self.classes_, "row", "rows")
        if allowed is None:
            return np.full(shape, -1, dtype=np.int8)
        return np.where(allowed.all(axis=1), -1, allowed[:, 1]).astype(np.int8)[:, None]

    def _scores_of_rows(self, X):
        """Return the scores of the labels alone, of checked X, shape (n, L)."""
        n_labels = check_labels(self)
        n_labels = 1 if self._form == "classes" and n_labels == 2 else n_labels
        # scores that are not finite are found below
        shapes = {"coef_": (n_labels, X.shape[1]), "intercept_": (n_labels,)}
        check_numbers(self, shapes, finite=False)
        scores = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):
            # an oracle adds up scores of any of the labels and pairs, and takes differences
            most = np.abs(scores).sum(axis=1) + np.abs(self._pairs()).sum()
        check_scores(most < LARGEST_SCORE, "the scores of its labels overflow")
        return np.ascontiguousarray(scores)

    def predict(self, X, known=None):
        """Return a set of labels for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        known : sequence of n_samples items, array or data frame, default=None
            What is known of the labels: for each row None, or a sequence (n_labels,) with 1 for
            labels that it has, 0 for those that it has not, and None or NaN for all others. If
            `fit` was given classes, a class for each row, or None. The answer is the best set
            that agrees with it.

        Returns
        -------
        y : {ndarray, CSR matrix, DataFrame} of shape (n_samples, n_labels), int, or (n_samples,)
            Label indicator; sparse if that of `fit` was, and a data frame if that was one, with
            its columns, and with the index of X if this is one too. Classes if `fit` was given
            such.

        Raises
        ------
        ValueError
            If X or `known` is wrong, scores of a row overflow, or no set of labels that there is
            agrees with what is known of a row; the row is named.
        """
        sets = self._answer(X, known)[1].astype(int)
        if self._form == "classes":
            return self.classes_[sets.ravel()]
        if self._form == "frame":
            return as_frame(sets, self.classes_, X)
        return sp.csr_matrix(sets) if self._form == "sparse" else sets

    def decision_function(self, X, known=None):
        """Return what each label gains, given the other labels that are predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        known : sequence of n_samples items, array or data frame, default=None
            As in `predict`.

        Returns
        -------
        gains : ndarray of shape (n_samples, n_labels), or (n_samples,) for two classes
            Score of the predicted set with the label less that without it. Above 0 for the
            labels that `predict` returns, else at most 0. Of labels that are known, or follow
            from known ones, it says what the model makes of them, with either sign.

        Raises
        ------
        ValueError
            As `predict`.
        """
        scores, sets, fixed = self._answer(X, known)
        gains = self._model.gains(scores, sets, self._pairs())
        # where two sets are equally good but for rounding
        free = np.where(sets, np.maximum(gains, np.finfo(float).tiny), np.minimum(gains, 0.0))
        gains = free if fixed is None else np.where(fixed >= 0, gains, free)
        return gains.ravel() if self._form == "classes" else gains

    def score(self, X, y, sample_weight=None):
        """Return the share of rows whose labels are all predicted right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            True labels, as in `fit`: what fit adds to them is added here too.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        score : float
            Between 0 and 1.

        Raises
        ------
        ValueError
            As `predict`, and if y or the weights are wrong.
        """
        check_fitted(self)
        check_entries(y)
        self._check_columns(y)
        y = check_classes(y)
        data, target = check_rows(self, X, y, reset=False, multi_output=True)
        weight = check_sample_weight(sample_weight, data.shape[0])
        found = self._model.best_sets(self._scores_of_rows(data), self._pairs())
        if self._form == "classes":
            return accuracy_score(target, self.classes_[found.ravel()], sample_weight=weight)
        given = check_indicator(target[:, None] if target.ndim == 1 else target)
        if given.shape[1] != found.shape[1]:
            raise ValueError(f"y has {given.shape[1]} labels, but that of fit {found.shape[1]}")
        right = (self._model.learnt(given) == found).all(axis=1)
        return float(np.average(right, weights=weight))

    def _check_columns(self, y, name="y"):
        """Raise ValueError unless the columns of a data frame are those of fit, if it had names."""
        columns = label_names(y) if self._form == "frame" else None
        if columns is not None and columns.tolist() != self.classes_.tolist():
            told = shortened(columns.tolist()), shortened(self.classes_.tolist())
            raise ValueError(f"the columns of {name} are {told[0]}, but those of fit are {told[1]}")

    def _pairs(self):
        """Return the scores of pairs of labels."""
        return np.empty(0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


@lru_cache(maxsize=16)
def fitted_model(kind, n_features, n_labels, edges, *options):
    """Return a model of this kind, of the bytes of its edges, checked."""
    edges = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    edges = check_edges(edges, n_labels, noun="label")
    return kind(n_features, n_labels, edges, True, *options)


def as_frame(sets, names, X):
    """Return sets of labels as a data frame.

    Parameters
    ----------
    sets : ndarray of shape (n, L)
        0 or 1.
    names : ndarray of shape (L,)
        Of the labels.
    X : object
        The rows of features; if they are a data frame, their index is taken.

    Returns
    -------
    frame : DataFrame of shape (n, L)
    """
    import pandas as pd  # there is a frame, so it is installed

    index = X.index if hasattr(X, "iloc") else None
    return pd.DataFrame(sets, index=index, columns=names)


def label_costs(loss, label_weight, n_labels):
    """Return the loss of a wrong label.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum"}
        Share or number of wrong labels.
    label_weight : array-like of shape (n_labels,) or None
        Factors by label.
    n_labels : int
        Number of labels L.

    Returns
    -------
    cost : ndarray of shape (n_labels,), float64
        Non-negative.

    Raises
    ------
    ValueError
        Naming the first weight that is wrong.
    """
    weight = np.ones(n_labels)
    if label_weight is not None:
        weight = array(label_weight, "label_weight", (n_labels,), low=0)
        if not weight.any():
            raise ValueError("label_weight is zero for all labels")
    return weight / n_labels if loss == "hamming" else weight


def default_lam(scale, cost):
    """Return R^2 / (10 n), with R^2 the mean squared norm of a row, for costs of one.

    The scale of the features cancels. With costs that are k times as large, the same sets are
    learned with a lam that is 1 / k times as large.

    Parameters
    ----------
    scale : FeatureScale
        Of the rows; the sum of the sample weights takes the place of n.
    cost : ndarray of shape (L,)
        Loss of a wrong label.

    Returns
    -------
    lam : float
        As if R^2 were one if all features are zero.
    """
    # one after the other: their product may overflow
    return float(scale.times(LAM_FACTOR) / cost.mean() / scale.weight)
