from libc.stdint cimport int32_t

from sskit.core.stop cimport Stop

# Capabilities of problems beyond the methods of `Problem`: each is an object that a problem has or
# lacks.


cdef class FeatureSpace:
    """The space of the weights of a problem: their inner product, and their sums.

    This class is R^d, where these methods do nothing. If the d numbers stand for functions, a
    subclass overrides them.
    """

    cdef readonly bint is_kernel_space       # w stands for functions: it cannot have bounds
    cdef readonly Py_ssize_t batch_size      # best number of blocks to evaluate at once; 0: any
    # the functions that weights stand for, or None: it has
    # gather(), spread() and coefficients()
    cdef public object support

    # v, of d numbers, becomes zero. Until end_sum only scatter of the problem is called, with this
    # v, so that the contributions of many blocks may be computed together
    cdef int begin_sum(self, double* v, Py_ssize_t d) except -1 nogil
    # may take long; raises CutShort if the fit is to stop before the end
    cdef int end_sum(self, double* v, Stop stop) except -1 nogil
    # called in place of end_sum after an error since begin_sum, or in either: v becomes zero
    cdef void abort_sum(self, double* v, Py_ssize_t d) noexcept nogil

    # where it is a kernel space, with functions f_k of the states:
    # scores[t * stride + k] += f_k(x_{first + t}) for t < count
    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil
    # f_k += step * direction[t * stride + k] * kernel(x_{first + t}, .) for the active rows t
    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil

    # hint: block i will soon take a step towards this plane
    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil


cdef class PlaneStore:
    """Holds planes whose codes are only numbers; this base class holds none, as codes are planes.

    A plane that argmax found is valid until argmax is called for its block again; one that was
    kept, until it is forgotten. This matters only where codes are numbers of stored planes.
    """

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil
    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil
    # memory in bytes that is held here for a plane that is kept
    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil


# Far below every loss and score, but finite.
cdef extern from *:
    """
    constexpr double SSKIT_NO_STATE = -1e300;
    """
    const double NO_STATE "SSKIT_NO_STATE"


cdef class StateBlocks:
    """Blocks whose dual variables are weights of states, and have an exact step.

    psi of a mix of labellings is the weights of the states of the truth less those of the mix. B_i
    keeps angles between statistics: ||B_i d||^2 is a number times ||d||^2 for differences d of
    mixes. So the dual objective over a block, the other blocks fixed, is maximised by a Euclidean
    projection onto the weights that mixes may have.

    By this class the labelling is one state, a class or which of two rows is first, and mixes are a
    simplex. A subclass may have other ones.
    """

    cdef readonly Py_ssize_t n_states
    cdef readonly bint pays                  # whatever the number of states

    # the state that is the truth, where it is one
    cdef Py_ssize_t truth(self, Py_ssize_t i) noexcept nogil
    # mix += scale * the truth
    cdef void add_truth(self, Py_ssize_t i, double scale, double* mix) noexcept nogil
    # ||B_i d||^2 of a d with ||d||^2 = 1
    cdef double curvature(self, Py_ssize_t i) noexcept nogil
    # out[k] = change of L_i by state k, n_states numbers; of states that this block does not have
    # `NO_STATE`
    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil
    # score = loss + theta, but for what all labellings have; returns the best of a labelling, and
    # that of the mix. Arrays are padded to whole vectors, n numbers
    cdef double find_scores(
        self, Py_ssize_t i, const double* theta, const double* loss, const double* mix,
        Py_ssize_t n, double* score, double* of_mix
    ) noexcept nogil
    # target = the maximum of <x, score> - curvature / 2 ||x - mix||^2 over all mixes x
    cdef void find_target(
        self, Py_ssize_t i, const double* mix, const double* score, Py_ssize_t n,
        double curvature, double* target
    ) noexcept nogil
