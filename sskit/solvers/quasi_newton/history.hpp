// Vectors of limited-memory BFGS, as long as the weights, in as few readings of memory as possible.
//
// Vectors are read in pieces: what several sums need of one stays in the fastest cache. Steps may
// be of single precision; sums are of double precision.
#pragma once
#include <algorithm>
#include <cmath>

#include "lanes.hpp"

namespace sskit {

constexpr ptrdiff_t PIECE = 2048;

#if defined(SSKIT_VECTORS)
typedef float half_floats __attribute__((vector_size(16), aligned(4), may_alias));
SSKIT_INLINE vec load(const float* p) {
    return {__builtin_convertvector(*(const half_floats*)p, half_vec),
            __builtin_convertvector(*(const half_floats*)(p + HALF), half_vec)};
}
#else
SSKIT_INLINE vec load(const float* p) {
    vec out;
    for (int l = 0; l < LANES; ++l) out.x[l] = p[l];
    return out;
}
#endif

template <class T>
SSKIT_INLINE void record_step(const T* direction, double step, const double* gradient,
                              const double* before, ptrdiff_t n, const T* const* past,
                              ptrdiff_t n_past, T* moved, T* change, double* out) {
    double s[PIECE], y[PIECE];
    for (ptrdiff_t first = 0; first < n; first += PIECE) {
        const ptrdiff_t m = std::min(PIECE, n - first);
        const double* g = gradient + first;
        for (ptrdiff_t j = 0; j < m; ++j) {
            s[j] = moved[first + j] = (T)(step * direction[first + j]);
            y[j] = change[first + j] = (T)(g[j] - before[first + j]);
        }
        for (ptrdiff_t k = 0; k < n_past; ++k) {
            const T* x = past[k] + first;
            vec with_s = constant(0.0), with_y = with_s, with_g = with_s;
            ptrdiff_t j = 0;
            for (; j + LANES <= m; j += LANES) {
                const vec z = load(x + j);
                with_s += z * load(s + j);
                with_y += z * load(y + j);
                with_g += z * load(g + j);
            }
            double sums[3] = {total(with_s), total(with_y), total(with_g)};
            for (; j < m; ++j) {
                sums[0] += x[j] * s[j];
                sums[1] += x[j] * y[j];
                sums[2] += x[j] * g[j];
            }
            for (int i = 0; i < 3; ++i) out[3 * k + i] += sums[i];
        }
    }
}

// the number of past vectors is even: each step has two
template <class T>
SSKIT_INLINE void mix_steps(const double* gradient, double factor, ptrdiff_t n,
                            const T* const* past, const double* weights, ptrdiff_t n_past,
                            const double* w, T* direction, double* trial) {
    for (ptrdiff_t first = 0; first < n; first += PIECE) {
        const ptrdiff_t m = std::min(PIECE, n - first);
        T* sum = direction + first;
        for (ptrdiff_t j = 0; j < m; ++j) sum[j] = (T)(factor * gradient[first + j]);
        for (ptrdiff_t k = 0; k < n_past; k += 2) {
            const T *s = past[k] + first, *y = past[k + 1] + first;
            const T a = (T)weights[k], b = (T)weights[k + 1];
            for (ptrdiff_t j = 0; j < m; ++j) sum[j] += a * s[j] + b * y[j];
        }
        for (ptrdiff_t j = 0; j < m; ++j) trial[first + j] = w[first + j] + sum[j];
    }
}

// moved = step direction, change = gradient - before; out (n_past, 3) gets the inner products
// of each past vector, these two among them, with moved, change and gradient
#define SSKIT_OF_TYPE(T)                                                                          \
    SSKIT_OWN_CLONES void fill_step(const T* direction, double step, const double* gradient,         \
                                    const double* before, ptrdiff_t n, const T* const* past,      \
                                    ptrdiff_t n_past, T* moved, T* change, double* out) {         \
        record_step(direction, step, gradient, before, n, past, n_past, moved, change, out);      \
    }                                                                                             \
    /* direction = factor gradient + sum_k weights[k] past[k], trial = w + direction */           \
    SSKIT_OWN_CLONES void mix_vectors(const double* gradient, double factor, ptrdiff_t n,                 \
                              const T* const* past, const double* weights, ptrdiff_t n_past,      \
                              const double* w, T* direction, double* trial) {                     \
        mix_steps(gradient, factor, n, past, weights, n_past, w, direction, trial);               \
    }
SSKIT_OF_TYPE(float)
SSKIT_OF_TYPE(double)
#undef SSKIT_OF_TYPE

// gradient += lam (w - centre), for n weights; squares = ||w - centre||^2, ||gradient||^2
SSKIT_OWN_CLONES void regularize_gradient(const double* w, const double* centre, double lam,
                                          ptrdiff_t n, double* gradient, double* squares) {
    vec sum = constant(0.0), slope = constant(0.0);
    squares[0] = squares[1] = 0.0;
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const vec u = centre ? load(w + j) - load(centre + j) : load(w + j);
        const vec g = load(gradient + j) + lam * u;
        store(gradient + j, g);
        sum += u * u;
        slope += g * g;
    }
    for (; j < n; ++j) {
        const double u = centre ? w[j] - centre[j] : w[j];
        gradient[j] += lam * u;
        squares[0] += u * u;
        squares[1] += gradient[j] * gradient[j];
    }
    squares[0] += total(sum);
    squares[1] += total(slope);
}

// The largest sum_k a_k value[k] + scale / 2 (sum_k a_k gram[k, k] - <a, gram a>) over mixes a of n
// points, by pairwise steps of Frank-Wolfe from a, which is changed.
static inline double find_mix(const double* value, const double* gram, double scale, ptrdiff_t n,
                              double* a, double* slope) {
    constexpr int MOST_STEPS = 200;
    for (ptrdiff_t k = 0; k < n; ++k) {
        slope[k] = value[k] + 0.5 * scale * gram[k * n + k];
        for (ptrdiff_t l = 0; l < n; ++l) slope[k] -= scale * gram[k * n + l] * a[l];
    }
    for (int step = 0; step < MOST_STEPS; ++step) {
        ptrdiff_t to = 0, from = -1;
        for (ptrdiff_t k = 0; k < n; ++k) {
            if (slope[k] > slope[to]) to = k;
            if (a[k] > 0.0 && (from < 0 || slope[k] < slope[from])) from = k;
        }
        const double rise = slope[to] - slope[from];
        if (!(rise > 1e-12 * std::abs(slope[to]))) break;
        const double curvature =
            scale * (gram[to * n + to] - 2.0 * gram[to * n + from] + gram[from * n + from]);
        const double gamma = rise < a[from] * curvature ? rise / curvature : a[from];
        a[from] = gamma < a[from] ? a[from] - gamma : 0.0;
        a[to] += gamma;
        for (ptrdiff_t k = 0; k < n; ++k)
            slope[k] -= scale * gamma * (gram[k * n + to] - gram[k * n + from]);
    }
    double bound = 0.0;
    for (ptrdiff_t k = 0; k < n; ++k) {
        bound += a[k] * (value[k] + 0.5 * scale * gram[k * n + k]);
        for (ptrdiff_t l = 0; l < n; ++l) bound -= 0.5 * scale * a[k] * gram[k * n + l] * a[l];
    }
    return bound;
}

}  // namespace sskit
