"""Between the planes of a block and its small quadratic program (see the .pxd)."""

from libc.math cimport fabs

from sskit.core.dual cimport max_entries

# Scores differ by less than this share of what they are made of: nothing but rounding, with which
# steps could go back and forth for ever.
cdef double ROUNDING = 2.0**-51


cdef class BlockAtoms(WorkingSet):
    """Atoms of one block at a time; memory grows as needed and is used again."""

    cdef int gather(self, Problem problem, DualState dual, Py_ssize_t i) except -1 nogil:
        cdef size_t n = dual.blocks[i].n_planes, size, p
        self.reserve(n)
        if self.first.size() < n + 1:
            self.old_weight.resize(2 * n)
            self.loss.resize(2 * n)
            self.first.resize(2 * n + 1)
        self.n_atoms = n
        self.first[0] = 0
        for p in range(n):
            size = self.first[p] + max_entries(problem)
            if size > self.index.size():
                self.index.resize(2 * size)
                self.value.resize(2 * size)
            self.first[p + 1] = self.first[p] + dual.plane(
                problem, i, p, self.index.data() + self.first[p],
                self.value.data() + self.first[p]
            )
        return 0

    cdef void add_plane(self, Py_ssize_t p, Direction delta, double scale) noexcept nogil:
        delta.add(
            self.index.data() + self.first[p], self.value.data() + self.first[p],
            self.first[p + 1] - self.first[p], scale
        )

    cdef int load(
        self, Problem problem, DualState dual, Py_ssize_t i, const double* theta, Direction scratch,
        bint with_image
    ) except -1 nogil:
        cdef Py_ssize_t p, e
        cdef double total, size = 0.0
        self.fill_gram(problem, dual, i, scratch)
        for p in range(self.n_atoms):
            total = dual.blocks[i].plane_loss[p]
            self.loss[p] = total
            for e in range(self.first[p], self.first[p + 1]):
                total -= self.value[e] * theta[self.index[e]]
            self.score[p] = total
            size = max(size, self.loss[p], fabs(total))
            self.weight[p] = dual.blocks[i].weight[p]
            self.old_weight[p] = self.weight[p]
        self.noise = ROUNDING * size
        self.gram = dual.blocks[i].gram
        self.gram_stride = dual.blocks[i].plane_capacity
        self.with_image = with_image
        self.sum_up()
        self.best = self.highest()
        return 0

    cdef int fill_gram(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p, r, stride = dual.blocks[i].plane_capacity
        cdef double* gram = dual.blocks[i].gram
        cdef double inner
        for p in range(dual.blocks[i].n_gram, self.n_atoms):
            self.add_plane(p, scratch, 1.0)
            gram[p * stride + p] = problem.sqnorm(i, scratch)
            scratch.clear()
            for r in range(p):
                # <a, b> = (||a||^2 + ||b||^2 - ||a - b||^2) / 2
                self.add_plane(p, scratch, 1.0)
                self.add_plane(r, scratch, -1.0)
                inner = problem.sqnorm(i, scratch)
                scratch.clear()
                inner = 0.5 * (gram[p * stride + p] + gram[r * stride + r] - inner)
                gram[p * stride + r] = inner
                gram[r * stride + p] = inner
        dual.blocks[i].n_gram = self.n_atoms
        return 0

    cdef int store(
        self, Problem problem, DualState dual, Regularizer regularizer, Averager averager,
        Py_ssize_t i, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p
        cdef double loss_change = 0.0, change, total = 1.0
        if self.with_image:
            # steps away from an atom magnify whatever is missing from the sum of the weights
            total = 0.0
            for p in range(self.n_atoms):
                total += self.weight[p]
        for p in range(self.n_atoms):
            dual.blocks[i].weight[p] = self.weight[p] / total
            change = dual.blocks[i].weight[p] - self.old_weight[p]
            if change != 0.0:
                loss_change += change * self.loss[p]
                self.add_plane(p, scratch, change)
        regularizer.move(problem, i, scratch, self.scale)
        averager.moved(problem, i, scratch, self.scale, self.block_weight * loss_change)
        scratch.clear()
        return 0
