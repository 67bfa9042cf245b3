"""Constraints on predictions: labels that are known beforehand."""

from collections.abc import Hashable

import numpy as np

from sskit._labels import is_ignored, plain
from sskit._numbers import shortened, shown
from sskit.inputs.frames import is_polars
from sskit.inputs.labels.partial import expand_sets
from sskit.inputs.ragged import items_of, sets_among, stack_entries
from sskit.inputs.ragged_array import make_offsets

_FORM = "one item per sample: None, or for each token None, a label or a set of labels"


def check_known(known, sizes, classes, name="known", ignored=None, lenient=False):
    """Return which labels are possible.

    Parameters
    ----------
    known : sequence of n items, or None
        An item is None if nothing is known; a boolean array (T, K), which labels are possible; or
        a sequence with an entry for each of the T tokens or nodes: None, a label, or a set of
        labels of which one is right.
    sizes : ndarray of shape (n,)
        Numbers of tokens or nodes of the samples.
    classes : ndarray of shape (K,)
        The labels.
    name : str, default="known"
        What error messages call `known`.
    ignored : object, default=None
        A label that stands for none, as None does.
    lenient : bool, default=False
        Whether others than the labels count as not known, in place of being errors.

    Returns
    -------
    allowed : ndarray of shape (sum of sizes, K), bool, or None
        None if nothing is known.

    Raises
    ------
    TypeError
        If an item is of a wholly wrong type.
    ValueError
        Naming the first entry that has no possible label, or one that the model does not have.
    """
    if known is None:
        return None
    items = items_of(known, name, _FORM, count=len(sizes))
    if all(item is None for item in items):
        return None
    masks = {
        i: item
        for i, item in enumerate(items)
        if isinstance(item, np.ndarray) and item.dtype == bool and item.ndim == 2
    }
    items = [
        [None] * int(size) if item is None or i in masks else item
        for i, (item, size) in enumerate(zip(items, sizes, strict=True))
    ]
    entries, name_of = stack_entries(items, sizes, name=name)
    labels, owners = expand_sets(entries, sets_among(entries, name_of, ignored))
    place = {label: k for k, label in enumerate(classes.tolist())}
    values = [plain(label) if isinstance(label, Hashable) else None for label in labels]
    codes = np.array([place.get(value, -1) for value in values], dtype=np.intp)
    named = np.array([label is not None for label in labels], dtype=bool)
    restricts = ~is_ignored(labels, ignored) & named
    wrong = np.flatnonzero(restricts & (codes < 0))
    if len(wrong) and not lenient:
        raise ValueError(
            f"{name_of(owners[wrong[0]])} has {shown(labels[wrong[0]])}, which is no label that "
            f"the model was fitted to, such as {shortened([*place], 2)}"
        )
    restricts &= codes >= 0
    allowed = np.ones((len(entries), len(classes)), dtype=bool)
    allowed[owners[restricts]] = False
    allowed[owners[restricts], codes[restricts]] = True
    offsets = make_offsets(sizes)
    for i, mask in masks.items():
        rows = allowed[offsets[i] : offsets[i + 1]]
        if mask.shape != rows.shape:
            raise ValueError(
                f"{name}[{i}] must have shape {rows.shape}, a row for each token and a column for "
                f"each label, got {mask.shape}"
            )
        rows[...] = mask
    empty = np.flatnonzero(~allowed.any(axis=1))
    if len(empty):
        raise ValueError(f"{name_of(empty[0])} leaves no label that is possible")
    return allowed


def known_sets(known, n, n_labels):
    """Return which labels of sets are known.

    Parameters
    ----------
    known : sequence of n items, array or data frame of shape (n, n_labels)
        An item is None if nothing is known of a row, or has an entry for each label: 1 or True, 0
        or False, and None or NaN where it is not known.
    n, n_labels : int
        Numbers of rows and of labels.

    Returns
    -------
    codes : ndarray of shape (n, n_labels), int8
        1, 0, and -1 where it is not known.

    Raises
    ------
    TypeError, ValueError
        Naming the first item or entry that is wrong.
    """
    if is_polars(known):
        known = known.to_numpy()
    if hasattr(known, "iloc"):
        known = known.astype(object).where(known.notna(), None).to_numpy()
    known = list(known) if isinstance(known, np.ndarray) else known
    sizes, codes = np.full(n, n_labels), np.full(n * n_labels, -1, dtype=np.int8)
    allowed = check_known(known, sizes, np.arange(2), ignored=np.nan)
    if allowed is not None:
        codes[~allowed.all(axis=1)] = allowed[~allowed.all(axis=1), 1]
    return codes.reshape(n, n_labels)
