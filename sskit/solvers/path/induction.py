r"""From one breakpoint of a path to the next.

Two dual points at :math:`\lambda' = \rho \lambda`, :math:`\rho < 1`, say how far the weights of a
breakpoint serve.

*Dual weights that shrink* (Osokin et al. 2016, proposition 1, equation 13). Every plane but the
truth keeps the share rho of its dual weight. Then v stays, so w does, and with :math:`\ell = \sum_i
c_i \langle \alpha_i, L_i \rangle` the gap becomes

.. math::
    \text{gap} + (1 - \rho) \Delta, \qquad \Delta = \ell - \lambda \langle v, w \rangle ,

while the objective falls by :math:`(1 - \rho) \tfrac{\lambda}{2} \|w\|^2`. Nothing here asks that w
be v or that block weights be equal, so it holds with bounds on the weights and with sample weights
too. The gap of each block is known without the oracle.

*Dual weights that stay.* Then v becomes :math:`v / \rho`. That is a dual point at :math:`\lambda'`,
and w need not belong to it to be judged by it: without a box

.. math::
    P_{\lambda'}(w) - D_{\lambda'} = \text{gap} + \tfrac{\lambda}{2} \|w\|^2
    \tfrac{(1 - \rho)^2}{\rho},

which grows with the square of the step only.

Both bounds are convex in :math:`\lambda'`, for P is linear and D concave, and remain so if eps P is
taken away: what holds at both ends of a piece holds within. The longer of the two steps is taken,
and the run goes on from the point that allowed it, the one with the higher dual objective there.
"""

import numpy as np
from scipy.optimize import brentq

# Ends of pieces are computed for an excess that is smaller by this share: rounding.
ROUNDING = 1e-9


def reach(regularizer, loss, excess, eps):
    r"""Return the smallest rho down to which one of the bounds is at most the share eps of P(w).

    Without a box dual weights that stay serve down to the root of :math:`s t^2 = (1 - t)
    (\text{excess} - \epsilon s t)` with :math:`t = 1 - \rho` and :math:`s = \tfrac{\lambda}{2}
    \|w\|^2`, a quadratic equation.

    Parameters
    ----------
    regularizer : Regularizer
        Holds lam, v and w.
    loss : float
        The mean loss of the planes, l above.
    excess : float
        eps P(w) - gap at lam, not negative.
    eps : float
        The share, below 1.

    Returns
    -------
    rho : float
        At least 0; 0 if w serves all smaller lam.
    stay : bool
        Whether it is the dual weights as they are that reach so far.
    """
    excess *= 1.0 - ROUNDING
    w, v = regularizer.coef(), np.array(regularizer.v)[: regularizer.n_weights]
    square = 0.5 * regularizer.lam * regularizer.inner(w, w)
    growth = loss - regularizer.lam * regularizer.inner(v, w) + eps * square
    if growth <= excess:
        return 0.0, False
    shrunk = 1.0 - excess / growth
    if regularizer.bounded:
        kept = reach_in_a_box(regularizer, w, v, excess, eps)
    elif square == 0.0:
        kept = 0.0
    else:
        # the root t, without cancellation; of large lam 1 - t has few digits, and a little less
        # is safe
        a, b = (1.0 - eps) * square, excess + eps * square
        step = 2.0 * excess / (b + np.sqrt(b * b + 4.0 * a * excess)) if excess else 0.0
        kept = max(1.0 - step, 0.0)
    return min(kept, shrunk), kept < shrunk


def reach_in_a_box(regularizer, w, v, excess, eps):
    """Return the rho, positive and below 1, down to which dual weights that stay serve in a box."""
    sqnorm, conjugate = 0.5 * float(w @ w), float(v @ w) - 0.5 * float(w @ w)

    def growth(rho):
        far = regularizer.image(v / rho)
        # rho times the conjugate of ||w||^2 / 2 on the box, at v / rho
        dual = float(v @ far) - 0.5 * rho * float(far @ far)
        lost = (1.0 - eps) * (1.0 - rho) * sqnorm
        return regularizer.lam * (dual - conjugate - lost) - excess

    smallest = 0.5
    while growth(smallest) <= 0.0:
        smallest *= 0.5
        if smallest < np.finfo(float).eps:
            return smallest
    return brentq(growth, smallest, 1.0)
