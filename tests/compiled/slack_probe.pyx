"""Questions to searches for slack rescaling, and to the candidates of a problem, from Python."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem, SlackGoal
from sskit.models.slack.problem cimport SlackSearch
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


def search(SlackSearch search, theta, double offset=1.0, Py_ssize_t known=0):
    """Return (label, Phi, bound, number of queries) of one search in block 0, one label.

    Parameters
    ----------
    search : SlackSearch
        Its problem has a candidate for each label.
    theta : ndarray of shape (n_labels,)
        Label k has h = offset + theta[k]; theta[0] = 0.
    offset : float, default=1.0
        Margin of the truth.
    known : int, default=0
        The label that the search begins with.
    """
    cdef const double[::1] potentials = np.array(theta, dtype=np.float64)
    cdef int32_t start = <int32_t>known
    cdef double loss = (<StructuredProblem>search.problem).loss.at(0, known)
    if potentials.shape[0] != search.problem.n_candidates():
        raise IndexError(f"theta of shape {np.shape(theta)}")
    before = search.n_queries[0]
    with nogil:
        search.find(0, &potentials[0], offset, &start, loss)
    return search.best_code[0], search.best, search.bound, search.n_queries[0] - before
