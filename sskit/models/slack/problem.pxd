from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.slack.search cimport SlackSearch


cdef class SlackProblem(Problem):
    """Another problem under slack rescaling: block i has max_y L_i(y) (1 - <w, psi_i(y)>).

    The plane of a labelling with psi and loss L there is (L psi, L) here, so argmax maximises
    L (loss_weight - <psi, theta>). Its code is that of the labelling and the bits of L; the
    truth, and any labelling without loss, has the plane (0, 0). All else passes through.

    What argmax found last for a block is held, and is where its next search begins; forks share
    it, and the memory of it. The inner problem keeps it, as it knows only its own last answer.
    Where a search may miss the maximum, its bound of the product says by how much (`excess`).
    There is no oracle pool: what that of the inner problem finds ahead are other maxima.
    """

    cdef readonly Problem problem
    cdef readonly SlackSearch search
    cdef int32_t[::1] held               # inner code of the answer held, block after block
    cdef double[::1] held_loss           # (n_blocks,)
    cdef const int64_t[::1] places       # (n_blocks,) where those of a block begin
    cdef list counters                   # of all forks: arrays (2,) of searches and queries
    cdef adopt(self, Problem problem, SlackSearch search)
