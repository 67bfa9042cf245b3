"""Certificates from exact passes."""

import numpy as np

from sskit.core.regularizer import copied
from sskit.core.stop import CutShort
from sskit.solvers.common.solution import Certificate


def certificate_of(problem, regularizer, w, dual, answers):
    """Return the certificate of the weights at which all oracles were asked.

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
    answers : Answers
        What the oracles have found.

    Returns
    -------
    certificate : Certificate
        With that dual.
    """
    weight = np.asarray(problem.block_weight)
    primal = regularizer.primal(w, float(np.dot(weight, answers.hinges())))
    missed = float(np.dot(weight, answers.excesses()))
    return Certificate(copied(w), primal, dual, primal - dual, inexactness=missed)


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
    evaluator : Pool
        Makes the exact pass.
    known : DualState, default=None
        A dual point whose planes an inexact oracle is compared with.

    Returns
    -------
    certificate : Certificate
        With that dual.
    """
    answers = evaluator.ask(regularizer.padded(w), known)
    return certificate_of(problem, regularizer, w, dual, answers)


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
