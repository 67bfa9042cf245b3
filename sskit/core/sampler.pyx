"""Samplers: the order in which a pass visits the blocks (see the .pxd)."""

import numpy as np


# Gaps are cut off here: sums of them are finite.
cdef double LARGEST_GAP = 1e200


cdef class Sampler:
    """Base of all samplers.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    arrange : callable, default=None
        Returns blocks in the order of a run, given them and the random state, as that of a
        `FeatureSpace`; None is a permutation.
    """

    def __cinit__(self, Py_ssize_t n_blocks, random_state, *args, arrange=None, **kwargs):
        self.n_blocks = n_blocks
        self.random_state = random_state
        self.arrange = arrange
        self.order = np.zeros(0, dtype=np.intp)

    def set_gaps(self, gaps):
        """Set the gaps of all blocks, shape (n_blocks,), from an exact pass."""

    def draw_order(self, Py_ssize_t n_steps):
        """Return the blocks of a pass of at most n_steps."""
        raise NotImplementedError(f"{type(self).__name__} must implement draw_order")

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw what at most n_steps calls of next() need; return how many may follow."""
        order = self.draw_order(n_steps)[:n_steps].astype(np.intp)
        self.order, self.position = order, 0
        return len(order)

    def arranged(self, blocks):
        """Return blocks in random order."""
        if self.arrange is None:
            return self.random_state.permutation(blocks)
        return self.arrange(blocks, self.random_state)

    cdef Py_ssize_t next(self) noexcept nogil:
        cdef Py_ssize_t i = self.order[self.position]
        self.position += 1
        return i

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        cdef Py_ssize_t position = self.position + ahead
        return self.order[position] if position < self.order.shape[0] else -1

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil:
        pass

    cdef void set_aside(self, Py_ssize_t i) noexcept nogil:
        pass

    cdef void redraw(self) noexcept nogil:
        pass


cdef class UniformSampler(Sampler):
    """Draw every block independently with probability 1 / n_blocks."""

    def draw_order(self, Py_ssize_t n_steps):
        """Return the blocks of a pass."""
        return self.random_state.randint(self.n_blocks, size=n_steps)


cdef class PermutationSampler(Sampler):
    """Visit every block once in each run of n_blocks steps, in random order."""

    def draw_order(self, Py_ssize_t n_steps):
        """Return permutations, one after the other."""
        blocks = np.arange(self.n_blocks)
        runs = [self.arranged(blocks) for _ in range(0, n_steps, self.n_blocks)]
        return np.concatenate([blocks[:0], *runs])


cdef class PromisingSampler(Sampler):
    """Visit once, in random order, the blocks with a large slope at their last visit.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    slopes : ndarray of shape (n_blocks,)
        The slope at each block when it was last visited; kept up to date by its owner.
    least : float
        A block is visited if its slope was at least this fraction of the mean of all.
    cached_blocks : callable
        That of the problem: of these blocks only those are visited that it returns.
    arrange : callable, default=None
        Returns blocks in the order of the pass.
    """

    cdef object slopes
    cdef double least
    cdef object cached_blocks

    def __cinit__(self, n_blocks, random_state, slopes, double least, cached_blocks, arrange=None):
        self.slopes, self.least, self.cached_blocks = slopes, least, cached_blocks
        self.arrange = arrange

    def draw_order(self, Py_ssize_t n_steps):
        """Return the blocks that are chosen."""
        # the mean, without the overhead of NumPy's method
        mean = np.add.reduce(self.slopes) / self.n_blocks
        return self.arranged(self.cached_blocks((self.slopes >= self.least * mean).nonzero()[0]))


cdef class GapTree(Sampler):
    """Base of samplers that use the last known gaps: their sum, draws in proportion, the maximum.

    A complete binary tree in an array: node 1 is the root, node j has the children 2 j and
    2 j + 1, block i is node n_leaves + i. Inner nodes hold the sum and the maximum of their
    children. All operations are O(log n).
    """

    cdef Py_ssize_t n_leaves
    cdef double[::1] total, largest

    def __cinit__(self):
        self.n_leaves = 1
        while self.n_leaves < self.n_blocks:
            self.n_leaves *= 2
        self.total = np.zeros(2 * self.n_leaves)
        self.largest = np.zeros(2 * self.n_leaves)
        self.set_gaps(np.ones(self.n_blocks))

    def set_gaps(self, gaps):
        """Set the gaps of all blocks, shape (n_blocks,), from an exact pass."""
        cdef const double[::1] values = np.clip(gaps, 0.0, LARGEST_GAP)
        cdef Py_ssize_t j
        for j in range(self.n_blocks):
            self.total[self.n_leaves + j] = self.largest[self.n_leaves + j] = values[j]
        for j in range(self.n_leaves - 1, 0, -1):
            self.update(j)

    # inner node j follows from its children: not by differences, so that nothing drifts
    cdef void update(self, Py_ssize_t j) noexcept nogil:
        self.total[j] = self.total[2 * j] + self.total[2 * j + 1]
        self.largest[j] = max(self.largest[2 * j], self.largest[2 * j + 1])

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil:
        cdef Py_ssize_t j = self.n_leaves + i
        self.total[j] = self.largest[j] = min(max(gap, 0.0), LARGEST_GAP)
        j //= 2
        while j > 0:
            self.update(j)
            j //= 2

    cdef void set_aside(self, Py_ssize_t i) noexcept nogil:
        self.record_gap(i, 0.0)
        self.redraw()


cdef class GapSampler(GapTree):
    """Draw blocks in proportion to their last known gaps (Osokin et al. 2016, section 3.1).

    Known gaps go stale: a block that was solved when it was last seen would not come back
    before the next exact pass, however much the others have changed w since. Therefore a small
    fraction of the draws is uniform. While all gaps are zero every block is equally likely.

    Parameters
    ----------
    n_blocks : int
        Number of blocks to draw from.
    random_state : RandomState
        Source of randomness.
    uniform_fraction : float, default=0.1
        Fraction of the draws that are uniform.
    """

    cdef readonly double uniform_fraction
    cdef double[::1] uniforms    # random numbers of the pass
    cdef Py_ssize_t upcoming     # drawn one step ahead, so that its memory can be fetched

    def __cinit__(self, n_blocks, random_state, *, double uniform_fraction=0.1):
        self.uniform_fraction = uniform_fraction
        self.uniforms = np.zeros(0)

    def begin_pass(self, Py_ssize_t n_steps):
        """Draw the random numbers of the pass; return n_steps."""
        self.uniforms = self.random_state.random_sample(n_steps + 1)
        self.position = 0
        self.upcoming = self.draw()
        return n_steps

    cdef Py_ssize_t draw(self) noexcept nogil:
        cdef double uniform = self.uniforms[self.position], rest
        cdef Py_ssize_t j = 1
        self.position += 1
        if self.total[1] <= 0.0:
            return <Py_ssize_t>(uniform * self.n_blocks)
        if uniform < self.uniform_fraction:
            return <Py_ssize_t>(uniform / self.uniform_fraction * self.n_blocks)
        # the i with  sum(gaps[:i]) <= rest < sum(gaps[:i + 1])
        rest = (uniform - self.uniform_fraction) / (1.0 - self.uniform_fraction) * self.total[1]
        while j < self.n_leaves:
            j *= 2
            # rounding must not lead into a branch without weight
            if rest >= self.total[j] and self.total[j + 1] > 0.0:
                rest -= self.total[j]
                j += 1
        return j - self.n_leaves

    cdef Py_ssize_t next(self) noexcept nogil:
        cdef Py_ssize_t i = self.upcoming
        self.upcoming = self.draw()
        return i

    cdef Py_ssize_t peek(self, Py_ssize_t ahead) noexcept nogil:
        return self.upcoming if ahead == 0 else -1

    cdef void redraw(self) noexcept nogil:
        # with the same random number: nothing has depended on it yet
        self.position -= 1
        self.upcoming = self.draw()


cdef class MaxGapSampler(GapTree):
    """Visit the block with the largest last known gap; of several, the first."""

    def begin_pass(self, Py_ssize_t n_steps):
        """Return n_steps: the order depends on the gaps only."""
        return n_steps

    cdef Py_ssize_t next(self) noexcept nogil:
        cdef Py_ssize_t j = 1
        while j < self.n_leaves:
            j *= 2
            if self.largest[j] < self.largest[j + 1]:
                j += 1
        return j - self.n_leaves
