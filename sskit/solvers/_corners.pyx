"""The planes that all oracles find at one w, and dual points made of them."""

import numpy as np

from sskit.core._direction cimport Direction
from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.solvers._findings cimport Planes
from sskit.solvers._team cimport Team
from sskit.solvers._visit cimport Visit


cdef class Corners(Planes):
    """The planes that the oracles of all blocks found at one w.

    Parameters
    ----------
    problem : Problem
        Whose oracles to ask.
    dual : DualState
        The dual point whose gaps are wanted.
    team : Team, default=None
        Asks them; None asks one after the other.
    """

    def __init__(self, Problem problem, DualState dual, Team team=None):
        super().__init__(problem, problem.n_blocks, dual)
        self.problem = problem
        self.team = Team(problem) if team is None else team
        self.visit = Visit(problem)
        self.ask_all()

    cdef void recall(self, Py_ssize_t i, Direction delta) noexcept nogil:
        self.visit.recall(self.problem, i, &self.words[i, 0], self.loss[i])
        delta.add(&self.visit.index[0], &self.visit.value[0], self.visit.n, 1.0)

    def find(self, const double[::1] w, double[::1] out):
        """Ask the oracles at w and sum the planes, always in the same order.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        out : ndarray of shape (n_weights + LANES,)
            Receives sum_i c_i B_i psi_i.

        Returns
        -------
        loss : float
            sum_i c_i L_i.
        """
        self.team.consult(self, w)
        with nogil:
            add_planes(self, self.visit.delta, &out[0])
        return float(np.dot(self.problem.block_weight, self.loss))


cdef int add_planes(Corners corners, Direction delta, double* out) except -1 nogil:
    cdef Py_ssize_t i
    corners.problem.begin_sum(out)
    for i in range(corners.n):
        corners.recall(i, delta)
        corners.problem.scatter(i, delta, corners.problem.block_weight[i], out)
        delta.clear()
    return corners.problem.end_sum(out)


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
