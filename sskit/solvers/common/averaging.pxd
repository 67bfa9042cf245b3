from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class Averager:
    """Follows the steps of a solver; this one keeps no average."""

    # ValueError unless the weights are those of this problem, by their number
    cdef int match(self, Problem problem) except -1
    # a step begins (moved() follows if it moves anything)
    cdef void begin_step(self) noexcept nogil
    # v += step * B_i delta, and the mean loss of the planes changed
    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil


cdef class WeightedAverager(Averager):
    """The average of v over the steps k with weights 2 k / (K (K + 1)), kept lazily.

    v_K = v_0 + sum_j Delta_j gives  sum_k k v_k = S_K v_K - sum_j S_{j-1} Delta_j  with
    S_k = k (k + 1) / 2: only the second sum is kept, which moves where v moves.
    """

    cdef double[::1] behind       # (n_weights + LANES,) sum_j S_{j-1} Delta_j
    cdef double loss_behind       # the same for the mean loss of the planes
    cdef double n_steps           # K

    # v moved after `n_before` iterates of this average and before all that follow
    cdef int moved_after(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change,
        double n_before
    ) except -1 nogil


cdef class TwoAverages(Averager):
    cdef tuple averages
    cdef WeightedAverager attended    # whose step it is
    cdef WeightedAverager other       # all of its iterates so far came before this step
