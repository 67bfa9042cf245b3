"""What is known of labels before they are predicted."""

import numpy as np

from sskit._labels import SETS, is_same, plain, shown
from sskit.inputs.ragged import _items

_FORM = "one item per sample: None, or for each {} None, a label or a set of labels"


def check_known(known, sizes, classes, noun="node", things="graphs", name="known"):
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
    noun, things : str
        What error messages call a token or node, and the samples.
    name : str, default="known"
        What error messages call `known`.

    Returns
    -------
    allowed : ndarray of shape (sum of sizes, K), bool, or None
        None if nothing is known.

    Raises
    ------
    TypeError
        If an item is of a wholly wrong type.
    ValueError
        Naming the first entry that has no possible label, or one that the model does not know.
    """
    if known is None:
        return None
    items = list(_items(known, name, _FORM.format(noun)))
    if len(items) != len(sizes):
        raise ValueError(f"X has {len(sizes)} {things} but {name} has {len(items)} items")
    if all(item is None for item in items):
        return None
    place = {label: k for k, label in enumerate(classes.tolist())}
    allowed = np.ones((int(np.sum(sizes)), len(classes)), dtype=bool)
    start = 0
    for i, (item, size) in enumerate(zip(items, np.asarray(sizes).tolist(), strict=True)):
        if item is not None:
            allowed[start : start + size] = _possible(item, size, place, f"{name}[{i}]", noun)
        start += size
    return allowed


def _possible(item, size, place, label, noun):
    """Return the labels that are possible in one sample, (size, K)."""
    if isinstance(item, np.ndarray) and item.dtype == bool and item.ndim == 2:
        if item.shape != (size, len(place)):
            raise ValueError(
                f"{label} must have shape ({size}, {len(place)}), a row for each {noun} and a "
                f"column for each label, got {item.shape}"
            )
        rows = item
    else:
        if isinstance(item, (str, bytes, *SETS)) or not hasattr(item, "__len__"):
            raise TypeError(
                f"{label} must have an entry for each {noun}, or be None, got {type(item).__name__}"
            )
        if len(item) != size:
            raise ValueError(f"X has {size} {noun}s there, but {label} has {len(item)} entries")
        entries = item.tolist() if isinstance(item, np.ndarray) else list(item)
        rows = np.ones((size, len(place)), dtype=bool)
        for t, entry in enumerate(entries):
            if entry is not None:
                rows[t] = False
                rows[t, _places(entry, place, f"{label}[{t}]")] = True
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        raise ValueError(f"{label}[{empty[0]}] leaves no label that is possible")
    return rows


def _places(entry, place, label):
    """Return the numbers of the labels of one entry."""
    labels = [plain(value) for value in (entry if isinstance(entry, SETS) else [entry])]
    try:
        return [place[value] for value in labels]
    except (KeyError, TypeError):
        others = (value for value in labels if not any(is_same(value, k) for k in place))
        unknown = next(others, labels[0])
        raise ValueError(
            f"{label} {'has' if isinstance(entry, SETS) else 'is'} {shown(unknown)}, which is no "
            "label that the model was fitted to"
        ) from None
