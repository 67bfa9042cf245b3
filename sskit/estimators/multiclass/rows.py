"""What StructSVMClassifier fits to rows and classes."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from sskit._ready import all_within
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.facts import Labels, TrainingData, WeightSums
from sskit.estimators.base.fitted_state import check_labels, check_numbers, raise_damaged
from sskit.estimators.base.kernels import function_values, is_kernel, kernel_bytes, make_kernel
from sskit.estimators.base.linear import check_scores, linear_scores, row_scale
from sskit.estimators.base.partial_labels import PartialLabels
from sskit.estimators.base.weights import default_lam, scaled_lam
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.hidden import Hidden
from sskit.estimators.completion.states import resolve_states
from sskit.estimators.reasons.columns import read_rows
from sskit.inputs.costs import cost_table
from sskit.inputs.rows import check_classes, refuse_large_integers
from sskit.inputs.weights import check_sample_weight, class_factors
from sskit.models.multiclass.model import KernelMulticlassModel, MulticlassModel


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
    checked : TrainingData
        The data.

    Raises
    ------
    ValueError
        If the data are wrong.
    """
    y = check_classes(y)
    refuse_large_integers(y)
    data, target, columns = read_rows(estimator, X, y)
    check_classification_targets(target)
    weight = check_sample_weight(sample_weight, data.shape[0], part=part)
    known = PartialLabels(*np.unique(target, return_inverse=True))
    # refuses features that are too large, whatever lam
    scale = None if is_kernel(estimator) else row_scale(data, weight)
    labels = Labels.of(known.classes, known.labels)
    if estimator.class_weight is not None:
        # what factors of the classes, which come with the labels of all parts, multiply
        n_samples, weights = len(target), WeightSums.of(len(target), weight)
        share = weights.block_weights(n_samples, weight) if weights.largest else None
        labels = labels._replace(shares=np.bincount(known.labels, share, len(known.classes)))
    return TrainingData(data, known, weight, columns, scale, {"labels": labels})


def complete(estimator, facts):
    """Return merged facts with the weights of the classes among those of the samples."""
    classes = facts.labels.values
    if len(classes) < 2:
        raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")
    cost_table(estimator.loss, facts.labels.values)
    if estimator.class_weight is None:
        return facts
    factors = class_factors(estimator.class_weight, facts.labels.values, facts.labels.counts)
    weights = facts.weights.times_factors(factors, facts.labels.shares)
    facts = replace(facts, weights=weights)
    facts.check()
    return facts


def bind(estimator, checked, facts):
    """Bind the multiclass model to checked data, given the facts of all; see `gate`."""
    classes = facts.labels.values
    known, weight = checked.known, checked.weight
    labels = facts.labels.renumber(known.classes, known.labels)
    if estimator.class_weight is not None:
        factors = class_factors(estimator.class_weight, classes, facts.labels.counts)
        weight = factors[labels] * (1.0 if weight is None else weight)
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
    given = estimator.n_components, classes, len(labels), "rows", "n_components"
    states = resolve_states(*given)
    if states.hidden:
        return bind_mixture(estimator, states, data, labels, block_weight, table, lam, shared)
    model = MulticlassModel(data.shape[1], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight, table)
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2)
    return TrainingTask(problem, lam, to_attributes)


class Mixture(Hidden):
    """Completes the components of rows: states of their classes, of which the best one is taken."""

    def complete(self, w):
        """Return the best component of the class of each row under flat weights, (n,)."""
        blocks, possible = self.model.layout.split(w), self.partial.possible
        intercept = blocks.get("intercept", np.zeros(possible.shape[1]))
        scores = linear_scores(self.data, blocks["coef"], intercept, self.n_jobs)
        return np.where(possible, scores, -np.inf).argmax(axis=1)

    def completion(self, problem, random_state):
        """Return the `ConvexConcave` of a problem, whose truths say all that is known."""
        return ConvexConcave(self.complete, partial(self.starts, random_state=random_state))


def bind_mixture(estimator, states, data, labels, block_weight, table, lam, shared):
    """Bind a model of components, `LabelStates`, to checked data; see `bind`."""
    model = MulticlassModel(data.shape[1], len(states.labels), estimator.fit_intercept)
    # only the class counts
    table = states.of_pairs(1.0 - np.eye(len(states.counts)) if table is None else table)
    problem = model.bind(data, states.first[labels], block_weight, table)
    known = states.known(labels, None)
    given = known, None, block_weight, estimator.n_jobs, table, states, estimator.n_init
    completion = Mixture(model, data, *given).completion(problem, estimator.random_state)
    shared = shared | {"component_labels_": np.repeat(shared["classes_"], states.counts)}
    if not estimator.fit_intercept:
        shared["intercept_"] = np.zeros(len(states.labels))
    to_attributes = BlockAttributes(model.layout, shared)
    return TrainingTask(problem, lam, to_attributes, completion=completion)


def bind_in_kernel_space(estimator, data, labels, block_weight, table, lam, shared):
    """Bind the model in a kernel space to checked data; see `bind`."""
    classes, kernel = shared["classes_"], make_kernel(estimator, data)
    model = KernelMulticlassModel(kernel, data.shape[0], len(classes), estimator.fit_intercept)
    problem = model.bind(data, labels, block_weight, kernel_bytes(estimator), table)
    training = kernel, data, labels
    to_attributes = BlockAttributes(model.layout, shared, len(classes) == 2, *training)
    return TrainingTask(problem, lam, to_attributes, kernel.definite)


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


def component_scores(estimator, X):
    """Return the scores of classes, or of their components, and where classes begin.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted to rows.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Checked rows.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_components) or (n_samples, 1)
        With the intercept; of two classes without components the score of the second less the
        first's.
    first : ndarray of int of shape (n_classes,) or None
        The first component of each class; None if all have one.

    Raises
    ------
    ValueError
        Naming the first row whose scores overflow, or an attribute that does not fit.
    """
    n_classes, first = check_labels(estimator, least=2), None
    n_scores = 1 if n_classes == 2 else n_classes
    labels = vars(estimator).get("component_labels_")
    if labels is not None:
        n_scores, first = len(labels), np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        if len(first) != n_classes:
            raise_damaged(estimator, "component_labels_ must hold each of classes_ once")
    check_numbers(estimator, {"intercept_": (n_scores,)})
    if hasattr(estimator, "kernel_"):
        scores = function_values(estimator, X, n_scores) + estimator.intercept_
    else:
        check_numbers(estimator, {"coef_": (n_scores, X.shape[1])}, finite=False)
        scores = linear_scores(X, estimator.coef_, estimator.intercept_, estimator.n_jobs)
    if not all_within(scores):
        check_scores(np.isfinite(scores).all(axis=1), "the scores of its classes overflow")
    return scores, first


def class_scores(estimator, X):
    """Return the scores of classes by their best components; see `component_scores`."""
    scores, first = component_scores(estimator, X)
    if first is not None:
        scores = np.maximum.reduceat(scores, first, axis=1)
        scores = scores[:, 1:] - scores[:, :1] if len(first) == 2 else scores
    return scores


def best_components(estimator, X):
    """Return the best component of each row; of classes with one each, the number of the class."""
    scores, first = component_scores(estimator, X)
    return best_classes(estimator, X) if first is None else scores.argmax(axis=1)


def best_classes(estimator, X):
    """Return the class with the highest score for each row, 0 to n_classes - 1."""
    scores = class_scores(estimator, X)
    return 1 * (scores[:, 0] > 0) if scores.shape[1] == 1 else scores.argmax(axis=1)
