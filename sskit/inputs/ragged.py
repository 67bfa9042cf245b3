"""Validation of sequences and labels: checked once and stacked."""

from itertools import chain

import numpy as np

from sskit._cures import (
    SENTENCES,
    cure_of_container,
    cure_of_labels,
    cure_of_rows,
    cure_of_sequence,
)
from sskit._labels import SETS, is_ignored, join_arrays, label_array, plain
from sskit._numbers import shown
from sskit.inputs.ragged_array import (
    RaggedArray,
    SoundArray,
    make_offsets,
    one_sequence,
    row_namer,
    split,
)
from sskit.inputs.stacking import as_matrix, check_finite, is_ready, stack_rows

__all__ = ["RaggedArray", "split", "stack_known_labels", "stack_labels", "stack_sequences"]

_MATRICES = "one matrix of shape (T_i, p) per sequence"
_LABELS = "one sequence of labels per sequence"
PREDICTS = "y has labels of dtype {}, but the model predicts {}"


def stack_sequences(
    X, *, name="X", n_features=None, estimator_name=None, allow_nan=False, allow_empty=False
):
    """Check a list of sequences and stack it into one matrix.

    Parameters
    ----------
    X : RaggedArray, sequence of n matrices (T_i, p), or ndarray of shape (n, T, p)
        Matrices are ndarrays, scipy sparse matrices or arrays, data frames or nested lists of
        numbers. Never modified.
    name : str, default="X"
        What error messages call `X`.
    n_features : int or None, default=None
        The number of columns that must be found; None takes any.
    estimator_name : str or None, default=None
        Who expects `n_features` columns, for the error message.
    allow_nan : bool, default=False
        Whether NaN and infinity pass.
    allow_empty : bool, default=False
        Whether sequences without rows pass, whatever their number of columns.

    Returns
    -------
    stacked : RaggedArray
        Its values are a C-contiguous ndarray of float64, float32 or float16, or, if any sequence
        is sparse, a CSR array of float64 or float32 in canonical format. Other numbers become
        float64, and so do those of sequences of several types unless all are float32 or float16.
        A RaggedArray that is so already, also a memory-mapped one, a 3-D array and matrices that
        are consecutive slices of one array are not copied, nor is a single sequence where
        `n_features` is known.

    Raises
    ------
    TypeError
        If `X` or one of its sequences is of a wholly wrong type.
    ValueError
        If there are no sequences, or one of them is empty, not two-dimensional, not numeric, not
        finite, or of another number of columns than the others.

    Examples
    --------
    >>> from sskit.inputs.ragged import stack_sequences
    >>> stacked = stack_sequences([[[1, 2], [3, 4]], [[5, 6]]])
    >>> stacked.values
    array([[1., 2.],
           [3., 4.],
           [5., 6.]])
    >>> stack_sequences([[[1, 2]], [[3]]])
    Traceback (most recent call last):
        ...
    ValueError: X[1] has 1 features but X[0] has 2
    """
    ready = ready_sequence(X, n_features)
    if ready is not None:
        check_filled(ready.offsets, name, allow_empty)
        return ready
    if isinstance(X, np.ndarray) and X.ndim == 3:
        n, length, width = X.shape
        X = RaggedArray(X.reshape(n * length, width), length * np.arange(n + 1))
    if isinstance(X, RaggedArray):
        offsets, pieces = X.offsets, [as_matrix(X.values, f"the values of {name}")]
    else:
        items = items_of(X, name, _MATRICES, text=SENTENCES)
        pieces = [as_matrix(x, f"{name}[{i}]", cure_of_rows) for i, x in enumerate(items)]
        offsets = make_offsets([x.shape[0] for x in pieces])
    check_filled(offsets, name, allow_empty)
    if offsets[-1] == 0:
        return RaggedArray(np.empty((0, n_features or max(x.shape[1] for x in pieces))), offsets)
    width = next(x.shape[1] for x in pieces if x.shape[0])
    widths = [x.shape[1] if x.shape[0] else width for x in pieces]
    check_widths(widths, n_features, estimator_name or "the model", name=name)
    values = stack_rows([x for x in pieces if x.shape[0]])
    if not allow_nan:
        check_finite(values, name, offsets)
    if isinstance(X, RaggedArray) and values is X.values:
        return X
    return RaggedArray(values, offsets)


