"""Sums of vectors as long as the weights, within bounds (see box.hpp)."""

from cython cimport floating
from libc.stdint cimport uint8_t
from libcpp cimport bool
from libcpp.vector cimport vector

cdef extern from "box.hpp" namespace "sskit":
    double hold_weights(
        const double* gradient, const double* w, const double* lower, const double* upper,
        double size, Py_ssize_t n, uint8_t* free, double* q
    ) noexcept nogil
    bool find_free_step(
        const float* const* past, Py_ssize_t n_past, const uint8_t* free, double least,
        Py_ssize_t n, double* a, double* rho, double* q
    ) noexcept nogil
    bool find_free_step(
        const double* const* past, Py_ssize_t n_past, const uint8_t* free, double least,
        Py_ssize_t n, double* a, double* rho, double* q
    ) noexcept nogil
    void fill_direction(
        const double* gradient, const uint8_t* free, double size, const double* q, Py_ssize_t n,
        float* direction
    ) noexcept nogil
    void fill_direction(
        const double* gradient, const uint8_t* free, double size, const double* q, Py_ssize_t n,
        double* direction
    ) noexcept nogil
    double clip_step(
        const double* w, const float* direction, double step, const double* lower,
        const double* upper, const double* gradient, Py_ssize_t n, double* trial
    ) noexcept nogil
    double clip_step(
        const double* w, const double* direction, double step, const double* lower,
        const double* upper, const double* gradient, Py_ssize_t n, double* trial
    ) noexcept nogil
    double most_lost(
        const double* gradient, const double* w, const double* lower, const double* upper,
        double lam, Py_ssize_t n
    ) noexcept nogil
    void least_of_mix(
        const double* old, const double* gradient, const double* w, const double* lower,
        const double* upper, double lam, double t, Py_ssize_t n, double* out
    ) noexcept nogil


def find_direction(
    const double[::1] gradient, const double[::1] w, const double[::1] lower,
    const double[::1] upper, double size, list past, double least, uint8_t[::1] free,
    double[::1] room, floating[::1] direction
):
    """Write the direction before it is cut at the bounds.

    Parameters
    ----------
    gradient, w : ndarray of shape (n or more,)
        The gradient and the weights, within the bounds.
    lower, upper : ndarray of shape (n,)
        The bounds.
    size : float
        Of a step along the gradient.
    past : list of ndarray of shape (n,)
        A step, the change of the gradient along it, the next step, and so on.
    least : float
        Steps along which the gradient grows by a smaller factor do not count.
    free : ndarray of shape (n,)
        Written: whether a weight is not held at a bound.
    room : ndarray of shape (n or more,)
        Overwritten.
    direction : ndarray of shape (n,)
        Written.

    Returns
    -------
    slope : float
        That along the direction of the free weights.
    """
    cdef vector[const floating*] pointers
    cdef vector[double] a, rho
    cdef const floating[::1] view = direction
    cdef Py_ssize_t j, n = direction.shape[0]
    cdef double slope = 0.0
    for some in past:
        view = some
        pointers.push_back(&view[0])
    a.resize(pointers.size() // 2 + 1)
    rho.resize(pointers.size() // 2 + 1)
    with nogil:
        hold_weights(&gradient[0], &w[0], &lower[0], &upper[0], size, n, &free[0], &room[0])
        if not find_free_step(
            pointers.data(), pointers.size(), &free[0], least, n, a.data(), rho.data(), &room[0]
        ):
            for j in range(n):
                room[j] *= size
        for j in range(n):
            slope += gradient[j] * room[j]
        fill_direction(&gradient[0], &free[0], size, &room[0], n, &direction[0])
    return slope


def step_within(
    const double[::1] w, const floating[::1] direction, double step, const double[::1] lower,
    const double[::1] upper, const double[::1] gradient, double[::1] trial
):
    """Write the nearest weights within the bounds to w + step * direction.

    Returns
    -------
    slope : float
        <gradient, trial - w>.
    """
    cdef double slope
    with nogil:
        slope = clip_step(
            &w[0], &direction[0], step, &lower[0], &upper[0], &gradient[0], direction.shape[0],
            &trial[0]
        )
    return slope


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


def mix_into(
    double[::1] linear, const double[::1] gradient, const double[::1] w, double lam, double t
):
    """Replace a vector by the mix (1 - t) linear + t (gradient - lam w)."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(linear.shape[0]):
            linear[j] += t * (gradient[j] - lam * w[j] - linear[j])
