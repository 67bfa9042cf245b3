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

// Weights are read in pieces: those of all past vectors stay in the second cache.
constexpr ptrdiff_t PART = 512;

// out[k] += <x, y_k> for some vectors in a row, each of a piece
template <int N>
SSKIT_INLINE void add_products(const double* x, const double* y, ptrdiff_t m, double* out) {
    vec sum[N];
    for (int k = 0; k < N; ++k) sum[k] = constant(0.0);
    for (ptrdiff_t j = 0; j < m; j += LANES) {
        const vec own = load(x + j);
        for (int k = 0; k < N; ++k) sum[k] += own * load(y + k * PART + j);
    }
    for (int k = 0; k < N; ++k) out[k] += total(sum[k]);
}

// A weight is held if a gradient step of this size would take it to a bound or beyond: it is to go
// there. gram, (n_past + 1)^2, gets the inner products of the past vectors and, last, the gradient
// over the weights that are free, from the diagonal on. room has n_past + 1 pieces.
template <class T>
SSKIT_INLINE void multiply_parts(const T* const* past, ptrdiff_t n_past, const double* gradient,
                                 const double* w, const double* lower, const double* upper,
                                 double size, ptrdiff_t n, uint8_t* free, double* room,
                                 double* gram) {
    double mask[PART];
    const ptrdiff_t count = n_past + 1;
    for (ptrdiff_t first = 0; first < n; first += PART) {
        const ptrdiff_t m = n - first < PART ? n - first : PART;
        for (ptrdiff_t j = 0; j < m; ++j) {
            const double g = gradient[first + j], to = w[first + j] - size * g;
            mask[j] = to > lower[first + j] && to < upper[first + j] ? 1.0 : 0.0;
            free[first + j] = mask[j] != 0.0;
            room[n_past * PART + j] = mask[j] * g;
        }
        for (ptrdiff_t k = 0; k < n_past; ++k)
            for (ptrdiff_t j = 0; j < m; ++j) room[k * PART + j] = mask[j] * past[k][first + j];
        for (ptrdiff_t k = 0; m < PART && k < count; ++k)
            for (ptrdiff_t j = m; j < PART; ++j) room[k * PART + j] = 0.0;
        for (ptrdiff_t k = 0; k < count; ++k) {
            const double* x = room + k * PART;
            double* out = gram + k * count;
            ptrdiff_t l = k;
            for (; l + 4 <= count; l += 4) add_products<4>(x, room + l * PART, m, out + l);
            for (; l < count; ++l) add_products<1>(x, room + l * PART, m, out + l);
        }
    }
}

// direction = factor gradient + sum_k weights[k] past[k] where weights are free, -size gradient
// where they are held; trial = clip(w + step direction), and direction = trial - w after all.
// Returns <gradient, direction>. The number of past vectors is even.
template <class T>
SSKIT_INLINE double mix_parts(const double* gradient, double factor, const T* const* past,
                              const double* weights, ptrdiff_t n_past, const uint8_t* free,
                              double size, const double* w, double step, const double* lower,
                              const double* upper, ptrdiff_t n, T* direction, double* trial) {
    double slope = 0.0;
    for (ptrdiff_t first = 0; first < n; first += PART) {
        const ptrdiff_t m = n - first < PART ? n - first : PART;
        T* sum = direction + first;
        for (ptrdiff_t j = 0; j < m; ++j) sum[j] = (T)(factor * gradient[first + j]);
        for (ptrdiff_t k = 0; k < n_past; k += 2) {
            const T *s = past[k] + first, *y = past[k + 1] + first;
            const T a = (T)weights[k], b = (T)weights[k + 1];
            for (ptrdiff_t j = 0; j < m; ++j) sum[j] += a * s[j] + b * y[j];
        }
        for (ptrdiff_t j = 0; j < m; ++j) {
            const ptrdiff_t at = first + j;
            const double along = free[at] ? (double)sum[j] : -size * gradient[at];
            trial[at] = clipped(w[at] + step * along, lower[at], upper[at]);
            const double moved = trial[at] - w[at];
            slope += gradient[at] * moved;
            sum[j] = (T)moved;
        }
    }
    return slope;
}

// out = clip(w + step direction)
template <class T>
SSKIT_INLINE void step_within(const double* w, const T* direction, double step,
                              const double* lower, const double* upper, ptrdiff_t n, double* out) {
    for (ptrdiff_t j = 0; j < n; ++j)
        out[j] = clipped(w[j] + step * direction[j], lower[j], upper[j]);
}

#define SSKIT_OF_TYPE(T)                                                                          \
    SSKIT_OWN_CLONES void multiply_free(const T* const* past, ptrdiff_t n_past,                   \
                                        const double* gradient, const double* w,                  \
                                        const double* lower, const double* upper, double size,    \
                                        ptrdiff_t n, uint8_t* free, double* room,                 \
                                        double* gram) {                                           \
        multiply_parts(past, n_past, gradient, w, lower, upper, size, n, free, room, gram);       \
    }                                                                                             \
    SSKIT_OWN_CLONES double mix_free(const double* gradient, double factor,                       \
                                     const T* const* past, const double* weights,                 \
                                     ptrdiff_t n_past, const uint8_t* free, double size,          \
                                     const double* w, double step, const double* lower,           \
                                     const double* upper, ptrdiff_t n, T* direction,              \
                                     double* trial) {                                             \
        return mix_parts(gradient, factor, past, weights, n_past, free, size, w, step, lower,     \
                         upper, n, direction, trial);                                             \
    }                                                                                             \
    SSKIT_OWN_CLONES void clip_step(const double* w, const T* direction, double step,             \
                                    const double* lower, const double* upper, ptrdiff_t n,        \
                                    double* out) {                                                \
        step_within(w, direction, step, lower, upper, n, out);                                    \
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

// Values within the bounds of the function of the mix at t, c = old + t (gradient - lam w - old):
// the least <c, u> + lam / 2 ||u||^2, and its derivative by t.
SSKIT_INLINE void add_least(double c, double more, double lam, double low, double high,
                            double* out) {
    const double u = clipped(-c / lam, low, high);
    out[0] += u * (c + 0.5 * lam * u);
    out[1] += u * more;
}

SSKIT_OWN_CLONES void least_of_mix(const double* old, const double* gradient, const double* w,
                                   const double* lower, const double* upper, double lam, double t,
                                   ptrdiff_t n, double* out) {
    double sums[2] = {0.0, 0.0};
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double more = gradient[j] - lam * w[j] - old[j];
        add_least(old[j] + t * more, more, lam, lower[j], upper[j], sums);
    }
    out[0] = sums[0], out[1] = sums[1];
}

// the same at 0, then at 1
SSKIT_OWN_CLONES void ends_of_mix(const double* old, const double* gradient, const double* w,
                                  const double* lower, const double* upper, double lam,
                                  ptrdiff_t n, double* out) {
    double at_zero[2] = {0.0, 0.0}, at_one[2] = {0.0, 0.0};
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double c = gradient[j] - lam * w[j], more = c - old[j];
        add_least(old[j], more, lam, lower[j], upper[j], at_zero);
        add_least(c, more, lam, lower[j], upper[j], at_one);
    }
    out[0] = at_zero[0], out[1] = at_zero[1], out[2] = at_one[0], out[3] = at_one[1];
}

}  // namespace sskit