def ready_sequence(X, n_features):
    """Return sequences that need no copy and have no fault, else None.

    These are a single sequence, the most frequent input of fitted estimators with a fixed number of
    features, or sequences that a vectoriser has just made. All others, faulty ones among them, take
    the general way.
    """
    if type(X) is SoundArray and n_features in (None, X.values.shape[1]):
        return X
    if n_features is None or type(X) not in (list, RaggedArray) or len(X) != 1:
        return None
    values = X[0] if type(X) is list else X.values
    return one_sequence(values, SoundArray) if is_ready(values, n_features) else None


def check_widths(widths, expected, estimator_name, what="features", name="X"):
    """Raise ValueError unless all matrices have as many columns, those that a model expects."""
    i = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if i is not None:
        raise ValueError(f"{name}[{i}] has {widths[i]} {what} but {name}[0] has {widths[0]}")
    if not widths[0]:
        raise ValueError(f"{name} has 0 {what}: there are no columns")
    if expected not in (None, widths[0]):
        raise ValueError(
            f"{name} has {widths[0]} {what}, but {estimator_name} is expecting {expected} {what} "
            "as input"
        )


def check_filled(offsets, name, allow_empty=False):
    """Raise ValueError unless there is a sequence and, but for `allow_empty`, each has a token."""
    if len(offsets) < 2:
        raise ValueError(f"Found array with 0 sample(s): {name} must hold one sample or more")
    if not allow_empty and not (lengths := np.diff(offsets)).all():
        raise ValueError(f"{name}[{lengths.argmin()}] is empty: a sequence needs one row or more")


def stack_labels(y, lengths=None, *, name="y", x_name="X"):
    """Check a list of label sequences against the sequences and stack it.

    Parameters
    ----------
    y : sequence of n sequences (T_i,), ndarray (n, T) or RaggedArray of 1-D values
        Labels of any type that sorts: strings, integers, booleans, ... Never modified.
    lengths : array-like of int of shape (n,), default=None
        The number of labels that every sequence must have; None takes any.
    name : str, default="y"
        What error messages call `y`.
    x_name : str, default="X"
        What error messages call the data that `y` belongs to.

    Returns
    -------
    flat : ndarray of shape (N,)
        The labels of all sequences, of an integer, boolean, float or string dtype; of objects
        where they are of other types, or strings of more than 64 characters. Members of
        enumerations of strings or numbers are what they are equal to.

    Raises
    ------
    TypeError
        If `y` or an item is of a wholly wrong type, or two labels cannot be sorted.
    ValueError
        If lengths differ, labels are missing, or floats that are not whole numbers.

    Examples
    --------
    >>> from sskit.inputs.ragged import stack_labels
    >>> stack_labels([["N", "V"], ["N"]], [2, 1])
    array(['N', 'V', 'N'], dtype='<U1')
    >>> stack_labels([["N", "V"], ["N"]], [2, 2])
    Traceback (most recent call last):
        ...
    ValueError: X[1] has 2 rows but y[1] has 1 labels
    """
    return stack_known_labels(y, lengths, name=name, x_name=x_name)[0]


