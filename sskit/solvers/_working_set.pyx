"""The small quadratic program over the stored planes of one block (see the .pxd)."""

from libc.math cimport fabs
from libc.stdlib cimport free

from sskit.core._memory cimport grown

# Scores differ by less than this share of what they are made of: nothing but rounding, with which
# steps could go back and forth for ever.
cdef double ROUNDING = 2.0**-51
# With less weight the rest plane is no target: it would carry rounding over enlarged 10^6 times.
cdef double LEAST_REST = 1e-6


cdef class WorkingSet:
    """Atoms of one block at a time; memory grows as needed and is used again."""

    def __dealloc__(self):
        free(self.score)
        free(self.weight)
        free(self.old_weight)
        free(self.loss)
        free(self.image)
        free(self.rest_row)
        free(self.first)
        free(self.index)
        free(self.value)

    cdef int reserve(self, Py_ssize_t n_atoms) except -1 nogil:
        cdef size_t n_bytes = 2 * n_atoms * sizeof(double)
        if n_atoms <= self.capacity:
            return 0
        self.score = <double*>grown(self.score, n_bytes)
        self.weight = <double*>grown(self.weight, n_bytes)
        self.old_weight = <double*>grown(self.old_weight, n_bytes)
        self.loss = <double*>grown(self.loss, n_bytes)
        self.image = <double*>grown(self.image, n_bytes)
        self.rest_row = <double*>grown(self.rest_row, n_bytes)
        self.first = <Py_ssize_t*>grown(self.first, 2 * n_atoms * sizeof(Py_ssize_t))
        self.capacity = 2 * n_atoms
        return 0

    cdef int gather(self, Problem problem, DualState dual, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t n_planes = dual.blocks[i].n_planes, n_words = dual.n_words[i], p
        cdef Py_ssize_t size
        self.reserve(n_planes + 2)
        self.n_planes = n_planes
        self.first[0] = 0
        for p in range(n_planes):
            size = self.first[p] + problem.max_support
            if size > self.support:
                self.index = <int32_t*>grown(self.index, 2 * size * sizeof(int32_t))
                self.value = <double*>grown(self.value, 2 * size * sizeof(double))
                self.support = 2 * size
            self.first[p + 1] = self.first[p] + problem.plane(
                i, dual.blocks[i].words + p * n_words, self.index + self.first[p],
                self.value + self.first[p]
            )
        return 0

    cdef void add_plane(self, Py_ssize_t p, Direction delta, double scale) noexcept nogil:
        delta.add(
            self.index + self.first[p], self.value + self.first[p],
            self.first[p + 1] - self.first[p], scale
        )

    cdef int load(
        self, Problem problem, DualState dual, Py_ssize_t i, const double* theta, Direction scratch,
        bint with_image
    ) except -1 nogil:
        cdef Py_ssize_t p, e, a
        cdef double total, size = 0.0
        self.fill_gram(problem, dual, i, scratch)
        self.n_atoms = self.n_planes
        self.frail = False
        self.leftover = dual.blocks[i].rest > 0.0 and not dual.has_rest(i)
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
        self.gram = dual.blocks[i].gram
        self.gram_stride = dual.blocks[i].plane_capacity
        if dual.has_rest(i):
            self.load_rest(problem, dual, i, scratch, dual.blocks[i].loss - dual.dot(i, theta))
        self.mix_score = 0.0
        for a in range(self.n_atoms):
            self.mix_score += self.weight[a] * self.score[a]
        self.with_image = with_image
        self.best = self.highest()
        self.best_score = self.score[self.best]
        self.image_sqnorm = 0.0
        for a in range(self.n_atoms):
            self.image[a] = 0.0
        if with_image:
            for a in range(self.n_atoms):
                for p in range(self.n_atoms):
                    if self.weight[p] > 0.0:
                        self.image[a] += self.weight[p] * self.inner(a, p)
                self.image_sqnorm += self.weight[a] * self.image[a]
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

    cdef int load_rest(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch, double mix
    ) except -1 nogil:
        cdef Py_ssize_t p, r, m = self.n_planes
        cdef double rest = dual.blocks[i].rest, stored = 0.0, stored_loss = 0.0, own
        for p in range(m):
            stored += self.weight[p] * self.score[p]
            stored_loss += self.weight[p] * self.loss[p]
        self.n_atoms = m + 1
        self.frail = rest < LEAST_REST
        self.weight[m] = rest
        self.old_weight[m] = rest
        self.score[m] = (mix - stored) / rest
        self.loss[m] = (dual.blocks[i].loss - stored_loss) / rest
        for r in range(m + 1):
            # psi of the rest plane, less that of plane r
            dual.add_to(i, scratch, 1.0 / rest)
            for p in range(m):
                self.add_plane(p, scratch, -self.weight[p] / rest - (1.0 if p == r else 0.0))
            self.rest_row[r] = problem.sqnorm(i, scratch)
            scratch.clear()
        own = self.rest_row[m]
        for r in range(m):
            self.rest_row[r] = 0.5 * (
                own + dual.blocks[i].gram[r * dual.blocks[i].plane_capacity + r]
                - self.rest_row[r]
            )
        return 0

    cdef double inner(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        if a == self.n_planes:
            return self.rest_row[b]
        if b == self.n_planes:
            return self.rest_row[a]
        return self.gram[a * self.gram_stride + b]

    cdef Py_ssize_t highest(self) noexcept nogil:
        cdef Py_ssize_t a, best = 0
        for a in range(1, self.n_atoms - self.frail):
            if self.score[a] > self.score[best]:
                best = a
        return best

    cdef Py_ssize_t lowest(self) noexcept nogil:
        cdef Py_ssize_t a, worst = -1
        for a in range(self.n_atoms):
            if self.weight[a] > 0.0 and (worst < 0 or self.score[a] < self.score[worst]):
                worst = a
        return worst

    cdef double improve(
        self, Step step, Py_ssize_t max_steps, double block_weight, double scale,
        double min_slope
    ) noexcept nogil:
        cdef double increase = 0.0, gain
        cdef Py_ssize_t _
        self.block_weight = block_weight
        self.scale = scale
        min_slope = max(min_slope, block_weight * self.noise)
        for _ in range(max_steps):
            step.choose(self)
            gain = self.take_step(min_slope)
            if gain <= 0.0:
                break
            increase += gain
        return increase

    cdef LineSearch search(self, Py_ssize_t target, Py_ssize_t source) noexcept nogil:
        cdef LineSearch line
        cdef double kept
        line.gain = 0.0
        line.limit = 0.0
        line.gamma = 0.0
        line.slope = self.block_weight * (
            (self.mix_score if target == MIX else self.score[target])
            - (self.mix_score if source == MIX else self.score[source])
        )
        if line.slope <= 0.0 or target == source:
            return line
        if source == MIX:
            line.limit = 1.0
            line.curvature = (
                self.inner(target, target) - 2.0 * self.image[target] + self.image_sqnorm
            )
        elif target == MIX:
            # with all weight on one atom there is nothing to move away to
            kept = 1.0 - self.weight[source]
            line.limit = self.weight[source] / kept if kept > 0.0 else 0.0
            line.curvature = (
                self.inner(source, source) - 2.0 * self.image[source] + self.image_sqnorm
            )
        else:
            line.limit = self.weight[source]
            line.curvature = (
                self.inner(target, target) - 2.0 * self.inner(target, source)
                + self.inner(source, source)
            )
        line.curvature *= self.block_weight * self.scale
        line.gamma = line.limit
        if line.slope < line.limit * line.curvature:
            line.gamma = line.slope / line.curvature
        line.gain = line.gamma * (line.slope - 0.5 * line.gamma * line.curvature)
        return line

    cdef double take_step(self, double min_slope) noexcept nogil:
        cdef Py_ssize_t a, target = self.target, source = self.source
        cdef double kept, scale = self.scale, gamma
        cdef double* score = self.score
        cdef LineSearch line = self.search(target, source)
        gamma = line.gamma
        if line.slope <= min_slope or gamma == 0.0:
            return 0.0
        # the mix first, which is meant as it was before the step
        if source == MIX:
            self.move_scores(source, -gamma * scale, -gamma)
            self.move_scores(target, gamma * scale, gamma)
        else:
            self.move_scores(target, gamma * scale, gamma)
            self.move_scores(source, -gamma * scale, -gamma)
        if source == MIX or target == MIX:
            kept = 1.0 - gamma if source == MIX else 1.0 + gamma
            for a in range(self.n_atoms):
                self.weight[a] *= kept
        if target != MIX:
            self.weight[target] += gamma
        if source != MIX:
            self.weight[source] -= gamma
            if gamma == line.limit:
                self.weight[source] = 0.0          # a drop step, exactly
        if self.with_image:
            self.mix_score = 0.0
            self.image_sqnorm = 0.0
            for a in range(self.n_atoms):
                self.mix_score += self.weight[a] * score[a]
                self.image_sqnorm += self.weight[a] * self.image[a]
        return line.gain

    cdef void move_scores(self, Py_ssize_t atom, double change, double gamma) noexcept nogil:
        # scores and image when the mix gains `gamma` of an atom (or loses it)
        cdef Py_ssize_t a, m = self.n_planes
        cdef const double* row = self.image
        if atom == m:
            row = self.rest_row
        elif atom != MIX:
            row = self.gram + atom * self.gram_stride
        for a in range(m):
            self.score[a] -= change * row[a]
        if self.n_atoms > m:
            self.score[m] -= change * (self.image[m] if atom == MIX else self.inner(atom, m))
        if not self.with_image:
            return
        if self.n_atoms > m:
            self.image[m] += gamma * (self.image[m] if atom == MIX else self.inner(atom, m))
        for a in range(m):
            self.image[a] += gamma * row[a]

    cdef int store(
        self, Problem problem, DualState dual, Regularizer regularizer, Averager averager,
        Py_ssize_t i, Direction scratch
    ) except -1 nogil:
        cdef Py_ssize_t p, m = self.n_planes
        cdef double loss_change = 0.0, change, from_rest = 0.0
        cdef double weight = problem.block_weight[i], total = 0.0
        if self.with_image or self.leftover:
            # steps away from an atom magnify whatever is missing from the sum of the weights
            for p in range(self.n_atoms):
                total += self.weight[p]
            for p in range(self.n_atoms):
                self.weight[p] /= total
            dual.blocks[i].rest = 0.0
        if self.n_atoms > m:
            # the rest plane is (q - sum weight psi) / rest at the old weights
            from_rest = (self.weight[m] - self.old_weight[m]) / self.old_weight[m]
            dual.blocks[i].rest = self.weight[m]
        elif self.leftover:
            # it leaves the mix too, or would be part of what is evicted later
            from_rest = -1.0
        if from_rest != 0.0:
            dual.add_to(i, scratch, from_rest)
            loss_change = from_rest * dual.blocks[i].loss
        for p in range(m):
            change = self.weight[p] - self.old_weight[p] - from_rest * self.old_weight[p]
            loss_change += change * self.loss[p]
            if change != 0.0:
                self.add_plane(p, scratch, change)
            dual.blocks[i].weight[p] = self.weight[p]
        regularizer.move(problem, i, scratch, weight / regularizer.lam)
        averager.moved(problem, i, scratch, weight / regularizer.lam, weight * loss_change)
        dual.advance(i, scratch, 1.0, loss_change)
        scratch.clear()
        return 0


cdef class Step:
    """Base of the steps."""

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        pass
