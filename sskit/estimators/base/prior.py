"""Weights that a fit is regularised towards, read and aligned."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit._labels import plain
from sskit._numbers import shortened
from sskit._ready import all_within
from sskit.estimators.base.callbacks import FRAMES_AROUND_FIT
from sskit.estimators.base.fitted_state import LARGEST

LABEL, FEATURE, EDGE_FEATURE = "classes_", "feature_names_in_", "edge_feature_names_in_"
KIND, PAIR = "edge_kinds_", "edges_"
# What the dimensions of fitted weights are of, by the attribute that names the entries.
DIMENSIONS = {
    **dict.fromkeys(("coef_", "first_coef_", "last_coef_"), (LABEL, FEATURE)),
    **dict.fromkeys(("lengths_", "segment_coef_"), (LABEL, None)),
    **dict.fromkeys(("intercept_", "start_", "end_", "root_", "leaf_"), (LABEL,)),
    "transitions_": (LABEL, LABEL),
    "triples_": (LABEL, LABEL, LABEL),
    "edge_coef_": (EDGE_FEATURE, LABEL, LABEL),
    "pairwise_": (PAIR,),
}
# Of those that are a table for each kind, or each feature, of edges.
TABLES = {"transitions_": (KIND, LABEL, LABEL), "pairwise_": (None, LABEL, LABEL)}
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
        check_is_fitted(
            prior,
            msg="prior is no fitted %(name)s: clones are not fitted, nor is what a search sets, "
            "which may be a dict of fitted attributes",
        )
        if hasattr(prior, "dual_coef_"):
            raise ValueError(
                f"prior is a {type(prior).__name__} with a kernel: its weights are functions, "
                "which no weights of features start from"
            )
        estimator._check_source(prior)
        return blocks_to_flat(vars(prior), task, "prior", strict=False)
    flat = _numbers(prior, "prior")
    n_weights = task.layout.n_weights
    if flat.shape != (n_weights,):
        raise ValueError(
            f"prior has the shape {flat.shape}, expected ({n_weights},), all weights of this "
            "model; or give a dict of blocks, or a fitted estimator"
        )
    return task.from_user(flat)


def _numbers(value, name):
    """Return an array of finite numbers in double precision, or raise ValueError."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of numbers, got dtype {array.dtype}")
    array = array.astype(np.float64, copy=False)
    wrong = () if all_within(array, LARGEST) else np.argwhere(~(np.abs(array) <= LARGEST))
    if len(wrong):
        place = wrong[0].tolist()
        raise ValueError(f"{name}{place} is {array[tuple(place)]}, expected a finite number")
    return array


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
    known, shapes = task.to_attributes.shared, task.to_attributes.weight_shapes()
    if "_form" in blocks and (blocks["_form"] == "frame") != (known["_form"] == "frame"):
        # only one of them names its sets of labels, the other numbers them
        blocks = blocks | {LABEL: None}
    unknown = [key for key in blocks if key not in shapes and key not in NAMES]
    if strict and unknown:
        raise ValueError(
            f"{name} has no block {unknown[0]!r}; the blocks of this model are "
            f"{', '.join(map(repr, shapes))}, and {', '.join(map(repr, NAMES))} may say what "
            "their entries are of"
        )
    if isinstance(blocks.get(LABEL), (list, tuple)):
        blocks = blocks | {LABEL: [plain(label) for label in blocks[LABEL]]}
    names = _checked_names(blocks, known, name) if strict else {}
    weights = {}
    for key, shape in shapes.items():
        block = weights[key] = np.zeros(shape)
        if key not in blocks:
            continue
        where = f"{name}[{key!r}]"
        block = _both_classes(_numbers(blocks[key], where), key, blocks, known, shape)
        if key == "springs_" and "unit_" in blocks:
            # costs of displacements, and of their squares, in units of another length
            block = block * (known["unit_"] / blocks["unit_"]) ** np.array([1.0, 2.0])
        given = block.shape
        for axis, by in enumerate(_dimensions(key, block.ndim)):
            if by in names and len(names[by]) != given[axis]:
                told = f"{by!r} beside it names {len(names[by])}"
                raise ValueError(f"{where} has the shape {given}, but {told}")
            if block.ndim == len(shape):
                source = _entries(blocks, by, given[axis], known)
                block = _aligned(block, axis, source, _entries(known, by, shape[axis], known))
        if block.shape != shape:
            raise ValueError(
                f"{where} has the shape {given}, expected {shape}: labels and features are aligned "
                "only if both data and prior name them, hidden states, components and lengths of "
                "segments must be as many"
            )
        weights[key] = block
    return task.from_user(task.to_attributes.flat(weights))


def _checked_names(blocks, known, name):
    """Return the lists of names in a dict of a user; warn if no label is one of the data."""
    names = {by: blocks[by] for by in NAMES if blocks.get(by) is not None}
    for by, given in names.items():
        try:
            names[by] = list(map(tuple if by == PAIR else plain, np.asarray(given).tolist()))
            if len(set(names[by])) < len(names[by]):
                raise ValueError(f"{name}[{by!r}] has an entry twice: {given!r:.80}")
        except TypeError:
            raise ValueError(f"{name}[{by!r}] must be a list of names, got {given!r:.80}") from None
    mine, theirs = names.get(LABEL, []), np.asarray(known.get(LABEL, ())).tolist()
    if mine and theirs and not set(mine) & set(theirs):
        warnings.warn(
            f"{name}['classes_'] has labels none of which is in y, {shortened(mine)}, where y has "
            f"{shortened(theirs)}",
            UserWarning,
            stacklevel=8 + FRAMES_AROUND_FIT,
        )
    return names


def _both_classes(block, key, blocks, known, shape):
    """Return a block with a row for each of two classes where one score is that of both."""
    classes = blocks.get(LABEL, known.get(LABEL))
    one = key in ("coef_", "intercept_") and block.ndim and len(block) == 1
    if one and np.size(classes) == 2 and len(shape) and shape[0] > 1:
        return np.concatenate([-0.5 * block, 0.5 * block])
    return block


def _dimensions(key, n_dimensions):
    """Return the attributes that name the entries along each dimension, None for none."""
    found = TABLES.get(key) if n_dimensions == 3 else None
    found = DIMENSIONS.get(key, ()) if found is None else found
    return found if len(found) == n_dimensions else (None,) * n_dimensions


def _entries(attributes, by, n, known):
    """Return what n entries along a dimension are of, as a list, or None if nothing says so."""
    names = None if by is None else attributes.get(by)
    if names is None or np.ndim(names) == 0 or len(names) != n:
        return None
    names = np.asarray(names).tolist()
    if by != PAIR:
        return names
    classes = attributes.get(LABEL)
    classes = known.get(LABEL, ()) if classes is None else classes
    place = dict(enumerate(np.asarray(classes).tolist()))
    # numbers of labels, which other data may number otherwise
    return [frozenset(place.get(k, k) for k in pair) for pair in names]


def _aligned(block, axis, source, target):
    """Return a block with the entries along an axis where other data have them; new ones zero."""
    if source is None or target is None or source == target:
        return block
    place = {value: k for k, value in enumerate(source)}
    none = np.zeros_like(block, shape=(*block.shape[:axis], 1, *block.shape[axis + 1 :]))
    known = np.concatenate([block, none], axis=axis)
    return known.take([place.get(value, len(source)) for value in target], axis=axis)
