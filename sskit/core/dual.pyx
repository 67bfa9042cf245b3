"""The dual point: a mix of planes for each block (see the .pxd for invariants)."""

import numpy as np

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memmove

from sskit.core.lanes cimport prefetch_memory
from sskit.core.memory cimport grown

from sskit.core.stop import CutShort


cdef Py_ssize_t plane_memory(Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    return size * ((2 + size) * sizeof(double) + (n + 1) * sizeof(int32_t))


cdef int resize_block(DualBlock* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil:
    # one piece of memory: planes are many and small
    cdef double* numbers = <double*>grown(NULL, plane_memory(n, size))
    cdef DualBlock old = block[0]
    cdef Py_ssize_t row
    block.gram = numbers
    block.weight = numbers + size * size if size > 1 else &block.alone[0]
    block.plane_loss = block.weight + size
    block.code = <int32_t*>(numbers + (2 + size) * size)
    block.last_used = block.code + n * size
    block.plane_capacity = size
    if old.n_planes > 0:
        memmove(block.weight, old.weight, old.n_planes * sizeof(double))
        memmove(block.plane_loss, old.plane_loss, old.n_planes * sizeof(double))
        memcpy(block.code, old.code, old.n_planes * n * sizeof(int32_t))
        memcpy(block.last_used, old.last_used, old.n_planes * sizeof(int32_t))
    for row in range(old.n_gram):
        memcpy(
            block.gram + row * size, old.gram + row * old.plane_capacity,
            old.n_gram * sizeof(double)
        )
    free(old.gram)
    return 0


# room for n entries of psi of plane 0
cdef int reserve(DualBlock* block, Py_ssize_t n) except -1 nogil:
    if n > block.capacity:
        n = max(n, 2 * block.capacity)
        block.index = <int32_t*>grown(block.index, n * sizeof(int32_t))
        block.value = <double*>grown(block.value, n * sizeof(double))
        block.capacity = n
    return 0


# the counter wraps around after 2^31 changes, long after any reader of an old version
cdef inline void renew(DualBlock* block) noexcept nogil:
    block.version = (block.version + 1) & 0x7fffffff


cdef Py_ssize_t max_entries(Problem problem) noexcept nogil:
    return max(problem.max_support, problem.max_statistics, 1)


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
        self.blocks = <DualBlock*>calloc(max(problem.n_blocks, 1), sizeof(DualBlock))
        if self.blocks == NULL:
            raise MemoryError(f"no memory for {problem.n_blocks} blocks")
        # not before there are any: __del__ goes through them
        self.n_blocks = problem.n_blocks
        for i in range(self.n_blocks):
            self.code_length[i] = problem.code_length(i)
            resize_block(&self.blocks[i], self.code_length[i], 1)
            problem.truth(i, self.blocks[i].code)
            self.blocks[i].weight[0] = 1.0
            self.blocks[i].plane_loss[0] = 0.0
            self.blocks[i].last_used[0] = 0
            self.blocks[i].n_planes = 1
        self.scratch = Direction(problem.max_statistics)
        self.index = np.zeros(max_entries(problem), dtype=np.int32)
        self.value = np.zeros(max_entries(problem))

    def __del__(self):
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            self.clear(i)

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.blocks != NULL:
            for i in range(self.n_blocks):
                free(self.blocks[i].index)
                free(self.blocks[i].value)
                free(self.blocks[i].gram)
            free(self.blocks)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef DualBlock* block = &self.blocks[i]
        prefetch_memory(block.index, block.n * sizeof(int32_t))
        prefetch_memory(block.value, block.n * sizeof(double))
        if block.plane_capacity > 1:
            prefetch_memory(block.gram, plane_memory(self.code_length[i], block.plane_capacity))

    cdef void prefetch_block(self, Py_ssize_t i) noexcept nogil:
        prefetch_memory(&self.blocks[i], sizeof(DualBlock))

    cdef Py_ssize_t plane(
        self, Problem problem, Py_ssize_t i, Py_ssize_t p, int32_t* index, double* value
    ) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        if p > 0:
            return problem.plane(i, block.code + p * self.code_length[i], index, value)
        if block.n > 0:
            memcpy(index, block.index, block.n * sizeof(int32_t))
            memcpy(value, block.value, block.n * sizeof(double))
        return block.n

    cdef double loss(self, Py_ssize_t i) noexcept nogil:
        cdef DualBlock* block = &self.blocks[i]
        # <alpha_i, L_i> = weight @ plane_loss
        cdef double total = 0.0
        cdef Py_ssize_t p
        for p in range(block.n_planes):
            total += block.weight[p] * block.plane_loss[p]
        return total

    # delta += scale * psi of plane p
    cdef int add_plane(
        self, Py_ssize_t i, Py_ssize_t p, Direction delta, double scale
    ) except -1 nogil:
        cdef Py_ssize_t n = self.plane(self.problem, i, p, &self.index[0], &self.value[0])
        delta.add(&self.index[0], &self.value[0], n, scale)
        return 0

    cdef int add_to(self, Py_ssize_t i, Direction delta, double scale) except -1 nogil:
        # delta += scale * (weight @ psi)
        cdef Py_ssize_t p
        for p in range(self.blocks[i].n_planes):
            if self.blocks[i].weight[p] > 0.0:
                self.add_plane(i, p, delta, scale * self.blocks[i].weight[p])
        return 0

    cdef int advance(
        self, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef Py_ssize_t e
        cdef int32_t j
        # psi_0 += step * delta, of which `seen` marks the indices that psi_0 has already
        reserve(block, block.n + delta.n)
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
        block.plane_loss[0] += loss_change
        block.n_gram = 0
        renew(block)
        return 0

    cdef int assign(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil:
        self.blocks[i].n = 0
        self.advance(i, delta, 1.0, 0.0)
        self.blocks[i].plane_loss[0] = loss
        return 0

    cdef int assign_pairs(
        self, Py_ssize_t i, const int32_t* index, const double* value, Py_ssize_t n, double loss
    ) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        reserve(block, n)
        if n:  # else either may be unallocated
            memcpy(block.index, index, n * sizeof(int32_t))
            memcpy(block.value, value, n * sizeof(double))
        block.n, block.plane_loss[0], block.n_gram = n, loss, 0
        renew(block)
        return 0

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef Py_ssize_t p, n = self.code_length[i]
        cdef bint merged = block.n > 0 or block.plane_loss[0] != 0.0
        for p in range(merged, block.n_planes):
            if memcmp(block.code + p * n, code, n * sizeof(int32_t)) == 0:
                return p
        return -1

    cdef Py_ssize_t insert(self, Py_ssize_t i, const int32_t* code, double loss) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef Py_ssize_t n = self.code_length[i], slot = self.find(i, code)
        if slot >= 0:
            return slot
        slot = block.n_planes
        if slot == block.plane_capacity:
            # by a half, not double: the Gram matrix grows with the square
            resize_block(block, n, max(4, slot + slot // 2))
        self.problem.plane_store.keep(i, code)
        memcpy(block.code + slot * n, code, n * sizeof(int32_t))
        block.weight[slot] = 0.0
        block.plane_loss[slot] = loss
        block.last_used[slot] = 0
        block.n_planes += 1
        return slot

    cdef int evict(self, Py_ssize_t i, Py_ssize_t slot) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef Py_ssize_t n = self.code_length[i], last = block.n_planes - 1, row
        cdef Py_ssize_t stride = block.plane_capacity
        if block.weight[slot] > 0.0:
            self.merge(i, slot)
        self.problem.plane_store.forget(i, block.code + slot * n)
        block.n_planes = last
        renew(block)
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
        return 0

    # plane 0 becomes the mean of itself and a stored plane, by weight
    cdef int merge(self, Py_ssize_t i, Py_ssize_t slot) except -1 nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef double total = block.weight[0] + block.weight[slot]
        cdef double gamma = block.weight[slot] / total, rest = 1.0 - gamma
        cdef double loss = rest * block.plane_loss[0] + gamma * block.plane_loss[slot]
        # inner products are means too, where all are known
        cdef Py_ssize_t n_gram = block.n_gram if slot < block.n_gram else 0, a
        cdef double* own = block.gram
        cdef const double* other = block.gram + slot * block.plane_capacity
        self.scratch.clear()
        if rest > 0.0:
            self.add_plane(i, 0, self.scratch, rest)
        self.add_plane(i, slot, self.scratch, gamma)
        self.assign(i, self.scratch, loss)
        block.weight[0] = total
        # with psi = rest psi_0 + gamma psi_slot:  ||psi||^2, and <psi, psi_a> of the others
        if n_gram > 0:
            own[0] = rest * (rest * own[0] + 2.0 * gamma * own[slot]) + gamma * gamma * other[slot]
        for a in range(1, n_gram):
            own[a] = rest * own[a] + gamma * other[a]
            own[a * block.plane_capacity] = own[a]
        block.n_gram = n_gram
        return 0

    cdef void clear(self, Py_ssize_t i) noexcept nogil:
        cdef DualBlock* block = &self.blocks[i]
        cdef Py_ssize_t p
        for p in range(1, block.n_planes):
            self.problem.plane_store.forget(i, block.code + p * self.code_length[i])
        block.n_planes = min(block.n_planes, 1)
        block.n_gram = 0
        renew(block)

    def merge_all(self):
        """Merge all planes of every block into one."""
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.n_blocks):
                while self.blocks[i].n_planes > 1:
                    self.evict(i, self.blocks[i].n_planes - 1)

    # v += sum_i c_i / lam B_i q_i: without a prior and bounds this is w, and the dual objective is
    # D = sum_i c_i <alpha_i, L_i> - lam / 2 ||w||^2
    cdef int add_mixes(self, double lam, double* v) except -1 nogil:
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            self.scratch.clear()
            self.add_to(i, self.scratch, 1.0)
            self.problem.scatter(i, self.scratch, self.problem.block_weight[i] / lam, v)
        return 0

    def rebuild(self, Regularizer regularizer, Stop stop=None):
        """Sum v anew from the dual variables, to undo the drift of many small steps.

        If the problem fails in between, v is zero; if the stop is due before the end, v stays as
        it is and CutShort is raised.
        """
        cdef Problem problem = self.problem
        cdef double* v = &regularizer.v[0]
        vector = np.asarray(regularizer.v)
        # only the sums of kernel spaces are cut short
        before = vector.copy() if problem.space.is_kernel_space else None
        if stop is None:
            stop = Stop()
        try:
            problem.space.begin_sum(v, problem.n_weights)
            if regularizer.prior is not None:
                vector[: problem.n_weights] = regularizer.prior
            with nogil:
                self.add_mixes(regularizer.lam, v)
                problem.space.end_sum(v, stop)
        except BaseException as error:
            problem.space.abort_sum(v, problem.n_weights)
            if isinstance(error, CutShort):
                vector[:] = before
            raise
        finally:
            regularizer.refresh()

    def add_sum(self, double lam, double[::1] v):
        """Add c_i / lam B_i q_i of every block to a dual sum; not in a kernel space.

        Parameters
        ----------
        lam : float
            Regularisation strength.
        v : ndarray of shape (n_weights + LANES,)
            The sum, which grows.
        """
        self.problem.check_weights(v.shape[0], "v")
        with nogil:
            self.add_mixes(lam, &v[0])

    def n_support_planes(self):
        """Return the number of planes with weight, those of the truth aside.

        All planes of a block that were merged count as one.
        """
        cdef Py_ssize_t i, p, n, total = 0
        cdef DualBlock* block
        for i in range(self.n_blocks):
            block, n = &self.blocks[i], self.code_length[i]
            total += block.weight[0] > 0.0 and block.n > 0
            for p in range(1, block.n_planes):
                total += block.weight[p] > 0.0 and (
                    memcmp(block.code, block.code + p * n, n * sizeof(int32_t)) != 0
                )
        return total

    def losses(self):
        """Return the losses of the mixes, shape (n_blocks,)."""
        return np.array([self.loss(i) for i in range(self.n_blocks)])

    def keep_fractions(self, const double[::1] fractions):
        """Let planes of block i keep fractions[i] <= 1 of their weights; the truth gets the rest.

        Dual feasible since psi = 0 and loss = 0 at the truth: the mix and its loss shrink by
        the fraction (Osokin et al. 2016, proposition 1, block by block).
        """
        cdef Py_ssize_t i, p, truth
        cdef DualBlock* block
        with nogil:
            for i in range(self.n_blocks):
                if fractions[i] >= 1.0:
                    continue
                block = &self.blocks[i]
                truth = self.find(i, block.code)
                for p in range(block.n_planes):
                    block.weight[p] *= fractions[i]
                if truth < 0:
                    # plane 0 becomes a mix with the truth
                    truth = 0
                    self.shrink(block, block.weight[0] / (block.weight[0] + 1.0 - fractions[i]))
                block.weight[truth] += 1.0 - fractions[i]

    # plane 0 *= ratio
    cdef void shrink(self, DualBlock* block, double ratio) noexcept nogil:
        cdef Py_ssize_t e
        renew(block)
        for e in range(block.n):
            block.value[e] *= ratio
        block.plane_loss[0] *= ratio
        for e in range(block.n_gram):
            block.gram[e] *= ratio
            block.gram[e * block.plane_capacity] *= ratio

    def change_lam(self, Regularizer regularizer, double lam):
        """Change to another lam, dual feasible.

        A smaller lam keeps v and w: all planes but the truth keep the fraction rho = lam_new /
        lam_old of their weight (Osokin et al. 2016, proposition 1; v is what it speaks of, so
        it holds with bounds on w too). A larger lam keeps the weights of the planes, so that v
        shrinks by 1 / rho.
        """
        cdef double rho = lam / regularizer.lam
        if rho >= 1.0:
            regularizer.rescale(lam)
            return
        regularizer.change_lam(lam)
        self.keep_fractions(np.full(self.n_blocks, rho))
