"""What is known of labels before they are predicted."""

import numpy as np

from sskit._labels import SETS, is_ignored, is_same, plain, shortened, shown
from sskit.inputs.ragged import items_of

_FORM = "one item per sample: None, or for each {} None, a label or a set of labels"


def check_known(known, sizes, classes, noun="node", name="known", ignored=None, lenient=False):
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
    noun : str, default="node"
        What error messages call a token or node.
    name : str, default="known"
        What error messages call `known`.
    ignored : object, default=None
        A label that says as little as None does.
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
        Naming the first entry that has no possible label, or one that the model does not know.
    """
    if known is None:
        return None
    items = items_of(known, name, _FORM.format(noun), count=len(sizes))
    if all(item is None for item in items):
        return None
    place = {label: k for k, label in enumerate(classes.tolist())}
    allowed = np.ones((int(np.sum(sizes)), len(classes)), dtype=bool)
    stop = 0
    for i, (item, size) in enumerate(zip(items, np.asarray(sizes).tolist(), strict=True)):
        rows, label = allowed[stop : stop + size], f"{name}[{i}]"
        stop += size
        if item is None:
            continue
        if isinstance(item, np.ndarray) and item.dtype == bool and item.ndim == 2:
            if item.shape != rows.shape:
                raise ValueError(
                    f"{label} must have shape {rows.shape}, a row for each {noun} and a column for "
                    f"each label, got {item.shape}"
                )
            rows[...] = item
        else:
            entries = _entries(item, size, label, noun)
            for t in np.flatnonzero(~is_ignored(entries, ignored)).tolist():
                places = _places(entries[t], place, f"{label}[{t}]", lenient)
                if places is not None:
                    rows[t] = False
                    rows[t, places] = True
        empty = np.flatnonzero(~rows.any(axis=1))
        if len(empty):
            raise ValueError(f"{label}[{empty[0]}] leaves no label that is possible")
    return allowed


def _entries(item, size, label, noun):
    """Return what is known of the tokens or nodes of one sample, as a list."""
    if isinstance(item, (str, bytes, *SETS)) or not hasattr(item, "__len__"):
        raise TypeError(
            f"{label} must have an entry for each {noun}, or be None, got {type(item).__name__}"
        )
    if len(item) != size:
        raise ValueError(f"X has {size} {noun}s there, but {label} has {len(item)} entries")
    return item.tolist() if isinstance(item, np.ndarray) else list(item)


def _places(entry, place, label, lenient):
    """Return the numbers of the labels of one entry; None if nothing is known."""
    if entry is None:
        return None
    labels = [plain(value) for value in (entry if isinstance(entry, SETS) else [entry])]
    try:
        if lenient:
            return [place[value] for value in labels if value in place] or None
        return [place[value] for value in labels]
    except (KeyError, TypeError):
        others = (value for value in labels if not any(is_same(value, k) for k in place))
        unknown = next(others, labels[0])
        raise ValueError(
            f"{label} {'has' if isinstance(entry, SETS) else 'is'} {shown(unknown)}, which is no "
            f"label that the model was fitted to, such as {shortened([*place], 2)}"
        ) from None
