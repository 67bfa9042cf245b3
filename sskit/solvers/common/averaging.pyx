"""Averages of iterates (see the .pxd)."""

import numpy as np
from scipy.optimize import minimize_scalar

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES


cdef class Averager:
    """No average."""

    cdef void begin_step(self) noexcept nogil:
        pass

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        return 0

    cdef void merge(self, double n_steps, double loss_change) noexcept nogil:
        pass

    cdef double* follower(self, Py_ssize_t k, double* weight) noexcept nogil:
        return NULL

    def attend(self, Py_ssize_t phase):
        """Say which kind of pass begins: 0 with the oracle, 1 over stored planes."""

    def average(self, regularizer, loss):
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

    def __cinit__(self, Py_ssize_t n_weights):
        self.behind = np.zeros(n_weights + LANES)
        self.loss_behind = 0.0
        self.n_steps = 0.0

    cdef void begin_step(self) noexcept nogil:
        self.n_steps += 1.0

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        return self.moved_after(problem, i, delta, step, loss_change, self.n_steps - 1.0)

    cdef int moved_after(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change,
        double n_before
    ) except -1 nogil:
        cdef double before = 0.5 * n_before * (n_before + 1.0)
        self.loss_behind += before * loss_change
        return problem.scatter(i, delta, before * step, &self.behind[0])

    cdef void merge(self, double n_steps, double loss_change) noexcept nogil:
        self.n_steps += n_steps
        self.weigh(self.n_steps - 1.0, loss_change)

    cdef void weigh(self, double n_before, double loss_change) noexcept nogil:
        self.before = 0.5 * n_before * (n_before + 1.0)
        self.loss_behind += self.before * loss_change

    cdef double* follower(self, Py_ssize_t k, double* weight) noexcept nogil:
        weight[0] = self.before
        if k > 0:
            return NULL
        return &self.behind[0]

    def average(self, regularizer, loss):
        """Return the averages of v and of the mean loss, given the last ones; None if none."""
        if self.n_steps == 0.0:
            return None
        n_weights = regularizer.n_weights
        total = 0.5 * self.n_steps * (self.n_steps + 1.0)
        behind = np.asarray(self.behind)[:n_weights]
        v = np.asarray(regularizer.v)[:n_weights]
        return v - behind / total, loss - self.loss_behind / total

    def restart(self):
        """Forget all iterates so far."""
        self.behind[:] = 0.0
        self.loss_behind = 0.0
        self.n_steps = 0.0

    def save(self):
        """Return what `restore` takes."""
        return "one", np.array(self.behind), self.loss_behind, self.n_steps

    def restore(self, saved):
        """Go on averaging at the dual point at which `save` was called.

        An average of another kind is left aside: a new one begins.
        """
        kind, *rest = saved
        if kind == "one":
            behind, loss_behind, n_steps = rest
            check_equal(len(behind), self.behind.shape[0], "the length of the sum")
            self.behind, self.loss_behind, self.n_steps = behind.copy(), loss_behind, n_steps


cdef class TwoAverages(Averager):
    """One average after oracle calls, one after steps between stored planes, and the best mix.

    Iterates of the two kinds differ in quality, and how many there are of each is up to the
    schedule of the passes: the answer is the point of the segment between the two averages
    that has the highest dual objective (Shah et al. 2015, section 3.5).

    Parameters
    ----------
    n_weights : int
        Number of weights d.
    """

    def __cinit__(self, Py_ssize_t n_weights):
        self.averages = (WeightedAverager(n_weights), WeightedAverager(n_weights))
        self.attend(0)

    def attend(self, Py_ssize_t phase):
        """Say which kind of pass begins: 0 with the oracle, 1 over stored planes."""
        self.attended, self.other = self.averages[phase], self.averages[1 - phase]

    cdef void begin_step(self) noexcept nogil:
        self.attended.begin_step()

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        # v moves in either kind of pass, and both averages follow it
        self.attended.moved(problem, i, delta, step, loss_change)
        return self.other.moved_after(
            problem, i, delta, step, loss_change, self.other.n_steps
        )

    cdef void merge(self, double n_steps, double loss_change) noexcept nogil:
        self.attended.merge(n_steps, loss_change)
        self.other.weigh(self.other.n_steps, loss_change)

    cdef double* follower(self, Py_ssize_t k, double* weight) noexcept nogil:
        if k == 1:
            return self.other.follower(0, weight)
        return self.attended.follower(k, weight)

    def average(self, regularizer, loss):
        """Return the averages of v and of the mean loss, given the last ones; None if none."""
        ends = [average.average(regularizer, loss) for average in self.averages]
        found = [end for end in ends if end is not None]
        if len(found) < 2:
            return found[0] if found else None
        (v, loss), (other_v, other_loss) = found

        def on_segment(share):
            return v + share * (other_v - v), loss + share * (other_loss - loss)

        best = minimize_scalar(
            lambda share: -regularizer.dual(*on_segment(share)), bounds=(0.0, 1.0),
            method="bounded",
        )
        # the search never tries the ends themselves
        shares = (float(best.x), 0.0, 1.0)
        return max(map(on_segment, shares), key=lambda point: regularizer.dual(*point))

    def restart(self):
        """Forget all iterates so far."""
        for average in self.averages:
            average.restart()

    def save(self):
        """Return what `restore` takes."""
        return "two", [average.save() for average in self.averages]

    def restore(self, saved):
        """Go on averaging at the dual point at which `save` was called.

        An average of another kind is left aside: a new one begins.
        """
        kind, *rest = saved
        if kind == "two":
            for average, part in zip(self.averages, *rest):
                average.restore(part)
