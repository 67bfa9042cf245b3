"""What StructSVMClassifier fits to rows and classes."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from sskit._ready import all_within
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.columns import refuse_standardize
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.facts import Labels, RowFacts, WeightSums
from sskit.estimators.base.fitted_state import check_labels, check_numbers
from sskit.estimators.base.kernels import (
    function_values,
    is_kernel,
    kernel_bytes,
    make_kernel,
)
from sskit.estimators.base.linear import linear_scores, row_scale
from sskit.estimators.base.weights import default_lam, scaled_lam
from sskit.estimators.multiclass.components import (
    bind_mixture,
    check_mixture,
    component_scores,
    is_mixture,
    numbers_of_components,
)
from sskit.estimators.reasons.columns import Columns, read_rows
from sskit.inputs.costs import cost_table
from sskit.inputs.rows import check_classes, refuse_large_integers
from sskit.inputs.weights import check_sample_weight, class_factors
from sskit.models.multiclass.model import KernelMulticlassModel, MulticlassModel


class Rows(NamedTuple):
    """Checked rows and classes.

    Attributes
    ----------
    data : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Features.
    labels : ndarray of shape (n_samples,)
        Classes, 0 to k - 1.
    classes : ndarray of shape (k,)
        What these are.
    weight : ndarray of shape (n_samples,) or None
        Weights, those of the classes included if these are all data.
    bare_weight : ndarray of shape (n_samples,) or None
        Weights without those of the classes.
    scale : FeatureScale or None
        How large features are; not in a kernel space.
    columns : Columns
        Names of the features.
    part : bool
        Whether these are a part of the data.
    """

    data: object
    labels: np.ndarray
    classes: np.ndarray
    weight: np.ndarray | None
    bare_weight: np.ndarray | None
    scale: object
    columns: Columns
    part: bool


def gate(estimator, X, y, sample_weight, part=False):
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
    part : bool, default=False
        Whether these are a part of the data.

    Returns
    -------
    checked : Rows
        The data.

    Raises
    ------
    ValueError
        If the data are wrong.
    """
    check_mixture(estimator, part)
    if is_kernel(estimator):
        refuse_standardize(estimator, f"has no meaning with kernel={estimator.kernel!r}")
    y = check_classes(y)
    refuse_large_integers(y)
    data, target, columns = read_rows(estimator, X, y)
    check_classification_targets(target)
    weight = bare_weight = check_sample_weight(sample_weight, data.shape[0], part=part)
    classes, labels = np.unique(target, return_inverse=True)
    if not part:
        check_class_number(classes)
        numbers_of_components(estimator, classes, data.shape[0])
        if estimator.class_weight is not None:
            weight = with_factors(estimator, weight, labels, Labels.of(classes, labels))
            weight = check_sample_weight(weight, data.shape[0])
    # refuses features that are too large, whatever lam
    scale = None if is_kernel(estimator) else row_scale(data, bare_weight, part)
    return Rows(data, labels, classes, weight, bare_weight, scale, columns, part)


def check_class_number(classes):
    """Raise ValueError if there is one class only."""
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")


def with_factors(estimator, weight, labels, all_labels):
    """Return sample weights times the weights of the classes, by the labels of all data."""
    factors = class_factors(estimator.class_weight, all_labels.values, all_labels.counts)
    return factors[labels] * (1.0 if weight is None else weight)


def survey(estimator, checked):
    """Return the `RowFacts` of checked data."""
    n_samples, n_features = checked.data.shape
    labels, columns = Labels.of(checked.classes, checked.labels), None
    if checked.part and estimator.class_weight is not None:
        # what factors of the classes, which come with the labels of all parts, multiply
        weights = WeightSums.of(n_samples, checked.weight)
        share = weights.block_weights(n_samples, checked.weight) if weights.largest else None
        shares = np.bincount(checked.labels, share, len(checked.classes))
        labels = labels._replace(shares=shares)
    if not is_kernel(estimator):
        columns = estimator._column_sums(checked.data, checked.bare_weight)
    return RowFacts.of(checked, n_samples, n_features, labels=labels, columns=columns)


def complete(estimator, facts):
    """Return merged facts with the weights of the classes among those of the samples."""
    check_class_number(facts.labels.values)
    cost_table(estimator.loss, facts.labels.values)
    if estimator.class_weight is None:
        return facts
    factors = class_factors(estimator.class_weight, facts.labels.values, facts.labels.counts)
    weights = facts.weights.times_factors(factors, facts.labels.shares)
    facts = replace(facts, weights=weights)
    facts.check()
    return facts


