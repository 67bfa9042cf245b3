"""One shard of a sharded run (see the .pxd)."""

from sskit.core.block cimport Block
from sskit.core.vectors cimport append


cdef class LossSum(Averager):
    """No average: the run that the shard belongs to keeps it."""

    cdef void begin_step(self) noexcept nogil:
        self.n_steps += 1.0

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        self.loss += loss_change
        return 0


cdef class Shard:
    """A worker's own problem and log; base of shards, which have weights to move.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run. Blocks that this shard visits in a round are not visited by
        others.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, *args):
        dual.match(problem)
        regularizer.match(problem)
        self.problem = problem
        self.dual = dual
        self.base = regularizer
        self.averager = LossSum()
        self.silent = Sampler(problem.n_blocks, None)
        self.scratch = Direction(problem.max_statistics)
        self.gamma = 1.0

    cdef int begin_pass(self, Visitor visitor) except -1:
        visitor.match(self.problem)
        self.visitor = visitor
        self.regularizer.lam = self.base.lam
        return 0

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.n_done = 0
        self.began = False
        self.load = 0.0
        self.averager.loss = self.averager.n_steps = 0.0

    cdef void renew(self) noexcept nogil:
        pass

    cdef int catch_up(self, void** shards, Py_ssize_t n_shards) except -1 nogil:
        return self.settle()

    cdef void measure(self) noexcept nogil:
        pass

    cdef double gain(self) noexcept nogil:
        return 0.0

    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        append(self.blocks, i)
        self.load += self.problem.code_length(i)
        return 0

    cdef int visit(self, int32_t* saved, int32_t round, Stop stop, bint leads) except -1 nogil:
        cdef Py_ssize_t n = self.blocks.size(), i
        cdef Block* block
        while self.n_done < n:
            i = self.blocks[self.n_done]
            if self.n_done + 1 < n:
                self.problem.prefetch(self.blocks[self.n_done + 1])
                self.dual.prefetch(self.blocks[self.n_done + 1])
            if saved[i] != round:
                block = &self.dual.blocks[i]
                if not self.log.add(
                    i, block.index, block.value, block.n, block.weight, block.n_planes, block.loss,
                    block.aggregate
                ):
                    with gil:
                        raise MemoryError("no memory for what blocks were before a round")
                saved[i] = round
            self.visitor.visit(i, self.silent)
            self.n_done += 1
            # only the leader may look at the clock and at signals
            if stop.due() if leads else stop.over():
                break
        return 0

    cdef int settle(self) except -1 nogil:
        cdef Py_ssize_t k, p
        cdef BlockBefore* before
        cdef Block* block
        cdef double new = self.gamma, old = 1.0 - self.gamma, weight
        for k in range(self.log.blocks.n if new < 1.0 else 0):
            before = self.log.blocks.data() + k
            block = &self.dual.blocks[before.block]
            self.scratch.add(block.index, block.value, block.n, new)
            if before.n_entries:
                self.scratch.add(
                    self.log.index.data() + before.first_entry,
                    self.log.value.data() + before.first_entry, before.n_entries, old
                )
            self.dual.set_mix(before.block, self.scratch, new * block.loss + old * before.loss)
            self.scratch.clear()
            for p in range(block.n_planes):
                weight = 0.0
                if p < before.n_planes:
                    weight = self.log.weight.data()[before.first_weight + p]
                block.weight[p] = new * block.weight[p] + old * weight
            block.aggregate = new * block.aggregate + old * before.aggregate
        self.log.clear()
        return 0
