from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.structure cimport StructuredProblem


cdef class SlackSearch:
    """Searches a label y that maximises Phi(y) = g(y) h(y), with the oracles of a problem.

    g(y) = L_i(y) is the loss, h(y) = offset - <psi_i(y), theta>; only labels with g, h > 0 count,
    the truth, with Phi = 0, is the answer if there is none. For an offset of one, Phi is the
    violation under slack rescaling. A label is the point (h, g) of a plane. The lambda-oracle is
    argmax of the problem with the loss weight lam: it maximises K = h + lam g over all labels.
    The searches are those of Choi, Meshi, Srebro (2016), 4.1 to 4.3 and algorithm 2.
    For labels that count g h <= (h + lam g)^2 / (4 lam), so every query bounds Phi from above:
    with the largest K, or, where argmax misses it and bounds it, with that upper bound of K.

    A subclass fills search(), which asks and may stop at any time: what it has met is compared.

    Invariants during a search: `best` = best_g * best_h is Phi of best_code, which the problem
    keeps (once for us); best <= max Phi <= bound.
    """

    cdef Problem problem
    cdef readonly double tol              # stop where bound <= (1 + tol) best, but for rounding
    cdef readonly Py_ssize_t max_queries  # of one search
    cdef readonly bint exact              # is the answer always a maximiser?
    cdef readonly bint bounds             # if it is not, does `bound` bound it?
    cdef readonly bint lock_free          # does it never take the interpreter's lock?
    cdef readonly int64_t[::1] n_queries  # (1,) of all searches; parts of a problem share it
    # the search that is going on
    cdef Py_ssize_t i
    cdef const double* theta
    cdef double offset
    cdef Py_ssize_t n_asked
    cdef readonly double best
    cdef readonly double bound
    cdef double best_h
    cdef double best_g
    cdef double h                         # of the label met last, in `code`
    cdef double g
    cdef int32_t[::1] code
    cdef int32_t[::1] best_code
    cdef int32_t[::1] index               # scratch for planes
    cdef double[::1] value

    # Puts the answer into best_code and best_g. `known` is the code of a label with the loss
    # known_loss that the problem knows; it is a candidate, and says where to begin. The problem
    # keeps the answer; the caller forgets it.
    cdef int find(
        self, Py_ssize_t i, const double* theta, double offset, const int32_t* known,
        double known_loss
    ) except -1 nogil

    cdef int search(self) except -1 nogil
    # h of the label in `code`, with the loss g; it becomes the best if it is better
    cdef int meet(self) except -1 nogil
    # has the search reached its tolerance or its last query?
    cdef bint done(self) noexcept nogil
    # h / g of the best, where a search that was right last time begins; else one
    cdef double first_weight(self) noexcept nogil


cdef class SlackProblem(StructuredProblem):
    """Another problem under slack rescaling: block i has max_y L_i(y) (1 - <w, psi_i(y)>).

    The plane of a labelling with psi and loss L there is (L psi, L) here, so argmax maximises
    L (loss_weight - <psi, theta>). Its code is that of the labelling and the bits of L; the
    truth, and any labelling without loss, has the plane (0, 0). All else is that of the other
    problem.

    What argmax found last for a block is held, and is where its next search begins; forks share
    it, and the memory of it. The inner problem keeps it, as it knows only its own last answer.
    Where a search may miss the maximum, its bound of the product says by how much (`excess`).
    """

    cdef readonly SlackSearch search     # asks the other problem
    cdef int32_t[::1] held               # codes of the answers held, block after block
    cdef const int64_t[::1] places       # (n_blocks + 1,) where they begin
    cdef list counters                   # n_queries of the searches of all forks
