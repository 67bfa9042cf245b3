from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class Averager:
    """The average of v over the steps k with weights 2 k / (K (K + 1)), kept lazily.

    v_K = v_0 + sum_j Delta_j gives  sum_k k v_k = S_K v_K - sum_j S_{j-1} Delta_j  with
    S_k = k (k + 1) / 2: only the second sum is kept, which changes where v does. Of several phases
    each has an average of its own, over its steps, while v changes in any.
    """

    cdef double[:, ::1] behind    # (n_phases, n_weights + LANES) sum_j S_{j-1} Delta_j
    cdef double[::1] loss_behind  # (n_phases,) the same for the mean loss of the planes
    cdef double[::1] n_steps      # (n_phases,) K; one that is not used if there are none
    cdef Py_ssize_t phase         # whose steps are taken

    # a step begins (add_step() follows if weights change)
    cdef void begin_step(self) noexcept nogil
    # v += step * B_i delta, and the mean loss of the planes changed
    cdef int add_step(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil
    # S of the iterates of phase p before the present step
    cdef double before(self, Py_ssize_t p) noexcept nogil
