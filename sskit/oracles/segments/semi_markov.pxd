from libc.stdint cimport int32_t

from sskit.oracles.chain.viterbi cimport LazyLists, Step

cdef extern from "semi_markov.hpp" namespace "sskit":
    cdef cppclass SegmentLists[P]:
        const P* p
        const double* leads
        const double* value

# out[k] = closing[k] + max_{d < n_lengths} (opening[-d, k] + lengths[d, k] + whole[-d, k]), or the
# log of the sum of exponentials
ctypedef void (*LengthsStep)(
    const double* opening, const double* lengths, const double* whole, Py_ssize_t n_lengths,
    Py_ssize_t n_states, Py_ssize_t whole_step, const double* closing, double* out
) noexcept nogil


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
    cdef double* out                         # where `visit` writes
    cdef Step step
    cdef LengthsStep lengths_step

    # leads and value of all tokens
    cdef void forward(self, const SegmentPotentials* p) noexcept nogil
    # The best labelling and its score, -inf if none is allowed, when code is arbitrary. Of equal
    # ones that with the smaller last state, then the shorter last segment, and so on backwards.
    # O(n_tokens n_states (n_states + max_length)).
    cdef double decode(self, const SegmentPotentials* p, int32_t* code) noexcept nogil
    # out (n_tokens, n_states) = the best score of a labelling with this state at this token
    cdef void marginals(self, const SegmentPotentials* p, double* out) noexcept nogil
    # from the last token to the first; all that follows a token is what `visit` returns
    cdef void backward(self, const SegmentPotentials* p) noexcept nogil
    # look at all segments of a state that begin at a token
    cdef double visit(self, const SegmentPotentials* p, Py_ssize_t t, Py_ssize_t k) noexcept nogil


cdef class SegmentSumProduct(SegmentMaxSum):
    """Sum-product on segments, in logarithms: the recursions with sums in place of maxima."""

    cdef double[::1] score                   # (max_tokens,) of segments that begin at a token
    cdef double* segments                    # where `visit` writes
    cdef double log_partition

    # log Z, -inf if no segmentation is possible, else also the probabilities of states, added to
    # tokens (n_tokens, n_states), and of segments (n_tokens, max_length, n_states)
    cdef double infer(
        self, const SegmentPotentials* p, double* tokens, double* segments
    ) noexcept nogil


cdef class SegmentKBest:
    """The k best segmentations: lists of partial ones, for one thread. They have no bonus."""

    cdef readonly Py_ssize_t k
    cdef SegmentMaxSum sums
    cdef LazyLists[SegmentLists[SegmentPotentials]] lists

    # The best segmentations by falling score, as many as exist up to k; returns their number.
    # code (k, n_tokens) and scores (k,) are written to. Of equal ones first that of SegmentMaxSum.
    cdef Py_ssize_t decode(
        self, const SegmentPotentials* p, int32_t* code, double* scores
    ) except -1 nogil
