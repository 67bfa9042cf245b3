"""The optimum of a small structured SVM as one quadratic program, by an interior point method."""

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from helpers.paper import dual_value


def interior_point(Q, c, G, h, *, n_steps=200):
    """Minimise x'Qx/2 + c'x subject to G x >= h (Mehrotra's predictor and corrector).

    Returns x and the multipliers z of the constraints, with x feasible up to rounding and
    complementarity s'z near rounding level; raises if it does not get there.
    """
    x, s, z = np.zeros(len(c)), np.ones(len(h)), np.ones(len(h))
    for _ in range(n_steps):
        dual, primal = Q @ x + c - G.T @ z, G @ x - s - h
        mu = s @ z / len(h)
        if mu < 1e-13:
            return x, z
        factors = lu_factor(Q + G.T @ ((z / s)[:, None] * G), check_finite=False)

        def direction(target, factors=factors, dual=dual, primal=primal, s=s, z=z):
            right = G.T @ ((target - z * primal) / s) - dual
            dx = lu_solve(factors, right, check_finite=False)
            ds = G @ dx + primal
            return dx, ds, (target - z * ds) / s

        def length(ds, dz, s=s, z=z):
            both, change = np.concatenate([s, z]), np.concatenate([ds, dz])
            falls = change < 0
            return min(1.0, float(np.min(-both[falls] / change[falls], initial=np.inf)))

        _, ds, dz = direction(-s * z)
        step = length(ds, dz)
        sigma = (((s + step * ds) @ (z + step * dz)) / len(h) / mu) ** 3
        dx, ds, dz = direction(sigma * mu - s * z - ds * dz)
        step = 0.995 * length(ds, dz)
        x, s, z = x + step * dx, s + step * ds, z + step * dz
    raise RuntimeError(f"no convergence: complementarity {mu:.3g}")


def solve_primal(pairs, lam, box=None):
    """Return (w, P(w)) at the optimum of enumerated pairs, on a box if asked.

    The program: minimise lam/2 ||w||^2 + c'xi with xi_i + <w, psi_i(y)> >= L_i(y) for all y. Its
    multipliers, scaled to the simplices, are dual variables whose value proves the optimum.
    """
    d, n = pairs.d, pairs.n
    pair = np.concatenate([np.full(len(loss), i) for i, loss in enumerate(pairs.loss)])
    psi, loss = np.concatenate(pairs.psi), np.concatenate(pairs.loss)
    used = np.flatnonzero(pairs.c[pair] > 0)
    pair, psi, loss = pair[used], psi[used], loss[used]
    G, h = np.hstack([psi, np.eye(n)[pair]]), loss
    for bound, sign in zip(box or (), (1.0, -1.0), strict=False):
        finite = np.flatnonzero(np.isfinite(bound))
        G = np.vstack([G, sign * np.eye(d + n)[finite]])
        h = np.concatenate([h, sign * bound[finite]])
    Q = np.diag(np.concatenate([np.full(d, lam), np.asarray(pairs.c == 0, dtype=float)]))
    x, z = interior_point(Q, np.concatenate([np.zeros(d), pairs.c]), G, h)
    w, z = x[:d], z[: len(loss)]
    z = z * (pairs.c / np.maximum(np.bincount(pair, z, n), 1e-300))[pair]
    primal, dual = pairs.primal(w, lam), dual_value(psi.T @ z / lam, float(loss @ z), lam, box)
    if not abs(primal - dual) < 1e-8:
        raise RuntimeError(f"the optimum is only known to {primal - dual:.3g}")
    return w, primal
