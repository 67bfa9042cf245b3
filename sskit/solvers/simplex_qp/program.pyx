"""Small quadratic programs over the weights of atoms, and two ways to solve them (see the .pxd).

Steps between two atoms make progress, which is what one visit of a block needs; Newton steps reach
the maximum, which is what the master program of cutting planes needs.

With weights a on the simplex, K the inner products, c = block_weight and scale = c / lam:

    maximise   c (<a, s0> - scale / 2 <a - a0, K (a - a0)>),   s0 the scores at the start a0
    scores     s = s0 - scale K (a - a0), the gradient over c
    a step     a += gamma d,  d = e_target - e_source  (or the mix a in place of an e):
               slope = c <d, s>,  curvature = c scale <d, K d>,
               gamma = clip(slope / curvature, 0, limit),  s -= gamma scale K d
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY
from libcpp.algorithm cimport iter_swap

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES

cdef extern from "cholesky.hpp" namespace "sskit" nogil:
    bint cholesky(double* matrix, Py_ssize_t n)
    void solve_factored(const double* factor, Py_ssize_t n, double* x)

# Added to the diagonal of curvatures, relative to the largest: systems stay regular if atoms are
# linearly dependent.
RIDGE = 1e-12
cdef double _RIDGE = RIDGE
# Atoms that may join those of positive weight, one after the other: from the solution without some
# atoms few do.
cdef Py_ssize_t MOST_ATOMS = 1000


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


cdef class ActiveSet:
    """Solves working sets to a tolerance; memory grows as needed and is used again.

    The atom that promises most joins those of positive weight. Newton steps among these lead to
    their maximum; one that would make weights negative ends where the first becomes zero, whose
    atom leaves. Scores are computed anew from those at the start, so that they do not drift.
    """

    cdef double maximise(self, WorkingSet atoms, double tolerance) except -1 nogil:
        cdef Py_ssize_t best, n = atoms.n_atoms, _
        cdef double increase = INFINITY, total = 0.0
        self.first_score.assign(atoms.score.begin(), atoms.score.begin() + n)
        self.first_weight.assign(atoms.weight.begin(), atoms.weight.begin() + n)
        tolerance = max(tolerance, atoms.block_weight * atoms.noise)
        for _ in range(MOST_ATOMS):
            atoms.settle()
            best = atoms.highest()
            # rounding may leave a slope that no step can climb
            if increase <= 0.0 or atoms.block_weight * (
                atoms.score[best] - atoms.mix_score
            ) <= tolerance:
                break
            increase = self.ascend(atoms, best)
            total += increase
            self.write(atoms)
        if atoms.with_image:
            atoms.sum_up()
        return total

    cdef double ascend(self, WorkingSet atoms, Py_ssize_t best) except -1 nogil:
        cdef Py_ssize_t a, k, m, n, drop
        cdef double increase = 0.0, slope, curvature, limit, step, along
        cdef const double* row
        cdef bint whole = False
        self.atom.clear()
        self.score.clear()
        self.weight.clear()
        for a in range(atoms.n_atoms):
            if atoms.weight[a] > 0.0 or a == best:
                self.atom.push_back(a)
                # about their mean, so that slopes keep their digits near the maximum
                self.score.push_back(atoms.score[a] - atoms.mix_score)
                self.weight.push_back(atoms.weight[a])
        while not whole and self.atom.size() > 1:
            n = self.atom.size()
            self.change.resize(n)
            self.image.resize(n)
            slope = self.slope() if self.find_change(atoms) else 0.0
            if not slope > 0.0:
                # rounding, or the function is not concave
                self.change_pair()
                slope = self.slope()
            if slope <= 0.0:
                break
            curvature, limit, drop = 0.0, INFINITY, -1
            for k in range(n):
                along = 0.0
                row = atoms.gram + self.atom[k] * atoms.gram_stride
                for m in range(n):
                    along += row[self.atom[m]] * self.change[m]
                self.image[k] = atoms.scale * along
                curvature += self.image[k] * self.change[k]
                if self.change[k] < 0.0 and -self.weight[k] / self.change[k] < limit:
                    limit, drop = -self.weight[k] / self.change[k], k
            whole = slope <= limit * curvature
            step = slope / curvature if whole else limit
            increase += step * (slope - 0.5 * step * curvature)
            m = 0
            for k in range(n):
                self.weight[m] = self.weight[k] + step * self.change[k]
                self.score[m] = self.score[k] - step * self.image[k]
                self.atom[m] = self.atom[k]
                # those whose weight is zero leave
                m += whole or (k != drop and self.weight[m] > 0.0)
            self.atom.resize(m)
            self.score.resize(m)
            self.weight.resize(m)
        return atoms.block_weight * increase

    cdef double slope(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(<Py_ssize_t>self.atom.size()):
            total += self.score[k] * self.change[k]
        return total

    cdef void change_pair(self) noexcept nogil:
        cdef Py_ssize_t k, best = 0, worst = 0
        for k in range(<Py_ssize_t>self.atom.size()):
            self.change[k] = 0.0
            best = k if self.score[k] > self.score[best] else best
            worst = k if self.score[k] < self.score[worst] else worst
        self.change[best] += 1.0
        self.change[worst] -= 1.0

    cdef bint find_change(self, WorkingSet atoms) except -1 nogil:
        # Directions are those from a reference, the atom with the largest weight. With H their
        # inner products and s their slopes the change d is that with  scale H d = s.
        cdef Py_ssize_t n = self.atom.size() - 1, k, m, largest = 0
        cdef double ridge = 0.0, own
        cdef const double* row
        cdef const double* reference
        self.factor.resize(n * n)
        for k in range(n + 1):
            largest = k if self.weight[k] > self.weight[largest] else largest
            ridge = max(ridge, _RIDGE * atoms.inner(self.atom[k], self.atom[k]))
        iter_swap(self.atom.begin() + largest, self.atom.begin() + n)
        iter_swap(self.score.begin() + largest, self.score.begin() + n)
        iter_swap(self.weight.begin() + largest, self.weight.begin() + n)
        reference = atoms.gram + self.atom[n] * atoms.gram_stride
        own = reference[self.atom[n]]
        for k in range(n):
            row = atoms.gram + self.atom[k] * atoms.gram_stride
            for m in range(k + 1):
                self.factor[k * n + m] = (
                    row[self.atom[m]] - reference[self.atom[k]] - reference[self.atom[m]] + own
                )
            self.factor[k * n + k] += ridge
            self.change[k] = (self.score[k] - self.score[n]) / atoms.scale
        if not cholesky(self.factor.data(), n):
            return False
        solve_factored(self.factor.data(), n, self.change.data())
        self.change[n] = 0.0
        for k in range(n):
            self.change[n] -= self.change[k]
        return True

    cdef void write(self, WorkingSet atoms) noexcept nogil:
        cdef Py_ssize_t k, a, p
        cdef double total = 0.0, change
        cdef const double* row
        for k in range(<Py_ssize_t>self.atom.size()):
            total += self.weight[k]
        for a in range(atoms.n_atoms):
            atoms.weight[a], atoms.score[a] = 0.0, self.first_score[a]
        for k in range(<Py_ssize_t>self.atom.size()):
            atoms.weight[self.atom[k]] = self.weight[k] / total
        for p in range(atoms.n_atoms):
            change = atoms.scale * (atoms.weight[p] - self.first_weight[p])
            row = atoms.gram + p * atoms.gram_stride
            for a in range(atoms.n_atoms if change != 0.0 else 0):
                atoms.score[a] -= change * row[a]


@cython.boundscheck(True)
@cython.wraparound(True)
cdef class SimplexProgram(WorkingSet):
    """A working set of arrays.

    Parameters
    ----------
    score : ndarray of shape (n_atoms,)
        Scores at `weight`.
    weight : ndarray of shape (n_atoms,)
        Where to start: non-negative, summing to one.
    gram : ndarray of shape (n_atoms, n_atoms)
        Inner products.
    lam : float
        Regularisation strength.
    block_weight : float, default=1.0
        c.
    """

    def __cinit__(self, score, weight, gram, double lam, double block_weight=1.0):
        cdef Py_ssize_t a, n = len(score)
        self.table = np.ascontiguousarray(gram, dtype=np.float64)
        check_equal(len(weight), n, "the number of weights")
        check_equal(self.table.shape[0], n, "the number of rows")
        check_equal(self.table.shape[1], n, "the number of columns")
        self.reserve(n)
        self.n_atoms = self.gram_stride = n
        self.gram = &self.table[0, 0]
        self.block_weight, self.scale = block_weight, block_weight / lam
        for a in range(n):
            self.score[a], self.weight[a] = score[a], weight[a]
        self.sum_up()

    @property
    def weights(self):
        """The present weights, shape (n_atoms,)."""
        return np.array([self.weight[a] for a in range(self.n_atoms)])

    def maximise(self, double tolerance):
        """Return the weights of the maximum.

        Parameters
        ----------
        tolerance : float
            Largest slope to any atom at the end, and largest difference of the value to the
            maximum. Both may be larger only because of rounding, or after 1000 atoms have joined.

        Returns
        -------
        weights : ndarray of shape (n_atoms,)
            Non-negative, summing to one.
        """
        ActiveSet().maximise(self, tolerance)
        return self.weights


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
