"""The sets of labels that trained multilabel models choose for many rows."""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.oracles.label_sets.sets cimport ONE, LabelSetOracle, SetScores

# Rounding may let single labels go back and forth between sets that are equally good.
cdef Py_ssize_t MAX_SWEEPS = 1000


def best_sets(LabelSetOracle oracle, const double[:, ::1] scores, const int32_t[:, ::1] ends,
              const double[::1] pairs, unsigned char[:, ::1] sets,
              const signed char[:, ::1] fixed=None):
    """Write the set with the highest score for each row.

    What a relaxation leaves undecided is rounded up; then, where there are pairs, single labels
    are added and dropped until none gains anything, and one that gains nothing is dropped.

    Parameters
    ----------
    oracle : LabelSetOracle
        Finds sets.
    scores : ndarray of shape (n, n_labels)
        Scores of the labels.
    ends : ndarray of shape (n_edges + 1, 2), int32
        The two labels of each edge, and a spare row.
    pairs : ndarray of shape (n_edges + 1,)
        Scores of the edges, and a spare one.
    sets : ndarray of shape (n, n_labels), uint8
        Where they are written.
    fixed : ndarray of shape (n, n_labels), int8, default=None
        1 for labels that are there, 0 for those that are not, -1 for what is to be found.
    """
    cdef SetScores s
    cdef Py_ssize_t i, j, n_labels = scores.shape[1], n_edges = pairs.shape[0] - 1
    cdef int32_t[::1] code = np.zeros(n_labels + n_edges + 1, dtype=np.int32)
    cdef double[::1] label = np.zeros(n_labels), gain = np.zeros(n_labels), pair = pairs.copy()
    s.n_labels, s.n_edges = n_labels, n_edges
    s.label, s.pair, s.ends = &label[0], &pair[0], &ends[0, 0]
    with nogil:
        for i in range(scores.shape[0]):
            memcpy(&label[0], &scores[i, 0], n_labels * sizeof(double))
            if fixed is not None:
                memcpy(&pair[0], &pairs[0], n_edges * sizeof(double))
                condition(&s, &fixed[i, 0], &label[0], &pair[0])
            oracle.find(&s, &code[0])
            for j in range(n_labels):
                sets[i, j] = code[j] >= ONE // 2
            if n_edges:
                climb(&s, &sets[i, 0], &gain[0])


cdef void condition(
    const SetScores* s, const signed char* fixed, double* label, double* pair
) noexcept nogil:
    """Put what fixed labels add to others into their scores, and let them be as they are."""
    cdef Py_ssize_t e, j
    cdef int32_t u, v
    for e in range(s.n_edges):
        u, v = s.ends[2 * e], s.ends[2 * e + 1]
        label[v] += pair[e] * (fixed[u] == 1)
        label[u] += pair[e] * (fixed[v] == 1)
        if fixed[u] >= 0 or fixed[v] >= 0:
            pair[e] = 0.0
    for j in range(s.n_labels):
        if fixed[j] >= 0:
            label[j] = 2 * fixed[j] - 1


cdef void climb(const SetScores* s, unsigned char* has, double* gain) noexcept nogil:
    """Add and drop single labels until none gains anything: coordinate ascent."""
    cdef Py_ssize_t e, j, side, _sweep
    cdef bint moved
    memcpy(gain, s.label, s.n_labels * sizeof(double))
    for e in range(s.n_edges):
        for side in range(2):
            gain[s.ends[2 * e + side]] += s.pair[e] * has[s.ends[2 * e + 1 - side]]
    for _sweep in range(MAX_SWEEPS):
        moved = False
        for j in range(s.n_labels):
            if has[j] == (gain[j] > 0.0):
                continue
            has[j], moved = not has[j], True
            for e in range(s.n_edges):
                for side in range(2):
                    if s.ends[2 * e + side] == j:
                        gain[s.ends[2 * e + 1 - side]] += s.pair[e] if has[j] else -s.pair[e]
        if not moved:
            break
