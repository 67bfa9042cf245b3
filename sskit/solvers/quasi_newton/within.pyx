"""Sums of vectors as long as the weights, within bounds (see box.hpp)."""

from cython cimport floating
from libc.stdint cimport uint8_t
from libcpp.vector cimport vector

import numpy as np

cdef extern from "box.hpp" namespace "sskit":
    const Py_ssize_t PART
    void multiply_free(
        const float* const* past, Py_ssize_t n_past, const double* gradient, const double* w,
        const double* lower, const double* upper, double size, Py_ssize_t n, uint8_t* free,
        double* room, double* gram
    ) noexcept nogil
    void multiply_free(
        const double* const* past, Py_ssize_t n_past, const double* gradient, const double* w,
        const double* lower, const double* upper, double size, Py_ssize_t n, uint8_t* free,
        double* room, double* gram
    ) noexcept nogil
    double mix_free(
        const double* gradient, double factor, const float* const* past, const double* weights,
        Py_ssize_t n_past, const uint8_t* free, double size, const double* w, double step,
        const double* lower, const double* upper, Py_ssize_t n, float* direction, double* trial
    ) noexcept nogil
    double mix_free(
        const double* gradient, double factor, const double* const* past, const double* weights,
        Py_ssize_t n_past, const uint8_t* free, double size, const double* w, double step,
        const double* lower, const double* upper, Py_ssize_t n, double* direction, double* trial
    ) noexcept nogil
    void clip_step(
        const double* w, const float* direction, double step, const double* lower,
        const double* upper, Py_ssize_t n, double* out
    ) noexcept nogil
    void clip_step(
        const double* w, const double* direction, double step, const double* lower,
        const double* upper, Py_ssize_t n, double* out
    ) noexcept nogil
    double most_lost(
        const double* gradient, const double* w, const double* lower, const double* upper,
        double lam, Py_ssize_t n
    ) noexcept nogil
    void least_of_mix(
        const double* old, const double* gradient, const double* w, const double* lower,
        const double* upper, double lam, double t, Py_ssize_t n, double* out
    ) noexcept nogil
    void ends_of_mix(
        const double* old, const double* gradient, const double* w, const double* lower,
        const double* upper, double lam, Py_ssize_t n, double* out
    ) noexcept nogil


def hold(
    const double[::1] gradient, const double[::1] w, const double[::1] lower,
    const double[::1] upper, double size, list past, const floating[::1] direction,
    uint8_t[::1] free
):
    """Find the weights that are free, and inner products over these.

    Parameters
    ----------
    gradient, w : ndarray of shape (n or more,)
        The gradient and the weights, within the bounds.
    lower, upper : ndarray of shape (n,)
        The bounds.
    size : float
        Of a step along the gradient: weights that it would take to a bound or beyond are held.
    past : list of ndarray of shape (n,)
        Of the type of the direction.
    direction : ndarray of shape (n,)
        Not read.
    free : ndarray of shape (n,)
        Written: whether a weight is not held.

    Returns
    -------
    gram : ndarray of shape (len(past) + 1, len(past) + 1)
        Inner products of the past vectors and, last, the gradient.
    """
    cdef vector[const floating*] pointers
    cdef vector[double] room
    cdef const floating[::1] view = direction
    cdef Py_ssize_t n = lower.shape[0], n_past = len(past)
    cdef double[:, ::1] gram = np.zeros((n_past + 1, n_past + 1))
    for some in past:
        view = some
        pointers.push_back(&view[0])
    room.resize((n_past + 1) * PART)
    with nogil:
        multiply_free(
            pointers.data(), n_past, &gradient[0], &w[0], &lower[0], &upper[0], size, n, &free[0],
            room.data(), &gram[0, 0]
        )
    found = np.asarray(gram)
    return found + np.triu(found, 1).T


