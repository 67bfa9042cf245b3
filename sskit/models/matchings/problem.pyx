"""Matchings bound to data (see the .pxd)."""

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.object_hashes import sample_digests
from sskit.models.shapes import check_matchings
from sskit.oracles.matchings.assignment import assign

from sskit.core.problem cimport Problem

# Sums of larger scores may overflow, and with them the potentials of the assignment.
cdef double LARGEST = 1e300


cdef class MatchingProblem(WeightSpaceProblem):
    """Matchings between the left and the right items of each sample, bound to data.

    Parameters
    ----------
    tables : list of n_blocks tuples of three ndarrays, float64
        Features of pairs (n_left, n_right, p), of left items (n_left, q) and of right items
        (n_right, r), finite, in C order.
    partners : ndarray of shape (n_left items of all blocks,), int32
        The right item of each left item in the truth, -1 for none.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the blocks, summing to one.
    complete : bool
        Whether every left item must have a partner; then n_left <= n_right.
    mean : bool
        Whether the loss is the share of the left items with a wrong partner, or their number.
    """

    def __cinit__(self, tables, partners, block_weight, bint complete, bint mean):
        cdef MatchingRows rows
        # not the list, which somebody may change: pointers to its memory are kept
        tables = tuple(tables)
        n_left, n_right = check_matchings(tables, partners, block_weight, complete)
        for pairs, left, right in tables:
            rows.n_left, rows.n_right = pairs.shape[0], pairs.shape[1]
            rows.pairs, rows.left, rows.right = start3(pairs), start2(left), start2(right)
            self.rows_of.push_back(rows)
        self.tables = tables
        self.partners = partners
        self.starts = np.concatenate([[0], np.cumsum(n_left)]).astype(np.int32)
        self.block_weight = block_weight
        self.complete, self.mean = complete, mean
        pairs, left, right = tables[0]
        self.n_pair_features = pairs.shape[2]
        self.n_left_features, self.n_right_features = left.shape[1], right.shape[1]
        self.n_blocks = len(tables)
        self.n_weights = (
            self.n_pair_features + 1 + self.n_left_features + self.n_right_features
        )
        self.max_statistics = self.max_support = self.n_weights
        self.max_code_length = max(1, max(n_left))
        self.exact = self.costly = True
        columns = n_right if complete else n_right + n_left
        self.room = np.zeros(max(n_left * columns))
        self.table = self.room
        self.alone = np.zeros(max(n_right))
        self.psi = np.zeros(self.n_weights)

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return max(1, self.rows_of[i].n_left)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef const MatchingRows* rows = &self.rows_of[i]
        cdef Py_ssize_t k, other
        if rows.n_left == 0:
            return code[0] == -1
        for k in range(rows.n_left):
            if not -1 <= code[k] < rows.n_right or (self.complete and code[k] == -1):
                return False
            for other in range(k):
                if code[k] >= 0 and code[other] == code[k]:
                    return False
        return True

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef Py_ssize_t n_left = self.rows_of[i].n_left
        if n_left == 0:
            code[0] = -1
        else:
            memcpy(code, &self.partners[self.starts[i]], n_left * sizeof(int32_t))
        return 0

    cdef double unit(self, Py_ssize_t i) noexcept nogil:
        return 1.0 / self.rows_of[i].n_left if self.mean else 1.0

    cdef void gains(
        self, Py_ssize_t i, const double* w, double* out, Py_ssize_t stride
    ) noexcept nogil:
        cdef const MatchingRows* rows = &self.rows_of[i]
        cdef Py_ssize_t p = self.n_pair_features
        cdef Py_ssize_t q = self.n_left_features, r = self.n_right_features, k, j
        cdef const double* pair = rows.pairs
        cdef double alone
        for j in range(rows.n_right):
            self.alone[j] = dot(rows.right + j * r, w + p + 1 + q, r)
        for k in range(rows.n_left):
            alone = dot(rows.left + k * q, w + p + 1, q)
            for j in range(rows.n_right):
                out[k * stride + j] = dot(pair, w, p) + w[p] - alone - self.alone[j]
                pair += p

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t n_left = self.rows_of[i].n_left, n_right = self.rows_of[i].n_right
        cdef Py_ssize_t n_columns = n_right if self.complete else n_right + n_left
        cdef Py_ssize_t k, j
        cdef const int32_t* truth
        cdef double cost
        cdef double* row
        loss[0] = 0.0
        if n_left == 0:
            code[0] = -1
            return 0
        truth = &self.partners[self.starts[i]]
        cost = loss_weight * self.unit(i)
        row = &self.table[0]
        self.gains(i, theta, row, n_columns)
        for k in range(n_left):
            for j in range(n_right):
                row[j] = clipped(row[j] + (0.0 if j == truth[k] else cost))
            for j in range(n_right, n_columns):
                row[j] = 0.0 if truth[k] == -1 else cost
            row += n_columns
        with gil:
            self.match_items(n_left, n_right, n_columns, code)
        for k in range(n_left):
            loss[0] += code[k] != truth[k]
        loss[0] *= self.unit(i)
        return 0

    cdef int match_items(
        self, Py_ssize_t n_left, Py_ssize_t n_right, Py_ssize_t n_columns, int32_t* code
    ) except -1:
        cdef const int64_t[::1] columns
        cdef Py_ssize_t k
        columns = assign(self.room[:n_left * n_columns].reshape(n_left, n_columns))
        for k in range(n_left):
            code[k] = <int32_t>columns[k] if columns[k] < n_right else -1
        return 0

    cdef void add_pair(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j, double sign
    ) noexcept nogil:
        cdef const MatchingRows* rows = &self.rows_of[i]
        cdef Py_ssize_t p = self.n_pair_features
        cdef Py_ssize_t q = self.n_left_features, r = self.n_right_features, e
        cdef double* psi = &self.psi[0]
        if j < 0:
            return
        for e in range(p):
            psi[e] += sign * rows.pairs[(k * rows.n_right + j) * p + e]
        psi[p] += sign
        for e in range(q):
            psi[p + 1 + e] -= sign * rows.left[k * q + e]
        for e in range(r):
            psi[p + 1 + q + e] -= sign * rows.right[j * r + e]

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Py_ssize_t first = self.starts[i], k, e, n = 0
        self.psi[:] = 0.0
        for k in range(self.rows_of[i].n_left):
            if code[k] != self.partners[first + k]:
                self.add_pair(i, k, self.partners[first + k], 1.0)
                self.add_pair(i, k, code[k], -1.0)
        for e in range(self.n_weights):
            if self.psi[e] != 0.0:
                index[n] = <int32_t>e
                value[n] = self.psi[e]
                n += 1
        return n

    cpdef Problem fork(self):
        return MatchingProblem(
            self.tables, np.asarray(self.partners), self.block_weight, self.complete, self.mean
        )

    def fingerprint(self):
        """Return by what the same features, matchings and losses are known again."""
        partners = np.split(np.array(self.partners), np.asarray(self.starts)[1:-1])
        return Fingerprint(
            {
                "the model": "matchings",
                "complete": bool(self.complete),
                "loss": "hamming" if self.mean else "hamming_sum",
            },
            {"X": sample_digests(self.tables, "X"), "y": sample_digests(partners, "y")},
        )


cdef const double* start3(array):
    """Return where an array begins, NULL if it is empty."""
    cdef const double[:, :, ::1] view = array
    return &view[0, 0, 0] if array.size else NULL


cdef const double* start2(array):
    """Return where an array begins, NULL if it is empty."""
    cdef const double[:, ::1] view = array
    return &view[0, 0] if array.size else NULL


cdef inline double dot(const double* row, const double* w, Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t e
    for e in range(n):
        total += row[e] * w[e]
    return total


cdef inline double clipped(double score) noexcept nogil:
    """Return a score as the assignment can take it; what overflows is found after the fit."""
    if score != score:
        return 0.0
    return min(max(score, -LARGEST), LARGEST)
