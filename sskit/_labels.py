"""Labels given by users: made arrays, compared, and looked up in dicts."""

from enum import Enum
from itertools import combinations

import numpy as np

from sskit._numbers import shortened, shown
from sskit._warnings import warn

SETS = (set, frozenset)
# Strings of more characters are kept as objects: NumPy's would all be as wide as the longest.
LONGEST = 64
_MISSING = ("NoneType", "NAType", "NaTType")
_PLAIN = {str, int, float, bool}
_NUMBERS = (int, float, np.bool_, np.number)


def plain(label):
    """Return a label as the string, bytes or number that it is equal to.

    A member of an enumeration of strings, ``class Tag(str, Enum)``, is equal to its value, but has
    another hash, and NumPy writes its name where it makes it an item of an array. Labels are the
    values; those of other types stay what they are.

    Parameters
    ----------
    label : object
        Anything.

    Returns
    -------
    label : object
        A str for all of its subclasses; an int, float or bytes for members of enumerations.
    """
    kind = type(label)
    if issubclass(kind, str):
        return label if kind is str else str.__str__(label)
    if issubclass(kind, Enum) and issubclass(kind, (bytes, int, float)):
        return label.value
    return label


def label_array(labels, name_of):
    """Return labels as an array of the narrowest dtype that keeps their values and types.

    Parameters
    ----------
    labels : list of length n
        Labels.
    name_of : callable
        Returns what error messages call a label, by its place in the list.

    Returns
    -------
    array : ndarray of shape (n,)
        Of an integer, boolean, float or string dtype; of objects where there is none that keeps
        all of them, or where strings are longer than `LONGEST`.

    Raises
    ------
    ValueError
        Naming the first that is missing.
    TypeError
        Naming the first that is no label, or does not sort with another one.
    """
    kinds = set(map(type, labels))
    if not kinds <= _PLAIN:
        labels = [plain(label) for label in labels]
        kinds = set(map(type, labels))
    for base in (str, bytes):
        if kinds and all(issubclass(kind, base) for kind in kinds):
            return string_array(labels, base)
    if all(issubclass(kind, _NUMBERS) for kind in kinds):
        numbers = np.array(labels)
        whole = not any(issubclass(kind, (float, np.floating)) for kind in kinds)
        # int64 with uint64 would make floats
        if numbers.dtype.kind != "f" or not whole or not labels:
            return numbers
    check_sortable(labels, name_of)
    return object_array(labels)


def string_array(labels, base=str):
    """Return strings as an array.

    Parameters
    ----------
    labels : list of length n
        Strings.
    base : type, default=str
        Their type, or bytes.

    Returns
    -------
    array : ndarray of shape (n,)
        Of strings; of objects, each of which is there once, if one is longer than `LONGEST`.
    """
    distinct = set(labels)
    if max(map(len, distinct), default=0) <= LONGEST:
        return np.array(labels, dtype=base)
    one = {label: base(label) for label in distinct}
    return object_array([one[label] for label in labels])


def with_codes(labels):
    """Return what ``np.unique(labels, return_inverse=True)`` does; strings are not sorted for it.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Of labels.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The distinct ones in order.
    codes : ndarray of shape (n,), intp
        Their numbers.
    """
    if labels.dtype.kind not in "US":
        return np.unique(labels, return_inverse=True)
    listed = labels.tolist()
    distinct = sorted(set(listed))
    code = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(code.__getitem__, listed), dtype=np.intp, count=len(listed))
    return np.array(distinct, dtype=labels.dtype), codes


