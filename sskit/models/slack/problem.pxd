from libc.stdint cimport int32_t, int64_t
from libcpp.utility cimport pair

from sskit.core.vectors cimport priority_queue
from sskit.models.structure cimport StructuredProblem

# The labels with lower <= g / h < upper, and a number that no product of theirs is above: the
# largest bound comes first.
ctypedef pair[double, pair[double, double]] Cone


cdef class SlackProblem(StructuredProblem):
    """A problem under slack rescaling: block i has max_y L_i(y) (1 - <w, psi_i(y)>).

    The plane of a labelling with psi and loss L under margin rescaling is (L psi, L) here, so
    argmax maximises L (loss_weight - <psi, theta>). Its code is that of the labelling and the
    bits of L; the truth, and any labelling without loss, has the plane (0, 0).

    Argmax is a search for a label y that maximises Phi(y) = g(y) h(y), g(y) = L_i(y), h(y) =
    offset - <psi_i(y), theta>; only labels with g, h > 0 count, the truth, with Phi = 0, is the
    answer if there is none. A label is the point (h, g) of a plane. The lambda-oracle is argmax
    under margin rescaling with the loss weight lam: it maximises K = h + lam g over all labels.
    The searches are those of Choi, Meshi, Srebro (2016), 4.1 to 4.3 and algorithm 2.
    For labels that count g h <= (h + lam g)^2 / (4 lam), so every query bounds Phi from above:
    with the largest K, or, where argmax misses it and bounds it, with that upper bound of K.

    The last answer of argmax for a block is held, and is where its next search begins; forks hold
    it, and the memory of it. Where a search may miss the maximum, its bound of the product says
    by how much (`excess`).

    Invariants during a search: `best` = best_g * best_h is Phi of best_code, which the plane
    store keeps (once for us); best <= max Phi <= bound.
    """

    cdef readonly tuple settings          # name, tol and max_queries of the search
    cdef int search
    cdef double tol                       # stop where bound <= (1 + tol) best, but for rounding
    cdef Py_ssize_t max_queries           # of one search
    cdef readonly int64_t[::1] counter    # (1,) queries of all searches, those of forks too
    cdef list counters                    # those of all forks
    cdef public int32_t[::1] held         # codes of the answers held, block after block
    cdef const int64_t[::1] places        # (n_blocks + 1,) where they begin
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
    cdef priority_queue[Cone] cones
    cdef int32_t[::1] code
    cdef int32_t[::1] best_code
    cdef int32_t[::1] index               # scratch for planes
    cdef double[::1] value

    # h of the label in `code`, with the loss g; it becomes the best if it is better
    cdef int meet(self) except -1 nogil
    # has the search reached its tolerance or its last query?
    cdef bint done(self) noexcept nogil
    # h / g of the best, where a search that was right last time begins; else one
    cdef double first_weight(self) noexcept nogil
    # the searches
    cdef int take_best(self) except -1 nogil
    cdef int split_cones(self) except -1 nogil
    cdef int split(self, double lower, double upper, double bound, double lam) except -1 nogil
    cdef int push(self, double lower, double upper, double bound) except -1 nogil
    cdef int bisect(self) except -1 nogil
