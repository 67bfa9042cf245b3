"""A fast check of arrays in the usual form, in one pass; all others go to the full validation."""

import numpy as np

from cpython.buffer cimport (
    PyBUF_ANY_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

ctypedef fused index_t:
    int32_t
    int64_t

ctypedef fused float_t:
    double
    float

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
INDICES = (np.dtype(np.int32), np.dtype(np.int64))
cdef type NDARRAY = np.ndarray
cdef double LARGEST = np.finfo(np.float64).max


def all_within(array, double limit=LARGEST):
    """Return whether an array is one of float64 whose numbers are no larger than a limit.

    Parameters
    ----------
    array : object
        Anything.
    limit : float, default=largest finite number
        Of absolute values.

    Returns
    -------
    within : bool
        False for NaN, and for other dtypes and arrays that are not contiguous, too.
    """
    cdef Py_buffer floats
    cdef const double* values
    cdef Py_ssize_t j
    cdef bint within
    if not take(array, &floats):
        return False
    within = floats.itemsize == sizeof(double)
    values = <const double*>floats.buf
    for j in range(floats.len // <Py_ssize_t>sizeof(double) if within else 0):
        within &= fabs(values[j]) <= limit
    PyBuffer_Release(&floats)
    return within


cdef bint is_matrix(array, width):
    """Return whether an array is a C-contiguous matrix of so many columns of finite float64."""
    if type(array) is not np.ndarray or array.ndim != 2 or array.shape[1] != width:
        return False
    return array.size > 0 and array.flags.c_contiguous and all_within(array)


cdef bint take(array, Py_buffer* floats) except -1:
    """Return whether an object is an ndarray of floats without gaps in its memory, in any order; if
    so, the caller must release the buffer."""
    if type(array) is not NDARRAY:
        return False
    try:
        PyObject_GetBuffer(array, floats, PyBUF_ANY_CONTIGUOUS | PyBUF_FORMAT)
    except ValueError:  # it has gaps, or a byte order that is not native
        return False
    if floats.format[0] in b"dfe" and floats.format[1] == 0:
        return True
    PyBuffer_Release(floats)
    return False


def all_finite(array):
    """Return whether an array has floats only, all of them finite.

    Parameters
    ----------
    array : object
        Anything.

    Returns
    -------
    finite : bool
        False for what is no ndarray of float64, float32 or float16, or not contiguous, too.
        Nothing is copied.
    """
    cdef Py_buffer floats
    cdef Py_ssize_t n
    cdef bint finite
    if not take(array, &floats):
        return False
    n = floats.len // floats.itemsize
    if floats.itemsize == sizeof(double):
        finite = are_finite(<const double*>floats.buf, n)
    elif floats.itemsize == sizeof(float):
        finite = are_finite(<const float*>floats.buf, n)
    else:
        finite = are_finite_halves(<const uint16_t*>floats.buf, n)
    PyBuffer_Release(&floats)
    return finite


cdef bint are_finite_halves(const uint16_t* values, Py_ssize_t n) noexcept nogil:
    """Return whether no exponent of float16 is the one of infinities and NaN."""
    cdef Py_ssize_t j, stop, first = 0
    cdef uint16_t wrong = 0
    for first in range(0, n, 4096):
        stop = min(first + 4096, n)
        for j in range(first, stop):
            wrong |= (values[j] & 0x7C00) == 0x7C00
        if wrong:
            return False
    return True


cdef bint are_finite(const float_t* values, Py_ssize_t n) noexcept nogil:
    """Return whether all numbers are finite: zero times another is NaN."""
    cdef float_t sums[8]
    cdef float_t rest = 0.0
    cdef Py_ssize_t j, k
    for k in range(8):
        sums[k] = 0.0
    for j in range(0, n - 7, 8):
        for k in range(8):
            sums[k] += values[j + k] * <float_t>0.0
    for k in range(8):
        rest += sums[k]
    for j in range(n - n % 8, n):
        rest += values[j] * <float_t>0.0
    return rest == 0.0


def is_canonical(X):
    """Return whether a CSR matrix is sound and in canonical format.

    Parameters
    ----------
    X : CSR matrix
        Its arrays may be anything.

    Returns
    -------
    canonical : bool
        Whether its arrays are contiguous, float64 or float32 with one of int32 and int64, its
        pointers sound, and the columns of each row within the matrix and rising.
    """
    values, indices, indptr = X.data, X.indices, X.indptr
    for array, dtypes in ((values, FLOATS), (indices, INDICES), (indptr, INDICES)):
        if type(array) is not np.ndarray or array.dtype not in dtypes or array.ndim != 1:
            return False
        if not array.flags.c_contiguous:
            return False
    n_rows, n_columns = X.shape
    if indices.dtype != indptr.dtype:
        return False
    if indices.itemsize == sizeof(int64_t):
        return rows_rise[int64_t](indices, indptr, n_rows, n_columns, len(values))
    return rows_rise[int32_t](indices, indptr, n_rows, n_columns, len(values))


cdef bint rows_rise(const index_t[::1] indices, const index_t[::1] indptr, Py_ssize_t n_rows,
                    Py_ssize_t n_columns, Py_ssize_t n_values):
    """Return whether the columns of each row rise within the matrix, and pointers are sound."""
    cdef Py_ssize_t t, j, before, n = min(indices.shape[0], n_values)
    if indptr.shape[0] != n_rows + 1 or indptr[0] != 0:
        return False
    for t in range(n_rows):
        before = -1
        if not indptr[t] <= indptr[t + 1] <= n:
            return False
        for j in range(indptr[t], indptr[t + 1]):
            if not before < indices[j] < n_columns:
                return False
            before = indices[j]
    return True


def ready_ends(edges, Py_ssize_t n_nodes):
    """Return edges as kernels read them, or None if something is unusual or wrong.

    Parameters
    ----------
    edges : object
        Anything.
    n_nodes : int
        Number of nodes.

    Returns
    -------
    ends : ndarray of shape (n_edges, 2), int32, or None
        The two nodes of each edge, which exist and differ; C-contiguous.
    """
    if type(edges) is not np.ndarray or edges.ndim != 2 or not edges.flags.c_contiguous:
        return None
    if edges.shape[1] != 2 or not 0 < edges.shape[0] or not n_nodes <= 2**31 - 1:
        return None
    if edges.dtype == np.int64:
        ends = np.empty(edges.shape, dtype=np.int32)
        return ends if ends_are_sound[int64_t](edges, n_nodes, ends) else None
    if edges.dtype == np.int32:
        return edges if ends_are_sound[int32_t](edges, n_nodes, None) else None
    return None


cdef bint ends_are_sound(const index_t[:, ::1] edges, Py_ssize_t n_nodes, int32_t[:, ::1] ends):
    """Return whether all edges join two different nodes; write them unless `ends` is None."""
    cdef Py_ssize_t e
    cdef index_t a, b
    cdef bint sound = True
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        sound &= (a >= 0) & (b >= 0) & (a < n_nodes) & (b < n_nodes) & (a != b)
        if ends is not None:
            ends[e, 0], ends[e, 1] = <int32_t>a, <int32_t>b
    return sound


def ready_graph(X, n_features, n_edge_features):
    """Return the arrays of the only graph of a list, or None if something is unusual or wrong.

    Parameters
    ----------
    X : object
        Anything.
    n_features, n_edge_features : object
        Numbers of columns, if they are such.

    Returns
    -------
    features : ndarray of shape (n_nodes, n_features), float64
        Finite; C-contiguous.
    ends : ndarray of shape (n_edges, 2), int32
        From `ready_ends`; there is an edge.
    edge_features : ndarray of shape (n_edges, n_edge_features), float64
        Finite; C-contiguous.
    """
    if type(X) is not list or len(X) != 1 or type(X[0]) is not tuple:
        return None
    graph = X[0]
    if len(graph) != 3:
        return None
    features, edges, edge_features = graph
    if not is_matrix(features, n_features):
        return None
    ends = ready_ends(edges, len(features))
    if ends is None or not is_matrix(edge_features, n_edge_features):
        return None
    return (features, ends, edge_features) if len(edge_features) == len(ends) else None


def ready_tree(parents, Py_ssize_t n_nodes):
    """Return the edges of a tree, or None if something is unusual or wrong.

    Parameters
    ----------
    parents : object
        Anything.
    n_nodes : int
        Number of nodes.

    Returns
    -------
    ends : ndarray of shape (n_edges, 2), int32, or None
        Parent and child of each edge, by rising child.
    marks : ndarray of shape (n_nodes,), uint8, or None
        1 for a root, 2 for a leaf, 3 for both, else 0.
    """
    nothing = None, None
    if type(parents) is not np.ndarray or parents.ndim != 1 or len(parents) != n_nodes:
        return nothing
    if parents.dtype.kind != "i" or not 0 < n_nodes <= 2**31 - 1:
        return nothing
    cdef const int64_t[:] up = parents.astype(np.int64, copy=False)
    cdef Py_ssize_t v, u, n_edges = 0
    for v in range(n_nodes):
        if not -1 <= up[v] < n_nodes:
            return nothing
        n_edges += up[v] >= 0
    ends, marks = np.empty((n_edges, 2), dtype=np.int32), np.empty(n_nodes, dtype=np.uint8)
    cdef int32_t[:, ::1] edges = ends
    cdef uint8_t[::1] mark = marks
    cdef int64_t[::1] seen = np.full(n_nodes, -1)  # from which node a walk upwards first passed
    mark[:] = 2
    n_edges = 0
    for v in range(n_nodes):
        mark[v] |= up[v] < 0
        u = v
        while u >= 0 and seen[u] < 0:
            seen[u] = v
            u = up[u]
        if u >= 0 and seen[u] == v:
            return nothing  # a cycle
        if up[v] >= 0:
            mark[up[v]] &= 1
            edges[n_edges, 0], edges[n_edges, 1] = <int32_t>up[v], <int32_t>v
            n_edges += 1
    return ends, marks
