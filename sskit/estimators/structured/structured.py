"""Fit, prediction and score of classifiers whose model is an object."""

import warnings

import numpy as np

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.estimators.base.estimator import TrainingTask, block_weights
from sskit.estimators.base.fitted_state import check_numbers, raise_damaged
from sskit.estimators.base.kernels import require_defaults
from sskit.estimators.base.weights import default_lam
from sskit.inputs.ragged_array import object_array
from sskit.inputs.samples import check_pairs, check_samples, plain_labels
from sskit.inputs.weights import check_sample_weight
from sskit.models.structured.pystruct import adapted
from sskit.models.structured.structure import Structure

# Parameters that belong to the model "multiclass" alone, with their defaults.
MULTICLASS_ONLY = {
    "loss": "zero_one",
    "fit_intercept": True,
    "class_weight": None,
    "kernel": "linear",
}


def gate(estimator, X, y, sample_weight):
    """Check the model object of an estimator and the form of its training data.

    What they hold, only the model object knows; it is asked when it is bound.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the model; not changed.
    X : sequence of length n
        Inputs.
    y : sequence of length n
        True labellings.
    sample_weight : array-like of shape (n,) or None
        Weights of the samples.

    Returns
    -------
    inputs, targets : list
        Samples, of equal number.
    weight : ndarray of shape (n,) or None
        Their weights.

    Raises
    ------
    ValueError
        If a parameter or the data are wrong.
    TypeError
        If the model is a class, or X or y no sequence.
    """
    if isinstance(estimator.model, type):
        name = estimator.model.__name__
        raise TypeError(f"model must be an object, got the class {name}; write {name}(...)")
    why = "cannot be combined with a model object, which has its own features and loss"
    require_defaults(estimator, MULTICLASS_ONLY, why)
    inputs, targets = check_pairs(X, y)
    return inputs, targets, check_sample_weight(sample_weight, len(inputs))


def bind(estimator, inputs, targets, weight):
    """Bind the model object of an estimator to training data.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the model; not changed.
    inputs, targets : list of length n
        Samples.
    weight : ndarray of shape (n,) or None
        Their weights.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.

    Raises
    ------
    ValueError
        If the model gives a wrong answer.
    """
    model = adapted(estimator.model, inputs, targets)
    problem, layout = Structure(model).bind(inputs, targets, block_weights(len(inputs), weight))
    shared = {"model_": model, "_plain": plain_labels(targets).dtype != object}
    to_attributes = BlockAttributes(layout, shared)
    return TrainingTask(problem, layout, default_lam(len(inputs), weight), to_attributes)


def warn_of_no_loss(estimator, fitted):
    """Warn if the oracle found nothing to learn from, as one does that forgets the loss.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the model.
    fitted : dict
        Fitted attributes.
    """
    if fitted["primal_objective_"] == 0.0 and not fitted["coef_"].any():
        warnings.warn(
            f"argmax of {type(estimator.model).__name__} found no labelling with a loss at w = 0, "
            "so all weights are zero; does it add the loss when y_true is given?",
            stacklevel=3 + FRAMES_AROUND_FIT,
        )


def predict_structure(estimator, X):
    """Return the labellings that a fitted estimator with a model object predicts.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted.
    X : sequence of length n
        Inputs.

    Returns
    -------
    y : ndarray of shape (n,)
        Of dtype object unless the training labels were numbers or strings.
    """
    if not hasattr(estimator, "model_"):
        raise_damaged(estimator, "model_ must be the model object of the fit, but there is none")
    check_numbers(estimator, {"coef_": (np.size(estimator.coef_),)})
    inputs, structure = check_samples(X, "X"), Structure(estimator.model_)
    labels = structure.predict(inputs, estimator.coef_, estimator.n_jobs)
    return plain_labels(labels) if estimator._plain else object_array(labels)


def score_structure(estimator, X, y, sample_weight):
    """Return 1 - the mean loss of the predictions of a fitted estimator.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted.
    X : sequence of length n
        Inputs.
    y : sequence of length n
        True labellings.
    sample_weight : array-like of shape (n,) or None
        Weights of the samples.

    Returns
    -------
    score : float
        At most 1.
    """
    predicted, truth = check_pairs(estimator.predict(X), y)
    weight = check_sample_weight(sample_weight, len(truth))
    losses = Structure(estimator.model_).losses(truth, predicted)
    return 1.0 - float(np.average(losses, weights=weight))
