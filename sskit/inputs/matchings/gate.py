"""The gate of matchings: check features of pairs and partners once."""

import numpy as np

from sskit._numbers import as_array, as_floats
from sskit.inputs.ragged import _items

__all__ = ["check_pair_features", "check_partners", "feature_counts"]

# Sums of squares of larger features may overflow.
LARGEST = 1e150
_PAIRS = "one array of features of pairs (n_left, n_right, n_features) per sample"
_PARTNERS = "one array of partners (n_left,) per sample"
_SHAPES = {
    "pairs": "(n_left, n_right, n_features)",
    "left": "(n_left, n_left_features)",
    "right": "(n_right, n_right_features)",
}


def check_pair_features(X, widths=None, complete=False):
    """Check features of pairs, and of the items themselves.

    Parameters
    ----------
    X : sequence of n samples, or array of four dimensions
        Arrays (n_left, n_right, n_features), or tuples (pairs, left, right) of such an array and
        of the features of the items, (n_left, n_left_features) and (n_right, n_right_features),
        or None for those that have none. Never modified.
    widths : tuple of three int, default=None
        How many features of pairs, left and right items there must be; None takes those of the
        first sample.
    complete : bool, default=False
        Whether each left item has to have a partner.

    Returns
    -------
    tables : list of n tuples of three ndarrays, float64
        Pairs, left and right; in C order. Arrays of that kind are not copied.

    Raises
    ------
    TypeError
        If X is of a wholly wrong type.
    ValueError
        Naming the sample: if there are none, shapes do not fit or a feature is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.inputs.matchings.gate import check_pair_features
    >>> tables = check_pair_features([np.zeros((2, 3, 4)), (np.ones((1, 2, 4)), None, None)])
    >>> [[array.shape for array in table] for table in tables]
    [[(2, 3, 4), (2, 0), (3, 0)], [(1, 2, 4), (1, 0), (2, 0)]]
    """
    if isinstance(X, np.ndarray) and X.ndim == 4:
        X = list(X)
    tables = []
    for i, item in enumerate(_items(X, "X", _PAIRS)):
        table = _table(item, f"X[{i}]")
        found = feature_counts(table)
        widths = found if widths is None else widths
        if found != widths:
            origin = "as those before" if tables else "as in training"
            raise ValueError(f"X[{i}] has {_told(found)}, expected {_told(widths)} {origin}")
        n_left, n_right = table[0].shape[:2]
        if complete and n_left > n_right:
            raise ValueError(
                f"X[{i}] has {n_left} left and {n_right} right items, but complete=True, so that "
                "every left item must have a partner"
            )
        tables.append(table)
    if not tables:
        raise ValueError("Found array with 0 sample(s): X must hold one sample or more")
    return tables


def feature_counts(table):
    """Return the numbers of features of pairs, left items and right items."""
    return tuple(array.shape[-1] for array in table)


def check_partners(y, tables, complete=False):
    """Check which right item each left item goes with.

    Parameters
    ----------
    y : sequence of n arrays of shape (n_left,), or array of two dimensions
        Numbers of right items, -1 for none. Never modified.
    tables : list of n tuples of three ndarrays
        Features, checked.
    complete : bool, default=False
        Whether each left item must have a partner.

    Returns
    -------
    partners : list of n ndarrays of shape (n_left,), int32
        Copies.

    Raises
    ------
    TypeError
        If y is of a wholly wrong type.
    ValueError
        Naming the sample and item: if lengths do not fit, a partner does not exist, or two items
        have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.inputs.matchings.gate import check_pair_features, check_partners
    >>> check_partners([[2, -1]], check_pair_features([np.zeros((2, 3, 1))]))
    [array([ 2, -1], dtype=int32)]
    """
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype != object:
        y = list(y)
    items = _items(y, "y", _PARTNERS)
    if len(items) != len(tables):
        raise ValueError(f"X has {len(tables)} samples but y has {len(items)}")
    return [
        _partners(item, i, *table[0].shape[:2], complete)
        for i, (item, table) in enumerate(zip(items, tables, strict=True))
    ]


