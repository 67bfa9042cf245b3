"""The dual point in statistics space (see the .pxd for invariants)."""

import numpy as np

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport prefetch_memory
from sskit.core.memory cimport grown

from sskit.core.stop import CutShort


cdef int reserve_entries(Block* block, Py_ssize_t n) except -1 nogil:
    if n > block.capacity:
        n = max(n, 2 * block.capacity)
        block.index = <int32_t*>grown(block.index, n * sizeof(int32_t))
        block.value = <double*>grown(block.value, n * sizeof(double))
        block.capacity = n
    return 0


cdef int resize_block(Block* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil:
    # one piece of memory for all, which begins with the weights: planes are many and small
    cdef double* numbers = <double*>grown(
        NULL, size * ((2 + size) * sizeof(double) + (n + 1) * sizeof(int32_t))
    )
    cdef Block old = block[0]
    cdef Py_ssize_t row
    block.weight = numbers
    block.plane_loss = numbers + size
    block.gram = numbers + 2 * size
    block.code = <int32_t*>(numbers + (2 + size) * size)
    block.last_used = block.code + n * size
    block.plane_capacity = size
    if old.n_planes > 0:
        memcpy(block.weight, old.weight, old.n_planes * sizeof(double))
        memcpy(block.plane_loss, old.plane_loss, old.n_planes * sizeof(double))
        memcpy(block.code, old.code, old.n_planes * n * sizeof(int32_t))
        memcpy(block.last_used, old.last_used, old.n_planes * sizeof(int32_t))
    for row in range(old.n_gram):
        memcpy(
            block.gram + row * size, old.gram + row * old.plane_capacity,
            old.n_gram * sizeof(double)
        )
    free(old.weight)
    return 0


cdef void free_block(Block* block) noexcept nogil:
    free(block.index)
    free(block.value)
    free(block.weight)


cdef class DualState:
    """Dual point of a problem, at the truth of every block to begin with.

    Parameters
    ----------
    problem : Problem
        Gives the number of blocks and the length of the codes of their planes.
    """

    def __cinit__(self, Problem problem):
        cdef Py_ssize_t i
        self.problem = problem
        self.max_statistics = problem.max_statistics
        self.code_length = np.empty(problem.n_blocks, dtype=np.intp)
        self.blocks = <Block*>calloc(max(problem.n_blocks, 1), sizeof(Block))
        if self.blocks == NULL:
            raise MemoryError(f"no memory for {problem.n_blocks} blocks")
        # not before there are any: __del__ goes through them
        self.n_blocks = problem.n_blocks
        for i in range(self.n_blocks):
            self.code_length[i] = problem.code_length(i)
            self.blocks[i].aggregate = 1.0

    def __del__(self):
        cdef Py_ssize_t i, p
        for i in range(self.n_blocks):
            for p in range(self.blocks[i].n_planes):
                self.problem.plane_store.forget(i, self.blocks[i].code + p * self.code_length[i])

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.blocks != NULL:
            for i in range(self.n_blocks):
                free_block(&self.blocks[i])
            free(self.blocks)

    cdef int match(self, Problem problem) except -1:
        check_equal(self.n_blocks, problem.n_blocks, "the number of blocks")
        check_equal(self.problem.max_code_length, problem.max_code_length, "the length of codes")
        return check_equal(self.max_statistics, problem.max_statistics, "the number of statistics")

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = block.n_planes
        prefetch_memory(block.index, block.n * sizeof(int32_t))
        prefetch_memory(block.value, block.n * sizeof(double))
        prefetch_memory(block.code, n * self.code_length[i] * sizeof(int32_t))
        prefetch_memory(block.weight, n * sizeof(double))
        prefetch_memory(block.plane_loss, n * sizeof(double))
        prefetch_memory(block.last_used, n * sizeof(int32_t))
        prefetch_memory(block.gram, block.n_gram * block.plane_capacity * sizeof(double))

    cdef void prefetch_block(self, Py_ssize_t i) noexcept nogil:
        prefetch_memory(&self.blocks[i], sizeof(Block))

    cdef double dot(self, Py_ssize_t i, const double* theta) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef double total = 0.0
        cdef Py_ssize_t e
        for e in range(block.n):
            total += block.value[e] * theta[block.index[e]]
        return total

    cdef void add_to(self, Py_ssize_t i, Direction delta, double scale) noexcept nogil:
        delta.add(self.blocks[i].index, self.blocks[i].value, self.blocks[i].n, scale)

    cdef int advance(
        self, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t e
        cdef int32_t j
        reserve_entries(block, block.n + delta.n)
        for e in range(block.n):
            j = block.index[e]
            if delta.seen[j]:
                block.value[e] += step * delta.value[j]
                delta.seen[j] = 2
        for e in range(delta.n):
            j = delta.index[e]
            if delta.seen[j] == 2:
                delta.seen[j] = 1
            elif delta.value[j] != 0.0:
                block.index[block.n] = j
                block.value[block.n] = step * delta.value[j]
                block.n += 1
        block.loss += loss_change
        return 0

    cdef int set_mix(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil:
        self.blocks[i].n = 0
        self.advance(i, delta, 1.0, 0.0)
        self.blocks[i].loss = loss
        return 0

    cdef int assign(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t slot
        self.set_mix(i, delta, loss)
        for slot in range(block.n_planes):
            block.weight[slot] = 0.0
        block.aggregate = 1.0
        return 0

    cdef void blend(self, Py_ssize_t i, Py_ssize_t slot, double step) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t p
        cdef double stored = 0.0
        for p in range(block.n_planes):
            block.weight[p] *= 1.0 - step
            if p == slot:
                block.weight[p] += step
            stored += block.weight[p]
        # from the others, so that the sum stays one without drift
        block.aggregate = max(1.0 - stored, 0.0)

    cdef void shift(
        self, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target, double amount
    ) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef double* origin = &block.aggregate if source < 0 else &block.weight[source]
        # all of it: exactly zero is left (a drop step)
        origin[0] = 0.0 if amount >= origin[0] else origin[0] - amount
        if target < 0:
            block.aggregate += amount
        else:
            block.weight[target] += amount

    cdef bint has_aggregate(self, Py_ssize_t i) noexcept nogil:
        return self.blocks[i].aggregate > 1e-12

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t p, n = self.code_length[i]
        for p in range(block.n_planes):
            if memcmp(block.code + p * n, code, n * sizeof(int32_t)) == 0:
                return p
        return -1

    cdef Py_ssize_t insert(
        self, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = self.code_length[i], slot = self.find(i, code)
        if slot >= 0:
            return slot
        slot = block.n_planes
        if slot == block.plane_capacity:
            # by a half, not double: the Gram matrix grows with the square
            self.resize_planes(i, max(4, slot + slot // 2))
        self.problem.plane_store.keep(i, code)
        memcpy(block.code + slot * n, code, n * sizeof(int32_t))
        block.weight[slot] = 0.0
        block.plane_loss[slot] = loss
        block.last_used[slot] = 0
        block.n_planes += 1
        return slot

    cdef int resize_planes(self, Py_ssize_t i, Py_ssize_t size) except -1 nogil:
        return resize_block(&self.blocks[i], self.code_length[i], size)

    cdef void evict(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = self.code_length[i], last = block.n_planes - 1, row
        cdef Py_ssize_t stride = block.plane_capacity
        self.problem.plane_store.forget(i, block.code + slot * n)
        block.aggregate += block.weight[slot]
        block.n_planes = last
        if last < block.n_gram:
            # row and column of the last plane take the place of the evicted one's
            block.gram[last * stride + slot] = block.gram[last * stride + last]
            memcpy(block.gram + slot * stride, block.gram + last * stride, last * sizeof(double))
            for row in range(last):
                block.gram[row * stride + slot] = block.gram[slot * stride + row]
            block.n_gram = last
        else:
            block.n_gram = min(block.n_gram, slot)
        if slot != last:
            memcpy(block.code + slot * n, block.code + last * n, n * sizeof(int32_t))
            block.weight[slot] = block.weight[last]
            block.plane_loss[slot] = block.plane_loss[last]
            block.last_used[slot] = block.last_used[last]

    cdef int rebuild_nogil(
        self, Problem problem, Regularizer regularizer, Direction scratch, Stop stop,
        const double[::1] prior
    ) except -1 nogil:
        cdef Py_ssize_t i
        cdef double* v = &regularizer.v[0]
        cdef bint done = False
        try:
            problem.space.begin_sum(v, problem.n_weights)
            if prior is not None:
                for i in range(problem.n_weights):
                    v[i] = prior[i]
            for i in range(self.n_blocks):
                self.add_to(i, scratch, 1.0)
                problem.scatter(i, scratch, problem.block_weight[i] / regularizer.lam, v)
                scratch.clear()
            problem.space.end_sum(v, stop)
            done = True
        finally:
            if not done:
                problem.space.abort_sum(v, problem.n_weights)
            regularizer.refresh()
        return 0

    def rebuild(self, Problem problem, Regularizer regularizer, Stop stop=None):
        """Sum v anew from the dual variables, to undo the drift of many small moves.

        If the problem fails in between, v is zero; if the stop is due before the end, v stays as
        it is and CutShort is raised.
        """
        self.match(problem)
        regularizer.match(problem)
        cdef Direction scratch = Direction(problem.max_statistics)
        # only the sums of kernel spaces are cut short
        before = np.array(regularizer.v) if problem.space.is_kernel_space else None
        cdef const double[::1] prior = regularizer.prior
        if stop is None:
            stop = Stop()
        try:
            with nogil:
                self.rebuild_nogil(problem, regularizer, scratch, stop, prior)
        except CutShort:
            np.asarray(regularizer.v)[:] = before
            regularizer.refresh()
            raise

    def add_sum(self, Problem problem, double lam, double[::1] v):
        """Add what the blocks add to a dual sum, c_i / lam B_i q_i each; not in a kernel space.

        Parameters
        ----------
        problem : Problem
            Of this dual point; its blocks may be some of those that the weights c_i are of.
        lam : float
            Regularisation strength.
        v : ndarray of shape (n_weights + LANES,)
            The sum, which grows.
        """
        self.match(problem)
        problem.check_weights(v.shape[0], "v")
        cdef Direction scratch = Direction(problem.max_statistics)
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.n_blocks):
                self.add_to(i, scratch, 1.0)
                problem.scatter(i, scratch, problem.block_weight[i] / lam, &v[0])
                scratch.clear()

    def n_support_planes(self, Problem problem):
        """Return the number of planes with weight, those of the truth aside.

        The aggregate plane of a block counts as one, however many were merged in it.
        """
        cdef int32_t[::1] code = np.empty(max(problem.max_code_length, 1), dtype=np.int32)
        cdef Py_ssize_t i, p, truth, total = 0
        self.match(problem)
        for i in range(self.n_blocks):
            if self.blocks[i].n == 0:
                continue
            problem.truth(i, &code[0])
            truth = self.find(i, &code[0])
            total += self.has_aggregate(i)
            for p in range(self.blocks[i].n_planes):
                total += self.blocks[i].weight[p] > 0.0 and p != truth
        return total

    def losses(self):
        """Return the losses of the mixes, shape (n_blocks,)."""
        return np.array([self.blocks[i].loss for i in range(self.n_blocks)])

    def keep_shares(self, Problem problem, const double[::1] shares):
        """Let the planes of block i keep shares[i] <= 1 of their weights; the truth gets the rest.

        Dual feasible since psi = 0 and loss = 0 at the truth: the mix and its loss shrink by
        the share (Osokin et al. 2016, proposition 1, block by block).
        """
        cdef int32_t[::1] code = np.empty(max(problem.max_code_length, 1), dtype=np.int32)
        cdef Py_ssize_t i, e
        cdef Block* block
        self.match(problem)
        check_equal(shares.shape[0], self.n_blocks, "the number of shares")
        with nogil:
            for i in range(self.n_blocks):
                if shares[i] >= 1.0:
                    continue
                block = &self.blocks[i]
                for e in range(block.n):
                    block.value[e] *= shares[i]
                block.loss *= shares[i]
                problem.truth(i, &code[0])
                self.blend(i, self.find(i, &code[0]), 1.0 - shares[i])

    def change_lam(self, Problem problem, Regularizer regularizer, double lam):
        """Move to another lam, dual feasible.

        A smaller lam keeps v and w: all planes but the truth keep the share rho = lam_new /
        lam_old of their weight (Osokin et al. 2016, proposition 1; v is what it speaks of, so
        it holds with bounds on w too). A larger lam keeps the weights of the planes, so that v
        shrinks by 1 / rho.
        """
        cdef double rho = lam / regularizer.lam
        if rho >= 1.0:
            regularizer.rescale(lam)
            return
        regularizer.change_lam(lam)
        self.keep_shares(problem, np.full(self.n_blocks, rho))
