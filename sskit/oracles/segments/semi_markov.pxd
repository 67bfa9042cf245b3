from libc.stdint cimport int32_t, int64_t


# Scores of the segments of one sequence. A segment of the tokens s .. s + d, of state k, has
#     opening[s, k] + closing[s + d, k] + lengths[d, k] + whole[s, d, k] ,
# a labelling the sum over its segments, transitions between these, start and end. Rows have
# padded(n_states) columns; -inf forbids. A score of each token is told by its running sums: taken
# away by opening, added by closing.
cdef struct SegmentPotentials:
    Py_ssize_t n_tokens
    Py_ssize_t n_states
    Py_ssize_t max_length
    const double* opening        # (n_tokens, stride)
    const double* closing        # (n_tokens, stride)
    const double* lengths        # (max_length, stride)
    const double* whole          # (n_tokens, max_length, stride), or NULL
    const double* transitions    # (n_states, stride)
    const double* start          # (stride,)
    const double* end            # (stride,)
    # where the segment that ends at a token adds more: its state, -1 for none; or NULL
    const int32_t* bonus_state   # (n_tokens,)
    const int32_t* bonus_length  # (n_tokens,) length less one
    const double* bonus          # (n_tokens,)


# The score of a segment of the tokens s .. s + d, in the order in which it is added up here:
# opening, the sum of what leads to the segment and of its own
cdef inline double segment_score(
    const SegmentPotentials* p, double opening, Py_ssize_t stride, Py_ssize_t s, Py_ssize_t d,
    Py_ssize_t k
) noexcept nogil:
    cdef Py_ssize_t e = s + d
    cdef double score = opening + p.lengths[d * stride + k]
    if p.whole != NULL:
        score += p.whole[(s * p.max_length + d) * stride + k]
    if p.bonus_state != NULL and p.bonus_state[e] == k and p.bonus_length[e] == d:
        score += p.bonus[e]
    return score


cdef class SegmentMaxSum:
    """The best segmentations: scratch memory and the recursions, for one thread.

    A labelling is given by 2 k + 1 at the first token of each segment of state k and 2 k at its
    other tokens.
    """

    cdef readonly Py_ssize_t max_tokens
    cdef readonly Py_ssize_t n_states
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef double[::1] leads                   # (max_tokens, stride) best score up to a segment here
    cdef double[::1] value                   # (max_tokens, stride) of segments that end here
    cdef double[::1] behind                  # likewise, of what follows them
    cdef double[::1] ahead                   # (stride,)
    cdef double[::1] transposed              # (n_states, stride)

    # leads and value of all tokens
    cdef void forward(self, const SegmentPotentials* p) noexcept nogil
    # The best labelling and its score, -inf if none is allowed, when code is arbitrary. Of equal
    # ones that with the smaller last state, then the shorter last segment, and so on backwards.
    # O(n_tokens n_states (n_states + max_length)).
    cdef double decode(self, const SegmentPotentials* p, int32_t* code) noexcept nogil
    # out (n_tokens, n_states) = the best score of a labelling with this state at this token
    cdef void marginals(self, const SegmentPotentials* p, double* out) noexcept nogil


cdef class SegmentKBest:
    """The k best segmentations: lists of partial ones, for one thread.

    List t * n_states + a holds the best ways to begin a segment of state a at token t, list
    (max_tokens + t) * n_states + a those to end one there, the last list whole segmentations.
    Entry r of list l stands at l * k + r, best first, and knows the entry that it goes on from.
    """

    cdef readonly Py_ssize_t max_tokens
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t max_length
    cdef readonly Py_ssize_t k
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef double[::1] score                   # of entries
    cdef int64_t[::1] origin                 # the entry gone on from; -1: none
    cdef int32_t[::1] count                  # entries of each list
    # lists that are merged, what each adds, and how many of its entries are taken
    cdef int64_t[::1] source
    cdef double[::1] added
    cdef int32_t[::1] taken

    # The best segmentations by falling score, as many as exist up to k; returns their number.
    # code (k, n_tokens) and scores (k,) are written to. O(n_tokens n_states k (n_states +
    # max_length)).
    cdef Py_ssize_t decode(
        self, const SegmentPotentials* p, int32_t* code, double* scores
    ) noexcept nogil
    cdef void merge(self, Py_ssize_t into, Py_ssize_t n_sources) noexcept nogil
    cdef void trace(self, int64_t entry, int32_t* code) noexcept nogil
