"""Priors: weights towards which a fit is regularised, read and aligned."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._labels import plain
from sskit._numbers import array, as_array, shortened
from sskit._warnings import warn
from sskit.estimators.base.fitted_state import LARGEST
from sskit.inputs.label_sets import NAMED as NAMED_FORMS
from sskit.models.layout import AXES, EDGE_FEATURE, FEATURE, KIND, LABEL, LENGTH, PAIR, aligned

# What a prior may name of its entries
NAMES = (LABEL, FEATURE, EDGE_FEATURE, KIND, PAIR)


def flat_prior(estimator, task):
    """Return the prior of an estimator as flat weights of its training problem.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameter `prior`.
    task : TrainingTask
        Says which weights there are.

    Returns
    -------
    prior : ndarray of shape (n_weights,) or None
        None if there is none.

    Raises
    ------
    ValueError
        If it does not fit the model, naming the block.
    TypeError
        If it is a fitted estimator of another kind.
    """
    prior = estimator.prior
    if prior is None:
        return None
    if isinstance(prior, dict):
        return blocks_to_flat(prior, task, "prior")
    if hasattr(prior, "fit"):
        if type(prior) is not type(estimator):
            raise TypeError(
                f"prior is a {type(prior).__name__}, expected a fitted {type(estimator).__name__}; "
                "of a pipeline or a search give the one inside"
            )
        refusal = "prior is no fitted %(name)s: clones are not fitted, nor is what a search sets, "
        check_is_fitted(prior, msg=refusal + "which may be a dict of fitted attributes")
        if hasattr(prior, "dual_coef_"):
            raise ValueError(
                f"prior is a {type(prior).__name__} with a kernel: its weights are functions, "
                "which no weights of features start from"
            )
        estimator._check_source(prior)
        return blocks_to_flat(vars(prior), task, "prior", strict=False)
    limits = {"low": -LARGEST, "high": LARGEST}
    return task.from_user(array(prior, "prior", (task.layout.n_weights,), **limits))


def blocks_to_flat(blocks, task, name, strict=True):
    """Return flat weights of blocks by their attributes; those that are left out are zero.

    Parameters
    ----------
    blocks : dict
        Weights by the names of fitted attributes, perhaps with `NAMES` that say what their
        entries are of.
    task : TrainingTask
        Says which weights there are, and what they are of.
    name : str
        What error messages call the dict.
    strict : bool, default=True
        Whether other keys are errors.

    Returns
    -------
    prior : ndarray of shape (n_weights,)
        Flat weights.
    """
    target, shapes = task.to_attributes.shared, task.to_attributes.weight_shapes()
    if "_form" in blocks and (blocks["_form"] in NAMED_FORMS) != (target["_form"] in NAMED_FORMS):
        # only one of them names its sets of labels, the other numbers them
        blocks = blocks | {LABEL: None}
    unknown = [key for key in blocks if key not in shapes and key not in NAMES]
    if strict and unknown:
        raise ValueError(
            f"{name} has no block {unknown[0]!r}; the blocks of this model are "
            f"{', '.join(map(repr, shapes))}, and {', '.join(map(repr, NAMES))} may say what "
            "their entries are of"
        )
    ours = _names_by_axis(target, name)
    theirs = _names_by_axis(blocks, name, ours.get(LABEL, ()), strict)
    labels = theirs.get(LABEL, ()), ours.get(LABEL, ())
    if strict and all(labels) and not set(labels[0]) & set(labels[1]):
        warn(
            f"{name}['classes_'] has labels none of which is in y, {shortened(labels[0])}, where y "
            f"has {shortened(labels[1])}",
        )
    weights = {key: np.zeros(shape) for key, shape in shapes.items()}
    for key in shapes.keys() & blocks.keys():
        shape, where = shapes[key], f"{name}[{key!r}]"
        values = as_array(blocks[key], where)
        _, axes = AXES.get((key, len(shape)), (None, (None,) * len(shape)))
        sides = [_sides(theirs.get(by), ours.get(by), n) for by, n in zip(axes, shape, strict=True)]
        if LENGTH in axes and values.ndim == len(shape):
            axis = axes.index(LENGTH)  # of which other data may have fewer or more
            sides[axis] = range(values.shape[axis]), range(shape[axis])
        expected = [len(source) for source, _ in sides]
        # where two classes have one score it is that of both
        one = key in ("coef_", "intercept_") and len(theirs.get(LABEL, labels[1])) == 2
        one = one and values.shape[:1] == (1,) < shape[:1]
        if one:
            expected[0] = 1
        block = array(values, where, tuple(expected), low=-LARGEST, high=LARGEST)
        if one:
            block = np.concatenate([-0.5 * block, 0.5 * block])
        if key == "springs_" and "unit_" in blocks:
            # costs of displacements, and of their squares, in units of another length
            block = block * (target["unit_"] / blocks["unit_"]) ** np.array([1.0, 2.0])
        for axis, names in enumerate(sides):
            block = aligned(block, axis, *names)
        weights[key] = block
    return task.from_user(task.to_attributes.flat(weights))


def _names_by_axis(attributes, name, classes=(), checked=False):
    """Return the lists of what entries along dimensions are of, by attribute; perhaps checked."""
    by_attribute = {}
    for by in NAMES:
        listed = attributes.get(by)
        if listed is None:
            continue
        fault = f"{name}[{by!r}] must be a list of names, each of them once, got {listed!r:.80}"
        try:
            is_list = isinstance(listed, (list, tuple))
            names = list(listed if is_list else np.asarray(listed).tolist())
            if by == PAIR:
                # numbers of labels, which other data may number otherwise
                place = dict(enumerate(by_attribute.get(LABEL, classes)))
                names = [frozenset(place.get(k, k) for k in pair) for pair in names]
            by_attribute[by] = list(map(plain, names)) if checked else names
            if checked and len(set(by_attribute[by])) < len(names):
                raise ValueError(fault)
        except TypeError:
            raise ValueError(fault) from None
    return by_attribute


def _sides(source, target, n):
    """Return what entries along a dimension are of there and here, by default their numbers."""
    if source is None or target is None or len(target) != n:
        return range(n), range(n)
    return source, target
