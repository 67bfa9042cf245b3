"""What StructSVMClassifier fits to rows and classes."""

import copy

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from sskit._ready import all_within
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask, block_weights
from sskit.estimators.base.fitted_state import check_labels, check_numbers
from sskit.estimators.base.kernels import (
    function_values,
    is_kernel,
    kernel_bytes,
    make_kernel,
)
from sskit.estimators.base.linear import linear_scores, row_sqnorms
from sskit.estimators.base.weights import default_lam
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.stacking import refuse_large
from sskit.inputs.weights import check_sample_weight, class_factors
from sskit.models.multiclass.kernel_model import KernelMulticlassModel
from sskit.models.multiclass.model import MulticlassModel


def gate(estimator, X, y, sample_weight):
    """Check the training data of an estimator.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the parameters; not changed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    data : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Features.
    labels : ndarray of shape (n_samples,)
        Classes, 0 to K - 1.
    weight : ndarray of shape (n_samples,) or None
        Weights, those of the classes included.
    shared : dict
        Fitted attributes that do not depend on the weights.

    Raises
    ------
    ValueError
        If the data are wrong.
    """
    probe = copy.copy(estimator)
    check_classes(y)
    data, target = check_rows(probe, X, y)
    check_classification_targets(target)
    weight = check_sample_weight(sample_weight, data.shape[0])
    classes, labels = np.unique(target, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")
    if estimator.class_weight is not None:
        factors = class_factors(estimator.class_weight, classes, labels)
        weight = factors[labels] * (1.0 if weight is None else weight)
        weight = check_sample_weight(weight, data.shape[0])
    shared = {"classes_": classes, "n_features_in_": data.shape[1]}
    if not estimator.fit_intercept:
        shared["intercept_"] = np.zeros(len(classes))
    if hasattr(probe, "feature_names_in_"):
        shared["feature_names_in_"] = probe.feature_names_in_
    if not is_kernel(estimator):
        sqnorm = row_sqnorms(data)
        if not np.isfinite(sqnorm).all():
            refuse_large(sqnorm)
    return data, labels, weight, shared


def bind(estimator, data, labels, weight, shared):
    """Bind the multiclass model to what `gate` returns; return a `TrainingTask`."""
    n_samples = data.shape[0]
    given = data, labels, block_weights(n_samples, weight), default_lam(n_samples, weight), shared
    return (bind_in_kernel_space if is_kernel(estimator) else bind_linear)(estimator, *given)


def bind_linear(estimator, data, labels, block_weight, lam, shared):
    """Bind the linear model to checked data; see `bind`."""
    classes = shared["classes_"]
    model = MulticlassModel(data.shape[1], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight)
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes)


def bind_in_kernel_space(estimator, data, labels, block_weight, lam, shared):
    """Bind the model in a kernel space to checked data; see `bind`."""
    classes, kernel = shared["classes_"], make_kernel(estimator, data)
    model = KernelMulticlassModel(kernel, data.shape[0], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight, kernel_bytes(estimator))
    training = kernel, data, labels
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2, *training)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, kernel.definite)


def score_rows(estimator, X, y, sample_weight):
    """Return the accuracy of a fitted estimator.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted to rows.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        True classes.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the rows.

    Returns
    -------
    score : float
        Between 0 and 1.
    """
    check_classes(y)
    predicted = estimator.predict(X)
    weight = check_sample_weight(sample_weight, len(predicted))
    return accuracy_score(y, predicted, sample_weight=weight)


def class_scores(estimator, X):
    """Return the scores of the classes, or, of two, the score of the second less the first's.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted to rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Checked rows.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes) or (n_samples, 1)
        With the intercept.

    Raises
    ------
    ValueError
        Naming the first row whose scores overflow, or an attribute that does not fit.
    """
    n_classes = check_labels(estimator, least=2)
    n_scores = 1 if n_classes == 2 else n_classes
    check_numbers(estimator, {"intercept_": (n_scores,)})
    if hasattr(estimator, "kernel_"):
        scores = function_values(estimator, X, n_scores) + estimator.intercept_
    else:
        check_numbers(estimator, {"coef_": (n_scores, X.shape[1])}, finite=False)
        scores = linear_scores(X, estimator.coef_, estimator.intercept_, estimator.n_jobs)
    if all_within(scores):
        return scores
    wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(wrong):
        raise ValueError(f"X[{wrong[0]}] is too large: the scores of its classes overflow")
    return scores
