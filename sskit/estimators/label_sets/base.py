"""What estimators of sets of labels share."""

import copy

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import StrOptions

from sskit._numbers import as_floats
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator, TrainingTask, block_weights
from sskit.estimators.base.fitted_state import check_fitted, check_labels, check_numbers
from sskit.estimators.base.linear import linear_scores, row_sqnorms
from sskit.inputs.label_sets import check_entries, check_sets, target_form
from sskit.inputs.rows import check_rows
from sskit.inputs.stacking import refuse_large
from sskit.inputs.weights import check_sample_weight, check_weights

# Times the mean squared norm of a row, over their number; chosen on yeast.
LAM_FACTOR = 1.0
LARGEST_SCORE = np.finfo(np.float64).max / 16


class LabelSetClassifier(ClassifierMixin, StructuredEstimator):
    """Base of the estimators of sets of labels.

    A subclass implements ``_make_model(n_features, truths, weight)``, the model for training
    data; ``_model()``, that of the fitted estimator; and ``_truths(model, truths)``, the sets that
    are learnt.
    """

    _parameter_constraints = {
        **StructuredEstimator._parameter_constraints,
        "loss": [StrOptions({"hamming", "hamming_sum"})],
        "label_weight": ["array-like", None],
        "fit_intercept": ["boolean"],
    }

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. float64, float32 or, if dense, float16 in C order are read where they lie,
            also memory-mapped; other numbers become float64.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            Label indicator: 1 or True where a row has a label, 0 or False elsewhere. If it is
            sparse, predictions are too. Two classes of any type make one label, which the rows
            of the second class have.
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
        self._set_fitted(self._fit(X, y, sample_weight))
        return self

    def _gate(self, X, y, sample_weight):
        """Check training data; return rows, sets, classes, costs, weights, lam and a probe.

        The probe is a copy of the estimator that knows the names of the features.
        """
        check_entries(y)
        probe = copy.copy(self)
        data, target = check_rows(probe, X, y, multi_output=True)
        given, classes = check_sets(target)
        cost = label_costs(self.loss, self.label_weight, given.shape[1])
        weight = check_sample_weight(sample_weight, len(given))
        # refuses features that are too large, whatever lam
        lam = default_lam(data, weight, cost)
        return data, given, classes, target_form(target), cost, weight, lam, probe

    def _make_task(self, X, y, sample_weight):
        """Bind the model to training data; return a `TrainingTask`."""
        data, given, classes, form, cost, weight, lam, probe = self._gate(X, y, sample_weight)
        share = block_weights(len(given), weight)
        model = self._make_model(data.shape[1], given, share)
        problem = model.bind(data, self._truths(model, given), cost, share)
        shared = {
            "classes_": classes,
            "n_features_in_": data.shape[1],
            "_form": form,
            **self._structure(model),
        }
        if not self.fit_intercept:
            shared["intercept_"] = np.zeros(given.shape[1])
        if hasattr(probe, "feature_names_in_"):
            shared["feature_names_in_"] = probe.feature_names_in_
        to_attributes = BlockAttributes(model.layout, shared)
        return TrainingTask(problem, model.layout, lam, to_attributes, shared["classes_"])

    def _scores(self, X):
        """Return the scores of the labels alone, of checked X, shape (n, L)."""
        check_fitted(self)
        X = check_rows(self, X, reset=False)
        n_labels = check_labels(self)
        n_labels = 1 if self._form == "classes" and n_labels == 2 else n_labels
        # scores that are not finite are found below
        shapes = {"coef_": (n_labels, X.shape[1]), "intercept_": (n_labels,)}
        check_numbers(self, shapes, finite=False)
        scores = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
        with np.errstate(over="ignore", invalid="ignore"):
            # an oracle adds up scores of any of the labels and pairs, and takes differences
            most = np.abs(scores).sum(axis=1) + np.abs(self._pairs()).sum()
        wrong = np.flatnonzero(~(most < LARGEST_SCORE))
        if len(wrong):
            raise ValueError(f"X[{wrong[0]}] is too large: the scores of its labels overflow")
        return np.ascontiguousarray(scores)

    def predict(self, X):
        """Return a set of labels for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y : {ndarray, CSR matrix} of shape (n_samples, n_labels), int, or ndarray (n_samples,)
            Label indicator; sparse if that of `fit` was. Classes if `fit` was given such.

        Raises
        ------
        ValueError
            If X is wrong, or scores of a row overflow; the row is named.
        """
        scores = self._scores(X)
        sets = self._model().best_sets(scores, self._pairs()).astype(int)
        if self._form == "classes":
            return self.classes_[sets.ravel()]
        return sp.csr_matrix(sets) if self._form == "sparse" else sets

    def decision_function(self, X):
        """Return what each label gains, given the other labels that are predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        gains : ndarray of shape (n_samples, n_labels), or (n_samples,) for two classes
            Score of the predicted set with the label less that without it. Above 0 for the
            labels that `predict` returns, else at most 0.

        Raises
        ------
        ValueError
            As `predict`.
        """
        scores, model = self._scores(X), self._model()
        sets = model.best_sets(scores, self._pairs())
        gains = model.gains(scores, sets, self._pairs())
        # where two sets are equally good but for rounding
        gains = np.where(sets, np.maximum(gains, np.finfo(float).tiny), np.minimum(gains, 0.0))
        return gains.ravel() if self._form == "classes" else gains

    def score(self, X, y, sample_weight=None):
        """Return the share of rows whose labels are all predicted right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or array-like (n_samples,)
            True labels, as in `fit`.
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
        check_entries(y)
        predicted = self.predict(X)
        sample_weight = check_sample_weight(sample_weight, predicted.shape[0])
        if isinstance(y, np.ndarray) and y.dtype.kind in "fiu":
            # SciPy does not know all sizes and orders of bytes
            y = y.astype(np.float64 if y.dtype.kind == "f" else np.int64)
        return accuracy_score(y, predicted, sample_weight=sample_weight)

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
        weight = as_floats(label_weight, "label_weight")
        check_weights(weight, n_labels, "label_weight", "label", "y")
    return weight / n_labels if loss == "hamming" else weight


def default_lam(X, weight, cost):
    """Return R^2 / n, with R^2 the mean squared norm of a row, for costs of one.

    The scale of the features cancels. With costs that are k times as large, the same sets are
    learned with a lam that is 1 / k times as large.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Features.
    weight : ndarray of shape (n,) or None
        Sample weights; their sum takes the place of n.
    cost : ndarray of shape (L,)
        Loss of a wrong label.

    Returns
    -------
    lam : float
        As if R^2 were one if all features are zero.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    with np.errstate(over="ignore", invalid="ignore"):
        squares = row_sqnorms(X)
        mean = float(np.average(squares, weights=weight))
    if not np.isfinite(mean):
        refuse_large(squares)
    # one after the other: their product may overflow
    return float((LAM_FACTOR * mean or 1.0) / cost.mean() / weight.sum())
