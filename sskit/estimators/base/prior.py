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
# What the dimensions of fitted weights are of, by the attribute that names the entries.
DIMENSIONS = {
    **dict.fromkeys(("coef_", "first_coef_", "last_coef_"), (LABEL, FEATURE)),
    **dict.fromkeys(("lengths_", "segment_coef_"), (LABEL, None)),
    **dict.fromkeys(("intercept_", "start_", "end_", "root_", "leaf_"), (LABEL,)),
    "transitions_": (LABEL, LABEL),
    "triples_": (LABEL, LABEL, LABEL),
    "edge_coef_": (LABEL, LABEL, EDGE_FEATURE),
    "pairwise_": ("edges_",),
}
# Of those that are a table for each kind, or each feature, of edges.
TABLES = {"transitions_": ("edge_kinds_", LABEL, LABEL), "pairwise_": (None, LABEL, LABEL)}
NAMES = (LABEL, FEATURE, EDGE_FEATURE, "edge_kinds_", "edges_")


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
        return blocks_to_flat(fitted_blocks(prior, task), task, "prior", strict=False)
    flat = _numbers(prior, "prior")
    n_weights = task.layout.n_weights
    if flat.shape != (n_weights,):
        raise ValueError(
            f"prior has the shape {flat.shape}, expected ({n_weights},), all weights of this "
            "model; or give a dict of blocks, or a fitted estimator"
        )
    return task.from_user(flat)


def fitted_blocks(estimator, task):
    """Return the attributes of a fitted estimator, with all weights that a task may ask for.

    Parameters
    ----------
    estimator : StructuredEstimator
        Fitted.
    task : TrainingTask
        Says which weights there are; some may be properties.

    Returns
    -------
    attributes : dict
        By name.
    """
    asked = task.to_attributes.weight_shapes()
    return vars(estimator) | {
        name: getattr(estimator, name) for name in asked if hasattr(estimator, name)
    }


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
    known, shapes = task.to_attributes.names(), task.to_attributes.weight_shapes()
    if "_form" in blocks and (blocks["_form"] == "frame") != (known["_form"] == "frame"):
        # only one of them names its sets of labels, the other numbers them
        blocks = blocks | {"classes_": None}
    unknown = [key for key in blocks if key not in shapes and key not in NAMES]
    if strict and unknown:
        raise ValueError(
            f"{name} has no block {unknown[0]!r}; the blocks of this model are "
            f"{', '.join(map(repr, shapes))}, and {', '.join(map(repr, NAMES))} may say what "
            "their entries are of"
        )
    if isinstance(blocks.get("classes_"), (list, tuple)):
        blocks = blocks | {"classes_": [plain(label) for label in blocks["classes_"]]}
    if strict:
        _check_names(blocks, name)
        _warn_of_other_labels(blocks, known, name)
    weights = {key: np.zeros(shape) for key, shape in shapes.items() if key not in blocks}
    for key in shapes.keys() & blocks.keys():
        block = _numbers(blocks[key], f"{name}[{key!r}]")
        block = _both_classes(block, key, blocks, known, shapes[key])
        if key == "springs_" and "unit_" in blocks:
            # costs of displacements, and of their squares, in units of another length
            block = block * (known["unit_"] / blocks["unit_"]) ** np.array([1.0, 2.0])
        dimensions = _dimensions(key, block.ndim)
        if strict:
            _check_lengths(block, dimensions, blocks, f"{name}[{key!r}]")
        weights[key] = _aligned(
            block,
            [_entries(blocks, by, n, known) for by, n in zip(dimensions, block.shape, strict=True)],
            shapes[key],
            [_entries(known, by, n, known) for by, n in zip(dimensions, shapes[key], strict=False)],
            f"{name}[{key!r}]",
        )
    return task.from_user(task.to_attributes.flat(weights))


