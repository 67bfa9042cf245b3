from libc.stdint cimport int32_t

cdef extern from "semi_markov.hpp" namespace "sskit":
    # Scores of the segments of one sequence. A segment of the tokens s .. s + d, of state k, has
    #     opening[s, k] + closing[s + d, k] + lengths[d, k] + whole[s, d, k] ,
    # a labelling the sum over its segments and the transitions between these. Rows have
    # padded(n_states) columns; -inf forbids. A score of each token is given by its running sums:
    # taken away by opening, added by closing.
    struct SegmentPotentials:
        Py_ssize_t n_tokens, n_states, max_length
        const double* opening        # (n_tokens, stride)
        const double* closing        # (n_tokens, stride)
        const double* lengths        # (max_length, stride)
        const double* whole          # (n_tokens, max_length, stride), or NULL
        const double* transitions    # (n_states, stride)
        # where the segment that ends at a token adds more: its first state and that after its
        # last one, the same for none; or NULL
        const int32_t* bonus_state   # (n_tokens,)
        const int32_t* bonus_stop    # (n_tokens,)
        const int32_t* bonus_length  # (n_tokens,) length less one
        const double* bonus          # (n_tokens,)

    # Segmentations of sequences: the recursions, and scratch memory for one thread, which grows.
    #
    # A labelling is given by 2 k + 1 at the first token of each segment of state k and 2 k at its
    # other tokens.
    cdef cppclass Segmentations:
        # The best labelling and its score, -inf if none is allowed, when code is arbitrary. Of
        # equal ones that with the smaller last state, then the shorter last segment, and so on
        # backwards. O(n_tokens n_states (n_states + max_length)).
        double decode(const SegmentPotentials& p, int32_t* code) except + nogil
        # out[t * step + k] = the best score of a labelling with state k at token t
        void max_marginals(const SegmentPotentials& p, Py_ssize_t step, double* out) except + nogil
        # log Z, the logarithm of the sum of exp(score); -inf if no segmentation is possible
        double log_partition(const SegmentPotentials& p) except + nogil
        # Likewise, and unless it is -inf also the probabilities of states, added to tokens[t * step
        # + k]; of segments (n_tokens, max_length, n_states), those that are too long excepted; and,
        # unless it is NULL, the expected numbers of neighbours, added to pairs (n_states, stride)
        double infer(
            const SegmentPotentials& p, Py_ssize_t step, double* tokens, double* segments,
            double* pairs
        ) except + nogil
        # A labelling drawn by its probability, by numbers of [0, 1) for all tokens, of the
        # potentials of the last call of one of these two, which returned a finite number.
        void sample(const SegmentPotentials& p, const double* uniform, int32_t* code) nogil
        # the score of a labelling; -inf if a segment is too long
        double score(const SegmentPotentials& p, const int32_t* code) nogil
        # The best segmentations by falling score, as many as exist up to k; returns their number.
        # code (k, n_tokens) and out (k,) are written to. They have no bonus. Of equal ones first
        # that of `decode`.
        Py_ssize_t k_best(
            const SegmentPotentials& p, Py_ssize_t k, int32_t* code, double* out
        ) except + nogil
