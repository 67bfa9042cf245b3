r"""The master program of cutting planes: a small dual program over the cuts.

A cut is a linear lower bound, :math:`\sum_i c_i H_i(w) \ge \text{loss} - \langle w, g \rangle`.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

# Vectors of more weights than this are sparse: a cut has entries only at features of wrong parts.
LARGEST_DENSE = 2**16
# Newton steps for one program with bounds; two or three are usual.
ROUNDS = 50
# Atoms that may join those of positive weight, one after the other: from the solution with fewer
# cuts few do.
MOST_ATOMS = 1000
# Added to the diagonal, relative to the largest second derivative: systems stay regular if atoms
# are linearly dependent.
RIDGE = 1e-12


@dataclass(frozen=True)
class HingeCut:
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


class CutVectors:
    """Vectors of all weights, dense or sparse.

    Parameters
    ----------
    dense : bool
        Whether entries that are zero are kept. If not vectors may be longer than those before,
        which then end in zeros.
    """

    def __init__(self, dense):
        self.dense = dense
        self._rows = []  # places, entries there

    def append(self, vector):
        """Add a copy of a vector of shape (n_weights,)."""
        self.n_weights = len(vector)
        place = slice(None) if self.dense else np.flatnonzero(vector).astype(np.int32)
        self._rows.append((place, vector[place].copy()))

    def keep(self, places):
        """Keep only the vectors at these places, which rise."""
        self._rows = [self._rows[place] for place in places]

    def dot(self, covector):
        """Return the inner products of all vectors with a covector, shape (n_rows,)."""
        return np.array([entries @ covector[place] for place, entries in self._rows])

    def combine(self, weight):
        """Return the sum of the vectors with these weights, shape (n_weights,)."""
        total = np.zeros(self.n_weights)
        for fraction, (place, entries) in zip(weight, self._rows, strict=True):
            if fraction != 0.0:
                total[place] += fraction * entries
        return total

    def gram_at(self, columns):
        """Return the inner products of the vectors over some columns only, (n_rows, n_rows)."""
        places, entries = zip(*self._rows, strict=True)
        if self.dense:
            part = np.array([row[columns] for row in entries])
            return part @ part.T
        first = np.cumsum([0, *map(len, places)])
        rows = (np.concatenate(entries), np.concatenate(places), first)
        part = sp.csr_array(rows, shape=(len(entries), self.n_weights))[:, columns]
        return (part @ part.T).toarray()


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
        self.weight = maximum(self.values(), self.weight, self.gram, self.lam, tolerance)
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
            change = maximum(score, self.weight, gram, lam, 0.1 * tolerance) - self.weight
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


def maximum(score, weight, gram, lam, tolerance):
    """Return the weights on the simplex that maximise a quadratic function.

    An active-set method: the atom that promises most joins those of positive weight, among which
    Newton steps go to the maximum.

    Parameters
    ----------
    score : ndarray of shape (n_atoms,)
        Its gradient at `weight`.
    weight : ndarray of shape (n_atoms,)
        Where to start.
    gram : ndarray of shape (n_atoms, n_atoms)
        -lam times its second derivatives.
    lam : float
        Regularisation strength.
    tolerance : float
        Largest slope to any atom at the end, and largest difference of the value to the maximum.
        Both may be larger only because of rounding, or after 1000 rounds.

    Returns
    -------
    weight : ndarray of shape (n_atoms,)
        Non-negative, summing to one.
    """
    start, first, increase = weight, score, np.inf
    for _ in range(MOST_ATOMS):
        score = score - score @ weight
        if score.max() <= tolerance or increase <= 0.0:
            break
        increase, weight = newton_step(score, weight, gram, lam)
        score = first - gram @ (weight - start) / lam
    return weight


def newton_step(score, weight, gram, lam):
    """Take Newton steps among the positive weights and the best atom until none meets zero.

    Parameters
    ----------
    score, weight, gram, lam : object
        As in `maximum`, the score about its mean.

    Returns
    -------
    increase : float
        Of the function.
    weight : ndarray of shape (n_atoms,)
        At which it is larger by this.
    """
    support = np.union1d(np.flatnonzero(weight), score.argmax())
    K, score, fraction = gram[np.ix_(support, support)] / lam, score[support], weight[support]
    increase, full = 0.0, False
    while not full and len(fraction) > 1:
        change = newton_change(K, score)
        if not score @ change > 0.0:
            # rounding, or the function is not concave: from the worst atom to the best
            change = np.zeros_like(score)
            change[score.argmax()] += 1.0
            change[score.argmin()] -= 1.0
        slope, curvature = float(score @ change), float(change @ K @ change)
        if slope <= 0.0:
            break
        falls = np.flatnonzero(change < 0.0)
        limits = -fraction[falls] / change[falls]
        limit = float(limits.min(initial=np.inf))
        full = slope <= limit * curvature
        step = slope / curvature if full else limit
        increase += step * (slope - 0.5 * step * curvature)
        fraction = fraction + step * change
        score = score - step * (K @ change)
        if not full:
            fraction[falls[limits.argmin()]] = 0.0
            stay = fraction > 0.0
            support, fraction, score = support[stay], fraction[stay], score[stay]
            K = K[np.ix_(stay, stay)]
    solved = np.zeros_like(weight)
    solved[support] = fraction / fraction.sum()
    return increase, solved


def newton_change(K, score):
    """Return the change of weights, summing to zero, after which all scores would be equal."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K
    system[range(n), range(n)] += RIDGE * (K.diagonal().max() or 1.0)
    system[n, n] = 0.0
    try:
        return np.linalg.solve(system, np.append(score, 0.0))[:n]
    except np.linalg.LinAlgError:
        return np.zeros(n)