def object_array(labels):
    """Return a list as a 1-D array of objects, whose items may be sequences."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def plain_labels(labels):
    """Return labels as an array of numbers or strings where they are that, else of objects."""
    if all(isinstance(y, str) for y in labels):
        return string_array([plain(y) for y in labels])
    if all(isinstance(y, (bool, int, float, np.bool_, np.integer, np.floating)) for y in labels):
        return np.array(labels)
    return object_array(labels)


def join_arrays(arrays):
    """Return several arrays of labels as one, or None if that takes a loop over the labels.

    Parameters
    ----------
    arrays : list
        Arrays, lists and tuples.

    Returns
    -------
    array : ndarray or None
        Of numbers, or strings that are not long.
    """
    kinds = {item.dtype.kind if isinstance(item, np.ndarray) else "O" for item in arrays}
    if not kinds or not (kinds <= set("biu") or kinds in ({"f"}, {"U"}, {"S"})):
        return None
    widths = (item.dtype.itemsize // (4 if item.dtype.kind == "U" else 1) for item in arrays)
    if not kinds.isdisjoint("US") and max(widths) > LONGEST:
        return None
    array = np.concatenate(arrays)
    # int64 with uint64 would make floats
    return array if "f" in kinds or array.dtype.kind != "f" else None


def check_sortable(labels, name_of):
    """Raise unless all labels are present, hashable and comparable with each other.

    Parameters
    ----------
    labels : list of length n
        Labels.
    name_of : callable
        Returns what error messages call a label, by its place in the list.

    Raises
    ------
    TypeError, ValueError
        As `label_array`.
    """
    first = {}
    for t, value in enumerate(labels):
        number = isinstance(value, (float, np.floating))
        if type(value).__name__ in _MISSING or (number and np.isnan(value)):
            raise ValueError(f"{name_of(t)} is {value!r}: labels must not be missing")
        try:
            # complex numbers hide real ones, and frozen sets would be labels of their own
            if isinstance(value, (complex, np.complexfloating, *SETS)):
                raise TypeError
            first.setdefault(value, t)
        except TypeError:
            message = f"{shown(value)}, of type {type(value).__name__}"
            raise TypeError(f"{name_of(t)} is {message}: one label is expected") from None
    try:
        sorted(first)
    except TypeError:
        for a, b in combinations(first, 2):
            try:
                sorted((a, b))
            except TypeError:
                raise TypeError(
                    f"{name_of(first[a])} is {shown(a)} but {name_of(first[b])} is {shown(b)}: "
                    "labels must be of types that sort among themselves"
                ) from None
        raise


def is_ignored(labels, ignore_label):
    """Return where labels are `ignore_label`.

    Parameters
    ----------
    labels : ndarray, list or tuple
        Labels, of any types; not checked.
    ignore_label : object
        A label; None if there is no such. NaN stands for all NaN.

    Returns
    -------
    ignored : ndarray of bool
        Of the shape of the labels.

    Raises
    ------
    ValueError
        If `ignore_label` is no label.
    """
    shape = labels.shape if isinstance(labels, np.ndarray) else (len(labels),)
    if ignore_label is None:
        return np.zeros(shape, dtype=bool)
    several = np.iterable(ignore_label) and not isinstance(ignore_label, (str, bytes))
    if several or isinstance(ignore_label, type) or type(ignore_label).__name__ == "NAType":
        raise ValueError(f"ignore_label must be one label, got {shown(ignore_label)}")
    ignore_label = plain(ignore_label)
    if not isinstance(labels, np.ndarray):
        labels = object_array(labels)
    if labels.dtype.kind == "O":
        items = (is_same(label, ignore_label) for label in labels.ravel().tolist())
        return np.fromiter(items, dtype=bool, count=labels.size).reshape(shape)
    if _is_nan(ignore_label):
        return np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(shape, dtype=bool)
    try:
        same = labels == ignore_label
    except OverflowError:  # an integer beyond all numbers of the type
        same = False
    return np.broadcast_to(np.asarray(same, dtype=bool), shape)


def is_same(label, other):
    """Return whether something is a certain label: equal to it, or both are NaN."""
    if label is other:
        return True
    try:
        return bool(label == other) or (_is_nan(label) and _is_nan(other))
    except Exception:  # arrays, and what cannot be compared
        return False


def _is_nan(label):
    """Return whether a label is the number NaN."""
    return isinstance(label, (float, np.floating)) and bool(np.isnan(label))


def by_label(values, labels, default):
    """Return the entries of a dict by label for labels.

    Parameters
    ----------
    values : dict
        By label; keys that are none of the labels are ignored.
    labels : ndarray of shape (K,)
        Labels.
    default : object
        For labels that are no keys.

    Returns
    -------
    values : list of length K
        Those of the labels.
    """
    values = {plain(label): value for label, value in values.items()}
    return [values.get(label, default) for label in labels.tolist()]


def warn_of_unmatched(named, labels, name, optional):
    """Warn if keys of a dict by label match no label while labels match no key.

    Keys alone may be labels that a part of the data lacks, such as a fold, and labels alone may
    be left at the default; if there are both, the dict and the data probably spell the same labels
    differently. scikit-learn's classifiers raise an error then.

    Parameters
    ----------
    named : iterable
        Keys of a parameter by label.
    labels : list
        All labels of the data.
    name : str
        The parameter.
    optional : tuple
        Labels that need not be named.
    """
    keys = [plain(label) for label in named]
    values, named_labels = set(labels), set(keys)
    unmatched = [key for key in keys if key not in values]
    unnamed = [label for label in labels if label not in named_labels and label not in optional]
    if unmatched and unnamed:
        warn(
            f"{name} has keys that are no labels in y, {shortened(unmatched)}, and none for the "
            f"labels {shortened(unnamed)}"
        )


def places_in(values, some):
    """Return where some labels stand among others, of which they are."""
    place = {value: k for k, value in enumerate(values.tolist())}
    places = [place[value] for value in some.astype(values.dtype).tolist()]
    return np.array(places, dtype=np.intp)
