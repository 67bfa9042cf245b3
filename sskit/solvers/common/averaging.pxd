from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class Averager:
    """Follows the steps of a solver; this one keeps no average."""

    # a step begins (moved() follows if it moves anything)
    cdef void begin_step(self) noexcept nogil
    # v += step * B_i delta, and the mean loss of the planes changed
    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil
    # So many steps are over, v moves only now, and the mean loss of the planes by `loss_change`:
    # every follower has to move by its weight times as much as v.
    cdef void merge(self, double n_steps, double loss_change) noexcept nogil
    # the k-th vector that follows v, and its weight in this merge; NULL after the last one
    cdef double* follower(self, Py_ssize_t k, double* weight) noexcept nogil


cdef class WeightedAverager(Averager):
    """The average of v over the steps k with weights 2 k / (K (K + 1)), kept lazily.

    v_K = v_0 + sum_j Delta_j gives  sum_k k v_k = S_K v_K - sum_j S_{j-1} Delta_j  with
    S_k = k (k + 1) / 2: only the second sum is kept, which moves where v moves.
    """

    cdef double[::1] behind       # (n_weights + LANES,) sum_j S_{j-1} Delta_j
    cdef double loss_behind       # the same for the mean loss of the planes
    cdef double n_steps           # K
    cdef double before            # S of the iterates before the last merge

    # v moved after `n_before` iterates of this average and before all that follow
    cdef int moved_after(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change,
        double n_before
    ) except -1 nogil
    # the weight of moves that come after `n_before` iterates
    cdef void weigh(self, double n_before, double loss_change) noexcept nogil


cdef class TwoAverages(Averager):
    cdef tuple averages
    cdef WeightedAverager attended    # whose step it is
    cdef WeightedAverager other       # all of its iterates so far came before this step
