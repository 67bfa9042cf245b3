"""Steps of limited-memory BFGS within bounds, and lower bounds that count them."""

import numpy as np

from sskit.solvers.quasi_newton.two_loops import two_loops
from sskit.solvers.quasi_newton.within import (
    hold,
    largest_loss,
    least,
    least_at_ends,
    mix_into,
    mix_within,
    products_of,
    step_within,
)

# A step does not count where the gradient grows by less than this fraction of lam along the weights
# that are free: along a step of these alone it grows by lam at least.
LEAST_GROWTH = 0.1
# The slope along a step that was cut at the bounds is to be at least this fraction of the slope
# without them; else the step is halved before it is cut.
LEAST_SLOPE = 0.1
MOST_HALVED = 12
# Evaluations between both ends for the best mix of two lower bounds, and how flat that is to be.
MOST_MIXED, FLAT = 4, 0.1


class BoxHistory:
    """The last steps of a run within bounds, and the next direction (see `History`).

    A weight is held at a bound if a step along the gradient would take it there or beyond. The
    others have the quasi-Newton direction of the last steps, cut to these weights, and what leaves
    the box is clipped (two-metric projection, Bertsekas 1982). From there to the present weights
    the run searches along a straight line, which stays within the box.

    Parameters
    ----------
    n : int
        Number of weights.
    memory : int
        Number of steps.
    dtype : dtype
        In which they are kept.
    regularizer : BoxRegularizer
        Has the bounds and lam.

    Attributes
    ----------
    direction : ndarray of shape (n,)
        To the next weights that are tried.
    past : list of ndarray
        The first step, the change of the gradient along it, the second step, and so on.
    size : float
        Of steps along the gradient: <s, y> / <y, y> of the last step s, along which the gradient
        changes by y; 0 if there is none.
    bound : float
        The lower bound of the present point.
    linear, constant : ndarray of shape (n,), float
        <linear, u> + lam / 2 ||u||^2 + constant is nowhere above the objective, a mix of such
        functions of the points so far; a constant of -inf is none.
    """

    def __init__(self, n, memory, dtype, regularizer):
        self.direction = np.zeros(n, dtype=dtype)
        self.memory, self.bound, self.regularizer = memory, -np.inf, regularizer
        self.lower, self.upper = (np.ascontiguousarray(side) for side in regularizer.box())
        self.free, self.linear = np.zeros(n, dtype=np.uint8), np.zeros(n)
        self.clear()

    def clear(self):
        """Forget all steps, and the lower bounds of points before."""
        self.past, self.size, self.constant = [], 0.0, -np.inf

    def add(self, step, gradient, before):
        """Add a step along the direction, unless the gradient does not grow there."""
        if len(self.past) == 2 * self.memory:  # their memory is used again
            new, self.past = self.past[:2], self.past[2:]
        else:
            new = [np.empty_like(self.direction) for _ in range(2)]
        product, square = products_of(self.direction, step, gradient, before, *new)
        if 0.0 < product < np.inf and square < np.inf:
            self.past += new
            self.size = product / square

    def change_curvature(self, more, gradient):
        """Let the gradient grow by so much more along each step; forget those where it does not.

        Parameters
        ----------
        more : float
            What is added to lam.
        gradient : ndarray
            Has no effect.
        """
        steps, self.past, self.size = self.past, [], 0.0
        for moved, change in zip(steps[::2], steps[1::2], strict=True):
            change += self.direction.dtype.type(more) * moved
            product = float(moved @ change)
            if 0.0 < product < np.inf:
                self.past += moved, change
                self.size = product / float(change @ change)
        self.constant = -np.inf

    def take_step(self, w, step, trial):
        """Write the weights at the end of a step along the direction."""
        step_within(w, self.direction, step, self.lower, self.upper, trial)

    def find_direction(self, gradient, square, w, trial):
        """Make the direction; `History.find_direction` has the arguments.

        Returns
        -------
        slope : float
            That along the direction; 0 only where no weight can move downhill.
        """
        box, past, rows = (self.lower, self.upper), [], []
        size = self.size or 1.0 / max(np.sqrt(square), 1e-300)
        gram = hold(gradient, w, *box, size, self.past, self.direction, self.free)
        for k in range(0, len(self.past), 2):
            if gram[k, k + 1] > LEAST_GROWTH * self.regularizer.lam * gram[k, k]:
                rows += k, k + 1
                past += self.past[k : k + 2]
        slopes = gram[-1, rows]
        factor, weights = two_loops(gram[np.ix_(rows, rows)], slopes)
        if not rows:
            factor = -size
        wanted = factor * gram[-1, -1] + float(slopes @ weights)
        along, step = (gradient, factor, past, weights, self.free, size, w), 1.0
        slope = mix_within(*along, step, *box, self.direction, trial)
        for _ in range(MOST_HALVED):
            if slope <= LEAST_SLOPE * step * wanted:
                break
            step *= 0.5
            slope = mix_within(*along, step, *box, self.direction, trial)
        if self.past and not slope < 0.0:
            self.past, self.size = [], 0.0
            return self.find_direction(gradient, square, w, trial)
        return slope

    def gap(self, w, gradient, square, lam):
        r"""Return how far the objective at w is above its optimum at most.

        .. math:: P(w) - P^* \le \max_u \langle g, w - u \rangle - \tfrac{\lambda}{2} \|u - w\|^2

        over the box, a sum over the weights. The point is kept for `best_bound`.
        """
        self.point = gradient, w
        return largest_loss(gradient, w, self.lower, self.upper, lam)

    def best_bound(self, lam):
        """Return the best lower bound of the optimum by mixes with that of the present point.

        Each point has a function of curvature lam that is nowhere above P, and so has a mix of
        two; its least value within the bounds is concave in the fraction of each. The best mix
        takes the place of that of the points before (Drusvyatskiy, Fazel, Roy 2018).
        """
        arguments = self.linear, *self.point, self.lower, self.upper, lam
        value, at_low, own, at_high = least_at_ends(*arguments)
        constant, before = self.bound - own, self.constant
        best, t, low, high = self.bound, 1.0, 0.0, 1.0
        if before > -np.inf:
            at_low, at_high = at_low + constant - before, at_high + constant - before
            if before + value > best:
                best, t = before + value, 0.0
            flat = FLAT * min(at_low, -at_high)
            # the root of the derivative, which falls, by false position
            for _ in range(MOST_MIXED if flat > 0.0 else 0):
                middle = (low * at_high - high * at_low) / (at_high - at_low)
                value, derivative = least(*arguments, middle)
                value += (1.0 - middle) * before + middle * constant
                derivative += constant - before
                if value > best:
                    best, t = value, middle
                if abs(derivative) <= flat:
                    break
                if derivative > 0.0:
                    low, at_low, at_high = middle, derivative, 0.5 * at_high
                else:
                    high, at_high, at_low = middle, derivative, 0.5 * at_low
        self.constant = constant if t == 1.0 else (1.0 - t) * before + t * constant
        mix_into(self.linear, *self.point, lam, t)
        return best
