// Steps of limited-memory BFGS within bounds: sums over the weights that are free to move.
#pragma once
#include <cmath>
#include <cstdint>

#include "lanes.hpp"

namespace sskit {

SSKIT_INLINE double clipped(double x, double low, double high) {
    const double above = x < low ? low : x;
    return above > high ? high : above;
}

// A weight is held if a gradient step of this size would take it to a bound or beyond: it is to go
// there. q = -gradient of the weights that are free, zero of the others; returns ||q||^2.
SSKIT_OWN_CLONES double hold_weights(const double* gradient, const double* w, const double* lower,
                                     const double* upper, double size, ptrdiff_t n, uint8_t* free,
                                     double* q) {
    double square = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double g = gradient[j], to = w[j] - size * g;
        free[j] = to > lower[j] && to < upper[j];
        q[j] = free[j] ? -g : 0.0;
        square += q[j] * q[j];
    }
    return square;
}

// q = H q by the two loops of Liu and Nocedal over the free weights, with s and y cut to these.
// Steps along which the gradient grows by less than the fraction `least` of their length do not
// count. The last one that counts has the size of the first guess; returns whether there is one.
template <class T>
SSKIT_INLINE bool loop_twice(const T* const* past, ptrdiff_t n_past, const uint8_t* free,
                             double least, ptrdiff_t n, double* a, double* rho, double* q) {
    double factor = 0.0;
    for (ptrdiff_t k = n_past - 2; k >= 0; k -= 2) {
        const T *s = past[k], *y = past[k + 1];
        double sq = 0.0, sy = 0.0, ss = 0.0, yy = 0.0;
        for (ptrdiff_t j = 0; j < n; ++j) {
            const double own = free[j] ? (double)s[j] : 0.0;
            sq += own * q[j];
            sy += own * y[j];
            ss += own * own;
            yy += free[j] ? (double)y[j] * y[j] : 0.0;
        }
        rho[k / 2] = sy > least * ss && sy > 0.0 ? 1.0 / sy : 0.0;
        if (rho[k / 2] == 0.0) continue;
        if (factor == 0.0) factor = sy / yy;
        a[k / 2] = rho[k / 2] * sq;
        for (ptrdiff_t j = 0; j < n; ++j) q[j] -= free[j] ? a[k / 2] * y[j] : 0.0;
    }
    if (factor == 0.0) return false;
    for (ptrdiff_t j = 0; j < n; ++j) q[j] *= factor;
    for (ptrdiff_t k = 0; k < n_past; k += 2) {
        if (rho[k / 2] == 0.0) continue;
        const T *s = past[k], *y = past[k + 1];
        double yq = 0.0;
        for (ptrdiff_t j = 0; j < n; ++j) yq += y[j] * q[j];
        const double more = a[k / 2] - rho[k / 2] * yq;
        for (ptrdiff_t j = 0; j < n; ++j) q[j] += free[j] ? more * s[j] : 0.0;
    }
    return true;
}

// direction = q where weights are free, that of the gradient step where they are held
template <class T>
SSKIT_INLINE void write_direction(const double* gradient, const uint8_t* free, double size,
                                  const double* q, ptrdiff_t n, T* direction) {
    for (ptrdiff_t j = 0; j < n; ++j) direction[j] = (T)(free[j] ? q[j] : -size * gradient[j]);
}

// trial = clip(w + step direction); returns <gradient, trial - w>
template <class T>
SSKIT_INLINE double step_within(const double* w, const T* direction, double step,
                                const double* lower, const double* upper, const double* gradient,
                                ptrdiff_t n, double* trial) {
    double slope = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        trial[j] = clipped(w[j] + step * direction[j], lower[j], upper[j]);
        slope += gradient[j] * (trial[j] - w[j]);
    }
    return slope;
}

#define SSKIT_OF_TYPE(T)                                                                          \
    SSKIT_OWN_CLONES bool find_free_step(const T* const* past, ptrdiff_t n_past,                  \
                                         const uint8_t* free, double least, ptrdiff_t n,          \
                                         double* a, double* rho, double* q) {                     \
        return loop_twice(past, n_past, free, least, n, a, rho, q);                               \
    }                                                                                             \
    SSKIT_OWN_CLONES void fill_direction(const double* gradient, const uint8_t* free,             \
                                         double size, const double* q, ptrdiff_t n,               \
                                         T* direction) {                                          \
        write_direction(gradient, free, size, q, n, direction);                                   \
    }                                                                                             \
    SSKIT_OWN_CLONES double clip_step(const double* w, const T* direction, double step,           \
                                      const double* lower, const double* upper,                   \
                                      const double* gradient, ptrdiff_t n, double* trial) {       \
        return step_within(w, direction, step, lower, upper, gradient, n, trial);                 \
    }
SSKIT_OF_TYPE(float)
SSKIT_OF_TYPE(double)
#undef SSKIT_OF_TYPE

// The most by which <g, u - w> + lam / 2 ||u - w||^2 falls below zero within the bounds.
SSKIT_OWN_CLONES double most_lost(const double* gradient, const double* w, const double* lower,
                                  const double* upper, double lam, ptrdiff_t n) {
    double lost = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double g = gradient[j], d = clipped(w[j] - g / lam, lower[j], upper[j]) - w[j];
        lost -= d * (g + 0.5 * lam * d);
    }
    return lost;
}

// The least <c, u> + lam / 2 ||u||^2 within the bounds, c = (1 - t) old + t (gradient - lam w), and
// its derivative by t.
SSKIT_OWN_CLONES void least_of_mix(const double* old, const double* gradient, const double* w,
                                   const double* lower, const double* upper, double lam, double t,
                                   ptrdiff_t n, double* out) {
    double value = 0.0, derivative = 0.0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double more = gradient[j] - lam * w[j] - old[j], c = old[j] + t * more;
        const double u = clipped(-c / lam, lower[j], upper[j]);
        value += u * (c + 0.5 * lam * u);
        derivative += u * more;
    }
    out[0] = value;
    out[1] = derivative;
}

}  // namespace sskit
