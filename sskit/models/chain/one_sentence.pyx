"""The labels of one sequence of sparse rows under a model of the first order.

This is the most frequent request. They are those of a `Request`, by the same sums and the same
search, but its objects, and the matrix of a sentence, take longer to make than a short sentence to
label.
"""

import numpy as np

from cpython.buffer cimport (
    PyBUF_FORMAT,
    PyBUF_SIMPLE,
    PyBUF_STRIDES,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from sskit.core.lanes cimport LANES, padded
from sskit.inputs.token_rows cimport read_sentence
from sskit.models.feature_map cimport copy_rows, score_rows
from sskit.models.features cimport are_modest
from sskit.models.rows cimport Rows
from sskit.oracles.chain.viterbi cimport Chain, ChainOracle

cdef type NDARRAY = np.ndarray
cdef object EMPTY = np.empty


# The weights of a model: pointers to numbers that others keep.
cdef struct Weights:
    Py_ssize_t n_states, n_features
    const double* coef
    Py_ssize_t by_state, by_feature          # from one weight of `coef` to the next
    const double* transitions                # (n_states, n_states)
    const double* start
    const double* end


cdef bint score_one(
    const double* values, const int32_t* indices, const int64_t* indptr, Py_ssize_t n_nodes,
    const Weights* w, vector[double]* nodes, vector[double]* table
) except -1 nogil:
    # the potentials of a sequence of at least one row, or false where scores might overflow
    cdef Py_ssize_t K = w.n_states, n = indptr[n_nodes], stride = padded(K), j, k
    cdef vector[double] weights
    cdef vector[int32_t] columns
    cdef Rows rows
    cdef const double* row
    cdef double* last
    for j in range(n):
        if not 0 <= indices[j] < w.n_features:
            return False
    weights.resize(n * K + LANES)
    columns.resize(n)
    for j in range(n):
        columns[j] = <int32_t>j
        row = w.coef + indices[j] * w.by_feature
        if w.by_state == 1:
            memcpy(weights.data() + j * K, row, K * sizeof(double))
            continue
        for k in range(K):
            weights[j * K + k] = row[k * w.by_state]
    if not are_modest(weights.data(), n * K) or (n and not are_modest(values, n)):
        return False
    memset(&rows, 0, sizeof(Rows))
    rows.values, rows.indices, rows.indptr = values, columns.data(), indptr
    rows.width = rows.further = n
    nodes.resize(n_nodes * stride)
    score_rows(&rows, 0, n_nodes, weights.data(), K, nodes.data(), stride)
    last = nodes.data() + (n_nodes - 1) * stride
    for k in range(K):
        nodes.data()[k] += w.start[k]
    for k in range(K):
        last[k] += w.end[k]
    table.resize(K * stride + LANES)
    copy_rows(w.transitions, K, K, stride, table.data())
    return True


cdef bint read_weights(
    Weights* w, const double[:, :] coef, const double[:, ::1] transitions,
    const double[::1] start, const double[::1] end
) noexcept:
    # whether the shapes of weights fit each other
    cdef Py_ssize_t K = start.shape[0]
    w.n_states, w.n_features = K, coef.shape[1]
    if not (
        K > 0 and coef.shape[0] == K and end.shape[0] == K
        and transitions.shape[0] == K and transitions.shape[1] == K
    ):
        return False
    w.coef = &coef[0, 0] if coef.shape[1] else NULL
    w.by_state = coef.strides[0] // <Py_ssize_t>sizeof(double)
    w.by_feature = coef.strides[1] // <Py_ssize_t>sizeof(double)
    w.transitions, w.start, w.end = &transitions[0, 0], &start[0], &end[0]
    return True


cdef bint score_arrays(
    const double[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr,
    const Weights* w, vector[double]* nodes, vector[double]* table
) except -1:
    cdef Py_ssize_t n_nodes = indptr.shape[0] - 1, n = indices.shape[0]
    if not (n_nodes > 0 and data.shape[0] == n and indptr[n_nodes] == n and indptr[0] == 0):
        return False
    with nogil:
        return score_one(
            &data[0] if n else NULL, &indices[0] if n else NULL, &indptr[0], n_nodes, w, nodes,
            table
        )


def best_labels(
    const double[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr,
    const double[:, :] coef, const double[:, ::1] transitions, const double[::1] start,
    const double[::1] end
):
    """Return the best labels of one sequence of sparse rows under a model of the first order.

    Parameters
    ----------
    data, indices, indptr : ndarray
        Of a CSR matrix of shape (n_tokens, n_features) in canonical format, with n_tokens >= 1.
    coef : ndarray of shape (n_states, n_features)
        Weights of the features.
    transitions : ndarray of shape (n_states, n_states)
        Weights of neighbours, finite.
    start, end : ndarray of shape (n_states,)
        Weights of the first label, and of the last, finite.

    Returns
    -------
    labels : ndarray of shape (n_tokens,), int32, or None
        None where shapes do not fit, or where features or their weights are not numbers, or so
        large that scores might overflow: the caller then finds the error.
    """
    cdef vector[double] nodes, table
    cdef ChainOracle oracle
    cdef Weights w
    if not read_weights(&w, coef, transitions, start, end):
        return None
    if not score_arrays(data, indices, indptr, &w, &nodes, &table):
        return None
    cdef Py_ssize_t n_nodes = indptr.shape[0] - 1, K = w.n_states
    labels = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    with nogil:
        oracle.best(
            Chain(nodes.data(), table.data(), NULL, n_nodes, K, NULL), NULL, NULL, 0.0, &out[0]
        )
    return labels


def label_marginals(
    const double[::1] data, const int32_t[::1] indices, const int64_t[::1] indptr,
    const double[:, :] coef, const double[:, ::1] transitions, const double[::1] start,
    const double[::1] end, double factor=1.0
):
    """Return the probabilities of the labels of one sequence, in proportion to exp(score).

    As `best_labels`, whose parameters it has.

    Parameters
    ----------
    data, indices, indptr, coef, transitions, start, end : ndarray
        As there.
    factor : float, default=1.0
        Of all scores, positive.

    Returns
    -------
    marginals : ndarray of shape (n_tokens, n_states) or None
        None as there.
    """
    cdef vector[double] nodes, table
    cdef ChainOracle oracle
    cdef Chain chain
    cdef Weights w
    cdef size_t j
    if not read_weights(&w, coef, transitions, start, end):
        return None
    if not score_arrays(data, indices, indptr, &w, &nodes, &table):
        return None
    cdef Py_ssize_t n_nodes = indptr.shape[0] - 1, K = w.n_states
    out = np.zeros((n_nodes, padded(K)))
    cdef double[:, ::1] marginals = out
    with nogil:
        if factor != 1.0:
            for j in range(nodes.size()):
                nodes[j] *= factor
            for j in range(table.size()):
                table[j] *= factor
        chain = Chain(nodes.data(), table.data(), NULL, n_nodes, K, NULL)
        oracle.begin(chain)
        oracle.forward(chain)
        oracle.backward(&marginals[0, 0], NULL, 0, NULL, 0)
    return out[:, :K].copy()


cdef class Buffers:
    """Buffers of arrays, which are released with the object: memoryviews take longer to make."""

    cdef Py_buffer[4] taken
    cdef int n

    def __dealloc__(self):
        cdef int k
        for k in range(self.n):
            PyBuffer_Release(&self.taken[k])

    # the next buffer of an ndarray of float64 with so many axes, or NULL
    cdef Py_buffer* take(self, array, int n_axes) except? NULL:
        cdef Py_buffer* buffer = &self.taken[self.n]
        if type(array) is not NDARRAY:
            return NULL
        PyObject_GetBuffer(array, buffer, PyBUF_STRIDES | PyBUF_FORMAT)
        self.n += 1
        if buffer.ndim != n_axes or buffer.format[0] != c"d" or buffer.format[1] != 0:
            return NULL
        return buffer

    # the numbers of an array without gaps, of shape (n,) or (n, n), none larger than a limit
    cdef const double* numbers(self, array, int n_axes, Py_ssize_t n, double limit) except? NULL:
        cdef Py_buffer* buffer = self.take(array, n_axes)
        cdef const double* values
        cdef Py_ssize_t k, step = sizeof(double)
        cdef bint within = True
        if buffer == NULL:
            return NULL
        for k in range(n_axes - 1, -1, -1):
            if buffer.shape[k] != n or (buffer.strides[k] != step and n > 1):
                return NULL
            step *= n
        values = <const double*>buffer.buf
        for k in range(n if n_axes == 1 else n * n):
            within &= fabs(values[k]) <= limit
        return values if within else NULL


# classes[codes], of classes of any type
cdef labels_of(classes, const vector[int32_t]& codes):
    cdef Py_ssize_t j, n = codes.size(), size
    cdef Py_buffer source, target
    kind = classes.dtype
    labels = EMPTY(n, kind)
    try:
        if kind.hasobject:
            raise BufferError
        PyObject_GetBuffer(classes, &source, PyBUF_SIMPLE)
    except (BufferError, ValueError):  # as of dates
        return classes.take([codes[j] for j in range(n)])
    try:
        PyObject_GetBuffer(labels, &target, PyBUF_WRITABLE)
        size = source.itemsize
        for j in range(n):
            memcpy(<char*>target.buf + j * size, <char*>source.buf + codes[j] * size, size)
        PyBuffer_Release(&target)
    finally:
        PyBuffer_Release(&source)
    return labels


def labels_of_tokens(
    columns, list sentences, classes, coef, transitions, start, end, double limit
):
    """Return the best labels of one sentence of tokens that are dicts of attributes.

    Parameters
    ----------
    columns : TokenColumns
        Of the features.
    sentences : list of list
        One sentence, which is not empty.
    classes : ndarray
        Of shape (n_states,) if all is as after a fit.
    coef, transitions, start, end : object
        As of `best_labels` in the same case.
    limit : float
        The largest absolute value that the last three may have.

    Returns
    -------
    labels : ndarray of shape (n_tokens,), or None
        Some of the classes. None as of `best_labels`, and where weights are no arrays of float64,
        or larger than the limit.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be.
    """
    cdef Buffers buffers = Buffers()
    cdef vector[double] values, nodes, table
    cdef vector[int32_t] indices, codes
    cdef vector[int64_t] indptr
    cdef ChainOracle oracle
    cdef Weights w
    cdef Py_ssize_t n_nodes, n_features
    cdef Py_buffer* buffer
    # first the errors of tokens, as with any other request
    n_features = read_sentence(columns, sentences, &values, &indices, &indptr)
    n_nodes = indptr.size() - 1
    try:
        buffer = buffers.take(coef, 2)
        if buffer == NULL or buffer.shape[0] == 0 or buffer.shape[1] != n_features:
            return None
        w.n_states, w.n_features, w.coef = buffer.shape[0], n_features, <const double*>buffer.buf
        w.by_state = buffer.strides[0] // <Py_ssize_t>sizeof(double)
        w.by_feature = buffer.strides[1] // <Py_ssize_t>sizeof(double)
        w.transitions = buffers.numbers(transitions, 2, w.n_states, limit)
        w.start = buffers.numbers(start, 1, w.n_states, limit)
        w.end = buffers.numbers(end, 1, w.n_states, limit)
    except (BufferError, ValueError):  # arrays of numbers that no buffer has
        return None
    if w.transitions == NULL or w.start == NULL or w.end == NULL or classes.shape != start.shape:
        return None
    if not score_one(
        values.data(), indices.data(), indptr.data(), n_nodes, &w, &nodes, &table
    ):
        return None
    codes.resize(n_nodes)
    with nogil:
        oracle.best(
            Chain(nodes.data(), table.data(), NULL, n_nodes, w.n_states, NULL), NULL, NULL, 0.0,
            codes.data()
        )
    return labels_of(classes, codes)
