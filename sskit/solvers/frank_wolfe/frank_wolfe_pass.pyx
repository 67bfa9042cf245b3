"""The pass of batch Frank-Wolfe."""

import numpy as np

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.regularizer cimport Regularizer
from sskit.solvers.oracle_calls.vertices cimport Vertices
from sskit.solvers.simplex_qp.line_search cimport best_step


cdef int blend_vertices(
    DualState dual, Vertices vertices, Direction delta, double gamma
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(vertices.n):
        vertices.load_plane(i, delta)
        dual.add_to(i, delta, -1.0)
        dual.advance(i, delta, gamma, gamma * (vertices.loss[i] - dual.blocks[i].loss))
        dual.blend(i, -1, gamma)
        delta.clear()
    return 0


def run_pass(DualState dual, Regularizer regularizer, Vertices vertices, double[::1] target):
    """Take one Frank-Wolfe step on all blocks (Lacoste-Julien et al. 2013, algorithm 2).

    Parameters
    ----------
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    vertices : Vertices
        Receives what the oracles found, with the block gaps before the step.
    target : ndarray of shape (n_weights + LANES,)
        Scratch memory.
    """
    dual.match(vertices.problem)
    regularizer.match(vertices.problem)
    check_equal(vertices.n, dual.n_blocks, "the number of vertices")
    vertices.find(regularizer.w, target)
    d = regularizer.n_weights
    v, direction = np.asarray(regularizer.v)[:d], np.asarray(target)[:d]
    direction /= regularizer.lam
    if regularizer.prior is not None:
        direction += regularizer.prior
    direction -= v
    gap = float(np.sum(vertices.gaps()))
    curvature = regularizer.lam * regularizer.inner(direction, direction)
    if gap <= 0.0:
        return
    cdef double gamma = best_step(gap, curvature, 1.0)
    v += gamma * direction
    regularizer.set_v(v)
    with nogil:
        blend_vertices(dual, vertices, vertices.visit.delta, gamma)
