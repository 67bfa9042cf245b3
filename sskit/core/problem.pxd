from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.stop cimport Stop


cdef class Problem:
    """A model bound to data: the one thing that a solver sees.

    Block i is training pair i. Its joint feature map is phi(x_i, y) = B_i m_i(y): the statistics
    m_i(y) say which states and pairs of states a labelling uses, B_i multiplies them with the
    features. psi_i(y) = m_i(y_i) - m_i(y) below is in statistics space.

    A plane is a pair (psi, loss): the linear lower bound  loss - <w, B_i psi>  of the block's
    hinge. It is known to the solver by its code: int32 numbers from which the problem can give
    psi and the loss again (the labelling itself, where labels are integers).

    Guaranteed to the implementer: 0 <= i < n_blocks; `theta` holds max_statistics doubles,
    `code` max_code_length, the sparse output of plane() max_support entries; weight vectors hold
    n_weights doubles and LANES spare ones. The methods may use scratch memory of the object:
    two threads need two objects (fork).
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_weights       # d, length of w
    cdef readonly Py_ssize_t max_statistics  # of any block, padding included
    cdef readonly Py_ssize_t max_code_length       # of any plane
    cdef readonly Py_ssize_t max_support     # entries of any psi, repeated ones counted
    cdef readonly bint exact                 # does argmax truly maximise?
    cdef readonly bint costly                # does argmax take far longer than scores?
    cdef readonly bint in_kernel_space       # w stands for functions: no box can be put on it
    cdef readonly Py_ssize_t batch_size      # how many blocks are best asked at once; 0: no matter
    cdef readonly bint has_slack             # is there argmax_slack?
    cdef readonly bint has_cone              # is there argmax_within?
    cdef readonly str missing                # the package without which there is none, or None
    cdef readonly double precision           # of argmax_within, relative; 0: but for rounding
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one

    # NotImplementedError: a method that a subclass has to have, or one that it says it has
    cdef int lacks(self, str name) except -1 nogil

    # theta = B_i^T w, the potentials
    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil

    # theta at these statistics only; the other entries may be anything
    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil

    # code of a y maximising  loss_weight * L_i(y) + <theta, m_i(y)>; its loss L_i(y)
    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil

    # Two sub-contracts, for slack rescaling. With h(y) = offset - <psi_i(y), theta>, only labels
    # count whose L_i(y) and h(y) are positive.
    # Code of a y maximising L_i(y) h(y), its loss; the truth if no label counts
    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil

    # Code of a y maximising h(y) + loss_weight L_i(y) over the cone of the labels that have
    # lower h(y) <= L_i(y) < upper h(y), its loss; returns 0 if there is none, else 1. A label may
    # be left out if another one has the same loss and a larger h, be that in the cone or not.
    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil

    # psi of the plane as (index, value) pairs, an index may repeat; returns their number
    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil

    # length of the code of the planes of block i
    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil

    # code of the truth (psi = 0, loss = 0)
    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil

    # v += step * B_i delta
    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil

    # v, zero or left by another sum, becomes zero, and until end_sum only scatter is called, with
    # this v: what many blocks add may be worked out at once
    cdef int begin_sum(self, double* v) except -1 nogil
    # may take long: CutShort is raised if the stop is due before the end
    cdef int end_sum(self, double* v, Stop stop) except -1 nogil
    # in place of end_sum where something failed since begin_sum, or in them: v becomes zero
    cdef void abort_sum(self, double* v) noexcept nogil

    # w = clip(v, lower, upper) at every weight that scatter(i, delta) may have moved
    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil

    # || B_i delta ||^2
    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil

    # A plane that argmax found stays known to the problem until its block is asked again; one
    # that is kept, until it is forgotten. Matters to problems whose codes are mere numbers of
    # planes that they hold.
    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil
    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil

    # memory in bytes that the problem itself holds for a plane that is kept
    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil

    # Is this the code of a plane of block i? Codes that come from elsewhere are asked first: all
    # other methods trust them.
    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil

    # hint: block i will be visited soon
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil

    # hint: block i will soon take a step towards this plane
    cdef void prefetch_step(self, Py_ssize_t i, const int32_t* code) noexcept nogil

    # The same problem with scratch memory of its own, for another thread; it knows all planes
    # that are kept
    cpdef Problem fork(self)

    # Who finds answers of argmax ahead, with n_jobs workers, or None: then threads ask forks.
    # It has look(blocks, w), after which argmax of these blocks, at the potentials of this w and
    # with the whole loss, answers as ever but at once; and clear(), which forgets the rest.
    cpdef object oracle_pool(self, int n_jobs)

    # ValueError unless another problem has the same blocks and weights, but for their numbers
    cdef int match(self, Problem other) except -1
    # ValueError unless there is room for the weights and their spare ones
    cdef int check_weights(self, Py_ssize_t length, str name) except -1
    # likewise, IndexError unless start .. stop - 1 are blocks
    cdef int check_run(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t length) except -1

    # In Python too: covector, by which ||w|| is measured; cached_blocks, which take a step at
    # little cost; n_queries, how often the oracle behind the oracle was asked; export_planes and
    # import_planes, for dual points that outlive the problem; fingerprint, which says whether
    # another problem is the same; and factors, the same problem factor by factor.
