"""The master program of cutting planes: a small dual program over the cuts."""

import numpy as np
from scipy.optimize import brentq

from sskit.solvers.cutting_plane.cuts import CutVectors
from sskit.solvers.simplex_qp.program import RIDGE, SimplexProgram

# Vectors of more weights than this are sparse: a cut has entries only at features of wrong parts.
LARGEST_DENSE = 2**16
# Newton steps for one program with bounds; two or three are usual.
ROUNDS = 50


class MixProgram:
    r"""The master program over mixes of cuts, given by their inner products.

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
    average : ndarray of shape (n_cuts,)
        Weighted average of the weights so far.
    gram : ndarray of shape (n_cuts, n_cuts)
        Inner products.
    """

    def __init__(self, lam):
        self.lam = lam
        self.loss, self.weight, self.average = np.zeros(1), np.ones(1), np.ones(1)
        self.n_averaged = 0
        self.gram = np.zeros((1, 1))

    @property
    def n_cuts(self):
        """Number of cuts, that of the truth included."""
        return len(self.loss)

    def border(self, loss, column, vertex):
        """Add a cut with weight zero, by its inner products with the others and with itself."""
        self.gram = np.block([[self.gram, column[:, None]], [column, vertex]])
        self.loss = np.append(self.loss, loss)
        self.weight, self.average = np.append(self.weight, 0.0), np.append(self.average, 0.0)

    def values(self):
        """Return the values of the cuts at w, shape (n_cuts,)."""
        return self.loss - self.gram @ self.weight / self.lam

    def record(self):
        """Add the weights to their average, the t-th in proportion to t."""
        self.n_averaged += 1
        self.average += 2.0 / (self.n_averaged + 1) * (self.weight - self.average)

    def solve(self, tolerance):
        """Set the weights to the maximum.

        Parameters
        ----------
        tolerance : float
            How far below the maximum the objective may stay.

        Returns
        -------
        value : float
            The dual objective.
        """
        program = SimplexProgram(self.values(), self.weight, self.gram, self.lam)
        self.weight = program.maximise(tolerance)
        return self.value()

    def value(self):
        """Return the dual objective."""
        return float(np.dot(self.weight, self.loss)) - 0.5 * self.lam * self.sqnorm(self.weight)

    def sqnorm(self, weight):
        """Return the squared norm of the w of some weights."""
        return float(weight @ self.gram @ weight) / self.lam**2


