"""Shards of a sharded run (see the .pxd)."""

from sskit.core.dual cimport Block
from sskit.core.regularizer cimport BoxRegularizer


cdef class LoggingRegularizer(Regularizer):
    """Weights of a shard whose moves are logged.

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    """

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double step
    ) except -1 nogil:
        cdef Py_ssize_t e
        self.moves.push_back(Move(i, delta.n, self.index.size(), step))
        for e in range(delta.n):
            self.index.push_back(delta.index[e])
            self.value.push_back(delta.value[delta.index[e]])
        return problem.scatter(i, delta, step, &self.v[0])

    cdef void clear(self) noexcept nogil:
        self.moves.clear()
        self.index.clear()
        self.value.clear()


cdef class Shard:
    """A worker's own problem, weights and logs.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run. Blocks that this shard visits in a round are not visited by
        others.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    logs : bool
        Whether it is others' moves one by one that the weights follow.
    own : bool
        Whether the shard has a copy of the weights, as all but one of a run must.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, bint logs,
                  bint own):
        self.problem, self.dual, self.regularizer = problem, dual, regularizer
        if logs:
            self.log = LoggingRegularizer(regularizer.lam, regularizer.n_weights)
            self.regularizer = self.log
            if not own:
                self.log.v, self.log.w = regularizer.v, regularizer.w
        elif own and regularizer.bounded:
            self.regularizer = BoxRegularizer(regularizer.lam, *regularizer.box())
        elif own:
            self.regularizer = Regularizer(regularizer.lam, regularizer.n_weights)
        self.silent = Sampler(problem.n_blocks, None)
        self.scratch = Direction(problem.max_statistics)

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.undo.clear()
        self.index.clear()
        self.number.clear()
        if self.log is not None:
            self.log.clear()
        self.n_done = 0
        self.load = self.loss = 0.0
        self.before = self.visitor.increase

    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        self.blocks.push_back(i)
        self.load += self.problem.code_length(i)
        return 0

    cdef int visit(self, int64_t* owner, Stop stop, bint leads) except -1 nogil:
        cdef Py_ssize_t n = self.blocks.size(), i
        cdef double loss
        while self.n_done < n:
            i = self.blocks[self.n_done]
            if self.n_done + 1 < n:
                self.problem.prefetch(self.blocks[self.n_done + 1])
                self.dual.prefetch(self.blocks[self.n_done + 1])
            if owner[i] >= 0:
                self.keep(i)
                owner[i] = -1
            loss = self.dual.loss(i)
            self.visitor.visit(i, self.silent)
            self.loss += self.problem.block_weight[i] * (self.dual.loss(i) - loss)
            self.n_done += 1
            # only the leader may look at the clock and at signals
            if stop.due() if leads else stop.over():
                break
        return 0

    cdef int keep(self, Py_ssize_t i) except -1 nogil:
        cdef Block* block = &self.dual.blocks[i]
        self.undo.push_back(BlockBefore(
            i, block.n, block.n_planes, self.index.size(), self.number.size(),
            block.plane_loss[0]
        ))
        self.index.insert(self.index.end(), block.index, block.index + block.n)
        self.number.insert(self.number.end(), block.value, block.value + block.n)
        self.number.insert(self.number.end(), block.weight, block.weight + block.n_planes)
        return 0

    cdef double gain(self) noexcept nogil:
        return self.visitor.increase - self.before

    cdef double grown(self) noexcept nogil:
        return 2.0 / self.regularizer.lam * (self.loss - self.gain())

    cdef double follow(self, Shard other, double factor) noexcept nogil:
        cdef Py_ssize_t k
        cdef Move* move
        cdef double growth = 0.0
        for k in range(<Py_ssize_t>other.log.moves.size()):
            move = &other.log.moves[k]
            self.scratch.add(
                other.log.index.data() + move.first, other.log.value.data() + move.first, move.n,
                1.0
            )
            growth += self.problem.scatter_growing(
                move.block, self.scratch, factor * move.step, &self.regularizer.v[0]
            )
            self.scratch.clear()
        return growth

    cdef int settle(self, double share) except -1 nogil:
        cdef Py_ssize_t k, p
        cdef BlockBefore* before
        cdef Block* block
        cdef double rest = 1.0 - share, weight
        cdef const double* number
        for k in range(<Py_ssize_t>self.undo.size()):
            before = &self.undo[k]
            block = &self.dual.blocks[before.block]
            number = self.number.data() + before.first_number
            for p in range(block.n_planes):
                weight = number[before.n_entries + p] if p < before.n_planes else 0.0
                block.weight[p] = share * block.weight[p] + rest * weight
            if block.n_planes > 1:
                # plane 0 stands still where others are stored
                continue
            self.scratch.add(block.index, block.value, block.n, share)
            self.scratch.add(
                self.index.data() + before.first_index, number, before.n_entries, rest
            )
            self.dual.assign(
                before.block, self.scratch, share * block.plane_loss[0] + rest * before.loss
            )
            self.scratch.clear()
        return 0