def _check_names(blocks, name):
    """Raise ValueError unless what names the entries of blocks are lists without repetitions."""
    for by in NAMES:
        if blocks.get(by) is None:
            continue
        try:
            entries = np.asarray(blocks[by]).tolist()
            entries = [tuple(entry) for entry in entries] if by == "edges_" else entries
            known = set(entries)
        except (TypeError, ValueError):
            known = entries = None
        if entries is None or (by == "edges_" and any(len(pair) != 2 for pair in entries)):
            what = "pairs of labels" if by == "edges_" else "names"
            raise ValueError(f"{name}[{by!r}] must be a list of {what}, got {blocks[by]!r:.80}")
        if len(known) < len(entries):
            raise ValueError(f"{name}[{by!r}] has an entry twice: {blocks[by]!r:.80}")


def _warn_of_other_labels(blocks, known, name):
    """Warn if not one label of a prior is a label of the data: none of its weights counts then."""
    mine, theirs = blocks.get("classes_"), known.get("classes_")
    if mine is None or theirs is None:
        return
    mine, theirs = (np.asarray(labels).tolist() for labels in (mine, theirs))
    if mine and theirs and not set(mine) & set(theirs):
        warnings.warn(
            f"{name}['classes_'] has labels none of which is in y, {shortened(mine)}, where y has "
            f"{shortened(theirs)}",
            UserWarning,
            stacklevel=8 + FRAMES_AROUND_FIT,
        )


def _check_lengths(block, dimensions, blocks, name):
    """Raise ValueError unless there are as many entries as names of them."""
    for by, n in zip(dimensions, block.shape, strict=True):
        given = None if by is None else blocks.get(by)
        if given is not None and len(given) != n:
            raise ValueError(
                f"{name} has the shape {block.shape}, but {by!r} beside it names {len(given)}"
            )


def _both_classes(block, key, blocks, known, shape):
    """Return weights for each of two classes that share one function; others as they are."""
    classes = blocks.get("classes_", known.get("classes_"))
    one = key in ("coef_", "intercept_") and block.ndim and len(block) == 1
    if one and np.size(classes) == 2 and len(shape) and shape[0] > 1:
        return np.concatenate([-0.5 * block, 0.5 * block])
    return block


def _dimensions(key, n_dimensions):
    """Return the attributes that name the entries of each dimension of a block."""
    found = TABLES.get(key) if n_dimensions == 3 else None
    found = DIMENSIONS.get(key, ()) if found is None else found
    return found if len(found) == n_dimensions else (None,) * n_dimensions


def _entries(attributes, by, n, known):
    """Return what the n entries of a dimension are of, or None where nobody says."""
    names = None if by is None else attributes.get(by)
    if names is None or np.ndim(names) == 0 or len(names) != n:
        return None
    if by != "edges_":
        return np.asarray(names).tolist()
    classes = attributes.get("classes_")
    classes = known.get("classes_", ()) if classes is None else classes
    place = dict(enumerate(np.asarray(classes).tolist()))
    # numbers of labels, which other data may number otherwise
    return [frozenset(place.get(k, k) for k in pair) for pair in np.asarray(names).tolist()]


def _aligned(block, sources, shape, targets, name):
    """Return a block with entries where those of other data are; new ones are zero."""
    if block.ndim != len(shape):
        raise ValueError(f"{name} has the shape {block.shape}, expected {shape}")
    taken, put, moved = [], [], False
    for size, n, source, target in zip(block.shape, shape, sources, targets, strict=True):
        if source is None or target is None or source == target:
            if size != n:
                raise ValueError(
                    f"{name} has the shape {block.shape}, expected {shape}: labels and features "
                    "are aligned only if both data and prior name them, hidden states, components "
                    "and lengths of segments must be as many"
                )
            pairs = np.arange(n), np.arange(n)
        else:
            place, moved = {value: k for k, value in enumerate(target)}, True
            known = [(k, place[value]) for k, value in enumerate(source) if value in place]
            pairs = np.array(known, dtype=np.intp).reshape(-1, 2).T
        taken.append(pairs[0])
        put.append(pairs[1])
    if not moved:
        return block
    out = np.zeros(shape)
    out[np.ix_(*put)] = block[np.ix_(*taken)]
    return out
