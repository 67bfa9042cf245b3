"""What StructSVMClassifier fits to rows and classes."""

import copy
from functools import partial

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from sskit.estimators._base import Binding, block_weights, check_sample_weight, default_lam
from sskit.models.multiclass import MulticlassModel


def bind_rows(estimator, X, y, sample_weight):
    """Bind the multiclass model to the training data of an estimator.

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
    binding : Binding
        What solvers take, and what their weights mean.

    Raises
    ------
    ValueError
        If the data are wrong.
    """
    probe = copy.copy(estimator)
    data, target = validate_data(probe, X, y, accept_sparse="csr", dtype=np.float64, order="C")
    check_classification_targets(target)
    weight = check_sample_weight(sample_weight, data.shape[0])
    classes, labels = np.unique(target, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")
    if estimator.class_weight is not None:
        factors = compute_class_weight(estimator.class_weight, classes=classes, y=target)
        weight = factors[labels] * (1.0 if weight is None else weight)
        weight = check_sample_weight(weight, data.shape[0])
    model = MulticlassModel(data.shape[1], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weights(data.shape[0], weight))
    shared = {"classes_": classes, "n_features_in_": data.shape[1]}
    if hasattr(probe, "feature_names_in_"):
        shared["feature_names_in_"] = probe.feature_names_in_

    name_weights = partial(name_rows_weights, model.layout, shared)
    lam = estimator.lam
    lam = default_lam(data.shape[0], weight) if lam is None else float(lam)
    return Binding(problem, model.layout, lam, name_weights, classes)


def name_rows_weights(layout, shared, w):
    """Return fitted attributes by name.

    Parameters
    ----------
    layout : WeightLayout
        Places of the weights.
    shared : dict
        Attributes that do not depend on the weights.
    w : ndarray of shape (n_weights,)
        Flat weights.

    Returns
    -------
    fitted : dict
        With arrays of their own.
    """
    blocks, n_classes = layout.split(w), len(shared["classes_"])
    coef, intercept = blocks["coef"], blocks.get("intercept", np.zeros(n_classes))
    if n_classes == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return {"coef_": np.array(coef, order="C"), "intercept_": intercept.copy()} | shared
