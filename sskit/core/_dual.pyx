"""The dual point in statistics space (see the .pxd for invariants)."""

import numpy as np

from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from "kernels.hpp" namespace "sskit":
    void prefetch_memory(const void* memory, Py_ssize_t n_bytes) noexcept nogil


cdef void* grown(void* memory, size_t n_bytes) except NULL nogil:
    cdef void* result = realloc(memory, max(n_bytes, <size_t>1))
    if result == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of dual variables")
    return result


cdef class DualState:
    """Dual point of a problem, at the truth of every block to begin with.

    Parameters
    ----------
    problem : Problem
        Gives the number of blocks and the length of the words of their planes.
    """

    def __cinit__(self, Problem problem):
        cdef Py_ssize_t i
        self.n_blocks = problem.n_blocks
        self.n_words = np.empty(problem.n_blocks, dtype=np.intp)
        self.blocks = <Block*>calloc(max(self.n_blocks, 1), sizeof(Block))
        if self.blocks == NULL:
            raise MemoryError(f"no memory for {self.n_blocks} blocks")
        for i in range(self.n_blocks):
            self.n_words[i] = problem.n_words(i)
            self.blocks[i].rest = 1.0

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.blocks != NULL:
            for i in range(self.n_blocks):
                free(self.blocks[i].index)
                free(self.blocks[i].value)
                free(self.blocks[i].words)
                free(self.blocks[i].weight)
                free(self.blocks[i].plane_loss)
            free(self.blocks)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        prefetch_memory(self.blocks[i].index, self.blocks[i].n * sizeof(int32_t))
        prefetch_memory(self.blocks[i].value, self.blocks[i].n * sizeof(double))

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

    cdef int reserve(self, Block* block, Py_ssize_t n) except -1 nogil:
        if n > block.capacity:
            n = max(n, 2 * block.capacity)
            block.index = <int32_t*>grown(block.index, n * sizeof(int32_t))
            block.value = <double*>grown(block.value, n * sizeof(double))
            block.capacity = n
        return 0

    cdef int advance(
        self, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t e
        cdef int32_t j
        self.reserve(block, block.n + delta.n)
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

    cdef int assign(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t slot
        block.n = 0
        self.advance(i, delta, 1.0, 0.0)
        block.loss = loss
        for slot in range(block.n_planes):
            block.weight[slot] = 0.0
        block.rest = 1.0
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
        block.rest = max(1.0 - stored, 0.0)

    cdef void shift(
        self, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target, double amount
    ) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef double* origin = &block.rest if source < 0 else &block.weight[source]
        # all of it: exactly zero is left (a drop step)
        origin[0] = 0.0 if amount >= origin[0] else origin[0] - amount
        if target < 0:
            block.rest += amount
        else:
            block.weight[target] += amount

    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t* words) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t p, n = self.n_words[i]
        for p in range(block.n_planes):
            if memcmp(block.words + p * n, words, n * sizeof(int32_t)) == 0:
                return p
        return -1

    cdef Py_ssize_t insert(
        self, Py_ssize_t i, const int32_t* words, double loss
    ) except -1 nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = self.n_words[i], slot = self.find(i, words), size
        if slot >= 0:
            return slot
        slot = block.n_planes
        if slot == block.plane_capacity:
            size = max(4, 2 * slot)
            block.words = <int32_t*>grown(block.words, size * n * sizeof(int32_t))
            block.weight = <double*>grown(block.weight, size * sizeof(double))
            block.plane_loss = <double*>grown(block.plane_loss, size * sizeof(double))
            block.plane_capacity = size
        memcpy(block.words + slot * n, words, n * sizeof(int32_t))
        block.weight[slot] = 0.0
        block.plane_loss[slot] = loss
        block.n_planes += 1
        return slot

    cdef void evict(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil:
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = self.n_words[i], last = block.n_planes - 1
        block.rest += block.weight[slot]
        block.n_planes = last
        if slot != last:
            memcpy(block.words + slot * n, block.words + last * n, n * sizeof(int32_t))
            block.weight[slot] = block.weight[last]
            block.plane_loss[slot] = block.plane_loss[last]

    cdef int rebuild_nogil(
        self, Problem problem, Regularizer regularizer, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t i
        memset(&regularizer.v[0], 0, regularizer.v.shape[0] * sizeof(double))
        for i in range(self.n_blocks):
            self.add_to(i, scratch, 1.0)
            problem.scatter(
                i, scratch, problem.block_weight[i] / regularizer.lam, &regularizer.v[0]
            )
            scratch.clear()
        regularizer.refresh()
        return 0

    def rebuild(self, Problem problem, Regularizer regularizer):
        """Sum v anew from the dual variables, to undo the drift of many small moves."""
        cdef Direction scratch = Direction(problem.max_statistics)
        with nogil:
            self.rebuild_nogil(problem, regularizer, scratch)

    def losses(self):
        """Return the losses of the mixes, shape (n_blocks,)."""
        return np.array([self.blocks[i].loss for i in range(self.n_blocks)])

    def change_lam(self, Problem problem, Regularizer regularizer, double lam):
        """Move to another lam, dual feasible.

        A smaller lam keeps w: all planes but the truth keep the share rho = lam_new / lam_old of
        their weight, the truth receives the rest (Osokin et al. 2016, proposition 1; needs
        psi = 0 and loss = 0 at the truth). A larger lam keeps the weights of the planes, so
        that v shrinks by 1 / rho.
        """
        cdef double rho = lam / regularizer.lam
        cdef Py_ssize_t i, e
        cdef Block* block
        cdef int32_t[::1] words = np.empty(max(problem.max_words, 1), dtype=np.int32)
        if rho >= 1.0:
            regularizer.rescale(lam)
            return
        regularizer.change_lam(lam)
        for i in range(self.n_blocks):
            block = &self.blocks[i]
            for e in range(block.n):
                block.value[e] *= rho
            block.loss *= rho
            problem.truth(i, &words[0])
            self.blend(i, self.find(i, &words[0]), 1.0 - rho)

    def planes(self, Py_ssize_t i):
        """Return (words, weights, losses, rest weight) of the stored planes of block i."""
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t n = self.n_words[i], p, j
        words = np.empty((block.n_planes, n), dtype=np.int32)
        cdef int32_t[:, ::1] out = words
        for p in range(block.n_planes):
            for j in range(n):
                out[p, j] = block.words[p * n + j]
        weights = np.array([block.weight[p] for p in range(block.n_planes)])
        losses = np.array([block.plane_loss[p] for p in range(block.n_planes)])
        return words, weights, losses, block.rest

    def mix(self, Py_ssize_t i):
        """Return (index, value, loss) of the mix of block i."""
        cdef Block* block = &self.blocks[i]
        index = np.array([block.index[e] for e in range(block.n)], dtype=np.int32)
        value = np.array([block.value[e] for e in range(block.n)], dtype=np.float64)
        return index, value, block.loss

    def set_mix(self, Py_ssize_t i, const int32_t[::1] index, const double[::1] value,
                double loss):
        """Replace the mix of block i; for restoring a saved state."""
        cdef Block* block = &self.blocks[i]
        cdef Py_ssize_t e
        self.reserve(block, index.shape[0])
        for e in range(index.shape[0]):
            block.index[e] = index[e]
            block.value[e] = value[e]
        block.n = index.shape[0]
        block.loss = loss

    def set_planes(self, Py_ssize_t i, const int32_t[:, ::1] words, const double[::1] weights,
                   const double[::1] losses, double rest):
        """Replace the stored planes of block i; for restoring a saved state."""
        cdef Py_ssize_t p, slot
        self.blocks[i].n_planes = 0
        for p in range(words.shape[0]):
            slot = self.insert(i, &words[p, 0], losses[p])
            self.blocks[i].weight[slot] = weights[p]
        self.blocks[i].rest = rest

    def save(self):
        """Return the dual point as a dict of flat arrays, which `restore` takes."""
        mixes = [self.mix(i) for i in range(self.n_blocks)]
        planes = [self.planes(i) for i in range(self.n_blocks)]
        return {
            "n_entries": np.array([len(index) for index, _, _ in mixes]),
            "index": np.concatenate([index for index, _, _ in mixes]),
            "value": np.concatenate([value for _, value, _ in mixes]),
            "loss": np.array([loss for _, _, loss in mixes]),
            "n_planes": np.array([len(weights) for _, weights, _, _ in planes]),
            "words": np.concatenate([words.ravel() for words, _, _, _ in planes]),
            "weight": np.concatenate([weights for _, weights, _, _ in planes]),
            "plane_loss": np.concatenate([losses for _, _, losses, _ in planes]),
            "rest": np.array([rest for _, _, _, rest in planes]),
        }

    def restore(self, saved):
        """Take over a dual point that `save` returned; v must then be rebuilt."""
        if len(saved["loss"]) != self.n_blocks:
            raise ValueError(
                f"the saved dual point has {len(saved['loss'])} blocks but the problem has "
                f"{self.n_blocks}"
            )
        entry = plane = word = 0
        for i in range(self.n_blocks):
            stop = entry + saved["n_entries"][i]
            self.set_mix(
                i, saved["index"][entry:stop], saved["value"][entry:stop], saved["loss"][i]
            )
            entry = stop
            n_planes, n_words = saved["n_planes"][i], self.n_words[i]
            stop, word_stop = plane + n_planes, word + n_planes * n_words
            self.set_planes(
                i, saved["words"][word:word_stop].reshape(n_planes, n_words),
                saved["weight"][plane:stop], saved["plane_loss"][plane:stop], saved["rest"][i],
            )
            plane, word = stop, word_stop
