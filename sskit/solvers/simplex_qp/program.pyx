"""Small quadratic programs over the weights of atoms, and kinds of steps (see the .pxd).

With weights a on the simplex, K the inner products, c = block_weight and scale = c / lam:

    maximise   c (<a, s0> - scale / 2 <a - a0, K (a - a0)>),   s0 the scores at the start a0
    scores     s = s0 - scale K (a - a0), the gradient over c
    a step     a += gamma d,  d = e_target - e_source  (or the mix a in place of an e):
               slope = c <d, s>,  curvature = c scale <d, K d>,
               gamma = clip(slope / curvature, 0, limit),  s -= gamma scale K d
"""

from sskit.core.lanes cimport LANES


cdef class WorkingSet:
    """A small quadratic program over atoms; memory grows as needed and is used again."""

    cdef int reserve(self, size_t n) except -1 nogil:
        if n + LANES > self.score.size():
            # projections read whole LANES
            self.score.resize(2 * n + LANES)
            self.weight.resize(2 * n + LANES)
            self.image.resize(2 * n + LANES)
        return 0

    cdef double inner(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        return self.gram[a * self.gram_stride + b]

    cdef void sum_up(self) noexcept nogil:
        cdef Py_ssize_t a, p
        cdef const double* row
        for a in range(self.n_atoms):
            self.image[a] = 0.0
        # image = weight @ gram
        for p in range(self.n_atoms if self.with_image else 0):
            row = self.gram + p * self.gram_stride
            for a in range(self.n_atoms if self.weight[p] > 0.0 else 0):
                self.image[a] += self.weight[p] * row[a]
        self.settle()

    cdef void settle(self) noexcept nogil:
        cdef Py_ssize_t a
        # mix_score = weight @ score; image_sqnorm = weight @ gram @ weight
        self.mix_score = self.image_sqnorm = 0.0
        for a in range(self.n_atoms):
            self.mix_score += self.weight[a] * self.score[a]
            self.image_sqnorm += self.weight[a] * self.image[a]

    cdef Py_ssize_t highest(self) noexcept nogil:
        cdef Py_ssize_t a, best = 0
        for a in range(1, self.n_atoms):
            if self.score[a] > self.score[best]:
                best = a
        return best

    cdef Py_ssize_t lowest(self) noexcept nogil:
        cdef Py_ssize_t a, worst = -1
        for a in range(self.n_atoms):
            if self.weight[a] > 0.0 and (worst < 0 or self.score[a] < self.score[worst]):
                worst = a
        return worst

    cdef double improve(self, Step step, Py_ssize_t max_steps, double min_slope) noexcept nogil:
        cdef double increase = 0.0, gain
        cdef Py_ssize_t _
        min_slope = max(min_slope, self.block_weight * self.noise)
        for _ in range(max_steps):
            step.choose(self)
            gain = self.take_step(min_slope)
            if gain <= 0.0:
                break
            increase += gain
        return increase

    cdef double take_step(self, double min_slope) noexcept nogil:
        cdef Py_ssize_t a, target = self.target, source = self.source
        cdef double limit, curvature, others, factor, gamma, slope = self.block_weight * (
            (self.mix_score if target == MIX else self.score[target])
            - (self.mix_score if source == MIX else self.score[source])
        )
        if slope <= min_slope or target == source:
            return 0.0
        if source == MIX or target == MIX:
            a = target if source == MIX else source
            # with all weight on one atom there is no away step
            others = 1.0 - self.weight[a]
            # along e_a - mix the weight of a may rise to 1; away from it, mix - e_a, fall to 0
            limit = 1.0 if source == MIX else self.weight[a] / others if others > 0.0 else 0.0
            # ||B psi_a - B mix||^2
            curvature = self.inner(a, a) - 2.0 * self.image[a] + self.image_sqnorm
        else:
            # ||B psi_target - B psi_source||^2; the weight of the source may fall to 0
            limit = self.weight[source]
            curvature = (
                self.inner(target, target) - 2.0 * self.inner(target, source)
                + self.inner(source, source)
            )
        curvature *= self.block_weight * self.scale
        gamma = best_step(slope, curvature, limit)
        # the mix first: the change is relative to the mix before the step
        if source == MIX or target == MIX:
            factor = 1.0 - gamma if source == MIX else 1.0 + gamma
            self.shift_scores(MIX, factor - 1.0)
            for a in range(self.n_atoms):
                self.weight[a] *= factor
        if target != MIX:
            self.shift_scores(target, gamma)
            self.weight[target] += gamma
        if source != MIX:
            self.shift_scores(source, -gamma)
            # a drop step, exactly
            self.weight[source] = 0.0 if gamma == limit else self.weight[source] - gamma
        if self.with_image:
            self.settle()
        return gamma * (slope - 0.5 * gamma * curvature)

    cdef void shift_scores(self, Py_ssize_t atom, double gamma) noexcept nogil:
        cdef Py_ssize_t a
        cdef const double* row = self.gram + atom * self.gram_stride
        if atom == MIX:
            row = self.image.data()
        # score -= gamma * scale * gram[atom];  image += gamma * gram[atom]
        for a in range(self.n_atoms):
            self.score[a] -= gamma * self.scale * row[a]
        for a in range(self.n_atoms if self.with_image else 0):
            self.image[a] += gamma * row[a]


cdef class Step:
    """Base of the Frank-Wolfe steps."""

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        pass


cdef class PlainStep(Step):
    """The plain step, from the mix to the best atom (Frank-Wolfe)."""

    def __cinit__(self):
        self.uses_mix = True

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        atoms.target = atoms.highest()
        atoms.source = MIX


cdef class PairwiseStep(Step):
    """The pairwise step: from the worst atom to the best one (Osokin et al. 2016, algorithm 3)."""

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        atoms.target = atoms.highest()
        atoms.source = atoms.lowest()


cdef class AwayStep(Step):
    """The away step: to the best atom or away from the worst (Osokin et al. 2016, algorithm 4)."""

    def __cinit__(self):
        self.uses_mix = True

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        cdef Py_ssize_t best = atoms.highest(), worst = atoms.lowest()
        if (
            atoms.score[best] - atoms.mix_score >= atoms.mix_score - atoms.score[worst]
            or atoms.weight[worst] >= 1.0
        ):
            atoms.target = best
            atoms.source = MIX
        else:
            atoms.target = MIX
            atoms.source = worst
