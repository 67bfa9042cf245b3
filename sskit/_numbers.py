"""Numbers given by users: converted to float64, or refused by name."""

from contextlib import suppress
from multiprocessing import current_process
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)
from sklearn.utils import check_scalar

LARGEST_COUNT = 2**31 - 1
LOCAL_BACKENDS = (SequentialBackend, ThreadingBackend, LokyBackend, MultiprocessingBackend)
LARGEST = float(np.finfo(np.float64).max)
# NumPy would read numbers from strings, and NaN from None.
NO_NUMBERS = (str, bytes, type(None))


def as_floats(values, name):
    """Return numbers as a new float64 array in C order.

    Parameters
    ----------
    values : array-like
        Real numbers.
    name : str
        Their name in error messages.

    Returns
    -------
    array : ndarray, float64
        A copy; numbers that are too large are infinite.

    Raises
    ------
    ValueError
        If they are rows of different lengths; naming the first that is no real number.
    """
    array = as_array(values, name)
    kind = array.dtype.kind
    if kind in "biuf" or (
        kind == "O" and not any(isinstance(value, NO_NUMBERS) for value in array.flat)
    ):
        with suppress(TypeError, ValueError, OverflowError), np.errstate(over="ignore"):
            return np.array(array, dtype=np.float64, order="C")
    for place, value in np.ndenumerate(array):
        try:
            if kind != "O" or isinstance(value, NO_NUMBERS):
                raise TypeError
            float(value)
        except (TypeError, ValueError, OverflowError):
            entry = f"{name}{list(place) if place else ''}"
            raise ValueError(f"{name} must hold numbers, but {entry} is {shown(value)}") from None
    return np.empty(array.shape)  # for strings, if there are none


def array(values, name, shape, kind="numbers", *, low=-np.inf, high=np.inf, where=""):
    """Return values as an array of a declared shape, kind and range.

    Parameters
    ----------
    values : object
        As the user gave it.
    name : str
        What error messages call it.
    shape : tuple of int or str
        Its sizes; a word stands for any but 0.
    kind : {"numbers", "integers"}, default="numbers"
        Numbers are finite, and become float64.
    low, high : float, default=-inf, inf
        Range of all entries, both ends included.
    where : str, default=""
        Text of error messages after the name and the place of an entry.

    Returns
    -------
    array : ndarray
        New, if of numbers.

    Raises
    ------
    ValueError
        If the values are no such array, naming the first entry that is out of range.
    """
    whole = kind == "integers"
    checked = as_array(values, name + where) if whole else as_floats(values, name + where)
    fits = len(shape) == checked.ndim and all(
        actual > 0 if isinstance(size, str) else size == actual
        for size, actual in zip(shape, checked.shape, strict=True)
    )
    if not fits or (whole and checked.dtype.kind not in "iu"):
        expected = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
        raise ValueError(
            f"{name}{where} must be {kind} of shape ({expected}), got shape {checked.shape} and "
            f"dtype {np.asarray(values).dtype}"
        )
    low, high = (low, high) if whole else (max(low, -LARGEST), min(high, LARGEST))
    if checked.size and not (low <= checked.min() and checked.max() <= high):  # nor if one is NaN
        place = tuple(np.argwhere(~((low <= checked) & (checked <= high)))[0].tolist())
        bounds = [f">= {low}"] * (low > -LARGEST) + [f"<= {high}"] * (high < LARGEST)
        raise ValueError(
            f"{name}[{', '.join(map(str, place))}]{where} is {checked[place]}, expected "
            f"{kind if whole else 'finite numbers'} {' and '.join(bounds)}".rstrip()
        )
    return checked


def as_array(values, name):
    """Return values as an array, or raise ValueError for rows of different lengths.

    Parameters
    ----------
    values : array-like
        Of any type.
    name : str
        Their name in error messages.

    Returns
    -------
    array : ndarray
        Not a copy if it is an array already.

    Raises
    ------
    ValueError
        If there are rows of different lengths.
    """
    try:
        return np.asarray(values)
    except (ValueError, TypeError):
        raise ValueError(f"{name} is no array: its items have different shapes") from None
    except OverflowError:
        raise ValueError(f"{name} holds a number that is too large") from None


