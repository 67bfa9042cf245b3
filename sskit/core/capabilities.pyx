"""Optional capabilities of problems: spaces, blocks of states, stored planes (see the .pxd)."""

from sskit.core.memory cimport clear_numbers

cdef extern from "projection.hpp" namespace "sskit":
    double state_scores(
        const double* theta, double level, const double* loss, const double* weight, Py_ssize_t n,
        double* score, double* mix
    ) noexcept nogil
    void best_mix(
        const double* weight, const double* score, Py_ssize_t n, double curvature, double* result
    ) noexcept nogil


cdef class FeatureSpace:
    """R^d; base of other spaces."""

    cdef int begin_sum(self, double* v, Py_ssize_t d) except -1 nogil:
        clear_numbers(v, d)
        return 0

    cdef int end_sum(self, double* v, Stop stop) except -1 nogil:
        return 0

    cdef void abort_sum(self, double* v, Py_ssize_t d) noexcept nogil:
        clear_numbers(v, d)

    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil:
        pass

    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil:
        return 0

    def fork(self):
        """Return the same space for another thread."""
        return self

    def digests(self):
        """Return two dicts, {name: value} of the whole space and {name: digests} of its blocks."""
        return {}, {}

    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        pass

    def begin_steps(self, blocks, v):
        """Begin joint steps of some blocks, if these cost less than single steps.

        Until `end_steps` only these blocks are visited, and scores are right at them alone.

        Parameters
        ----------
        blocks : ndarray of shape (m,), intp
            Their numbers, all different.
        v : ndarray of shape (n_weights + LANES,)
            The weights that the steps change.

        Returns
        -------
        begun : bool
            False if that would not be faster, or memory does not suffice; then nothing has begun.
        """
        return False

    def end_steps(self, v, done):
        """End the joint steps that `begin_steps` has begun.

        Parameters
        ----------
        v : ndarray of shape (n_weights + LANES,)
            The same weights; they are right everywhere afterwards.
        done : bool
            False after an error; the weights are then invalid.
        """

    def covector(self, w):
        """Return the vector whose dot product with any weights is their inner product with w."""
        return w

    def arrange(self, blocks, random_state):
        """Return blocks in an order in which steps of many at a time gain most.

        Parameters
        ----------
        blocks : ndarray of shape (m,), intp
            Numbers of blocks.
        random_state : RandomState
            Source of randomness.

        Returns
        -------
        blocks : ndarray of shape (m,)
            The same; in random order, unless the space has a better one.
        """
        return random_state.permutation(blocks)

    def cached_blocks(self, blocks):
        """Return those of some blocks whose steps need nothing that has to be computed first.

        Parameters
        ----------
        blocks : ndarray of shape (m,), intp
            Numbers of blocks.

        Returns
        -------
        blocks : ndarray, intp
            All of them, unless steps need rows that may not be in memory.
        """
        return blocks


cdef class PlaneStore:
    """Codes that are planes; base of stores of planes."""

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil:
        return 0

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        pass

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return 0

    def export_planes(self, code, n_planes):
        """Return planes in a form that another process can read; by default their codes.

        Parameters
        ----------
        code : ndarray, int32
            Codes of planes that are kept, one after the other.
        n_planes : int
            How many.

        Returns
        -------
        planes : object
            For `import_planes`; can be pickled.
        """
        return code

    def import_planes(self, blocks, planes):
        """Return the codes of exported planes here, each kept once more.

        Parameters
        ----------
        blocks : ndarray, int64
            The block of each plane.
        planes : object
            From `export_planes` of a problem with the same fingerprints of these blocks.

        Returns
        -------
        code : ndarray, int32
            The caller forgets each plane once.
        """
        return planes


cdef class StateBlocks:
    """Base of all of them, of labellings of one state."""

    cdef Py_ssize_t truth(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef void add_truth(self, Py_ssize_t i, double scale, double* mix) noexcept nogil:
        mix[self.truth(i)] += scale

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        return 0.0

    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil:
        pass

    cdef double find_scores(
        self, Py_ssize_t i, const double* theta, const double* loss, const double* mix,
        Py_ssize_t n, double* score, double* of_mix
    ) noexcept nogil:
        return state_scores(theta, theta[self.truth(i)], loss, mix, n, score, of_mix)

    cdef void find_target(
        self, Py_ssize_t i, const double* mix, const double* score, Py_ssize_t n,
        double curvature, double* target
    ) noexcept nogil:
        best_mix(mix, score, n, curvature, target)
