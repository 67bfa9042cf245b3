"""Functions of a kernel space within a weight vector (see the .pxd)."""

import numpy as np

from libc.stddef cimport size_t
from libc.string cimport memset

from sskit.core.checks cimport check_equal, check_least, check_offsets
from sskit.core.stop cimport Stop
from sskit.models.kernel.rows cimport NoRows
from sskit.models.kernel.working_rows cimport WorkingRows

from sskit.core.stop import CutShort

# Rows that may be added before F is worked out afresh: the errors of 2^-53 add up to 2^-32.
cdef Py_ssize_t MOST_ADDED = 2**21

# Coefficients that are smaller than this share of the largest are what rounding has left.
cdef double NOISE = 2.0**-40

cdef int32_t HERE = 0


cdef class KernelExpansion:
    """Functions of a kernel space, one for each state.

    Parameters
    ----------
    rows : KernelRows
        The kernel matrix of the training rows.
    n_states : int
        Number of states.
    place : int
        Where they begin in a weight vector.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Block i has the rows offsets[i] to offsets[i + 1] - 1.
    labels : ndarray of shape (n_rows,), int32, default=None
        The true states, where the code of a plane is a state for each row of its block: a step
        needs the rows where the two differ. None if it needs all.
    """

    def __cinit__(self, KernelRows rows, Py_ssize_t n_states, Py_ssize_t place, offsets,
                  labels=None):
        check_least(n_states, 0, "n_states")
        check_least(place, 0, "place")
        self.rows = self.current = rows
        self.none = NoRows(None, rows.n_rows, 0, 1)
        self.working = WorkingRows(rows, n_states)
        self.n_states = n_states
        self.n_rows = rows.n_rows
        self.place = place
        self.most_added = MOST_ADDED
        self.stop = place + 2 * n_states * rows.n_rows
        check_offsets(offsets, rows.n_rows, 1, "offsets")
        if labels is not None:
            check_equal(len(labels), rows.n_rows, "the number of labels")
        self.offsets, self.labels = offsets, labels
        self.is_kernel_space = True
        self.batch_size = rows.batch_size(len(offsets) - 1)
        self.value_slice = slice(place, place + n_states * rows.n_rows)

    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil:
        cdef Py_ssize_t k, t, place
        cdef const double* values = w + self.place + first
        if w == self.working.v:
            for t in range(count):
                place = self.working.place_of[first + t]
                for k in range(self.n_states):
                    scores[t * stride + k] += self.working.value[k, place]
            return
        for k in range(self.n_states):
            for t in range(count):
                scores[t * stride + k] += values[t]
            values += self.n_rows

    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil:
        cdef Py_ssize_t a, k, t, n_rows = self.n_rows
        cdef double* values = v + self.place
        cdef double* coefficients = values + self.n_states * n_rows
        cdef double factor
        if v == self.working.v:
            return self.add_working(first, active, n_active, step, direction, stride, coefficients)
        self.current.require(first, active, n_active)
        for a in range(n_active):
            t = first + active[a]
            for k in range(self.n_states):
                factor = step * direction[active[a] * stride + k]
                if factor != 0.0:
                    self.current.add(t, factor, 0, n_rows, values + k * n_rows)
                    coefficients[k * n_rows + t] += factor
        return 0

    cdef int add_working(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* coefficients
    ) except -1 nogil:
        cdef Py_ssize_t a, k, t, place
        cdef double factor
        for a in range(n_active):
            t = first + active[a]
            place = self.working.place_of[t]
            if not self.working.known[place]:
                self.current.require(t, &HERE, 1)
                self.working.learn(t)
            for k in range(self.n_states):
                factor = step * direction[active[a] * stride + k]
                if factor != 0.0:
                    self.working.add(place, k, factor)
                    coefficients[k * self.n_rows + t] += factor
        return 0

    def begin_steps(self, blocks, double[::1] v not None):
        """Let steps of these blocks change v at their own rows only; see `FeatureSpace`."""
        check_least(v.shape[0], self.stop, "the number of weights")
        offsets = np.asarray(self.offsets)
        columns = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in blocks])
        if len(columns) > self.rows.room:
            return False  # rows would leave memory before they have been added
        self.working.begin(columns, self.split(&v[0])[0], <size_t>&v[0])
        return True

    def end_steps(self, double[::1] v not None, bint done):
        """Let v follow at all other rows; see `FeatureSpace`."""
        check_least(v.shape[0], self.stop, "the number of weights")
        values, coefficients = self.split(&v[0])
        self.working.end(values if done else None)
        columns = np.asarray(self.working.column)[: self.working.n]
        sizes = np.abs(coefficients[:, columns]).max(axis=0, initial=0.0)
        # steps that lead to zero end beside it
        self.rows.release(columns[sizes <= NOISE * sizes.max(initial=0.0)])

    cdef int begin_sum(self, double* v, Py_ssize_t d) except -1 nogil:
        cdef Py_ssize_t size = self.n_states * self.n_rows
        with gil:
            self.before = self.split(v)[1].copy()
            self.current = self.none
        memset(v, 0, self.place * sizeof(double))
        memset(v + self.place + size, 0, size * sizeof(double))
        return 0

    cdef int end_sum(self, double* v, Stop stop) except -1 nogil:
        with gil:
            self.current = self.rows
            self.follow(*self.split(v), stop)
        return 0

    cdef void abort_sum(self, double* v, Py_ssize_t d) noexcept nogil:
        memset(v, 0, self.stop * sizeof(double))
        with gil:
            self.current, self.before = self.rows, None

    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, first = self.offsets[i]
        for t in range(self.offsets[i + 1] - first):
            if self.labels is None or code[t] != self.labels[first + t]:
                self.rows.expect(first + t)

    def cached_blocks(self, blocks):
        """Return those of some blocks of whose kernel rows none has left memory."""
        offsets = np.asarray(self.offsets)
        return blocks[self.rows.cached_blocks(offsets[blocks], offsets[blocks + 1])]

    def arrange(self, blocks, random_state):
        """Return blocks in random order; those of one row each with their neighbours."""
        if len(self.offsets) - 1 == self.n_rows:
            return self.rows.arrange(blocks, random_state)
        return FeatureSpace.arrange(self, blocks, random_state)

    cdef object split(self, double* v):
        cdef Py_ssize_t size = self.n_states * self.n_rows
        both = np.asarray(<double[: 2 * size]> (v + self.place))
        return both.reshape(2, self.n_states, self.n_rows)

    def follow(self, values, coefficients, Stop stop):
        """Bring values up to date: by the rows whose coefficients changed, or afresh.

        Parameters
        ----------
        values, coefficients : ndarray of shape (n_states, n_rows)
            Of the functions. The values belong to coefficients that there were before.
        stop : Stop
            Asked after every block of rows.

        Raises
        ------
        CutShort
            If the stop is due before the last block; the values belong to nothing then.
        """
        size = self.rows.block_size
        change = coefficients - self.before
        # adding up again changes the last digits: where nothing else did, F and beta both stay
        noise = NOISE * np.abs(coefficients).max(initial=0.0)
        steady = (np.abs(change) <= noise).all(axis=0)
        present, moved = np.flatnonzero(coefficients.any(axis=0)), np.flatnonzero(~steady)
        cheap = len(present) <= size and self.rows.held(present).all()
        n_added = self.rows.n_required - self.fresh
        afresh = cheap or len(present) <= len(moved) or n_added > self.most_added
        if afresh:
            values[:] = 0.0
            change, moved = coefficients, present
        else:
            coefficients[:, steady] = self.before[:, steady]
        self.before = None
        for start in range(0, len(moved), size):
            some = moved[start : start + size]
            values += change[:, some] @ self.rows.take(some)
            if stop.due() and start + size < len(moved):
                raise CutShort
        if afresh:
            self.fresh = self.rows.n_required

    def covector(self, w):
        """Return w up to `place`, then nothing to meet values, and its values to meet beta."""
        size = self.n_states * self.n_rows
        out = np.zeros(len(w))
        out[: self.place] = w[: self.place]
        out[self.place + size :] = w[self.place :][:size]
        return out
