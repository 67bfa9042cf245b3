r"""The small dual program over cuts of the mean hinge.

A cut is a linear lower bound, :math:`\sum_i c_i H_i(w) \ge \text{loss} - \langle w, g \rangle`.
"""

from dataclasses import dataclass

import numpy as np

from sskit.solvers.cutting_plane.cut_storage import make_rows
from sskit.solvers.simplex_qp.newton import maximum

# Newton steps for one program with bounds; two or three are usual.
ROUNDS = 50


@dataclass(frozen=True)
class Cut:
    r"""A linear lower bound of the mean hinge, :math:`\text{loss} - \langle w, g \rangle`.

    Attributes
    ----------
    loss : float
        Mean loss of the planes it was summed from.
    vector : ndarray of shape (n_weights,)
        g, the mean of their B psi.
    """

    loss: float
    vector: np.ndarray

    def bound(self, covector):
        """Return its value at weights whose covector, of shape (n_weights,), is given."""
        return self.loss - float(np.dot(covector, self.vector))


class MixProgram:
    r"""Maximise the dual objective over mixes of cuts, which are known by their inner products.

    .. math::
        \max_{\alpha \ge 0, \sum_t \alpha_t = 1} \langle \alpha, \text{loss} \rangle
        - \tfrac{1}{2 \lambda} \sum_{st} \alpha_s \alpha_t \langle g_s, g_t \rangle

    The first cut is that of the truth, zero everywhere, and stays. The maximum is the minimum of
    :math:`\tfrac{\lambda}{2} \|w\|^2 + \max_t (\text{loss}_t - \langle w, g_t \rangle)`, at
    :math:`w = \tfrac{1}{\lambda} \sum_t \alpha_t g_t`.

    Parameters
    ----------
    lam : float
        Regularisation strength.

    Attributes
    ----------
    loss, weight : ndarray of shape (n_cuts,)
        Of the cuts.
    gram : ndarray of shape (n_cuts, n_cuts)
        Inner products.
    idle : ndarray of shape (n_cuts,)
        For how many calls of `solve` a cut has had no weight.
    """

    def __init__(self, lam):
        self.lam = lam
        self.loss, self.weight = np.zeros(1), np.ones(1)
        self.idle = np.zeros(1, dtype=np.int64)
        self.gram = np.zeros((1, 1))

    @property
    def n_cuts(self):
        """Number of cuts, that of the truth included."""
        return len(self.loss)

    def border(self, loss, column, vertex):
        """Add a cut with weight zero, by its inner products with the others and with itself."""
        self.gram = bordered(self.gram, column, vertex)
        self.loss = np.append(self.loss, loss)
        self.weight = np.append(self.weight, 0.0)
        self.idle = np.append(self.idle, 0)

    def values(self):
        """Return what the cuts are at w, shape (n_cuts,)."""
        return self.loss - self.gram @ self.weight / self.lam

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions.

        Returns
        -------
        dropped : ndarray
            Where they were, which rises.
        """
        self.idle = np.where(self.weight > 0.0, 0, self.idle + 1)
        self.idle[0] = 0
        places, dropped = np.flatnonzero(self.idle < life), np.flatnonzero(self.idle >= life)
        if len(dropped):
            self.keep(places)
        return dropped

    def keep(self, places):
        """Keep only the cuts at these places, which rise."""
        self.loss, self.weight = self.loss[places], self.weight[places]
        self.idle, self.gram = self.idle[places], self.gram[np.ix_(places, places)]

    def solve(self, tolerance):
        """Move the weights to the maximum.

        Parameters
        ----------
        tolerance : float
            How far below the maximum the objective may stay.

        Returns
        -------
        value : float
            The dual objective.
        """
        self.weight = maximum(self.values(), self.weight, self.gram, self.lam, tolerance)
        self.follow()
        return self.value()

    def follow(self):
        """Let w follow the weights; here it is only known by them."""

    def value(self):
        """Return the dual objective."""
        curvature = float(self.weight @ self.gram @ self.weight)
        return float(np.dot(self.weight, self.loss)) - 0.5 * curvature / self.lam


class CutProgram(MixProgram):
    r"""The same of cuts that are held as vectors, so that w is known too.

    If all cuts are lower bounds of the mean hinge, the maximum is one of the optimum. With a prior
    the program is that of w - prior: the losses here are what the cuts are at the prior.

    Parameters
    ----------
    regularizer : Regularizer
        Holds lam, v and w; moved by `solve`.
    values : slice, default=None
        Places of the weights that follow from the others, see `FeatureSpace`; None if
        there are none.
    """

    def __init__(self, regularizer, values=None):
        super().__init__(regularizer.lam)
        self.regularizer = regularizer
        self.rows = make_rows(regularizer.n_weights, values)
        self.rows.append(np.zeros(regularizer.n_weights))

    def add(self, cut):
        """Add a cut with weight zero."""
        covector = self.regularizer.covector(cut.vector)
        prior = self.regularizer.prior
        loss = cut.loss if prior is None else cut.bound(prior)
        self.border(loss, self.rows.dot(covector), float(np.dot(cut.vector, covector)))
        self.rows.append(cut.vector)

    def bound(self, w):
        """Return the largest of the cuts at weights of shape (n_weights,)."""
        w = self.regularizer.offset(w)
        return float(np.max(self.loss - self.rows.dot(self.regularizer.covector(w))))

    def keep(self, places):
        """Keep only the cuts at these places, which rise."""
        super().keep(places)
        self.rows.keep(places)

    def follow(self):
        """Let v and w follow the weights."""
        self.regularizer.set_v(self.dual_sum())

    def dual_sum(self):
        """Return the v of the weights."""
        return self.regularizer.from_prior(self.rows.combine(self.weight) / self.lam)

    def value(self):
        """Return the dual objective."""
        v = np.asarray(self.regularizer.v)[: self.regularizer.n_weights]
        loss, prior = float(np.dot(self.weight, self.loss)), self.regularizer.prior
        if prior is not None:
            loss += self.lam * float(np.dot(prior, v - prior))
        return self.regularizer.dual(v, loss)


class BoxCutProgram(CutProgram):
    r"""The same with bounds on the weights: w = clip(v).

    The objective, :math:`\langle \alpha, \text{loss} \rangle - \tfrac{\lambda}{2} \|w\|^2 -
    \lambda \langle v - w, w \rangle`, is concave and piecewise quadratic. Newton steps: maximise
    the piece at hand, whose curvature comes from the weights between their bounds alone, over
    the simplex, and search the line to there exactly.
    """

    def __init__(self, regularizer, values=None):
        super().__init__(regularizer, values)
        self.free = np.ones(regularizer.n_weights, dtype=bool)
        self.free_gram = np.zeros((1, 1))

    def add(self, cut):
        """Add a cut with weight zero."""
        part = np.where(self.free, cut.vector, 0.0)
        self.free_gram = bordered(self.free_gram, self.rows.dot(part), float(np.dot(part, part)))
        super().add(cut)

    def keep(self, places):
        """Keep only the cuts at these places, which rise."""
        super().keep(places)
        self.free_gram = self.free_gram[np.ix_(places, places)]

    def solve(self, tolerance):
        """Move weights, v and w to the maximum.

        Parameters
        ----------
        tolerance : float
            How far below the maximum the objective may stay.

        Returns
        -------
        value : float
            The dual objective.
        """
        lam, box = self.regularizer.lam, self.regularizer.box()
        v, offset = self.dual_sum(), self.regularizer.offset
        for _ in range(ROUNDS):
            score = self.loss - self.rows.dot(offset(self.regularizer.image(v)))
            # about their mean, so that slopes keep their digits near the maximum
            score -= score @ self.weight
            if score.max() <= tolerance:
                break
            self.look_at_piece(v, *box)
            target = maximum(score, self.weight, self.free_gram, lam, 0.1 * tolerance)
            change = target - self.weight
            direction = self.rows.combine(change) / lam
            step = longest_rise(float(score @ change), lam, v, direction, *box)
            if step == 0.0:
                break
            self.weight = target if step == 1.0 else self.weight + step * change
            v += step * direction
        self.follow()
        return self.value()

    def look_at_piece(self, v, lower, upper):
        """Take the inner products over the weights that are between their bounds at v."""
        free = (v > lower) & (v < upper)
        enter, leave = np.flatnonzero(free & ~self.free), np.flatnonzero(self.free & ~free)
        if len(enter):
            self.free_gram = self.free_gram + self.rows.gram_at(enter)
        if len(leave):
            self.free_gram = self.free_gram - self.rows.gram_at(leave)
        self.free = free


def longest_rise(slope, lam, v, direction, lower, upper):
    r"""Return the step in [0, 1] that maximises the dual objective along a line.

    Its derivative at the step t is slope - :math:`\lambda \langle d, \text{clip}(v + t d) -
    \text{clip}(v) \rangle`: it falls, in straight pieces, at the rate :math:`\lambda d_j^2` for
    every coordinate j that is between its bounds there.

    Parameters
    ----------
    slope : float
        Derivative of the objective at v.
    lam : float
        Regularisation strength.
    v : ndarray of shape (n_weights,)
        The dual sum.
    direction : ndarray of shape (n_weights,)
        By what a whole step changes it.
    lower, upper : ndarray of shape (n_weights,)
        Bounds of the weights.

    Returns
    -------
    step : float
        Between 0 and 1.
    """
    if slope <= 0.0:
        return 0.0
    moving = np.flatnonzero(direction)
    d, v, lower, upper = direction[moving], v[moving], lower[moving], upper[moving]
    ends = np.sort([(lower - v) / d, (upper - v) / d], axis=0)
    enter, leave = np.clip(ends, 0.0, 1.0)
    # where the rate of the fall changes, and by how much
    times, jumps = np.concatenate([enter, leave]), lam * np.concatenate([d**2, -(d**2)])
    order = np.argsort(times, kind="stable")
    times, rates = np.append(times[order], 1.0), np.cumsum(jumps[order])
    falls = np.cumsum(np.maximum(rates, 0.0) * np.diff(times))
    passed = np.flatnonzero(falls >= slope)
    if not len(passed):
        return 1.0
    k = passed[0]
    return float(times[k + 1] - (falls[k] - slope) / rates[k])


def bordered(gram, column, vertex):
    """Return a symmetric matrix with one more row and column."""
    return np.block([[gram, column[:, None]], [column[None], np.full((1, 1), vertex)]])
