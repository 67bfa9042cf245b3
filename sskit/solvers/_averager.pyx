"""Averages of iterates (see the .pxd)."""

import numpy as np

cdef extern from "kernels.hpp" namespace "sskit":
    const Py_ssize_t LANES


cdef class Averager:
    """No average."""

    cdef void begin_step(self) noexcept nogil:
        pass

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        return 0

    def average(self, v, loss):
        """Return the averages of v and of the mean loss, given the last ones; None if none."""
        return None

    def restart(self):
        """Forget all iterates so far."""

    def save(self):
        """Return what `restore` takes; None if there is no average."""
        return None

    def restore(self, saved):
        """Go on averaging at the dual point at which `save` was called."""


cdef class WeightedAverager(Averager):
    """Weighted average of the iterates (Lacoste-Julien et al. 2013, section 4 and appendix D).

    Parameters
    ----------
    n_weights : int
        Number of weights d.
    """

    def __init__(self, Py_ssize_t n_weights):
        self.behind = np.zeros(n_weights + LANES)
        self.loss_behind = 0.0
        self.n_steps = 0.0

    cdef void begin_step(self) noexcept nogil:
        self.n_steps += 1.0

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        cdef double before = 0.5 * self.n_steps * (self.n_steps - 1.0)
        self.loss_behind += before * loss_change
        return problem.scatter(i, delta, before * step, &self.behind[0])

    def average(self, v, loss):
        """Return the averages of v and of the mean loss, given the last ones."""
        if self.n_steps == 0.0:
            return None
        total = 0.5 * self.n_steps * (self.n_steps + 1.0)
        behind = np.asarray(self.behind)[: len(v)]
        return v - behind / total, loss - self.loss_behind / total

    def restart(self):
        """Forget all iterates so far."""
        self.behind[:] = 0.0
        self.loss_behind = 0.0
        self.n_steps = 0.0

    def save(self):
        """Return what `restore` takes."""
        return np.array(self.behind), self.loss_behind, self.n_steps

    def restore(self, saved):
        """Go on averaging at the dual point at which `save` was called."""
        behind, self.loss_behind, self.n_steps = saved
        self.behind = behind.copy()
