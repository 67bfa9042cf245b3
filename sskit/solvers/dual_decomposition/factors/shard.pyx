"""One shard of a pass over factors (see the .pxd)."""

from sskit.parallel.buffer cimport need


cdef class ShardState(FactorState):
    """Factors under weights of their own.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam, rho : float
        As of the owner.
    w : ndarray of shape (n_weights + LANES,)
        The weights of this shard.
    owner : FactorState
        Whose dual variables and messages these are.
    """

    cdef int move_node(self, Py_ssize_t i, Py_ssize_t j, const double* change) except -1 nogil:
        self.keep(i, j, False, &self.nodes[j], change)
        return FactorState.move_node(self, i, j, change)

    cdef int move_edge(self, Py_ssize_t i, Py_ssize_t e, const double* change) except -1 nogil:
        self.keep(i, e, True, &self.edges[e], change)
        return FactorState.move_edge(self, i, e, change)

    cdef int keep(
        self, Py_ssize_t i, Py_ssize_t factor, bint edge, const Mix* mix, const double* change
    ) except -1 nogil:
        cdef double scale = self.factors.block_weight[i] / self.lam
        cdef FactorMove move
        cdef Py_ssize_t k
        move.block, move.factor, move.edge = i, factor, edge
        for k in range(mix.n):
            if change[k] != 0.0:
                move.state, move.step = mix.state[k], -scale * change[k]
                # states of a factor do not share weights: those before it have not moved this one
                move.score = self.score(&move) if self.scores else 0.0
                need(self.moves.push(move))
        return 0

    cdef double score(self, const FactorMove* move) noexcept nogil:
        if move.edge:
            return self.factors.edge_score(move.block, move.factor, &self.w[0], move.state)
        return self.factors.node_score(move.block, move.factor, &self.w[0], move.state)


cdef class SweepShard:
    """A worker's own sweep and log.

    Parameters
    ----------
    sweep : Sweep
        Of a `ShardState` and searches of this shard alone.
    scores : bool
        Whether the moves are measured by a shard that follows them.
    """

    def __cinit__(self, Sweep sweep, bint scores):
        self.sweep = sweep
        self.state = <ShardState?>sweep.state
        self.state.scores = scores

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.state.moves.clear()
        self.before.clear()
        self.n_done = self.load = 0
        self.decrease = self.disagreement = 0.0
        self.ascent = self.state.ascent

    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        need(self.blocks.push(i))
        self.load += self.sweep.factors.first_node(i + 1) - self.sweep.factors.first_node(i)
        self.load += self.sweep.factors.first_edge(i + 1) - self.sweep.factors.first_edge(i)
        return 0

    cdef int visit(self, double step, Stop stop, bint leads) except -1 nogil:
        cdef Py_ssize_t i
        while self.n_done < self.blocks.n:
            i = self.blocks.data()[self.n_done]
            self.save(i)
            self.n_done += 1
            if step < 0.0:
                self.sweep.take(i, &self.decrease, &self.disagreement)
            else:
                self.sweep.take_stored(i, step, &self.decrease, &self.disagreement)
            # only the leader may look at the clock and at signals
            if stop.due() if leads else stop.over():
                break
        return 0

    cdef int save(self, Py_ssize_t i) except -1 nogil:
        cdef const Message* message
        cdef Py_ssize_t k
        cdef bint there = True
        for k in range(self.sweep.factors.first_node(i), self.sweep.factors.first_node(i + 1)):
            there &= self.save_mix(&self.state.nodes[k])
        for k in range(self.sweep.factors.first_edge(i), self.sweep.factors.first_edge(i + 1)):
            there &= self.save_mix(&self.state.edges[k])
        for k in range(
            2 * self.sweep.factors.first_edge(i), 2 * self.sweep.factors.first_edge(i + 1)
        ):
            message = &self.state.messages[k]
            there &= self.before.write(message.label, message.n)
            there &= self.before.write(message.residual, message.n)
            there &= self.before.write(message.multiplier, message.n)
        return need(there)

    cdef bint save_mix(self, const Mix* mix) noexcept nogil:
        return self.before.write(mix.state, mix.n) and self.before.write(mix.weight, mix.n)

    cdef void restore(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k
        cdef Message* message
        for k in range(self.sweep.factors.first_node(i), self.sweep.factors.first_node(i + 1)):
            self.restore_mix(&self.state.nodes[k])
        for k in range(self.sweep.factors.first_edge(i), self.sweep.factors.first_edge(i + 1)):
            self.restore_mix(&self.state.edges[k])
        for k in range(
            2 * self.sweep.factors.first_edge(i), 2 * self.sweep.factors.first_edge(i + 1)
        ):
            # there is room: memory of mixes and messages never shrinks
            message = &self.state.messages[k]
            message.n = self.before.next()
            self.before.read(message.label, message.n)
            self.before.read(message.residual, self.before.next())
            self.before.read(message.multiplier, self.before.next())

    cdef void restore_mix(self, Mix* mix) noexcept nogil:
        mix.n = self.before.next()
        self.before.read(mix.state, mix.n)
        self.before.read(mix.weight, self.before.next())

    cdef double follow(self, SweepShard other, double share, bint measures) except? -1 nogil:
        # One after the other, as they were made: what an earlier move changes in the score of a
        # later one is in both scores, so that their difference is due to the moves made here.
        cdef double* w = &self.state.w[0]
        cdef double inner = 0.0
        cdef Py_ssize_t k
        cdef FactorMove* move
        for k in range(other.state.moves.n):
            move = other.state.moves.data() + k
            if measures:
                inner += move.step * (self.state.score(move) - move.score)
            if move.edge:
                self.sweep.edges.note(move.state)
                self.sweep.factors.move_edge(
                    move.block, move.factor, move.state, share * move.step, w
                )
                self.sweep.edges.enter()
            else:
                self.sweep.factors.move_node(
                    move.block, move.factor, move.state, share * move.step, w
                )
        return inner

    cdef int undo(self) except -1 nogil:
        cdef Py_ssize_t k
        self.state.ascent = self.ascent
        self.decrease = self.disagreement = 0.0
        for k in range(self.n_done):
            self.restore(self.blocks.data()[k])
            # the blocks are as far from agreeing as they were
            self.disagreement += self.sweep.share(
                self.blocks.data()[k], self.state.ascend(self.blocks.data()[k], 0.0)
            )
        return 0
