from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class Regularizer:
    """lam / 2 ||w||^2, on a box if there is one, and the map from the dual sum v to the weights w.

    v = (1 / lam) sum_i c_i B_i q_i is never truncated; w is its image: w = v without a box (and
    then both names are the same memory), w = clip(v, lower, upper) with one. With a prior the norm
    is that of w - prior, and v = prior + (1 / lam) sum_i c_i B_i q_i.
    """

    cdef readonly double lam
    cdef readonly double[::1] v        # (n_weights + LANES,)
    cdef readonly double[::1] w        # (n_weights + LANES,)
    cdef readonly Py_ssize_t n_weights
    cdef readonly bint bounded
    cdef readonly Py_ssize_t version   # grows whenever v may have changed, after many steps once
    cdef readonly object prior         # ndarray (n_weights,), None for zero
    cdef list copies                   # whose version is that of the v that they have
    cdef readonly object covector      # of the space of the problem: whose ||w||^2 is meant

    # v += step * B_i delta, and w follows
    cdef int add(self, Problem problem, Py_ssize_t i, Direction delta, double step) except -1 nogil
    # the same with step 1; returns 2 <w, B_i delta> + ||B_i delta||^2 of w before: without a box by
    # how much ||v||^2 grows
    cdef double grow(self, Problem problem, Py_ssize_t i, Direction delta) except? -1 nogil
    # make all of w the image of v
    cdef void refresh(self) noexcept nogil
    # weights of the same kind, equal to these once they follow: one for each worker k > 0, the
    # same one for all runs that change these weights
    cdef Regularizer copy_of(self, Py_ssize_t k)
    cdef Regularizer like(self)
    # take over the weights of which this is a copy, if it has not all their changes
    cdef int follow(self, Regularizer other) except -1


cdef class BoxRegularizer(Regularizer):
    cdef const double[::1] lower       # (n_weights,), -inf where unbounded
    cdef const double[::1] upper       # (n_weights,), +inf where unbounded
