from libc.stdint cimport int32_t

from sskit.core.capabilities cimport FeatureSpace, PlaneStore
from sskit.core.direction cimport Direction


cdef struct SlackGoal:
    # The largest g h, or the largest h + loss_weight g of the labels with lower h <= g < upper h;
    # h holds the offset. One that takes sums has loss_weight > 0, one of products has 1.
    bint product
    double offset
    double loss_weight
    double lower
    double upper


# the value of a labelling with these h and g for a goal; 0 if it does not count, as for h, g <= 0
cdef inline double goal_value(const SlackGoal* goal, double h, double g) noexcept nogil:
    if not (h > 0.0 < g and goal.lower * h <= g < goal.upper * h):
        return 0.0
    return g * h if goal.product else h + goal.loss_weight * g


cdef class Problem:
    """The training problem of a structured SVM: a model bound to data.

    Block i is training pair i. Its joint feature map is phi(x_i, y) = B_i m_i(y): the statistics
    m_i(y) count the states and pairs of states of a labelling, B_i multiplies them with the
    features. psi_i(y) = m_i(y_i) - m_i(y) below is in statistics space.

    A plane is a pair (psi, loss): the linear lower bound  loss - <w, B_i psi>  of the block's
    hinge. Solvers store its code: int32 numbers from which the problem computes
    psi and the loss again (the labelling itself, where labels are integers).

    An implementation can rely on: 0 <= i < n_blocks; `theta` holds max_statistics doubles,
    `code` max_code_length, the sparse output of plane() max_support entries; weight vectors hold
    n_weights doubles and LANES spare ones. The methods may use scratch memory of the object:
    two threads need two objects (fork).

    Capabilities of some problems are objects: the space of the weights and the store of planes,
    which every problem has, and a pool of oracles, a decomposition and blocks of one state, which
    its methods return, or None.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_weights       # d, length of w
    cdef readonly Py_ssize_t max_statistics  # of any block, padding included
    cdef readonly Py_ssize_t max_code_length       # of any plane
    cdef readonly Py_ssize_t max_support     # entries of any psi, repeated ones counted
    cdef readonly bint exact                 # does argmax truly maximise?
    cdef readonly bint bounds                # if not, does it bound how much better a y may be?
    cdef readonly bint costly                # does argmax take far longer than scores?
    cdef readonly double work                # of argmax, in visits to stored planes; 0: not known
    cdef readonly bint lock_free             # do all methods run without the interpreter's lock?
    cdef readonly bint takes_turns           # or for a part of its time only, in turns?
    cdef readonly double[::1] block_weight   # (n_blocks,) c_i >= 0, summing to one
    cdef readonly FeatureSpace space         # where the weights live; R^d unless it is set
    cdef readonly PlaneStore plane_store     # holds planes whose codes are mere numbers

    # Further output of argmax, where it bounds: by how much the maximum may exceed the
    # value of the answer, loss_weight * L_i(y) + <theta, m_i(y)>. Finite and >= 0; 0 where the
    # answer is proven best, and always where argmax is exact or bounds nothing.
    cdef readonly double excess

    # raises NotImplementedError for a method that a subclass must have, or that it claims to have
    cdef int lacks(self, str name) except -1 nogil

    # theta = B_i^T w, the potentials
    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil

    # theta at these statistics only; the other entries may be anything
    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil

    # code of a y maximising  loss_weight * L_i(y) + <theta, m_i(y)>; its loss L_i(y); where it
    # bounds, `excess` is set anew
    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
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
    cdef int scatter(self, Py_ssize_t i, Direction delta, double step, double* v) except -1 nogil

    # v += B_i delta; returns 2 <w, B_i delta> + ||B_i delta||^2, of a w that may be v, before. With
    # that it is the growth of ||v||^2.
    cdef double grow(
        self, Py_ssize_t i, Direction delta, const double* w, double* v
    ) except? -1 nogil

    # w = clip(v, lower, upper) at every weight that scatter(i, delta) may have changed
    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil

    # || B_i delta ||^2
    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil

    # out[r] = <B_i delta, B_i psi_r> for n vectors psi_r, which are sparse and lie one after the
    # other: the pairs first[r] to first[r + 1] - 1
    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil

    # Is this the code of a plane of block i? Codes that come from elsewhere are checked first: all
    # other methods trust them.
    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil

    # hint: block i will be visited soon
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil

    # For slack rescaling, if `n_candidates` is positive: code and loss of the labelling with the
    # largest `goal_value`; the truth, and False, if none counts
    cdef bint choose(
        self, Py_ssize_t i, const double* theta, const SlackGoal* goal, int32_t* code,
        double* loss
    ) except -1 nogil

    # The same problem with scratch memory of its own, for another thread; it knows all planes
    # that are kept
    cpdef Problem fork(self)

    # ValueError unless there is room for the weights and their spare ones
    cdef int check_weights(self, Py_ssize_t length, str name) except -1

    # In Python too: fingerprint, which says whether another problem is the same; restrict, the
    # problem of some blocks alone; n_queries, how often the model's own oracle was called;
    # n_candidates, which makes room for those of `choose`; and oracle_pool, decomposition and
    # state_blocks.