class CutProgram(MixProgram):
    r"""The master program over cuts that are vectors, so that w is computed too.

    If all cuts are lower bounds of the mean hinge, the maximum is one of the optimum. With a prior
    the program is that of w - prior: the losses here are the values of the cuts at the prior.

    With bounds on the weights, w = clip(v), the objective

    .. math::
        \langle \alpha, \text{loss} \rangle - \tfrac{\lambda}{2} \|w\|^2
        - \lambda \langle v - w, w \rangle

    is concave and piecewise quadratic. Newton steps: maximise the piece at hand, whose curvature
    comes from the weights between their bounds alone, over the simplex, and search the line to
    there.

    Parameters
    ----------
    regularizer : Regularizer
        Holds lam, v and w; changed by `solve`.

    Attributes
    ----------
    idle : ndarray of shape (n_cuts,)
        Number of calls of `solve` since a cut had weight.
    """

    def __init__(self, regularizer):
        super().__init__(regularizer.lam)
        self.regularizer = regularizer
        self.idle = np.zeros(1, dtype=np.int64)
        self.vectors = CutVectors(dense=regularizer.n_weights <= LARGEST_DENSE)
        self.vectors.append(np.zeros(regularizer.n_weights))

    def add(self, cut):
        """Add a cut with weight zero."""
        covector = self.regularizer.covector(cut.vector)
        prior = self.regularizer.prior
        loss = cut.loss if prior is None else cut.bound(prior)
        self.border(loss, self.vectors.dot(covector), float(np.dot(cut.vector, covector)))
        self.vectors.append(cut.vector)
        self.idle = np.append(self.idle, 0)

    def bounds(self, w):
        """Return the values of the cuts at weights of shape (n_weights,)."""
        w = self.regularizer.offset(w)
        return self.loss - self.vectors.dot(self.regularizer.covector(w))

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions."""
        self.idle = np.where(self.weight > 0.0, 0, self.idle + 1)
        self.idle[0] = 0
        places = np.flatnonzero(self.idle < life)
        if len(places) < self.n_cuts:
            self.loss, self.weight, self.average, self.idle = (
                numbers[places] for numbers in (self.loss, self.weight, self.average, self.idle)
            )
            self.gram = self.gram[np.ix_(places, places)]
            self.vectors.keep(places)

    def values(self):
        """Return the values of the cuts at w, shape (n_cuts,)."""
        return (
            self.bounds(self.regularizer.coef()) if self.regularizer.bounded else super().values()
        )

    def solve(self, tolerance):
        """Set weights, v and w to the maximum; as in `MixProgram`."""
        if self.regularizer.bounded:
            self.solve_with_bounds(tolerance)
        else:
            super().solve(tolerance)
        self.regularizer.set_v(self.dual_sum(self.weight))
        return self.value()

    def solve_with_bounds(self, tolerance):
        """Set the weights to the maximum with bounds on w."""
        lam, image = self.lam, self.regularizer.image
        lower, upper = self.regularizer.box()
        v = self.dual_sum(self.weight)
        # if no weight is free, the curvature would be rounding only
        free, gram = np.zeros(len(v), dtype=bool), RIDGE * np.diag(self.gram.diagonal())
        for _ in range(ROUNDS):
            score = self.bounds(image(v))
            # minus their mean, so that slopes keep their digits near the maximum
            score -= score @ self.weight
            if score.max() <= tolerance:
                break
            were, free = free, (v > lower) & (v < upper)
            gram += self.vectors.gram_at(np.flatnonzero(free & ~were))
            gram -= self.vectors.gram_at(np.flatnonzero(were & ~free))
            piece = SimplexProgram(score, self.weight, gram, lam)
            change = piece.maximise(0.1 * tolerance) - self.weight
            direction = self.vectors.combine(change) / lam
            step = longest_rise(float(score @ change), lam, v, direction, image)
            if step == 0.0:
                break
            self.weight = np.maximum(self.weight + step * change, 0.0)
            v += step * direction

    def dual_sum(self, weight):
        """Return the v of some weights of the cuts."""
        return self.regularizer.from_prior(self.vectors.combine(weight) / self.lam)

    def value(self):
        """Return the dual objective."""
        v = np.asarray(self.regularizer.v)[: self.regularizer.n_weights]
        loss, prior = float(np.dot(self.weight, self.loss)), self.regularizer.prior
        if prior is not None:
            loss += self.lam * float(np.dot(prior, v - prior))
        return self.regularizer.dual(v, loss)


def longest_rise(slope, lam, v, direction, image):
    r"""Return the step in [0, 1] that maximises the dual objective along a line.

    Its derivative at the step t is slope - :math:`\lambda \langle d, \text{clip}(v + t d) -
    \text{clip}(v) \rangle`, which falls.

    Parameters
    ----------
    slope : float
        Derivative of the objective at v.
    lam : float
        Regularisation strength.
    v : ndarray of shape (n_weights,)
        The dual sum.
    direction : ndarray of shape (n_weights,)
        Change of v by the whole step.
    image : callable
        clip.

    Returns
    -------
    step : float
        Between 0 and 1.
    """
    w = image(v)

    def derivative(step):
        return slope - lam * float(direction @ (image(v + step * direction) - w))

    if slope <= 0.0:
        return 0.0
    return 1.0 if derivative(1.0) >= 0.0 else brentq(derivative, 0.0, 1.0)
