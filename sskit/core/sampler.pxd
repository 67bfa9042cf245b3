cdef class Sampler:
    """The order in which a pass visits the blocks: one that does not depend on what it finds.

    Randomness is drawn in begin_pass(), with the GIL, from the random state of the fit; next()
    and record_gap() only read it, so that a pass runs without the GIL and a seed fixes the model.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef object random_state
    cdef object arrange              # that of the space of the problem, or None
    cdef Py_ssize_t[::1] order       # of the pass, for those whose order is known before it
    cdef Py_ssize_t position         # of the next block, or random number

    # the next block to visit; called, after begin_pass(n_steps), as often as that returned: n_steps
    # times, or fewer if the sampler leaves out blocks
    cdef Py_ssize_t next(self) noexcept nogil
    # the block that follows the coming ones, or -1 if it is not known yet; only a hint
    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil
    # the oracle has just found that block i has this gap
    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil
    # block i, which next() has just returned, need not come again until record_gap(i)
    cdef void set_aside(self, Py_ssize_t i) noexcept nogil
    # draw anew what was drawn ahead: gaps have changed since
    cdef void redraw(self) noexcept nogil


cdef class GapTree(Sampler):
    """Last known gaps, with their sum, a draw proportional to them, and their maximum.

    A complete binary tree in an array: node 1 is the root, node j has the children 2 j and
    2 j + 1, block i is node n_leaves + i. Inner nodes hold the sum and the maximum of their
    children. All operations are O(log n).
    """

    cdef Py_ssize_t n_leaves
    cdef double[::1] total
    cdef double[::1] largest

    # inner node j follows from its children: not by differences, so that nothing drifts
    cdef void update(self, Py_ssize_t j) noexcept nogil


cdef class GapSampler(GapTree):
    cdef readonly double uniform_fraction
    cdef double[::1] uniforms    # random numbers of the pass
    cdef Py_ssize_t upcoming     # drawn one step ahead, so that its memory can be fetched

    cdef Py_ssize_t draw(self) noexcept nogil
