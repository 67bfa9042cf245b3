"""The contract between models and solvers (see the .pxd)."""

import numpy as np

from libc.string cimport memset

from sskit.core.checks cimport check_equal, check_least, check_range
from sskit.core.lanes cimport LANES


cdef class Problem:
    """Base of all problems; a subclass fills the sizes and overrides every method."""

    def __cinit__(self):
        self.block_weight = np.zeros(0)

    cdef int lacks(self, str name) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement {name}")

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        return self.lacks("scores")

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        return self.scores(i, w, theta)

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        return self.lacks("argmax")

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        return self.lacks("argmax_slack")

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        return self.lacks("argmax_within")

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.lacks("plane")

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.max_code_length

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        return self.lacks("truth")

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        return self.lacks("scatter")

    cdef int begin_sum(self, double* v) except -1 nogil:
        memset(v, 0, self.n_weights * sizeof(double))
        return 0

    cdef int end_sum(self, double* v, Stop stop) except -1 nogil:
        return 0

    cdef void abort_sum(self, double* v) noexcept nogil:
        memset(v, 0, self.n_weights * sizeof(double))

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        return self.lacks("clip")

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        return self.lacks("sqnorm")

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil:
        return 0

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        pass

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return 0

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return False

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        pass

    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        pass

    cdef int match(self, Problem other) except -1:
        check_equal(self.n_blocks, other.n_blocks, "the number of blocks")
        check_equal(self.n_weights, other.n_weights, "the number of weights")
        check_equal(self.max_statistics, other.max_statistics, "the number of statistics")
        check_equal(self.max_code_length, other.max_code_length, "the length of codes")
        return check_equal(self.max_support, other.max_support, "the support of planes")

    cdef int check_weights(self, Py_ssize_t length, str name) except -1:
        return check_least(length, self.n_weights + LANES, f"the length of {name}")

    cdef int check_run(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t length) except -1:
        check_range(start, stop, self.n_blocks, "blocks")
        return self.check_weights(length, "w")

    cpdef Problem fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")

    cpdef object oracle_pool(self, int n_jobs):
        return None

    def covector(self, w):
        """Return the vector whose dot product with any weights is their inner product with w.

        It is w itself, unless the numbers stand for elements of a kernel space.
        """
        return w

    def cached_blocks(self, blocks):
        """Return those of some blocks that can take a step without anything being fetched first.

        Parameters
        ----------
        blocks : ndarray of shape (m,), intp
            Numbers of blocks.

        Returns
        -------
        blocks : ndarray, intp
            All of them, unless steps need what may not be in memory.
        """
        return blocks

    def dependent(self):
        """Return the places of the weights that follow from the others, a slice.

        They are the values of functions of a kernel space; a covector is zero there.
        """
        return slice(0, 0)

    def part(self, blocks, block_weight):
        """Return the same problem for some blocks alone, if it is in a kernel space.

        Its weights are functions of these blocks only, so that their number does not grow with
        that of all blocks.

        Parameters
        ----------
        blocks : ndarray of int
            Numbers of the blocks, which rise.
        block_weight : ndarray of shape (len(blocks),)
            Their weights there.

        Returns
        -------
        part : Problem
            Its block k is blocks[k] here.
        """
        raise NotImplementedError(f"{type(self).__name__} is in no kernel space")

    def address(self):
        """Return where the functions of a part live: what others need to know of it."""
        raise NotImplementedError(f"{type(self).__name__} is in no kernel space")

    def views(self, addresses, vectors):
        """Return what functions of other parts of the same problem are at the blocks here.

        Parameters
        ----------
        addresses : list of object
            Addresses of parts of the problem that this one is, or is a part of.
        vectors : list of ndarray
            Weights in each of them.

        Returns
        -------
        views : ndarray of shape (len(addresses), n_weights)
            Linear weights and values; coefficients are zero.
        """
        raise NotImplementedError(f"{type(self).__name__} is in no kernel space")

    def collect(self, address, step, w, out):
        """Add functions of a part to weights, but for their values.

        Parameters
        ----------
        address : object
            Of a part.
        step : float
            Factor.
        w : ndarray of shape (at least n_weights of the part,)
            Weights there.
        out : ndarray of shape (at least n_weights,)
            Receives step times the linear weights and the coefficients.
        """
        raise NotImplementedError(f"{type(self).__name__} is in no kernel space")

    def n_queries(self, n_calls):
        """Return how often the model's own oracle was asked.

        Parameters
        ----------
        n_calls : int
            How often argmax was called, through this object and its forks.

        Returns
        -------
        n_queries : int
            The same, unless argmax asks another oracle several times.
        """
        return n_calls

    def export_planes(self, code):
        """Return something that names planes in any process; codes do unless they are mere numbers.

        Parameters
        ----------
        code : ndarray, int32
            Codes of planes that are kept, one after the other.

        Returns
        -------
        planes : object
            For `import_planes`; can be pickled.
        """
        return code

    def import_planes(self, blocks, planes):
        """Return the codes of exported planes in this problem, each kept once more.

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

    def factors(self):
        """Return the `Factors` that the joint feature map is a sum over, or None.

        They are for solvers that never ask for the best labelling of a whole block.
        """
        return None

    def fingerprint(self):
        """Return the `Fingerprint` by which the same model and data are known again."""
        raise NotImplementedError(f"{type(self).__name__} must implement fingerprint")


def block_weights(n_blocks, sample_weight=None):
    """Return the weights c_i of the blocks in the mean loss.

    Parameters
    ----------
    n_blocks : int
        Number of training pairs n.
    sample_weight : array-like of shape (n_blocks,), default=None
        Non-negative weights s_i; None means one for each.

    Returns
    -------
    ndarray of shape (n_blocks,)
        c_i = s_i / sum(s).
    """
    if sample_weight is None:
        return np.full(n_blocks, 1.0 / n_blocks)
    sample_weight = np.array(sample_weight, dtype=np.float64)
    # dividing by the maximum first keeps tiny weights from underflowing in the sum
    sample_weight /= sample_weight.max()
    return sample_weight / sample_weight.sum()
