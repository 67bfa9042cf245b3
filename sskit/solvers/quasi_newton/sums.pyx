"""Sums of vectors as long as the weights, each in one reading of memory (see history.hpp)."""

from cython cimport floating
from libcpp.vector cimport vector

import numpy as np

cdef extern from "history.hpp" namespace "sskit":
    void fill_step(
        const float* direction, double step, const double* gradient, const double* before,
        Py_ssize_t n, const float* const* past, Py_ssize_t n_past, float* moved, float* change,
        double* out
    ) noexcept nogil
    void fill_step(
        const double* direction, double step, const double* gradient, const double* before,
        Py_ssize_t n, const double* const* past, Py_ssize_t n_past, double* moved, double* change,
        double* out
    ) noexcept nogil
    void mix_vectors(
        const double* gradient, double factor, Py_ssize_t n, const float* const* past,
        const double* weights, Py_ssize_t n_past, const double* w, float* direction, double* trial
    ) noexcept nogil
    void mix_vectors(
        const double* gradient, double factor, Py_ssize_t n, const double* const* past,
        const double* weights, Py_ssize_t n_past, const double* w, double* direction, double* trial
    ) noexcept nogil
    void regularize_gradient(
        const double* w, const double* centre, double lam, Py_ssize_t n, double* gradient,
        double* squares
    ) noexcept nogil
    double find_mix(
        const double* value, const double* gram, double scale, Py_ssize_t n, double* a,
        double* slope
    ) noexcept nogil


def take_step(const double[::1] w, const floating[::1] direction, double step, double[::1] out):
    """Write w + step * direction, n numbers each; the rest of `out` does not change."""
    cdef Py_ssize_t j, n = direction.shape[0]
    with nogil:
        for j in range(n):
            out[j] = w[j] + step * direction[j]


def regularize(double[::1] gradient, const double[::1] w, prior, double lam):
    """Add the gradient of lam / 2 ||w - prior||^2.

    Parameters
    ----------
    gradient, w : ndarray of shape (n or more,)
        The gradient, which is changed, and the weights, of the same length.
    prior : ndarray of shape (n,) or None
        None is zero, for all entries.
    lam : float
        Regularisation strength.

    Returns
    -------
    squares, slope_squares : float
        ||w - prior||^2, and the squared norm of the sum.
    """
    cdef const double[::1] centre = prior
    cdef double[2] squares
    with nogil:
        if centre is None:
            regularize_gradient(&w[0], NULL, lam, w.shape[0], &gradient[0], squares)
        else:
            regularize_gradient(&w[0], &centre[0], lam, centre.shape[0], &gradient[0], squares)
    return squares[0], squares[1]


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


def record(
    const floating[::1] direction, double step, const double[::1] gradient,
    const double[::1] before, floating[::1] moved, floating[::1] change, list past
):
    """Write step * direction and the change of the gradient.

    Parameters
    ----------
    direction : ndarray of shape (n,)
        The direction.
    step : float
        How far the step goes along it.
    gradient, before : ndarray of shape (n or more,)
        Gradients at both ends of the step.
    moved, change : ndarray of shape (n,)
        Written.
    past : list of ndarray of shape (n,)
        Of the type of the step, which may be among them.

    Returns
    -------
    products : ndarray of shape (len(past), 3)
        Inner products with `moved`, `change` and `gradient`.
    """
    cdef vector[const floating*] pointers
    cdef const floating[::1] view = moved
    cdef double[:, ::1] out = np.zeros((len(past), 3))
    for some in past:
        view = some
        pointers.push_back(&view[0])
    with nogil:
        fill_step(
            &direction[0], step, &gradient[0], &before[0], moved.shape[0], pointers.data(),
            pointers.size(), &moved[0], &change[0], &out[0, 0]
        )
    return np.asarray(out)


def mix(
    const double[::1] gradient, double factor, list past, const double[::1] weights,
    const double[::1] w, floating[::1] direction, double[::1] trial
):
    """Write the direction factor * gradient + sum_k weights[k] past[k], and w + direction."""
    cdef vector[const floating*] pointers
    cdef const floating[::1] view = direction
    for some in past:
        view = some
        pointers.push_back(&view[0])
    with nogil:
        mix_vectors(
            &gradient[0], factor, direction.shape[0], pointers.data(),
            &weights[0] if pointers.size() else NULL, pointers.size(), &w[0], &direction[0],
            &trial[0]
        )


def best_mix(const double[::1] value, const double[:, ::1] gram, double scale):
    """Return the largest bound of a mix of points.

    Parameters
    ----------
    value : ndarray of shape (n,)
        Bounds of the points.
    gram : ndarray of shape (n, n)
        Inner products of their vectors e.
    scale : float
        Half of it is the factor of the variance.

    Returns
    -------
    bound : float
        The largest sum_k a_k value_k + scale / 2 (sum_k a_k ||e_k||^2 - ||sum_k a_k e_k||^2).
    """
    cdef Py_ssize_t n = value.shape[0]
    cdef vector[double] a, slope
    a.resize(n)
    slope.resize(n)
    a[<size_t>np.argmax(value)] = 1.0
    return find_mix(&value[0], &gram[0, 0], scale, n, a.data(), slope.data())
