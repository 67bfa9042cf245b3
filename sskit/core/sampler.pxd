cdef class SumTree:
    """Non-negative values with their sum, a draw proportional to them, and their maximum.

    A complete binary tree in an array: node 1 is the root, node j has the children 2 j and
    2 j + 1, leaf i is node n_leaves + i. Inner nodes hold the sum and the maximum of their
    children. All operations are O(log n).
    """

    cdef readonly Py_ssize_t n_values
    cdef Py_ssize_t n_leaves
    cdef double[::1] total
    cdef double[::1] largest

    cdef void set(self, Py_ssize_t i, double value) noexcept nogil
    # the i with  sum(values[:i]) <= share * sum(values) < sum(values[:i + 1]),  0 <= share < 1
    cdef Py_ssize_t draw(self, double share) noexcept nogil
    # the first i with the largest value
    cdef Py_ssize_t top(self) noexcept nogil


cdef class Sampler:
    """The order in which a pass visits the blocks.

    Randomness is drawn in begin_pass(), with the GIL, from the random state of the fit; next()
    and learned() only read it, so that a pass runs without the GIL and a seed fixes the model.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef object random_state
    # ValueError unless a pass of n_steps over n_blocks may follow
    cdef int check(self, Py_ssize_t n_blocks, Py_ssize_t n_steps) except -1
    # how often next() may still be called
    cdef Py_ssize_t n_drawn(self)
    # the next block to visit; called, after begin_pass(n_steps), as often as that returned: n_steps
    # times, or fewer if the sampler leaves out blocks
    cdef Py_ssize_t next(self) noexcept nogil
    # the block that follows the coming ones, or -1 if it is not known yet; only a hint
    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil
    # the oracle has just found that block i has this gap
    cdef void learned(self, Py_ssize_t i, double gap) noexcept nogil
    # block i, which next() has just returned, need not come again until learned(i)
    cdef void set_aside(self, Py_ssize_t i) noexcept nogil
    # draw anew what was drawn ahead: gaps have changed since
    cdef void redraw(self) noexcept nogil


cdef class OrderSampler(Sampler):
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t position

    # let a pass follow this order; returns its length
    cdef Py_ssize_t visit(self, order) except -1


cdef class PermutationSampler(OrderSampler):
    cdef object arrange          # that of the space of the problem, or None


cdef class PromisingSampler(OrderSampler):
    cdef object arrange          # likewise
    cdef object slopes           # (n_blocks,) kept up to date by the run
    cdef double share
    cdef object cached_blocks          # that of the problem


cdef class GapSampler(Sampler):
    cdef SumTree tree            # of the block gaps
    cdef readonly double uniform_share
    cdef double[::1] shares      # uniform random numbers of the pass
    cdef Py_ssize_t position
    cdef Py_ssize_t upcoming     # drawn one step ahead, so that its memory can be fetched

    cdef Py_ssize_t draw(self) noexcept nogil


cdef class MaxGapSampler(Sampler):
    cdef SumTree tree
