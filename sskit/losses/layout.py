"""Layout of batches: lists of arrays or padded arrays as rows of one array."""

from itertools import pairwise

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.ragged_array import make_offsets

IGNORED = -100


class Layout:
    """Which rows belong to which sample, and how results become arrays of the caller's form.

    Parameters
    ----------
    length : ndarray of shape (n,), int64
        Number of rows of each sample.
    width : int or None
        Rows of a sample in a padded array; None if the samples stand one after the other.
    words : tuple of str
        Names of a sample, a node and a state in error messages.
    """

    def __init__(self, length, width, words):
        self.length = length
        self.n = len(length)
        self.width = width
        self.words = words
        if width is None:
            ends = np.cumsum(length)
            self.first = ends - length
            self.n_rows = int(ends[-1]) if self.n else 0
        else:
            self.first = np.arange(self.n, dtype=np.int64) * width
            self.n_rows = self.n * width
        self.full = width is None or self.n == 0 or int(length.min()) == width

    def only_inside(self, rows):
        """Return an array (n_rows,), which may be written to, with zeros at padding."""
        if not self.full:
            rows[(np.arange(self.width) >= self.length[:, np.newaxis]).ravel()] = 0
        return rows

    def samples_of(self, rows):
        """Return the numbers of the samples that rows are of."""
        return np.searchsorted(self.first, rows, side="right") - 1

    def totals(self, numbers):
        """Return the sums of numbers by row over the rows of each sample."""
        sums = np.concatenate([[0.0], np.cumsum(numbers)])
        return sums[self.first + self.length] - sums[self.first]

    def name(self, row):
        """Return what error messages call a row."""
        i = int(self.samples_of(row))
        item, node, _ = self.words
        return f"{item} {i}, {node} {row - self.first[i]}"

    def split(self, rows):
        """Return rows (n_rows, ...) as the caller has them: a padded array, or a list of views."""
        if self.width is not None:
            return rows.reshape((self.n, self.width, *rows.shape[1:]))
        offsets = make_offsets(self.length).tolist()
        return [rows[first:stop] for first, stop in pairwise(offsets)]

    def split_labels(self, flat):
        """Return labels (n_rows,) in the form of the caller, -100 at padding."""
        labels = flat.copy()
        if not self.full:
            labels[labels < 0] = IGNORED
        return self.split(labels)


def is_ragged(values):
    """Return whether samples stand in a list, and not in an array."""
    return isinstance(values, list | tuple) or (
        isinstance(values, np.ndarray) and values.dtype == object
    )


def as_potentials(values, name):
    """Return numbers as a float32 or float64 array in C order, without a copy if it is one.

    Parameters
    ----------
    values : array-like
        Real numbers.
    name : str
        Their name in error messages.

    Returns
    -------
    array : ndarray
        float32 if they are floats of up to 32 bits, else float64.

    Raises
    ------
    ValueError
        If they are no numbers.
    """
    array = as_array(values, name)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    small = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return np.asarray(array, dtype=np.float32 if small else np.float64, order="C")


def as_labels(values, name):
    """Return integers as an array; ValueError if they are none."""
    array = as_array(values, name)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{name} must be integers, got dtype {array.dtype}")
    return array


def read_items(values, name, layout, shapes, read=as_potentials):
    """Return the arrays of a list that has one of a known shape for each sample of a layout."""
    item = layout.words[0]
    if len(values) != layout.n:
        raise ValueError(f"{name} has {len(values)} {item}s, but unary {layout.n}")
    arrays = [read(each, f"{name}[{i}]") for i, each in enumerate(values)]
    for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
        if array.shape != shape:
            raise ValueError(f"{item} {i}: {name} must have shape {shape}, got {array.shape}")
    return arrays


