r"""The approximate regularisation path (Osokin et al. 2016, algorithm 7), with a certificate.

Two dual points at :math:`\lambda' = \rho \lambda`, :math:`\rho < 1`, bound down to which lam the
weights of a breakpoint have a small enough gap: down to there they are *valid*.

*Dual weights that shrink* (Osokin et al. 2016, proposition 1, equation 13). Every plane but the
truth keeps the fraction rho of its dual weight. Then v stays, so w does, and with
:math:`\ell = \sum_i c_i \langle \alpha_i, L_i \rangle` the gap becomes

.. math::
    \text{gap} + (1 - \rho) \Delta, \qquad \Delta = \ell - \lambda \langle v, w \rangle ,

while the objective falls by :math:`(1 - \rho) \tfrac{\lambda}{2} \|w\|^2`. Nothing here requires
that w be v or that block weights be equal, so it holds with bounds on the weights and with sample
weights too. The gap of each block is known without the oracle.

*Dual weights that stay.* Then v becomes :math:`v / \rho`. That is a dual point at :math:`\lambda'`,
and it bounds the gap of w, though w does not belong to it: without a box

.. math::
    P_{\lambda'}(w) - D_{\lambda'} = \text{gap} + \tfrac{\lambda}{2} \|w\|^2
    \tfrac{(1 - \rho)^2}{\rho},

which grows with the square of the step only.

Both bounds are convex in :math:`\lambda'`, for P is linear and D concave, and so are their
differences to eps P: if they are small enough at both ends of a piece, they are so within it. The
longer of the two steps is taken, and the run goes on from the point that allowed it, the one with
the higher dual objective there.

*With a prior* all of this is about u = w - prior: the regulariser is :math:`\tfrac{\lambda}{2}
\|u\|^2`, on a box that is shifted, and a plane has the loss :math:`L_i(y) - \langle
\text{prior}, \psi_i(y) \rangle`, which for the truth is zero all the same.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from sskit.solvers.common.fit import status_of_stop
from sskit.solvers.common.solution import NEGLIGIBLE, Status, Tolerance, relative
from sskit.solvers.oracle_calls.pool import Answers


@dataclass(frozen=True)
class Piece:
    """One model of a path, with its interval of lam.

    Attributes
    ----------
    lam : float
        The largest lam of the piece; the first model is valid for larger lam too.
    lam_end : float
        The smallest, the next breakpoint; 0 if the model is valid for all smaller lam.
    w : ndarray of shape (n_weights,)
        The weights.
    sqnorm, dual_sqnorm : float
        ||w - prior||^2, in a kernel space that of the functions; and that of v, without bounds.
    gap : float
        Duality gap at lam, absolute.
    hinge : float
        sum_i c_i H_i(w): the objective is lam / 2 ||w - prior||^2 more. As good as the gap.
    inexactness : float
        The part of gap and hinge that the oracle may have missed, see `Certificate`.
    v : ndarray of shape (n_weights,)
        The dual sum at lam, without the prior; None for a likelihood without bounds.
    loss : float
        Mean loss of the planes of the dual point at lam, sum_i c_i <alpha_i, L_i - <prior, psi_i>>;
        for the likelihood the mean entropy in the place of L_i.
    n_support_planes : int
        Planes with weight, those of the truth aside; 0 for the likelihood, where all have some.
    n_iter, n_oracle_calls : int
        Passes and oracle calls from the beginning of the path.
    time : float
        Seconds from the beginning of the path.
    """

    lam: float
    lam_end: float
    w: np.ndarray
    sqnorm: float
    dual_sqnorm: float
    gap: float
    hinge: float
    inexactness: float
    v: np.ndarray | None
    loss: float
    n_support_planes: int
    n_iter: int
    n_oracle_calls: int
    time: float

    def primal(self, lam):
        """Return the objective of the weights at a lam."""
        return 0.5 * lam * self.sqnorm + self.hinge

    def known_primal(self, lam):
        """Return the same by the best known hinges."""
        return self.primal(lam) - self.inexactness


class PathTracer:
    r"""Trace the path of a problem, from large lam to small (Osokin et al. 2016, algorithm 7).

    *Start* (algorithm 6). At infinite lam the weights are :math:`w_0`, the point of the box
    that is nearest to the prior, zero by default. Every block gets the plane that its oracle finds
    there; with :math:`\tilde\psi = \sum_i c_i \psi_i` of these planes :math:`v = \tilde\psi /
    \lambda`, and as long as no further bound is met :math:`w = w_0 + p / \lambda`, where p is
    :math:`\tilde\psi` without the coordinates that a bound holds at :math:`w_0`. As the maximum of
    a sum is at most the sum of the maxima,

    .. math::
        \text{gap} \le \tfrac{1}{\lambda} \Big( \langle p, \tilde\psi \rangle + \sum_i c_i \max_y
        -\langle p, \psi_i(y) \rangle \Big),

    so lam_1, which makes that kappa eps of the dual objective, and every larger lam have a small
    enough gap: the dual objective of the same planes grows with lam. In :math:`1 / \lambda` the gap
    there is convex and zero at zero: at lam it is at most :math:`\tfrac{\lambda_1}{\lambda}` times
    the gap at lam_1.

    *Induction.* The model of a breakpoint is valid for all lam down to the next one, see the module
    `induction`; there the run goes on until the gap is the fraction kappa eps of the objective (see
    `Tolerance`). For lam to zero both gap and objective tend to :math:`\sum_i c_i H_i(w)`: a w with
    next to no hinge is valid for all smaller lam, and the path ends.

    If the oracle may miss the maximum but bounds it, the path is traced by the best known
    labellings, as a fit ends by them: more passes or breakpoints cannot close the rest. The gaps of
    the pieces count it: as w and the bounds stay, it is the same for all lam of a piece. Above
    lam_1 the gap is convex in :math:`1 / \lambda` all the same, from what may have been missed at
    w_0.

    Parameters
    ----------
    fit : Fit
        A new one, of a solver that keeps a dual point and returns its last iterate.
    eps : float
        Largest gap of the models, as a fraction of their objective, see `Tolerance`; below 1.
    kappa : float
        Fraction of eps to which the model of a breakpoint is solved; below 1.
    lam_min : float, default=0.0
        Where to end at the latest; a piece that reaches below it is the last one.
    max_breakpoints : int, default=None
        Largest number of pieces. None means no limit.
    max_iter : int, default=1000
        Largest number of passes at a breakpoint.

    Attributes
    ----------
    origin : ndarray of shape (n_weights,)
        w_0, the model of infinite lam.
    origin_gap : float
        The gap there, which is what the oracle may have missed; set once the path has begun.
    status : Status
        Why the last breakpoint ended; other than CONVERGED if it cut the path short.
    """

    def __init__(self, fit, *, eps, kappa, lam_min=0.0, max_breakpoints=None, max_iter=1000):
        self.fit = fit
        self.largest = Tolerance(eps, fit.unit)
        self.fraction = kappa * eps
        self.stay = False  # do the dual weights stay at the next step?
        self.lam_min = lam_min
        self.max_breakpoints = max_breakpoints
        self.max_iter = max_iter
        self.regularizer = fit.run.regularizer
        self.origin = self.regularizer.coef()
        self.status = Status.CONVERGED

    def __iter__(self):
        """Yield the pieces, from the largest lam on; each is computed when it is needed."""
        n_pieces, piece = 1, self.piece(self.start())
        yield piece
        while (
            self.status is Status.CONVERGED
            and piece.lam_end > self.lam_min
            and n_pieces != self.max_breakpoints
        ):
            self.status = status_of_stop(self.fit.stop) or self.status
            if self.status is not Status.CONVERGED:
                return
            self.continue_at_end(piece)
            self.status = self.fit.reach(self.fraction, max_iter=self.max_iter)
            certificate = self.fit.certificate
            if certificate is None or not np.isfinite(certificate.known_gap):
                return
            piece = self.piece(certificate)
            if certificate.known_gap >= self.largest.gap_at(piece.known_primal(piece.lam)):
                return
            yield piece
            n_pieces += 1

    def start(self):
        """Go to lam_1 (algorithm 6); return its certificate."""
        run, regularizer, evaluator = self.fit.run, self.regularizer, self.fit.evaluator
        problem, origin = run.problem, self.origin
        at_origin = regularizer.padded(origin)
        vertices = Answers(evaluator, planes=True)
        vertices.evaluate(at_origin)
        vertices.store(run.dual)
        evaluator.n_calls += vertices.n_calls
        self.origin_gap = float(np.dot(problem.block_weight, vertices.excesses()))
        regularizer.rescale(1.0)
        run.dual.rebuild(regularizer)
        v, (lower, upper) = dual_sum(regularizer), regularizer.box()
        prior = 0.0 if regularizer.prior is None else regularizer.prior
        # coordinates that can leave the origin towards v, and the lam at which one more bound
        # is met: until then w = origin + p / lam
        free = (origin == prior) & np.where(v > 0, upper > origin, lower < origin)
        p = np.where(free, v, 0.0)
        limit = np.where(free, np.where(v > 0, upper, lower), origin) - prior
        bound_met = np.divide(
            v, limit, out=np.zeros(len(v)), where=(limit != 0) & np.isfinite(limit)
        )
        hinges = evaluator.hinges(regularizer.padded(p), loss_weight=0.0)
        bound = regularizer.inner(p, v) + float(np.dot(problem.block_weight, hinges))
        lam = float(bound_met.max(initial=0.0))
        if bound > 0.0:
            lam = max(lam, self.first_lam(bound, regularizer.inner(p, v), v))
        regularizer.rescale(lam if lam > 0 else 1.0)
        return self.fit.certify()

    def first_lam(self, bound, square, v):
        r"""Return the lam at which bound / lam is kappa eps of a dual objective.

        Where :math:`w = w_0 + p / \lambda` that objective is :math:`H - \tfrac{1}{2 \lambda}
        \langle p, \tilde\psi \rangle + \tfrac{\lambda}{2} \|u_0\|^2`, H the mean hinge at w_0, and
        :math:`u_0 = w_0 - \text{prior}`.

        Parameters
        ----------
        bound : float
            Of the gap times lam; positive.
        square : float
            The inner product of p and the planes' sum.
        v : ndarray of shape (n_weights,)
            The planes' sum.

        Returns
        -------
        lam : float
            0 if the hinge at w_0 is zero.
        """
        run, regularizer = self.fit.run, self.regularizer
        loss = float(np.dot(run.problem.block_weight, run.dual.losses()))
        hinge = max(loss - regularizer.inner(v, self.origin), 0.0)
        goal = bound / self.fraction + 0.5 * square
        u = regularizer.offset(self.origin)
        root = np.sqrt(hinge**2 + 2.0 * regularizer.inner(u, u) * goal)
        return 2.0 * goal / (hinge + root) if hinge + root > 0.0 else 0.0

    def continue_at_end(self, piece):
        """Continue the fit at the end of a piece."""
        if self.stay:
            # block gaps are not known, and taken to add up to this until the blocks are visited
            largest = self.largest.gap_at(piece.known_primal(piece.lam_end))
            self.fit.rescale(piece.lam_end, largest)
        else:
            self.fit.change_lam(piece.lam_end)

    def piece(self, certificate):
        """Return the piece that begins at the present lam, with copies of the arrays."""
        regularizer, run = self.regularizer, self.fit.run
        lam, gap, missed = regularizer.lam, certificate.known_gap, certificate.inexactness
        loss = float(np.dot(run.problem.block_weight, run.dual.losses()))
        w = regularizer.coef()
        u = regularizer.offset(w)
        v = dual_sum(regularizer) if regularizer.bounded else u
        if regularizer.prior is not None:
            loss -= lam * regularizer.inner(v, regularizer.prior)
        sqnorm = regularizer.inner(u, u)
        hinge = gap + loss - lam * (sqnorm if v is u else regularizer.inner(v, u))
        excess = max(self.largest.gap_at(0.5 * lam * sqnorm + hinge) - gap, 0.0)
        rho, self.stay = reach(regularizer, loss, excess, self.largest.tol)
        point = {"w": w, "sqnorm": sqnorm, "dual_sqnorm": sqnorm, "v": v, "loss": loss}
        numbers = {"gap": gap + missed, "hinge": hinge + missed, "inexactness": missed}
        return self.of(rho, run.dual.n_support_planes(), **point, **numbers)

    def of(self, rho, n_support_planes, **point):
        """Return a piece that ends at the fraction rho of the present lam."""
        fit, lam = self.fit, self.regularizer.lam
        spent = {"n_iter": fit.n_iter, "n_oracle_calls": fit.n_oracle_calls}
        spent |= {"n_support_planes": n_support_planes, "time": fit.progress.seconds}
        return Piece(lam=lam, lam_end=rho * lam, **point, **spent)


class LikelihoodTracer(PathTracer):
    r"""Trace the path of a likelihood, whose dual point is that of the present weights.

    Its dual variables are the probabilities of labellings under w, with the mean entropy in place
    of the loss of planes; :math:`v = - g / \lambda`, g the gradient of the mean loss. The lam down
    to which w is valid follows as for hinges, where v and w need not be the same, and all dual
    variables stay or shrink: the entropy of a mix with the truth is at least the mix of the
    entropies. The path begins with w = 0 or the prior, or the nearest point of the box, whose gap
    is at most :math:`\|g\|^2 / (2 \lambda)`, g without the entries that a bound holds there. As
    in algorithm 6 no further bound is met above lam_1.

    Parameters
    ----------
    *args, **options : object
        As of a `PathTracer`; the fit is one of `LBFGS`, at that point.
    """

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        # the certificate has to be that of the present weights, see `piece`
        self.fit.run.keeps_best = False

    def start(self):
        """Go to lam_1; return its certificate."""
        run, regularizer, self.origin_gap = self.fit.run, self.regularizer, 0.0
        gradient, bound_met = run.gradient, 0.0
        if regularizer.bounded:
            # that of the mean loss, of weights that can leave the origin downhill, and the lam at
            # which one of them meets its further bound: above it their gaps fall as 1 / lam
            lower, upper = regularizer.box()
            gradient = gradient[: len(lower)] - regularizer.lam * regularizer.offset(self.origin)
            free = np.where(gradient < 0, upper > self.origin, lower < self.origin)
            gradient = np.where(free, gradient, 0.0)
            limit = regularizer.offset(np.where(gradient < 0, upper, lower))
            met = np.divide(-gradient, limit, out=np.zeros(len(limit)), where=gradient != 0)
            bound_met = float(met.max(initial=0.0))
        square = float(gradient @ gradient)
        lam = 0.5 * square / run.loss / self.fraction if square > 0.0 else 1.0
        lam = max(lam, bound_met)
        self.fit.change_lam(lam)
        return self.fit.certify()

    def continue_at_end(self, piece):
        """Continue the fit at the end of a piece."""
        self.fit.change_lam(piece.lam_end)

    def piece(self, certificate):
        """Return the piece that begins at the present lam, with copies of the arrays."""
        run, regularizer, gap = self.fit.run, self.regularizer, certificate.gap
        w, lam = run.weights(), regularizer.lam
        u = regularizer.offset(w)
        v = u - run.gradient[: len(w)] / lam
        sqnorm, dual_sqnorm, product = (float(a @ b) for a, b in ((u, u), (v, v), (v, u)))
        hinge = run.primal - 0.5 * lam * sqnorm
        loss = hinge + lam * product
        excess = max(self.largest.gap_at(run.primal) - gap, 0.0)
        squares, eps = (0.5 * lam * sqnorm, 0.5 * lam * dual_sqnorm), self.largest.tol
        if regularizer.bounded:
            # of v, whose image need not be w
            far = regularizer.offset(regularizer.image(regularizer.from_prior(v)))
            conjugate = float(v @ far) - 0.5 * float(far @ far)
            growth = loss - lam * conjugate - (1.0 - eps) * squares[0]
            excess *= 1.0 - ROUNDING
            arguments = regularizer, u, v, conjugate, excess, eps
            rho, _ = smaller_rho(growth, excess, lambda: reach_in_a_box(*arguments))
        else:
            rho, _ = reach_freely(*squares, loss, excess, eps)
            v = None
        point = {"w": w, "sqnorm": sqnorm, "dual_sqnorm": dual_sqnorm, "v": v, "loss": loss}
        return self.of(rho, 0, gap=gap, hinge=hinge, inexactness=0.0, **point)


def dual_sum(regularizer):
    """Return a copy of the dual sum, without the prior."""
    v = np.array(regularizer.v)[: regularizer.n_weights]
    return regularizer.offset(v)


def largest_fraction(eps, pieces, origin_gap, unit):
    """Return an upper bound of the gaps of a path as a fraction of the objective.

    Parameters
    ----------
    eps : float
        The same of the gaps by the best known hinges.
    pieces : list of Piece
        All of them.
    origin_gap : float
        The gap at infinite lam.
    unit : float
        P(0).

    Returns
    -------
    fraction : float
        `eps`, unless the oracle may have missed a maximum.
    """
    fractions = [float(eps)]
    for piece in pieces:
        if piece.inexactness > 0.0:
            # the objective is least at the end of the piece
            primal = piece.known_primal(piece.lam_end) + NEGLIGIBLE * unit
            fractions.append((eps * primal + piece.inexactness) / (primal + piece.inexactness))
    if origin_gap > 0.0:
        # above the first breakpoint, where the dual objective is larger than there
        first = pieces[0]
        dual, gap = first.primal(first.lam) - first.gap, max(first.gap, origin_gap)
        fractions.append(relative(gap, dual + gap, unit))
    return max(fractions)


def dual_objective_at(lam, breakpoint, loss, conjugate):
    r"""Return the better of the two dual objectives that a dual point has at another lam.

    The dual weights stay, or, for a smaller lam, every plane but the truth keeps the fraction
    lam / breakpoint of its own: both are dual points there, so that both objectives are lower
    bounds of the optimum. See the module `induction`.

    Parameters
    ----------
    lam : float
        The lam in question.
    breakpoint : float
        The lam to which the dual sum v belongs.
    loss : float
        Mean loss of the planes of the dual point.
    conjugate : callable
        Maps a factor s to that of :math:`\tfrac{1}{2} \|w\|^2` on the box at s v, the largest
        :math:`\langle s v, w \rangle - \tfrac{1}{2} \|w\|^2`: half the squared norm of s v
        where there is no box.

    Returns
    -------
    dual : float
        At most the optimum.
    """
    # far from the breakpoint one of the two may be NaN, which is no bound
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rho = np.float64(lam) / breakpoint
        unchanged = loss - lam * conjugate(1.0 / rho)
        if rho >= 1.0:
            return unchanged
        return np.fmax(unchanged, rho * loss - lam * conjugate(1.0))


# Ends of pieces are computed for an excess that is smaller by this fraction: rounding.
ROUNDING = 1e-9


def reach(regularizer, loss, excess, eps):
    """Return the smallest rho down to which one of the bounds is at most the fraction eps of P(w).

    Parameters
    ----------
    regularizer : Regularizer
        The regulariser, with lam, v and w.
    loss : float
        The mean loss of the planes, l above; with a prior that of `Piece`.
    excess : float
        eps P(w) - gap at lam, not negative.
    eps : float
        The fraction, below 1.

    Returns
    -------
    rho : float
        At least 0; 0 if w is valid for all smaller lam.
    stay : bool
        Whether that is so with the dual weights as they are.
    """
    u, v = regularizer.offset(regularizer.coef()), dual_sum(regularizer)
    square = 0.5 * regularizer.lam * regularizer.inner(u, u)
    if not regularizer.bounded:
        return reach_freely(square, square, loss, excess, eps)
    excess *= 1.0 - ROUNDING
    growth = loss - regularizer.lam * regularizer.inner(v, u) + eps * square

    def find_unchanged():
        conjugate = float(v @ u) - 0.5 * float(u @ u)
        return reach_in_a_box(regularizer, u, v, conjugate, excess, eps)

    return smaller_rho(growth, excess, find_unchanged)


def reach_freely(square, dual_square, loss, excess, eps):
    r"""Return the same without a box, where v need not be w - prior.

    With dual weights that stay, w is valid down to the root of :math:`s t^2 + (q - s) t = (1 - t)
    (\text{excess} - \epsilon s t)` with :math:`t = 1 - \rho`, a quadratic equation.

    Parameters
    ----------
    square, dual_square : float
        s and q, lam / 2 times the squared norms of w - prior and v.
    loss, excess, eps : float
        As of `reach`.

    Returns
    -------
    rho, stay : float, bool
        As of `reach`.
    """
    excess *= 1.0 - ROUNDING

    def find_unchanged():
        if dual_square == 0.0:
            return 0.0
        # the root t, without cancellation; of large lam 1 - t has few digits, and a little less
        # is safe
        a, b = (1.0 - eps) * square, excess + (dual_square - square) + eps * square
        step = 2.0 * excess / (b + np.sqrt(b * b + 4.0 * a * excess)) if excess else 0.0
        return max(1.0 - step, 0.0)

    return smaller_rho(loss - square - dual_square + eps * square, excess, find_unchanged)


def smaller_rho(growth, excess, find_unchanged):
    """Return how far the better of both bounds reaches, and whether the dual weights then stay."""
    if growth <= excess:
        return 0.0, False
    shrunk, unchanged = 1.0 - excess / growth, find_unchanged()
    return min(unchanged, shrunk), unchanged < shrunk


def reach_in_a_box(regularizer, u, v, conjugate, excess, eps):
    """Return the least rho > 0 for which w is valid in a box if dual weights stay; below 1.

    The conjugate is that of ||u||^2 / 2 on the box at v.
    """
    sqnorm = 0.5 * float(u @ u)

    def growth(rho):
        far = regularizer.offset(regularizer.image(regularizer.from_prior(v / rho)))
        # rho times the conjugate of ||u||^2 / 2 on the box, at v / rho
        dual = float(v @ far) - 0.5 * rho * float(far @ far)
        lost = (1.0 - eps) * (1.0 - rho) * sqnorm
        return regularizer.lam * (dual - conjugate - lost) - excess

    smallest = 0.5
    while growth(smallest) <= 0.0:
        smallest *= 0.5
        if smallest < np.finfo(float).eps:
            return smallest
    return brentq(growth, smallest, 1.0)