def stack_known_labels(y, lengths, ignore_label=None, *, name="y", x_name="X"):
    """Check a list of label sequences, of which some tokens have none, and stack it.

    Parameters
    ----------
    y : sequence of n sequences (T_i,), ndarray (n, T) or RaggedArray of 1-D values
        As for `stack_labels`.
    lengths : array-like of int of shape (n,), or None
        The number of labels that every sequence must have; None takes any.
    ignore_label : object, default=None
        The label of tokens without one, which may be of another type than the labels; None means
        that there is no such label.
    name, x_name : str
        As for `stack_labels`.

    Returns
    -------
    flat : ndarray of shape (N,)
        As `stack_labels` returns them; where a token has none, any label that is in y, and
        `ignore_label` if none is.
    ignored : ndarray of shape (N,), bool
        Which tokens have `ignore_label`.

    Raises
    ------
    TypeError, ValueError
        As `stack_labels`; or if strings are written as `ignore_label`, which is a number, or the
        other way round.

    Examples
    --------
    >>> from sskit.inputs.ragged import stack_known_labels
    >>> flat, ignored = stack_known_labels([["N", -100], ["V"]], [2, 1], -100)
    >>> flat[~ignored]
    array(['N', 'V'], dtype='<U1')
    """
    return known_labels(*stack_entries(y, lengths, name=name, x_name=x_name), ignore_label)


def stack_entries(y, lengths=None, *, name="y", x_name="X"):
    """Stack a list of label sequences, whose labels are not checked yet.

    Parameters are those of `stack_labels`; entries may also be sets of labels.

    Returns
    -------
    flat : ndarray of shape (N,), or list
        A new list if stacking takes a loop over the labels.
    name_of : callable
        Returns what error messages call an entry, by its place.
    """
    count = None if lengths is None else len(lengths)
    items = items_of(y, name, _LABELS, stacked=(2,), count=count, x_name=x_name)
    listed = set(map(type, items)) <= {list, tuple}  # most often nothing is to be checked
    if not listed:
        items = [
            sequence_of(item, f"{name}[{i}]", cure=cure_of_labels) for i, item in enumerate(items)
        ]
    sizes = np.array(list(map(len, items)), dtype=np.int64)
    lengths = sizes if lengths is None else np.asarray(lengths)
    if (sizes != lengths).any():
        i = np.flatnonzero(sizes != lengths)[0]
        has = f"{lengths[i]} {'labels' if x_name == 'y_true' else 'rows'}"
        raise ValueError(f"{x_name}[{i}] has {has} but {name}[{i}] has {sizes[i]} labels")
    if listed:
        return list(chain.from_iterable(items)), row_namer(name, make_offsets(lengths))
    flat = join_arrays(items)
    if flat is None:
        lists = (item.tolist() if isinstance(item, np.ndarray) else item for item in items)
        flat = list(chain.from_iterable(lists))
    return flat, row_namer(name, make_offsets(lengths))


def sets_among(flat, name_of, ignore_label=None):
    """Return places and labels of sets of labels, of which one is right, among entries.

    Raises
    ------
    ValueError
        Naming the first set that is empty, or has `ignore_label` in it.
    """
    kinds = set() if isinstance(flat, np.ndarray) else set(map(type, flat))  # there are few
    if not any(issubclass(kind, SETS) for kind in kinds):
        return []
    sets = [(t, [*map(plain, entry)]) for t, entry in enumerate(flat) if isinstance(entry, SETS)]
    for t, labels in sets:
        if not labels or is_ignored(labels, ignore_label).any():
            inside = f"a set with ignore_label={ignore_label!r} in it" if labels else "an empty set"
            raise ValueError(
                f"{name_of(t)} is {inside}: one of its labels must be right; a token that may have "
                "any label has ignore_label alone"
            )
    return sets


def known_labels(flat, name_of, ignore_label=None):
    """Return the labels of entries, of which some are none; see `stack_known_labels`."""
    ignored = is_ignored(flat, ignore_label)
    known = np.flatnonzero(~ignored)
    if not len(known) and len(flat):
        return np.full(len(flat), plain(ignore_label)), ignored
    all_known, labels = len(known) == len(flat), flat
    if not all_known:
        labels = flat[known] if isinstance(flat, np.ndarray) else [flat[t] for t in known.tolist()]
    if not isinstance(labels, np.ndarray):
        labels = label_array(labels, lambda t: name_of(known[t]))
    if labels.dtype.kind == "f":
        bad = np.flatnonzero(~(np.isfinite(labels) & (labels == np.floor(labels))))
        if bad.size:
            message = "labels must not be missing, and numbers must be whole, not continuous"
            raise ValueError(f"{name_of(known[bad[0]])} is {labels[bad[0]]}: {message}")
    if all_known:
        if ignore_label is not None:
            check_spelling(labels, ignore_label, name_of)
        return labels, ignored
    filled = np.full(len(flat), labels[0], dtype=labels.dtype)
    filled[known] = labels
    return filled, ignored


