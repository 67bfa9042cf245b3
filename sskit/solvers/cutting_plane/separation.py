"""Where cuts of the mean hinge come from that look at all training pairs."""

from typing import NamedTuple

import numpy as np

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.solvers.cutting_plane.master_program import Cut
from sskit.solvers.oracle_calls.vertices import Vertices

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


class ExactCuts:
    """All oracles at one w.

    Parameters
    ----------
    problem : Problem
        What to solve.
    pool : Pool, default=None
        Asks the oracles; None asks one after the other.
    """

    def __init__(self, problem, pool=None):
        self.problem = problem
        # gaps to a dual point that stays at the truth are the weighted hinges
        self.vertices = Vertices(problem, problem.n_blocks, DualState(problem), pool)

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.vertices.n_calls

    def at(self, padded):
        """Return the mean hinge at w, and the cut that is exact there.

        Parameters
        ----------
        padded : ndarray of shape (n_weights + LANES,)
            Padded weights.

        Returns
        -------
        finding : Finding
            The value of the cut at w is the mean hinge there, as far as the oracle is exact.

        Raises
        ------
        CutShort
            If a stop was due before all oracles had been asked.
        """
        vector = np.zeros_like(padded)
        loss = self.vertices.find(padded, vector)
        hinge, excess = mean_of(self.vertices, self.problem.block_weight)
        return Finding(hinge, Cut(loss, vector[: self.problem.n_weights]), excess)


class LinearCuts(ExactCuts):
    """All oracles at one w, of which a sample makes the gradient (Yu, Joachims 2008, algorithm 3).

    Parameters
    ----------
    problem, pool : object
        As for exact cuts.
    cut_size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.
    """

    def __init__(self, problem, cut_size, random_state, pool=None):
        super().__init__(problem, pool)
        self.cut_size = cut_size
        self.random_state = random_state

    def at(self, padded, level):
        """Return the mean hinge at w, and a cut that stands out there.

        Parameters
        ----------
        padded : ndarray of shape (n_weights + LANES,)
            Padded weights.
        level : float
            What the cut should be above at w, if the mean hinge is; of 100 samples that are
            not, the best is taken.

        Returns
        -------
        finding : Finding
            The mean hinge is that of all pairs, as far as the oracle is exact. The cut has the
            loss of the exact one and the mean gradient of r draws from the pairs that have a
            loss or a hinge, with their weights.
        """
        self.vertices.look(padded)
        weight = np.asarray(self.problem.block_weight)
        losses, hinges = self.vertices.losses(), self.vertices.hinges()
        (hinge, excess), loss = mean_of(self.vertices, weight), float(np.dot(weight, losses))
        # an answer may be wrong without a loss, where a mistake costs nothing
        wrong = np.flatnonzero(((losses > 0.0) | (hinges > 0.0)) & (weight > 0.0))
        if not len(wrong):
            return Finding(hinge, Cut(0.0, np.zeros(self.problem.n_weights)), excess)
        mass = np.cumsum(weight[wrong])
        scores = losses[wrong] - hinges[wrong]  # <w, B psi>
        best, drawn = -np.inf, None
        for _ in range(DRAWS):
            places = self.draw(mass)
            value = loss - mass[-1] * float(scores[places].mean())
            if value > best:
                best, drawn = value, places
            if value > level or hinge <= level:
                break
        places, counts = np.unique(drawn, return_counts=True)
        share = mass[-1] / self.cut_size * counts
        vector = sum_planes(self.vertices, self.problem, wrong[places], share)
        return Finding(hinge, Cut(loss, vector), excess)

    def draw(self, mass):
        """Return r places, drawn in proportion to weights whose running sums are given."""
        points = self.random_state.uniform(0.0, mass[-1], size=self.cut_size)
        # a point may be rounded up to the end
        return np.minimum(np.searchsorted(mass, points, side="right"), len(mass) - 1)


def sum_planes(vertices, problem, blocks, share):
    """Return the weighted sum of planes.

    In a kernel space it takes as many kernels as there are blocks, times all rows: those of rows
    that are in memory are there.

    Parameters
    ----------
    vertices : Vertices
        Of all blocks.
    problem : Problem
        What they are of.
    blocks : ndarray of shape (m,)
        Numbers of blocks, which rise.
    share : ndarray of shape (m,)
        Their weights.

    Returns
    -------
    vector : ndarray of shape (n_weights,)
        The sum of B psi.
    """
    out = Regularizer(1.0, problem.n_weights).padded(np.zeros(problem.n_weights))
    vertices.add(blocks, share, problem, blocks, out)
    return out[: problem.n_weights]
