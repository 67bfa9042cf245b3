"""Between the planes of a block and its small quadratic program (see the .pxd)."""

from libc.math cimport fabs

# Scores differ by less than this share of what they are made of: nothing but rounding, with which
# steps could go back and forth for ever.
cdef double ROUNDING = 2.0**-51
# With less weight the aggregate plane is no target: it would carry rounding over, enlarged 10^6
# times.
cdef double LEAST_AGGREGATE = 1e-6


cdef class BlockAtoms(WorkingSet):
    """Atoms of one block at a time; memory grows as needed and is used again."""

    cdef int gather(self, Problem problem, DualState dual, Py_ssize_t i) except -1 nogil:
        cdef size_t n = dual.blocks[i].n_planes, size, p
        self.reserve(n + 1)
        if self.first.size() < n + 2:
            self.old_weight.resize(2 * n + 2)
            self.loss.resize(2 * n + 2)
            self.first.resize(2 * n + 2)
        self.n_planes = n
        self.first[0] = 0
        for p in range(n):
            size = self.first[p] + problem.max_support
            if size > self.index.size():
                self.index.resize(2 * size)
                self.value.resize(2 * size)
            self.first[p + 1] = self.first[p] + problem.plane(
                i, dual.blocks[i].code + p * dual.code_length[i],
                self.index.data() + self.first[p], self.value.data() + self.first[p]
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
        self.n_atoms = self.n_planes
        self.frail = False
        self.leftover = dual.blocks[i].aggregate > 0.0 and not dual.has_aggregate(i)
        for p in range(self.n_planes):
            total = dual.blocks[i].plane_loss[p]
            self.loss[p] = total
            for e in range(self.first[p], self.first[p + 1]):
                total -= self.value[e] * theta[self.index[e]]
            self.score[p] = total
            size = max(size, self.loss[p], fabs(total))
            self.weight[p] = dual.blocks[i].weight[p]
            self.old_weight[p] = self.weight[p]
        self.noise = ROUNDING * size
        if dual.has_aggregate(i):
            self.load_aggregate(problem, dual, i, scratch, dual.blocks[i].loss - dual.dot(i, theta))
        self.gram = dual.blocks[i].gram
        self.gram_stride = dual.blocks[i].plane_capacity
        self.with_image = with_image
        self.sum_up()
        self.best = self.highest()
        self.best_score = self.score[self.best]
        return 0

    cdef int fill_gram(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p, r, stride = dual.blocks[i].plane_capacity
        cdef double* gram = dual.blocks[i].gram
        cdef double inner
        for p in range(dual.blocks[i].n_gram, self.n_planes):
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
        dual.blocks[i].n_gram = self.n_planes
        return 0

    cdef int load_aggregate(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch, double mix
    ) except -1 nogil:
        cdef Py_ssize_t p, r, m = self.n_planes, stride
        cdef double aggregate = dual.blocks[i].aggregate, stored = 0.0, stored_loss = 0.0
        cdef double own, inner
        cdef double* gram
        if dual.blocks[i].plane_capacity == m:
            dual.resize_planes(i, m + 1)
        # a row and a column of the table that the next stored plane will take
        gram = dual.blocks[i].gram
        stride = dual.blocks[i].plane_capacity
        for p in range(m):
            stored += self.weight[p] * self.score[p]
            stored_loss += self.weight[p] * self.loss[p]
        self.n_atoms = m + 1
        self.frail = aggregate < LEAST_AGGREGATE
        self.weight[m] = aggregate
        self.old_weight[m] = aggregate
        self.score[m] = (mix - stored) / aggregate
        self.loss[m] = (dual.blocks[i].loss - stored_loss) / aggregate
        # psi of the aggregate plane; then less that of one plane after the other
        dual.add_to(i, scratch, 1.0 / aggregate)
        for p in range(m):
            if self.weight[p] > 0.0:
                self.add_plane(p, scratch, -self.weight[p] / aggregate)
        own = problem.sqnorm(i, scratch)
        gram[m * stride + m] = own
        for r in range(m):
            self.add_plane(r, scratch, -1.0)
            inner = 0.5 * (own + gram[r * stride + r] - problem.sqnorm(i, scratch))
            gram[m * stride + r] = inner
            gram[r * stride + m] = inner
            self.add_plane(r, scratch, 1.0)
        scratch.clear()
        return 0

    cdef int store(
        self, Problem problem, DualState dual, Regularizer regularizer, Averager averager,
        Py_ssize_t i, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p, m = self.n_planes
        cdef double loss_change = 0.0, change, from_aggregate = 0.0
        cdef double weight = problem.block_weight[i], total = 0.0
        if self.with_image or self.leftover:
            # steps away from an atom magnify whatever is missing from the sum of the weights
            for p in range(self.n_atoms):
                total += self.weight[p]
            for p in range(self.n_atoms):
                self.weight[p] /= total
            dual.blocks[i].aggregate = 0.0
        if self.n_atoms > m:
            # the aggregate plane is (q - sum weight psi) / aggregate at the old weights
            from_aggregate = (self.weight[m] - self.old_weight[m]) / self.old_weight[m]
            dual.blocks[i].aggregate = self.weight[m]
        elif self.leftover:
            # it leaves the mix too, or would be part of what is evicted later
            from_aggregate = -1.0
        if from_aggregate != 0.0:
            dual.add_to(i, scratch, from_aggregate)
            loss_change = from_aggregate * dual.blocks[i].loss
        for p in range(m):
            change = self.weight[p] - self.old_weight[p] - from_aggregate * self.old_weight[p]
            loss_change += change * self.loss[p]
            if change != 0.0:
                self.add_plane(p, scratch, change)
            dual.blocks[i].weight[p] = self.weight[p]
        regularizer.move(problem, i, scratch, weight / regularizer.lam)
        averager.moved(problem, i, scratch, weight / regularizer.lam, weight * loss_change)
        dual.advance(i, scratch, 1.0, loss_change)
        scratch.clear()
        return 0
