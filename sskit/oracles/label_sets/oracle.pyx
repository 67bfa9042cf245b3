"""The contract of oracles of label sets (see the .pxd), and its door to NumPy arrays."""

import numpy as np

from sskit.core.checks cimport check_equal, check_indices

ONE = 1 << 30


cdef class LabelSetOracle:
    """Base of all; a subclass sets `exact` and overrides every method."""

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement find")

    cpdef LabelSetOracle fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")


cdef void write_pairs(Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends,
                      int32_t* code) noexcept nogil:
    """Complete the code of the labels by that of the edges: products, as labels are integral."""
    cdef Py_ssize_t e
    for e in range(n_edges):
        code[n_labels + e] = code[ends[2 * e]] & code[ends[2 * e + 1]]


def find_label_set(LabelSetOracle oracle, gains, edges, pairwise):
    """Ask an oracle for a set of labels.

    Parameters
    ----------
    oracle : LabelSetOracle
        The oracle.
    gains : ndarray of shape (n_labels,), float64
        Scores of the labels.
    edges : ndarray of shape (n_edges, 2), int32
        Pairs of different labels.
    pairwise : ndarray of shape (n_edges,), float64
        Scores of the pairs.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        The answer's y, between 0 and 1.
    pairs : ndarray of shape (n_edges,)
        Its z.
    """
    cdef Py_ssize_t n_labels = len(gains), n_edges = len(edges)
    check_indices(edges, n_labels, "label")
    check_equal(len(pairwise), n_edges, "the number of pairs")
    code = np.zeros(n_labels + n_edges, dtype=np.int32)
    cdef int32_t[::1] code_out = code
    cdef const double[::1] label = gains, pair = pairwise
    cdef const int32_t[:, ::1] ends = edges
    if n_labels:
        with nogil:
            oracle.find(
                n_labels, &label[0], n_edges, &ends[0, 0] if n_edges else NULL,
                &pair[0] if n_edges else NULL, &code_out[0]
            )
    values = code / float(ONE)
    return values[:n_labels], values[n_labels:]
