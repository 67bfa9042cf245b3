"""Cuts of the mean hinge from what oracles find at one w."""

from typing import NamedTuple

import numpy as np

from sskit.solvers.cutting_plane.master_program import Cut

# A sampled cut is drawn anew at most so often: every other draw is good enough.
DRAWS = 100


class Finding(NamedTuple):
    """What was found at one w.

    Attributes
    ----------
    hinge : float
        Mean hinge there, of all who were asked.
    cut : Cut
        Made of them, or of some of them.
    excess : float
        How much larger the mean hinge may be, where the oracle bounds what it misses.
    """

    hinge: float
    cut: Cut
    excess: float = 0.0


def mean_of(vertices, weight):
    """Return the mean hinge of those who were asked, and the excess, with these weights."""
    return float(np.dot(weight, vertices.hinges())), float(np.dot(weight, vertices.excesses()))


def draw(weight, size, random_state):
    """Draw with replacement, in proportion to weights.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        Not negative, some positive.
    size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    places : ndarray
        What was drawn, in rising order.
    share : ndarray
        How often, in parts of all draws.
    """
    drawn = random_state.choice(len(weight), size, p=weight / weight.sum())
    places, counts = np.unique(drawn, return_counts=True)
    return places, counts / size


def exact_cut(vertices, padded, weight):
    """Ask oracles at w and return the cut of all of them.

    Parameters
    ----------
    vertices : Vertices
        Asks them.
    padded : ndarray of shape (n_weights + LANES,)
        Padded weights.
    weight : ndarray of shape (n,)
        Of those who are asked.

    Returns
    -------
    finding : Finding
        The value of the cut at w is the mean hinge there, as far as the oracle is exact.

    Raises
    ------
    CutShort
        If a stop was due before all oracles had been asked.
    """
    vertices.look(padded)
    loss = float(np.dot(weight, vertices.losses()))
    hinge, excess = mean_of(vertices, weight)
    vector = vertices.sum(np.arange(len(weight)), weight)
    return Finding(hinge, Cut(loss, vector), excess)


def linear_cut(vertices, padded, weight, level, size, random_state):
    """Ask all oracles at w; a sample makes the gradient (Yu, Joachims 2008, algorithm 3).

    Parameters
    ----------
    vertices, padded, weight : object
        As for exact cuts.
    level : float
        What the cut should be above at w, if the mean hinge is; of 100 samples that are
        not, the best is taken.
    size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    finding : Finding
        The mean hinge is that of all pairs, as far as the oracle is exact. The cut has the
        loss of the exact one and the mean gradient of r draws from the pairs that have a
        loss or a hinge, with their weights.
    """
    vertices.look(padded)
    losses, hinges = vertices.losses(), vertices.hinges()
    (hinge, excess), loss = mean_of(vertices, weight), float(np.dot(weight, losses))
    # an answer may be wrong without a loss, where a mistake costs nothing
    wrong = np.flatnonzero(((losses > 0.0) | (hinges > 0.0)) & (weight > 0.0))
    if not len(wrong):
        return Finding(hinge, Cut(0.0, vertices.sum(wrong, weight[wrong])), excess)
    mass = weight[wrong].sum()
    scores = mass * (losses[wrong] - hinges[wrong])  # <w, B psi>
    best = -np.inf
    for _ in range(DRAWS):
        places, share = draw(weight[wrong], size, random_state)
        value = loss - float(share @ scores[places])
        if value > best:
            best, drawn = value, (wrong[places], mass * share)
        if value > level or hinge <= level:
            break
    return Finding(hinge, Cut(loss, vertices.sum(*drawn)), excess)