def shown(value):
    """Return what error messages show of a value, at most 80 characters."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python writes no integers of so many digits
        return f"an integer of {value.bit_length()} bits"


def capped(count, most=LARGEST_COUNT):
    """Return a count, or, if it is larger, the largest that compiled loops can count to.

    Parameters
    ----------
    count : int
        Checked to be one.
    most : int, default=2**31 - 1
        The largest.

    Returns
    -------
    count : int
        Fits 32 bits by default.
    """
    return min(int(count), most)


def count_threads(n_jobs):
    """Return the number of threads of this process that an estimator may use.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn. None is one thread where joblib sends tasks to other machines, such as
        with the backend "dask": its number of workers is that of the cluster.

    Returns
    -------
    n : int
        At least 1.
    """
    backend, most = get_active_backend()
    local = isinstance(backend, LOCAL_BACKENDS)
    if n_jobs is None:
        n_jobs = most if local else 1
    # joblib allows daemons, as workers of Dask are, no processes of their own; threads are none
    of_processes = isinstance(backend, (LokyBackend, MultiprocessingBackend))
    if not local or (of_processes and current_process().daemon):
        backend = ThreadingBackend()
    return backend.effective_n_jobs(n_jobs)


def n_workers(n_jobs, n_tasks):
    """Return the number of workers of joblib that some tasks can use.

    Parameters
    ----------
    n_jobs : int or None
        As joblib takes it; the largest would not fit its counters.
    n_tasks : int
        Number of tasks.

    Returns
    -------
    n : int
        At least 1.
    """
    return max(1, min(effective_n_jobs(n_jobs), n_tasks))


def shortened(items, most=5):
    """Return a list for error messages: its first items, and how many more there are."""
    listed = ", ".join(repr(item) for item in items[:most])
    return f"{listed} and {len(items) - most} more" if len(items) > most else listed


def check_bool(value, name):
    """Raise TypeError unless a value, which error messages call by this name, is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")


def check_integer(value, name, least=0, most=None):
    """Raise unless a value is an integer in a range.

    Parameters
    ----------
    value : object
        As given.
    name : str
        What error messages call it.
    least, most : int
        Both ends; None for `most`: there is none.

    Raises
    ------
    TypeError
        If it is no integer; True and False are none.
    ValueError
        If it is outside the range.
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an instance of int, not bool")
    check_scalar(value, name, Integral, min_val=least, max_val=most)


def check_k(k, name="k"):
    """Raise ValueError if k is no number of labellings to return.

    Parameters
    ----------
    k : object
        As given.
    name : str, default="k"
        What error messages call it.

    Raises
    ------
    ValueError
        If it is no positive integer, or so large that there cannot be room for as many.
    """
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k < 2**31:
        raise ValueError(f"{name} must be a positive integer, got {shown(k)}: up to 2**31 - 1")


def check_compressed(matrix):
    """Raise ValueError unless the arrays of a CSR, CSC or BSR matrix describe one.

    SciPy's own check takes differences of the pointers, which may overflow: what passes it then is
    read, and written, far outside of its arrays.
    """
    if np.any(matrix.indptr[1:] < matrix.indptr[:-1]):
        raise ValueError("index pointer values must form a non-decreasing sequence")
    matrix.check_format(full_check=True)


def checked_csr(matrix, name):
    """Return a sparse matrix of any format as CSR; SciPy trusts its arrays.

    Parameters
    ----------
    matrix : sparse matrix or array
        Two-dimensional.
    name : str
        What it is, for the error message.

    Returns
    -------
    csr : CSR matrix or array
        A new object, which may share arrays with a CSR matrix; its rows may be in any order.

    Raises
    ------
    ValueError
        If its arrays do not describe a matrix.
    """
    kind, shape = type(matrix), matrix.shape
    try:
        if matrix.format == "coo":
            matrix = kind((matrix.data, (matrix.row, matrix.col)), shape=shape)
        elif matrix.format in ("csr", "csc", "bsr"):
            matrix = kind((matrix.data, matrix.indices, matrix.indptr), shape=shape)
            check_compressed(matrix)
        elif matrix.format == "lil" and [*map(len, matrix.rows)] != [*map(len, matrix.data)]:
            raise ValueError("rows and data have other lengths")
        csr = matrix.tocsr()
        if csr is not matrix:  # of lists and dicts nothing has been checked
            check_compressed(csr)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name} is a broken {matrix.format.upper()} matrix: {error}") from None
    return csr
