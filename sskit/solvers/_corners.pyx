"""A dual point of single planes."""

from sskit.core._direction cimport Direction
from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.solvers._visit cimport Visit


cdef int assign(
    Problem problem, DualState dual, Visit visit, Direction delta, const double* w
) except -1 nogil:
    cdef Py_ssize_t i, slot
    for i in range(problem.n_blocks):
        visit.consult(problem, i, w, 1.0)
        slot = dual.insert(i, &visit.words[0], visit.loss)
        delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
        dual.set_mix(i, delta, visit.loss)
        dual.blend(i, slot, 1.0)
        delta.clear()
    return 0


def assign_corners(Problem problem, DualState dual, const double[::1] w, evaluator):
    """Put all weight of every block on the plane that the oracle finds at w.

    Parameters
    ----------
    problem : Problem
        The problem; its oracle is called once for each block.
    dual : DualState
        The dual point; replaced. The planes are stored.
    w : ndarray of shape (n_weights + LANES,)
        Padded weights.
    evaluator : Evaluator
        Counts the calls.
    """
    cdef Visit visit = Visit(problem)
    with nogil:
        assign(problem, dual, visit, visit.delta, &w[0])
    evaluator.count(problem.n_blocks)
