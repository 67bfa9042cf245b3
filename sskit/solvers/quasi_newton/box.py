"""Steps of limited-memory BFGS within bounds, and lower bounds that count them."""

import numpy as np

from sskit.solvers.quasi_newton.within import (
    find_direction,
    largest_loss,
    least,
    mix_into,
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
# Evaluations of the best mix of two lower bounds.
MOST_MIXED = 10


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
        step_within(w, self.direction, step, self.lower, self.upper, w, trial)

    def find_direction(self, gradient, square, w, trial):
        """Make the direction; `History.find_direction` has the arguments.

        Returns
        -------
        slope : float
            That along the direction; 0 only where no weight can move downhill.
        """
        box, direction = (self.lower, self.upper), self.direction
        size = self.size or 1.0 / max(np.sqrt(square), 1e-300)
        wanted = find_direction(
            gradient, w, *box, size, self.past, LEAST_GROWTH * self.regularizer.lam, self.free,
            trial, direction,
        )  # fmt: skip
        step = 1.0
        slope = step_within(w, direction, step, *box, gradient, trial)
        for _ in range(MOST_HALVED):
            if slope <= LEAST_SLOPE * step * wanted:
                break
            step *= 0.5
            slope = step_within(w, direction, step, *box, gradient, trial)
        if self.past and not slope < 0.0:
            self.past, self.size = [], 0.0
            return self.find_direction(gradient, square, w, trial)
        n = len(direction)
        np.subtract(trial[:n], w[:n], out=direction, casting="same_kind")
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
        own, slope = least(*arguments, 1.0)
        constant, before = self.bound - own, self.constant

        def bound(t):
            value, slope = least(*arguments, t)
            return (1.0 - t) * before + t * constant + value, constant - before + slope

        best, t = self.bound, 1.0
        if before > -np.inf and constant - before + slope < 0.0:
            # the root of the derivative, which falls, by false position
            value, at_low = bound(0.0)
            low, high, at_high = 0.0, 1.0, constant - before + slope
            if value > best:
                best, t = value, 0.0
            for _ in range(MOST_MIXED if at_low > 0.0 else 0):
                middle = (low * at_high - high * at_low) / (at_high - at_low)
                value, derivative = bound(middle)
                if value > best:
                    best, t = value, middle
                if abs(derivative) <= 1e-3 * min(at_low, -at_high):
                    break
                if derivative > 0.0:
                    low, at_low, at_high = middle, derivative, 0.5 * at_high
                else:
                    high, at_high, at_low = middle, derivative, 0.5 * at_low
        self.constant = constant if t == 1.0 else (1.0 - t) * before + t * constant
        mix_into(self.linear, *self.point, lam, t)
        return best
