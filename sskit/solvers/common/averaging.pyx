"""Averages of iterates (see the .pxd)."""

import numpy as np
from scipy.optimize import minimize_scalar

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES


cdef class Averager:
    """Weighted average of the iterates (Lacoste-Julien et al. 2013, section 4 and appendix D).

    With two phases there is one average after oracle calls, one after steps between stored planes,
    and the best mix. Iterates of the two kinds differ in quality, and how many there are of each is
    up to the schedule of the passes: the answer is the point of the segment between the two
    averages that has the highest dual objective (Shah et al. 2015, section 3.5).

    Parameters
    ----------
    n_weights : int
        Number of weights d.
    n_phases : int, default=0
        Number of kinds of passes, 1 or 2; 0: there is no average.
    """

    def __cinit__(self, Py_ssize_t n_weights, Py_ssize_t n_phases=0):
        self.behind = np.zeros((n_phases, n_weights + LANES))
        self.loss_behind = np.zeros(n_phases)
        self.n_steps = np.zeros(max(n_phases, 1))

    def begin_phase(self, Py_ssize_t phase):
        """Set which kind of pass begins: 0 with the oracle, 1 over stored planes."""
        self.phase = min(phase, self.n_steps.shape[0] - 1)

    cdef void begin_step(self) noexcept nogil:
        self.n_steps[self.phase] += 1.0

    cdef double before(self, Py_ssize_t p) noexcept nogil:
        cdef double n = self.n_steps[p] - (p == self.phase)
        return 0.5 * n * (n + 1.0)

    cdef int add_step(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        cdef Py_ssize_t p
        for p in range(self.loss_behind.shape[0]):
            self.loss_behind[p] += self.before(p) * loss_change
            problem.scatter(i, delta, self.before(p) * step, &self.behind[p, 0])
        return 0

    def average(self, regularizer, loss):
        """Return the averages of v and of the mean loss, given the last ones; None if none."""
        n_weights = regularizer.n_weights
        v, behind = np.asarray(regularizer.v)[:n_weights], np.asarray(self.behind)[:, :n_weights]
        ends = [
            (v - behind[p] / (0.5 * n * (n + 1.0)), loss - lost / (0.5 * n * (n + 1.0)))
            for p, (n, lost) in enumerate(zip(self.n_steps, self.loss_behind, strict=False))
            if n
        ]
        if len(ends) < 2:
            return next(iter(ends), None)
        (v, loss), (other_v, other_loss) = ends

        def on_segment(fraction):
            return v + fraction * (other_v - v), loss + fraction * (other_loss - loss)

        best = minimize_scalar(
            lambda fraction: -regularizer.dual(*on_segment(fraction)), bounds=(0.0, 1.0),
            method="bounded",
        )
        # the search never tries the ends themselves
        fractions = (float(best.x), 0.0, 1.0)
        return max(map(on_segment, fractions), key=lambda point: regularizer.dual(*point))

    def restart(self):
        """Drop all iterates so far."""
        self.behind[:] = 0.0
        self.loss_behind[:] = 0.0
        self.n_steps[:] = 0.0

    def save(self):
        """Return what `restore` takes."""
        return np.array(self.behind), np.array(self.loss_behind), np.array(self.n_steps)

    def restore(self, saved):
        """Go on averaging at the dual point at which `save` was called.

        An average of other phases is left aside: a new one begins.
        """
        behind, loss_behind, n_steps = saved
        if len(loss_behind) == len(self.loss_behind):
            check_equal(behind.shape[1], self.behind.shape[1], "the length of the sums")
            self.behind, self.loss_behind = behind.copy(), loss_behind.copy()
            self.n_steps = n_steps.copy()