def _partners(item, i, n_left, n_right, complete):
    """Return the partners of one sample."""
    if isinstance(item, (str, bytes)):
        raise TypeError(f"y[{i}] is a {type(item).__name__}, expected {_PARTNERS}")
    partners = as_array(item, f"y[{i}]")
    if partners.ndim != 1 or (partners.size and partners.dtype.kind not in "iu"):
        raise ValueError(
            f"y[{i}] must hold integers of shape ({n_left},), the partners of the left items of "
            f"X[{i}], got shape {partners.shape} and dtype {partners.dtype}"
        )
    if len(partners) != n_left:
        raise ValueError(f"y[{i}] has {len(partners)} partners, but X[{i}] has {n_left} left items")
    if n_left == 0:  # of any dtype
        return np.zeros(0, dtype=np.int32)
    least = 0 if complete else -1
    wrong = np.flatnonzero((partners < least) | (partners >= n_right))
    if len(wrong):
        k = wrong[0]
        expected = f"a right item from 0 to {n_right - 1}" if n_right else "no right item"
        raise ValueError(
            f"y[{i}][{k}] is {partners[k]}, expected {expected}"
            + (" (complete=True)" if complete else ", or -1 for none")
        )
    seen = {}
    for k, j in enumerate(partners.tolist()):
        if j >= 0 and seen.setdefault(j, k) != k:
            raise ValueError(f"y[{i}][{k}] is {j}, which is the partner of y[{i}][{seen[j]}] too")
    return partners.astype(np.int32)


def _table(item, name):
    """Return the features of one sample, pairs, left and right, as float64 in C order."""
    of_pairs = f"{name}[0]" if isinstance(item, tuple) else name
    if not isinstance(item, tuple):
        item = item, None, None
    if len(item) != 3:
        raise ValueError(
            f"{name} is a tuple of length {len(item)}, expected an array "
            f"{_SHAPES['pairs']} or a tuple (pairs, left, right)"
        )
    pairs = _features(item[0], of_pairs, "pairs")
    if pairs.shape[2] == 0:
        raise ValueError(f"{name} has 0 features of pairs, while a minimum of 1 is required.")
    table = [pairs]
    for axis, (array, kind) in enumerate(zip(item[1:], ("left", "right"), strict=True)):
        n = pairs.shape[axis]
        if array is None:
            table.append(np.empty((n, 0)))
            continue
        table.append(_features(array, f"{name}[{axis + 1}]", kind))
        if len(table[-1]) != n:
            raise ValueError(
                f"{name}[{axis + 1}] has {len(table[-1])} rows for the {n} {kind} items of its "
                "pairs"
            )
    return tuple(table)


def _features(values, name, kind):
    """Return an array of finite features as float64 in C order."""
    if isinstance(values, (str, bytes)) or not (
        hasattr(values, "__array__") or hasattr(values, "__len__")
    ):
        raise TypeError(f"{name} is a {type(values).__name__}, expected an array {_SHAPES[kind]}")
    array = as_array(values, name)
    n_dimensions = 3 if kind == "pairs" else 2
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} must have shape {_SHAPES[kind]}, got {array.shape}")
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        array = as_floats(array, name)
    if array.size and not (array.max() <= LARGEST and array.min() >= -LARGEST):
        place = np.argwhere(~(np.abs(array) <= LARGEST))[0].tolist()
        value = array[tuple(place)]
        what = "finite number" if not np.isfinite(value) else f"number of at most {LARGEST:g}"
        raise ValueError(f"{name}{place} is {value}, expected a {what}")
    return array


def _told(widths):
    """Return what error messages say of numbers of features."""
    pairs, left, right = widths
    return f"{pairs} features of pairs, {left} of left and {right} of right items"