def pack_nodes(unary, mask, words, *, labels=None, n_states=None):
    """Return potentials of nodes as rows, and how samples lie in them.

    Parameters
    ----------
    unary : array-like of shape (n, n_nodes, n_states), or list of (n_nodes_i, n_states)
        Potentials.
    mask : array-like of bool of shape (n, n_nodes) or None
        Where there are nodes.
    words : tuple of str
        Names of a sample, a node and a state in error messages.
    labels : array-like of shape (n, n_nodes), default=None
        Without a mask, those that are -100 at the end of a sample are padding, in an array.
    n_states : int, default=None
        Number of states, if the list is empty.

    Returns
    -------
    rows : ndarray of shape (n_rows, n_states)
        float32 or float64.
    layout : Layout
        Layout of the rows.

    Raises
    ------
    ValueError
        Naming the sample that is wrong.
    """
    item, node, state = words
    if is_ragged(unary):
        if mask is not None:
            raise ValueError(
                f"a mask goes with padded arrays; unary is a list, in which each {item} has its "
                "own length"
            )
        items = [as_potentials(x, f"unary[{i}]") for i, x in enumerate(unary)]
        for i, x in enumerate(items):
            if x.ndim != 2 or x.shape[1] == 0 or x.shape[1] != items[0].shape[1]:
                raise ValueError(
                    f"unary[{i}] must have shape (n_{node}s, n_{state}s), with as many columns as "
                    f"unary[0], got {x.shape}"
                )
        rows = np.concatenate(items) if items else np.zeros((0, n_states or 1))
        return rows, Layout(np.array([len(x) for x in items], dtype=np.int64), None, words)
    unary = as_potentials(unary, "unary")
    if unary.ndim != 3 or unary.shape[2] == 0:
        raise ValueError(
            f"unary must have shape (n_{item}s, n_{node}s, n_{state}s) or be a list of arrays "
            f"(n_{node}s, n_{state}s), got shape {unary.shape}"
        )
    n, width, n_states = unary.shape
    if mask is not None:
        length = check_mask(mask, (n, width), words)
    else:
        length = np.full(n, width)
        labels = None if labels is None else as_array(labels, "labels")
        ended = labels is not None and labels.shape == (n, width) and width
        if ended and (labels[:, -1] == IGNORED).any():
            known = labels[:, ::-1] != IGNORED
            length = np.where(known.any(axis=1), width - known.argmax(axis=1), 0)
    return unary.reshape(-1, n_states), Layout(length.astype(np.int64), width, words)


def check_mask(mask, shape, words):
    """Return the number of nodes of each sample by a mask, which has no holes."""
    item, node, _ = words
    mask = as_array(mask, "mask")
    if mask.shape != shape:
        raise ValueError(f"mask must have shape {shape} to go with unary, got {mask.shape}")
    if mask.dtype.kind not in "biu" or ((mask != 0) & (mask != 1)).any():
        raise ValueError(f"mask must hold booleans, got dtype {mask.dtype}")
    length = np.count_nonzero(mask, axis=1)
    holes = (mask != 0) != (np.arange(shape[1]) < length[:, np.newaxis])
    if holes.any():
        i = int(holes.any(axis=1).argmax())
        raise ValueError(
            f"{item} {i}: the mask leaves out {node} {mask[i].argmin()}, but not all that follow; "
            f"masked {node}s stand at the end (a {node} whose label is not known has the label "
            f"{IGNORED})"
        )
    return length


def pack_values(values, layout, name, read):
    """Return an argument with a value for each node as one entry per row.

    Parameters
    ----------
    values : array-like of shape (n, n_nodes), or list of array-likes
        As `unary` is.
    layout : Layout
        Of the potentials.
    name : str
        Their name in error messages.
    read : callable
        Converts values and their name to an array.

    Returns
    -------
    flat : ndarray of shape (n_rows,)
        The same.

    Raises
    ------
    ValueError
        If their number is not that of the nodes.
    """
    if layout.width is not None:
        values = read(values, name)
        if values.shape != (layout.n, layout.width):
            raise ValueError(
                f"{name} must have shape {(layout.n, layout.width)} to go with unary, got "
                f"{values.shape}"
            )
        return values.reshape(-1)
    values = read_items(values, name, layout, [(n,) for n in layout.length.tolist()], read)
    return np.concatenate(values) if layout.n else np.zeros(0, dtype=np.int64)


def pack_labels(labels, layout, n_labels):
    """Return labels as int32, one for each row, -1 where they are ignored or padding.

    Parameters
    ----------
    labels : array-like of shape (n, n_nodes), or list of array-likes
        As users give them.
    layout : Layout
        Of the potentials.
    n_labels : int
        Labels are from 0 to n_labels - 1, or -100.

    Returns
    -------
    flat : ndarray of shape (n_rows,), int32
        The same.

    Raises
    ------
    ValueError
        Naming the first that is wrong.
    """
    flat = pack_values(labels, layout, "labels", as_labels)
    known = (flat >= 0) & (flat < n_labels)
    if layout.full and known.all():
        return flat.astype(np.int32)
    known = layout.only_inside(known)
    wrong = layout.only_inside(~known & (flat != IGNORED))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{layout.name(row)}: labels has {flat[row]}, expected 0 to {n_labels - 1}, or "
            f"{IGNORED} where it is not known"
        )
    return np.where(known, flat, -1).astype(np.int32)


def pack_weights(weights, layout):
    """Return weights of nodes as float64, one for each row; None are ones."""
    if weights is None:
        return np.ones(layout.n_rows)
    flat = pack_values(weights, layout, "token_weight", as_potentials)
    flat = layout.only_inside(flat.astype(np.float64))
    wrong = ~((flat >= 0) & (flat < np.inf))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{layout.name(row)}: token_weight is {flat[row]}, expected numbers >= 0")
    return flat
