"""Certificates from exact passes."""

import numpy as np

from sskit.core.regularizer import copied
from sskit.core.stop import CutShort
from sskit.solvers.common.solution import Certificate


def certify_dual_point(problem, regularizer, dual, evaluator):
    """Compute primal, dual and gap at the dual point of a run.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam, v and w.
    dual : DualState
        The dual point that v was summed from.
    evaluator : Evaluator
        Makes the exact pass.

    Returns
    -------
    certificate : Certificate
        Its gap is the sum of the block gaps, which keeps its digits when it is far smaller
        than the objectives; and of what the oracle may have missed.
    gaps : ndarray of shape (n_blocks,)
        The block gaps, by the best known hinges.
    """
    answers = evaluator.ask(regularizer.w, dual)
    gaps = answers.gaps()
    w = np.asarray(regularizer.w)[: problem.n_weights]
    v = np.asarray(regularizer.v)[: problem.n_weights]
    weight = np.asarray(problem.block_weight)
    missed = float(np.dot(weight, answers.excesses()))
    primal = regularizer.primal(w, float(np.dot(weight, answers.hinges())))
    value = regularizer.dual(v, float(np.dot(weight, dual.losses())))
    return Certificate(copied(w), primal, value, float(gaps.sum()), inexactness=missed), gaps


def certify_weights(problem, regularizer, w, dual, evaluator, known=None):
    """Compute the primal at any w; any dual value then gives a gap.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam.
    w : ndarray of shape (n_weights,)
        The weights.
    dual : float
        A lower bound of the optimum.
    evaluator : Evaluator
        Makes the exact pass.
    known : DualState, default=None
        A dual point whose planes an inexact oracle is compared with.

    Returns
    -------
    certificate : Certificate
        With that dual.
    """
    padded = regularizer.padded(w)
    answers = evaluator.ask(padded, known)
    missed = float(np.dot(problem.block_weight, answers.excesses()))
    primal = regularizer.primal(w, float(np.dot(problem.block_weight, answers.hinges())))
    return Certificate(copied(w), primal, dual, primal - dual, inexactness=missed)


def better_of(last, *average):
    """Return the certificate of the last iterate, or of the average if its primal is lower.

    They are compared by the best known hinges, as passes lower these and no more: by bounds that
    the oracle leaves wide at random the gap of one need never close.

    Parameters
    ----------
    last : Certificate
        Of the last iterate, which stays if a stop is due before that of the average is known.
    *average : object
        What `certify_weights` takes, for the average.

    Returns
    -------
    certificate : Certificate
        The better one.
    """
    try:
        averaged = certify_weights(*average)
    except CutShort:
        return last
    return averaged if averaged.known_primal < last.known_primal else last
