cdef class Sampler:
    """The order in which a pass visits the blocks.

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