def check_spelling(labels, ignore_label, name_of):
    """Raise ValueError if strings are written as the number that stands for no label.

    NumPy makes an array of strings of a list of strings with that number among them. Also if
    `ignore_label` is the string and labels are numbers.
    """
    if ignore_label is None or labels.dtype.kind not in "USbiuf":
        return
    if (labels.dtype.kind in "US") == isinstance(ignore_label, (str, bytes)):
        return
    alike = np.flatnonzero(labels.astype(str) == str(plain(ignore_label)))
    if len(alike):
        raise ValueError(
            f"{name_of(alike[0])} is {shown(labels[alike].tolist()[0])}, to which ignore_label="
            f"{ignore_label!r} is not equal, as one of them is a string; arrays of strings turn "
            "numbers among them into strings, lists do not"
        )


def check_kinds(true, pred, message="y_true has labels of dtype {} but y_pred of {}"):
    """Raise TypeError if true labels are strings and predicted ones numbers, or the like."""
    kinds = {kind if kind in "OSUVMm" else "number" for kind in (true.dtype.kind, pred.dtype.kind)}
    if len(kinds) > 1 and "O" not in kinds:
        raise TypeError(message.format(true.dtype, pred.dtype))


def sequence_of(item, label, what="labels", cure=cure_of_sequence):
    """Return what a sample has for its tokens as a 1-D ndarray, list or tuple.

    A message ends with what `cure` returns of the item.
    """
    entries = item.to_numpy() if hasattr(item, "iloc") and item.ndim == 1 else item
    array = isinstance(entries, np.ndarray)
    if not isinstance(entries, (list, tuple)) and (not array or entries.ndim != 1):
        shape = f" of shape {entries.shape}, which is not one-dimensional" if array else ""
        raise (ValueError if array else TypeError)(
            f"{label} must be a sequence of {what}, got {type(item).__name__}{shape}{cure(item)}"
        )
    return entries


def items_of(data, name, what, stacked=(), *, count=None, x_name="X", text=""):
    """Return the items of a container as a list; those of one size may be stacked in an array.

    Parameters
    ----------
    data : object
        As users give it.
    name : str
        What error messages call it.
    what : str
        Text of error messages for its items.
    stacked : tuple of int, default=()
        Dimensions that an array of all items may have; then they may be a RaggedArray, too.
    count : int, default=None
        How many items there must be; None takes any number but 0.
    x_name : str, default="X"
        What error messages call the data of which each sample has an item.
    text : str, default=""
        What they end with for a string.

    Returns
    -------
    items : list or tuple
        What was given if it is such.

    Raises
    ------
    TypeError, ValueError
        If it is anything else.
    """
    items = data.to_numpy() if hasattr(data, "iloc") and data.ndim == 1 else data
    if isinstance(items, np.ndarray):
        objects = items.ndim == 1 and (items.dtype == object or not items.size)
        items = list(items) if objects or items.ndim in stacked else None
    elif stacked and isinstance(items, RaggedArray):
        items = list(items)
    if not isinstance(items, (list, tuple)):
        shape, message = getattr(data, "shape", ()), f"{name} must be a list with {what}, got "
        cure = cure_of_container(data, name, text)
        if not isinstance(shape, tuple) or not shape:
            raise TypeError(message + type(data).__name__ + cure)
        raise ValueError(f"{message}{type(data).__name__} of shape {shape}{cure}")
    if count is None and not len(items):
        raise ValueError(f"Found array with 0 sample(s): {name} must hold one sample or more")
    if count not in (None, len(items)):
        raise ValueError(f"{x_name} has {count} samples but {name} has {len(items)}")
    return items
