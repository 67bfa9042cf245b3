"""The sets of labels that trained multilabel models choose for many rows."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_indices, check_least, check_offsets
from sskit.oracles.label_sets.sets cimport ONE, LabelSetOracle


def best_sets(LabelSetOracle oracle, const double[:, ::1] scores, const int32_t[:, ::1] ends,
              const double[::1] pairs, unsigned char[:, ::1] sets):
    """Write the set with the highest score for each row.

    Parameters
    ----------
    oracle : LabelSetOracle
        Finds sets; a label of which it has half or more is taken.
    scores : ndarray of shape (n, n_labels)
        Scores of the labels.
    ends : ndarray of shape (n_edges + 1, 2), int32
        The two labels of each edge, and a spare row.
    pairs : ndarray of shape (n_edges + 1,)
        Scores of the edges, and a spare one.
    sets : ndarray of shape (n, n_labels), uint8
        Where they are written.
    """
    cdef Py_ssize_t i, j, n_labels = scores.shape[1], n_edges = pairs.shape[0] - 1
    cdef int32_t[::1] code = np.zeros(n_labels + n_edges + 1, dtype=np.int32)
    check_least(n_edges, 0, "the number of pairs")
    check_least(n_labels, 1, "the number of labels")
    check_least(ends.shape[0], n_edges + 1, "the number of edges, with a spare one,")
    check_equal(ends.shape[1], 2, "the number of ends")
    check_indices(ends, n_labels, "label")
    check_room(scores, sets)
    with nogil:
        for i in range(scores.shape[0]):
            oracle.find(n_labels, &scores[i, 0], n_edges, &ends[0, 0], &pairs[0], &code[0])
            for j in range(n_labels):
                sets[i, j] = code[j] >= ONE // 2


def climb(const double[:, ::1] scores, const int32_t[::1] indptr, const int32_t[::1] neighbours,
          const double[::1] pairs, Py_ssize_t max_sweeps, unsigned char[:, ::1] sets,
          double[:, ::1] gains):
    """Add and drop single labels until none gains anything: coordinate ascent.

    A label that gains nothing is dropped.

    Parameters
    ----------
    scores : ndarray of shape (n, n_labels)
        Scores of the labels.
    indptr : ndarray of shape (n_labels + 1,), int32
        Label l has the edges indptr[l] to indptr[l + 1] - 1.
    neighbours : ndarray of shape (2 n_edges,), int32
        The other labels of these edges.
    pairs : ndarray of shape (2 n_edges,)
        Scores of these edges.
    max_sweeps : int
        Largest number of sweeps over the labels of a row.
    sets : ndarray of shape (n, n_labels), uint8
        Changed in place.
    gains : ndarray of shape (n, n_labels)
        Where it is written what each label gains: the score with it less that without it, as
        it was found last.
    """
    cdef Py_ssize_t i, j, e, _sweep, n_labels = scores.shape[1]
    cdef double gain
    cdef bint moved
    check_equal(len(indptr), n_labels + 1, "the number of pointers")
    check_offsets(indptr, neighbours.shape[0], 0, "indptr")
    check_indices(neighbours, n_labels, "label")
    check_equal(len(pairs), len(neighbours), "the number of pairs")
    check_room(scores, sets)
    check_room(gains, sets)
    with nogil:
        for i in range(scores.shape[0]):
            for _sweep in range(max_sweeps):
                moved = False
                for j in range(n_labels):
                    gain = scores[i, j]
                    for e in range(indptr[j], indptr[j + 1]):
                        if sets[i, neighbours[e]]:
                            gain += pairs[e]
                    gains[i, j] = gain
                    if sets[i, j] != (gain > 0.0):
                        sets[i, j] = gain > 0.0
                        moved = True
                if not moved:
                    break


cdef int check_room(const double[:, ::1] scores, const unsigned char[:, ::1] sets) except -1:
    check_equal(sets.shape[0], scores.shape[0], "the number of sets")
    return check_equal(sets.shape[1], scores.shape[1], "the number of labels")
