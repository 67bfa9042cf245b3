"""Regularizers: lam / 2 ||w||^2, and the map from the dual sum v to the weights w."""

cimport cython
import numpy as np

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES


def itself(w):
    """Return w."""
    return w


cdef class Regularizer:
    """L2 regularizer lam / 2 ||w||^2 with its weight vector, or lam / 2 ||w - prior||^2.

    Parameters
    ----------
    lam : float
        Regularisation strength, positive.
    n_weights : int
        Number of weights d.
    covector : callable, default=None
        That of the space of the problem, see `FeatureSpace`; None is the identity.
    """

    def __cinit__(self, double lam, n_weights, covector=None, *args):
        # of a box these are its sides
        cdef bint boxed = isinstance(self, BoxRegularizer)
        self.lam = lam
        self.n_weights = len(n_weights) if boxed else n_weights
        self.covector = itself if boxed or covector is None else covector
        self.v = np.zeros(self.n_weights + LANES)
        self.w = self.v
        self.copies = []

    cdef int add(self, Problem problem, Py_ssize_t i, Direction delta, double step) except -1 nogil:
        return problem.scatter(i, delta, step, &self.v[0])

    cdef double grow(self, Problem problem, Py_ssize_t i, Direction delta) except? -1 nogil:
        return problem.grow(i, delta, &self.w[0], &self.v[0])

    cdef void refresh(self) noexcept nogil:
        self.version += 1

    @cython.boundscheck(True)
    @cython.wraparound(True)
    cdef Regularizer copy_of(self, Py_ssize_t k):
        cdef Regularizer copy
        while len(self.copies) < k:
            copy = self.like()
            copy.version = -1
            self.copies.append(copy)
        return self.copies[k - 1]

    cdef Regularizer like(self):
        return Regularizer(self.lam, self.n_weights)

    cdef int follow(self, Regularizer other) except -1:
        if self.version != other.version:
            self.v[:] = other.v
            if self.bounded:
                self.w[:] = other.w
            self.version = other.version
        return 0

    def has_changed(self):
        """Let copies know that v has changed."""
        self.version += 1

    def set_prior(self, prior):
        """Let weights be regularised towards others than zero; v is shifted at once.

        v then is the prior and the dual sum, so that w, scores and steps are computed as without a
        prior.

        Parameters
        ----------
        prior : ndarray of shape (n_weights,)
            Finite; kept, and not to be changed. A prior of zeros changes no bit. Not in a kernel
            space.
        """
        prior = np.ascontiguousarray(prior, dtype=np.float64).reshape(-1)
        check_equal(len(prior), self.n_weights, "the number of weights of the prior")
        if self.covector is not itself and self.covector(prior) is not prior:
            raise ValueError("weights that are functions cannot have a prior")
        v = np.asarray(self.v)[: self.n_weights]
        if self.prior is not None:
            v -= self.prior
        self.prior = prior if prior.any() else None
        if self.prior is not None:
            v += prior
        self.refresh()

    def offset(self, w):
        """Return weights of shape (n_weights,) minus the prior."""
        return w if self.prior is None else w - self.prior

    def from_prior(self, u):
        """Return weights of shape (n_weights,) plus the prior."""
        return u if self.prior is None else u + self.prior

    def set_v(self, v):
        """Replace v (a copy is taken) and let w follow."""
        np.asarray(self.v)[: self.n_weights] = v
        self.refresh()

    def image(self, v):
        """Return the weights that belong to a dual sum v of shape (n_weights,)."""
        return v

    def box(self):
        """Return the bounds (lower, upper) of the weights, numbers or of shape (n_weights,)."""
        return -np.inf, np.inf

    def rescale(self, double lam):
        """Change lam while the dual variables stay: their sum scales with 1 / lam, w follows."""
        v = np.asarray(self.v)
        v *= self.lam / lam
        if self.prior is not None:
            v[: self.n_weights] += (1.0 - self.lam / lam) * self.prior
        self.lam = lam
        self.refresh()

    def change_lam(self, double lam):
        """Change lam while v and w stay (Osokin et al. 2016, proposition 1)."""
        self.lam = lam

    def coef(self):
        """Return a copy of w, shape (n_weights,)."""
        return np.array(self.w[: self.n_weights])

    def padded(self, w):
        """Return a copy of weights of shape (n_weights,) with the spare room of w."""
        return np.append(w, np.zeros(LANES))

    def inner(self, a, b):
        """Return the inner product of two weight vectors of shape (n_weights,)."""
        return float(np.dot(a, self.covector(b)))

    def primal(self, w, hinge):
        """Return lam / 2 ||w - prior||^2 + hinge, with hinge = sum_i c_i H_i(w)."""
        u = self.offset(w)
        return 0.5 * self.lam * self.inner(u, u) + hinge

    def dual(self, v, loss):
        """Return the dual objective of a dual sum v whose planes have the mean loss `loss`.

        D = loss - lam / 2 ||w||^2 - lam <v - w, w>, with w the image of v; with a prior
        loss + lam / 2 ||w - prior||^2 - lam <v - prior, w>.
        """
        w = self.image(v)
        if self.prior is not None:
            u = self.offset(w)
            shifted = u if w is v else self.offset(v)
            return loss + self.lam * (0.5 * self.inner(u, u) - self.inner(shifted, w))
        value = loss - 0.5 * self.lam * self.inner(w, w)
        return value if w is v else value - self.lam * self.inner(v - w, w)


cdef class BoxRegularizer(Regularizer):
    """L2 regularizer on the box lower <= w <= upper (Osokin et al. 2016, appendix H).

    Parameters
    ----------
    lam : float
        Regularisation strength, positive.
    lower, upper : ndarray of shape (n_weights,)
        Bounds, infinite where there is none; lower <= upper.
    """

    def __cinit__(self, double lam, lower, upper):
        check_equal(len(upper), self.n_weights, "the number of upper bounds")
        self.bounded = True
        self.w = np.zeros(self.n_weights + LANES)
        self.lower = np.ascontiguousarray(lower, dtype=np.float64)
        self.upper = np.ascontiguousarray(upper, dtype=np.float64)
        self.refresh()

    cdef int add(self, Problem problem, Py_ssize_t i, Direction delta, double step) except -1 nogil:
        problem.scatter(i, delta, step, &self.v[0])
        problem.clip(i, delta, &self.v[0], &self.lower[0], &self.upper[0], &self.w[0])
        return 0

    cdef double grow(self, Problem problem, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double growth = problem.grow(i, delta, &self.w[0], &self.v[0])
        problem.clip(i, delta, &self.v[0], &self.lower[0], &self.upper[0], &self.w[0])
        return growth

    cdef void refresh(self) noexcept nogil:
        cdef Py_ssize_t j
        self.version += 1
        for j in range(self.n_weights):
            self.w[j] = min(max(self.v[j], self.lower[j]), self.upper[j])

    cdef Regularizer like(self):
        return BoxRegularizer(self.lam, self.lower, self.upper)

    def image(self, v):
        """Return clip(v, lower, upper)."""
        return np.clip(v, self.lower, self.upper)

    def box(self):
        """Return the bounds (lower, upper) of the weights, each of shape (n_weights,)."""
        return np.asarray(self.lower), np.asarray(self.upper)
