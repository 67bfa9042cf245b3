"""Sums of vectors as long as the weights, each in one loop, without temporary arrays."""

from cython cimport floating


def take_step(const double[::1] w, const floating[::1] direction, double step, double[::1] out):
    """Write w + step * direction, n numbers each; the rest of `out` does not change."""
    cdef Py_ssize_t j, n = direction.shape[0]
    with nogil:
        for j in range(n):
            out[j] = w[j] + step * direction[j]


def regularize(double[::1] gradient, const double[::1] w, prior, double lam):
    """Add the gradient of lam / 2 ||w - prior||^2; return ||w - prior||^2.

    Parameters
    ----------
    gradient, w : ndarray of shape (n or more,)
        The gradient, which is changed, and the weights.
    prior : ndarray of shape (n,) or None
        None is zero.
    lam : float
        Regularisation strength.

    Returns
    -------
    squares : float
    """
    cdef const double[::1] centre
    cdef double total = 0.0, u
    cdef Py_ssize_t j, n = w.shape[0]
    if prior is None:
        with nogil:
            for j in range(n):
                gradient[j] += lam * w[j]
        return inner(w, w)
    centre = prior
    with nogil:
        for j in range(centre.shape[0]):
            u = w[j] - centre[j]
            gradient[j] += lam * u
            total += u * u
    return total


def inner(const floating[::1] a, const double[::1] b):
    """Return the inner product of the first numbers, as many as `a` has, in double precision."""
    cdef double[8] sums
    cdef double total = 0.0
    cdef Py_ssize_t j, k, n = a.shape[0]
    with nogil:
        for k in range(8):
            sums[k] = 0.0
        for j in range(0, n - 7, 8):
            for k in range(8):
                sums[k] += a[j + k] * b[j + k]
        for j in range(n - n % 8, n):
            total += a[j] * b[j]
        for k in range(8):
            total += sums[k]
    return total


def turn(const double[::1] gradient, double factor, floating[::1] out):
    """Write factor * gradient, as many numbers as `out` has."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(out.shape[0]):
            out[j] = <floating>(factor * gradient[j])


def record(
    const floating[::1] direction, double step, const double[::1] gradient,
    const double[::1] before, floating[::1] moved, floating[::1] change
):
    """Write step * direction and gradient - before."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(direction.shape[0]):
            moved[j] = <floating>(step * direction[j])
            change[j] = <floating>(gradient[j] - before[j])
