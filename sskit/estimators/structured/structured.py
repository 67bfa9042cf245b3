"""Fit, prediction and score of classifiers whose model is an object."""

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.estimators.base.combinations import check_combinations
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.facts import Facts, WeightSums, same
from sskit.estimators.base.fitted_state import check_numbers, raise_damaged
from sskit.estimators.base.weights import default_lam
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.inputs.ragged_array import object_array, split
from sskit.inputs.rows import check_pairs, check_samples, plain_labels
from sskit.inputs.weights import check_sample_weight
from sskit.models.structured.compiled import CompiledModel, CompiledStructure
from sskit.models.structured.pystruct import adapted, is_latent, needs_data
from sskit.models.structured.structure import Structure


class Samples(NamedTuple):
    """Checked samples of a structure.

    Attributes
    ----------
    inputs, targets : list of length n
        Samples.
    weight : ndarray of shape (n,) or None
        Their weights.
    part : bool
        Whether these are a part of the data.
    """

    inputs: list
    targets: list
    weight: np.ndarray | None
    part: bool


@dataclass(frozen=True, kw_only=True)
class StructureFacts(Facts):
    """What samples of a structure say of all data."""

    n_weights: int | None = same("joint features have length {}, but in part {} length {}")
    # by which predictions are plain arrays: labels are all numbers, or all strings
    n_plain: int
    n_strings: int


def gate(estimator, X, y, sample_weight, part=False):
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
    part : bool, default=False
        Whether these are a part of the data.

    Returns
    -------
    checked : Samples
        The data.

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
    inputs, targets = check_pairs(X, y)
    weight = check_sample_weight(sample_weight, len(inputs), part=part)
    return Samples(inputs, targets, weight, part)


def survey(estimator, checked):
    """Return the `StructureFacts` of checked samples."""
    inputs, targets, weight, part = checked
    plain, n_weights = plain_labels(targets).dtype.kind, None
    if part:  # else binding finds it, without asking the model once more
        model = adapted(estimator.model, inputs, targets)
        n_weights = made_ready(model).n_weights(inputs, targets)
    return StructureFacts(
        n_samples=len(inputs),
        weights=WeightSums.of(len(inputs), weight),
        n_weights=n_weights,
        n_plain=len(inputs) * (plain != "O"),
        n_strings=len(inputs) * (plain == "U"),
    )


def asks(model):
    """Return what a model object asks for, as `refusal` takes it."""
    asked = {"latent model": is_latent(model), "unready model": needs_data(model)}
    return {name: f"model={type(model).__name__}" for name, true in asked.items() if true}


def bind(estimator, checked, facts):
    """Bind the model object of an estimator to training data.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Has the model; not changed.
    checked : Samples
        From `gate`.
    facts : StructureFacts
        Of all data.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.

    Raises
    ------
    ValueError
        If the model gives a wrong answer.
    """
    inputs, targets, weight, _ = checked
    model = adapted(estimator.model, inputs, targets)
    block_weight = facts.weights.block_weights(len(inputs), weight)
    structure, starts, completion = made_ready(model), None, None
    rng = check_random_state(estimator.random_state)
    if is_compiled(model):
        problem, layout, hidden = structure.bind(inputs, targets, block_weight)
        if hidden is not None:
            further = {"parts": "data in parts"} if checked.part else {}
            check_combinations(estimator, hidden="y, which has hidden variables,", **further)
            complete = partial(hidden.complete, n_jobs=estimator.n_jobs)
            others = (complete(rng.normal(size=problem.n_weights)) for _ in count())
            starts = chain([problem.loss.labels], others)
    elif structure.is_latent:
        labellings = structure.starts(inputs, targets, rng, estimator.n_jobs)
        first = next(labellings)
        problem, layout = structure.bind(inputs, targets, block_weight, first)
        as_truths = problem.structure.completed
        starts = map(as_truths, chain([first], labellings))

        def complete(w):
            return as_truths(structure.complete(inputs, targets, w, estimator.n_jobs), w)

    else:
        problem, layout = structure.bind(inputs, targets, block_weight)
    if starts is not None:
        starts = islice(starts, estimator.n_init)
        completion = ConvexConcave(complete, lambda solved: distinct(starts))
    plain = facts.n_plain == facts.n_samples and facts.n_strings in (0, facts.n_samples)
    to_attributes = BlockAttributes(layout, {"model_": model, "_plain": plain})
    return TrainingTask(problem, default_lam(facts), to_attributes, completion=completion)


def is_compiled(model):
    """Return whether the structure of a model object is compiled code."""
    return isinstance(model, CompiledModel)


def made_ready(model):
    """Return a model object ready to be bound to samples."""
    return CompiledStructure(model) if is_compiled(model) else Structure(model)


def distinct(arrays):
    """Yield arrays without those that came before."""
    before = set()
    for array in arrays:
        if array.tobytes() not in before:
            before.add(array.tobytes())
            yield array


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
    labels = full_labellings(estimator, X)
    if is_latent(estimator.model_):
        structure = Structure(estimator.model_)
        seen = structure.observed(labels)
        return plain_labels(seen) if estimator._plain and seen is not labels else object_array(seen)
    return plain_labels(labels) if estimator._plain else object_array(labels)


def full_labellings(estimator, X):
    """Return the labellings that a fitted estimator predicts, with hidden parts.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted.
    X : sequence of length n
        Inputs.

    Returns
    -------
    y : list of length n
        Labellings.
    """
    structure, inputs = fitted_structure(estimator, X)
    return structure.predict(inputs, estimator.coef_, estimator.n_jobs)


def fitted_structure(estimator, X):
    """Return the structure of a fitted estimator and the checked inputs, as a list."""
    if not hasattr(estimator, "model_"):
        raise_damaged(estimator, "model_ must be the model object of the fit, but there is none")
    check_numbers(estimator, {"coef_": (np.size(estimator.coef_),)})
    return made_ready(estimator.model_), check_samples(X, "X")


def best_labellings(estimator, X, k):
    """Return the k best labellings of each input, and their scores less that of the best.

    Parameters
    ----------
    estimator : StructSVMClassifier
        Fitted, with a `CompiledModel`.
    X : sequence of length n
        Inputs.
    k : int
        Number of labellings.

    Returns
    -------
    y : ndarray of shape (n,), object
        Lists of labellings, best first.
    scores : ndarray of shape (n,), object
        Each item is an ndarray.
    """
    structure, inputs = fitted_structure(estimator, X)
    decoder, _ = structure.decoder(inputs, estimator.coef_, estimator.n_jobs)
    found, scores = decoder.top_k(k)
    return object_array([[*map(structure.model.labelling, states)] for states in found]), scores


def max_marginals(estimator, X):
    """Return the max-marginals of a fitted estimator with a `CompiledModel`; see `split`."""
    structure, inputs = fitted_structure(estimator, X)
    decoder, offsets = structure.decoder(inputs, estimator.coef_, estimator.n_jobs)
    return split(decoder.max_marginals(), offsets)


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
    latent = is_latent(estimator.model_) if hasattr(estimator, "model_") else False
    predicted = full_labellings(estimator, X) if latent else estimator.predict(X)
    predicted, truth = check_pairs(predicted, y)
    weight = check_sample_weight(sample_weight, len(truth))
    losses = made_ready(estimator.model_).losses(truth, predicted)
    return 1.0 - float(np.average(losses, weights=weight))