def mix_within(
    const double[::1] gradient, double factor, list past, const double[::1] weights,
    const uint8_t[::1] free, double size, const double[::1] w, double step,
    const double[::1] lower, const double[::1] upper, floating[::1] direction, double[::1] trial
):
    """Write weights within the bounds, and the way there.

    Free weights go along factor * gradient + sum_k weights[k] past[k], the others along -size *
    gradient, each by this step and as far as the bounds let them.

    Parameters
    ----------
    gradient, w : ndarray of shape (n or more,)
        The gradient and the weights.
    factor, weights : float, ndarray of shape (len(past),)
        Of the sum.
    past : list of ndarray of shape (n,)
        Of the type of the direction; their number is even.
    free : ndarray of shape (n,)
        From `hold`.
    size, step : float
        Of the steps.
    lower, upper : ndarray of shape (n,)
        The bounds.
    direction : ndarray of shape (n,)
        Written: trial - w.
    trial : ndarray of shape (n or more,)
        Written.

    Returns
    -------
    slope : float
        <gradient, trial - w>.
    """
    cdef vector[const floating*] pointers
    cdef const floating[::1] view = direction
    cdef double slope
    for some in past:
        view = some
        pointers.push_back(&view[0])
    with nogil:
        slope = mix_free(
            &gradient[0], factor, pointers.data(), &weights[0] if pointers.size() else NULL,
            pointers.size(), &free[0], size, &w[0], step, &lower[0], &upper[0], lower.shape[0],
            &direction[0], &trial[0]
        )
    return slope


def step_within(
    const double[::1] w, const floating[::1] direction, double step, const double[::1] lower,
    const double[::1] upper, double[::1] out
):
    """Write the nearest weights within the bounds to w + step * direction."""
    with nogil:
        clip_step(&w[0], &direction[0], step, &lower[0], &upper[0], direction.shape[0], &out[0])


def products_of(
    const floating[::1] direction, double step, const double[::1] gradient,
    const double[::1] before, floating[::1] moved, floating[::1] change
):
    """Write step * direction and the change of the gradient; return <moved, change>, ||change||^2.

    Parameters
    ----------
    direction, step, gradient, before, moved, change : object
        As of `sums.record`.
    """
    cdef Py_ssize_t j
    cdef double product = 0.0, square = 0.0
    with nogil:
        for j in range(direction.shape[0]):
            moved[j] = <floating>(step * direction[j])
            change[j] = <floating>(gradient[j] - before[j])
            product += <double>moved[j] * change[j]
            square += <double>change[j] * change[j]
    return product, square


def largest_loss(
    const double[::1] gradient, const double[::1] w, const double[::1] lower,
    const double[::1] upper, double lam
):
    """Return the most by which <g, u - w> + lam / 2 ||u - w||^2 falls below 0 within the bounds."""
    cdef double lost
    with nogil:
        lost = most_lost(&gradient[0], &w[0], &lower[0], &upper[0], lam, lower.shape[0])
    return lost


def least(
    const double[::1] linear, const double[::1] gradient, const double[::1] w,
    const double[::1] lower, const double[::1] upper, double lam, double t
):
    """Return the least value of a mix within the bounds, without its constant, and its slope by t.

    The mix is (1 - t) linear + t (gradient - lam w) with the curvature lam.
    """
    cdef double[2] out
    with nogil:
        least_of_mix(
            &linear[0], &gradient[0], &w[0], &lower[0], &upper[0], lam, t, lower.shape[0], out
        )
    return out[0], out[1]


def least_at_ends(
    const double[::1] linear, const double[::1] gradient, const double[::1] w,
    const double[::1] lower, const double[::1] upper, double lam
):
    """Return what `least` does of 0, and of 1: two values and two slopes in turn."""
    cdef double[4] out
    with nogil:
        ends_of_mix(
            &linear[0], &gradient[0], &w[0], &lower[0], &upper[0], lam, lower.shape[0], out
        )
    return out[0], out[1], out[2], out[3]


def mix_into(
    double[::1] linear, const double[::1] gradient, const double[::1] w, double lam, double t
):
    """Replace a vector by the mix (1 - t) linear + t (gradient - lam w)."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(linear.shape[0]):
            linear[j] += t * (gradient[j] - lam * w[j] - linear[j])
