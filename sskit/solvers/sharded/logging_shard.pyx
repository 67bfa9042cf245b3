"""A shard that logs its moves (see the .pxd)."""

from libc.string cimport memcpy

from sskit.core.checks cimport check_equal


cdef class LoggingRegularizer(Regularizer):
    """Weights of a shard with a log.

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    covector : callable
        As of every regularizer.
    base : Regularizer
        Whose weights these are.
    moves : bool
        Whether moves are made at once.
    own : bool
        Whether in a copy.
    """

    def __cinit__(self, lam, n_weights, covector, Regularizer base, bint moves, bint own):
        check_equal(self.n_weights, base.n_weights, "the number of weights")
        if base.bounded:
            raise ValueError("moves of bounded weights cannot be followed")
        self.moves = moves
        if not own:
            self.v, self.w = base.v, base.w

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double step
    ) except -1 nogil:
        if delta.n and not self.log.add(i, step, &delta.index[0], &delta.value[0], delta.n):
            with gil:
                raise MemoryError("no memory for the moves of a round")
        return problem.scatter(i, delta, step, &self.v[0]) if self.moves else 0


cdef class LoggingShard(Shard):
    """A shard with a log.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    moves : bool
        Whether moves are made at once; then every shard must have weights of its own.
    own : bool
        Whether it has a copy, as all but one must that make moves at once.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, bint moves,
                  bint own):
        self.weights = LoggingRegularizer(
            0.0, regularizer.n_weights, None, regularizer, moves, own
        )
        self.regularizer = self.weights

    cdef void renew(self) noexcept nogil:
        if &self.weights.v[0] != &self.base.v[0]:
            memcpy(&self.weights.v[0], &self.base.v[0], self.base.n_weights * sizeof(double))

    cdef void begin_round(self) noexcept nogil:
        Shard.begin_round(self)
        self.weights.log.clear()
        self.before = self.visitor.increased()

    cdef double gain(self) noexcept nogil:
        return self.visitor.increased() - self.before

    cdef double write(
        self, Problem problem, Direction scratch, double factor, const int64_t* part, double* v
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double growth = 0.0
        cdef LoggedMove* move
        for k in range(self.weights.log.moves.n):
            move = self.weights.log.moves.data() + k
            scratch.add(
                self.weights.log.index.data() + move.first,
                self.weights.log.value.data() + move.first, move.n, 1.0
            )
            growth += problem.scatter_part(move.block, scratch, factor * move.step, part, v)
            scratch.clear()
        return growth
