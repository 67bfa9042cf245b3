"""Questions to searches for slack rescaling, and to the candidates of a problem, from Python."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem, SlackGoal
from sskit.models.structure cimport StructuredProblem


def choose(Problem problem, theta, double offset=1.0, cone=None):
    """Return (label, its loss, whether it counts) of the best candidate of block 0, one label.

    Parameters
    ----------
    problem : Problem
        Has candidates.
    theta : ndarray of shape (n_labels,)
        As of `search`.
    offset : float, default=1.0
        Margin of the truth.
    cone : tuple (loss_weight, lower, upper), default=None
        Asks for the best sum within a cone; None, for the best product.
    """
    cdef const double[::1] potentials = np.array(theta, dtype=np.float64)
    cdef SlackGoal goal = SlackGoal(True, offset, 1.0, 0.0, INFINITY)
    cdef double loss = -1.0
    cdef int32_t code = -1
    if potentials.shape[0] != problem.n_candidates():
        raise IndexError(f"theta of shape {np.shape(theta)}")
    if cone is not None:
        goal.product, (goal.loss_weight, goal.lower, goal.upper) = False, cone
    counts = problem.choose(0, &potentials[0], &goal, &code, &loss)
    return code, loss, bool(counts)


def search(StructuredProblem problem, theta, double offset=1.0, Py_ssize_t known=0):
    """Return (label, Phi, bound, number of queries) of one search in block 0, one label.

    Parameters
    ----------
    problem : SlackProblem
        It has a candidate for each label.
    theta : ndarray of shape (n_labels,)
        Label k has h = offset + theta[k]; theta[0] = 0.
    offset : float, default=1.0
        Margin of the truth.
    known : int, default=0
        The label that the search begins with.
    """
    cdef const double[::1] potentials = np.array(theta, dtype=np.float64)
    cdef double loss = problem.loss.at(0, known)
    cdef int32_t[3] code
    if potentials.shape[0] != problem.n_candidates():
        raise IndexError(f"theta of shape {np.shape(theta)}")
    before = problem.counter[0]
    problem.last_answers = np.append(np.int32(known), np.array([loss]).view(np.int32))
    with nogil:
        problem.argmax(0, &potentials[0], offset, code, &loss)
    return code[0], problem.best, problem.bound, problem.counter[0] - before