def refuse_parts(estimator):
    """Return why rows cannot be fitted in parts, or None if they can."""
    if is_mixture(estimator):
        return (
            "data in parts cannot be fitted where classes have several components, which the fit "
            "chooses for all rows; leave n_components at 1"
        )
    return None


def bind(estimator, checked, facts):
    """Bind the multiclass model to checked data, given the facts of all; see `gate`."""
    classes = facts.labels.values
    labels, weight = facts.labels.renumber(checked.classes, checked.labels), checked.weight
    if checked.part and estimator.class_weight is not None:
        weight = with_factors(estimator, weight, labels, facts.labels)
    shared = {"classes_": classes, "n_features_in_": facts.n_features}
    shared |= checked.columns.attributes()
    if not estimator.fit_intercept:
        shared["intercept_"] = np.zeros(len(classes))
    block_weight = facts.weights.block_weights(len(labels), weight)
    given = checked.data, labels, block_weight, cost_table(estimator.loss, classes)
    if is_kernel(estimator):
        return bind_in_kernel_space(estimator, *given, default_lam(facts), shared)
    return bind_linear(estimator, *given, scaled_lam(facts), shared)


def bind_linear(estimator, data, labels, block_weight, table, lam, shared):
    """Bind the linear model to checked data; see `bind`."""
    classes = shared["classes_"]
    if is_mixture(estimator):
        bound = bind_mixture(estimator, data, labels, block_weight, table, classes)
        model, problem, completion, further = bound
        to_attributes = BlockAttributes(model.layout, shared | further)
        task = problem, model.layout, lam, to_attributes, classes
        return TrainingTask(*task, completion=completion)
    model = MulticlassModel(data.shape[1], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight, table)
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes)


def bind_in_kernel_space(estimator, data, labels, block_weight, table, lam, shared):
    """Bind the model in a kernel space to checked data; see `bind`."""
    classes, kernel = shared["classes_"], make_kernel(estimator, data)
    model = KernelMulticlassModel(kernel, data.shape[0], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight, kernel_bytes(estimator), table)
    training = kernel, data, labels
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2, *training)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, kernel.definite)


def score_rows(estimator, X, y, sample_weight):
    """Return the accuracy of a fitted estimator, whatever its loss.

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
    y = check_classes(y)
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
        With the intercept; of classes of several components those of the best one.

    Raises
    ------
    ValueError
        Naming the first row whose scores overflow, or an attribute that does not fit.
    """
    if hasattr(estimator, "component_labels_"):
        return refuse_overflow(best_of_components(estimator, X))
    n_classes = check_labels(estimator, least=2)
    n_scores = 1 if n_classes == 2 else n_classes
    check_numbers(estimator, {"intercept_": (n_scores,)})
    if hasattr(estimator, "kernel_"):
        scores = function_values(estimator, X, n_scores) + estimator.intercept_
    else:
        check_numbers(estimator, {"coef_": (n_scores, X.shape[1])}, finite=False)
        scores = linear_scores(X, estimator.coef_, estimator.intercept_, estimator.n_jobs)
    return refuse_overflow(scores)


def best_of_components(estimator, X):
    """Return the scores of classes by their best components; see `class_scores`."""
    scores, first = component_scores(estimator, X)
    with np.errstate(invalid="ignore"):
        scores = np.maximum.reduceat(scores, first, axis=1)
        return scores[:, 1:] - scores[:, :1] if len(first) == 2 else scores


def best_components(estimator, X):
    """Return the best component of each row, 0 to n_components - 1.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted to rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Checked rows.

    Returns
    -------
    components : ndarray of shape (n_samples,)
        Of classes that have one each, the number of the class.
    """
    if hasattr(estimator, "component_labels_"):
        return refuse_overflow(component_scores(estimator, X)[0]).argmax(axis=1)
    return best_classes(estimator, X)


def best_classes(estimator, X):
    """Return the class with the highest score for each row, 0 to n_classes - 1."""
    scores = class_scores(estimator, X)
    return 1 * (scores[:, 0] > 0) if scores.shape[1] == 1 else scores.argmax(axis=1)


def refuse_overflow(scores):
    """Return scores of rows, or raise ValueError naming the first row whose scores overflow."""
    if all_within(scores):
        return scores
    wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(wrong):
        raise ValueError(f"X[{wrong[0]}] is too large: the scores of its classes overflow")
    return scores
