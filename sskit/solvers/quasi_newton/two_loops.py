"""The two loops of Liu and Nocedal over inner products of the last steps."""

import numpy as np


def two_loops(gram, slopes):
    """Return the factors of the quasi-Newton direction.

    Parameters
    ----------
    gram : ndarray of shape (2 m, 2 m)
        Inner products of the first step, the change of the gradient along it, the second step, and
        so on.
    slopes : ndarray of shape (2 m,)
        Their inner products with the gradient.

    Returns
    -------
    factor : float
        Of the gradient; -1 if there is no step.
    weights : ndarray of shape (2 m,)
        Of the other vectors.
    """
    # q = -H g = factor g + sum_k weights[k] past[k] by two loops, with s the steps, y the
    # changes of the gradient, rho = 1 / <s, y>
    weights, factor = np.zeros(len(slopes)), -1.0
    # a_k = rho_k <s_k, q>,  q -= a_k y_k,  from the last step to the first
    for k in reversed(range(0, len(weights), 2)):
        weights[k + 1] = (slopes[k] - gram[k] @ weights) / gram[k, k + 1]
    factors = -weights[1::2]
    if len(weights):
        # q *= <s, y> / <y, y> of the last step
        factor = -gram[-1, -2] / gram[-1, -1]
        weights *= -factor
    # b_k = rho_k <y_k, q>,  q += (a_k - b_k) s_k,  from the first step to the last
    for k in range(0, len(weights), 2):
        product = factor * slopes[k + 1] + gram[k + 1] @ weights
        weights[k] = factors[k // 2] - product / gram[k, k + 1]
    return factor, weights
