// Hot loops on raw arrays. Vectors are held in registers of fixed width (8 doubles, LANES); on
// Linux/x86-64 GCC each loop is compiled for several vector widths and the CPU picks at load
// time, so that a wheel built anywhere runs at the speed of the machine it lands on.
//
// Tables with n_states columns are read in whole vectors: a load may pass the end of a row by
// up to LANES - 1 doubles. Weight vectors are therefore allocated with LANES spare doubles, and
// statistics and potentials have rows padded to a multiple of LANES (see padded()). Padding of
// a direction is zero, hence adding it to the following row changes nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && \
    defined(__linux__) && defined(__GLIBC__)
#define SSKIT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SSKIT_CLONES
#endif
#if defined(__GNUC__) || defined(__clang__)
#define SSKIT_INLINE static inline __attribute__((always_inline))
#define SSKIT_PREFETCH(p) __builtin_prefetch(p)
#else
#define SSKIT_INLINE static inline
#define SSKIT_PREFETCH(p)
#endif

namespace sskit {

constexpr ptrdiff_t LANES = 8;

// Ask for memory that will be read soon: what a random order of blocks hides from the CPU's own
// prefetching. Long stretches it follows by itself once they have begun.
static inline void prefetch_memory(const void* memory, ptrdiff_t n_bytes) {
    const char* p = (const char*)memory;
    if (n_bytes > 4096) n_bytes = 4096;
    for (ptrdiff_t offset = 0; offset < n_bytes; offset += 64) SSKIT_PREFETCH(p + offset);
}

static inline ptrdiff_t padded(ptrdiff_t n) { return (n + LANES - 1) / LANES * LANES; }

#if defined(__GNUC__) || defined(__clang__)
typedef double vec __attribute__((vector_size(64), aligned(8), may_alias));
SSKIT_INLINE vec load(const double* p) { return *(const vec*)p; }
SSKIT_INLINE void store(double* p, const vec& x) { *(vec*)p = x; }
SSKIT_INLINE vec larger(const vec& a, const vec& b) { return a > b ? a : b; }
SSKIT_INLINE vec smaller(const vec& a, const vec& b) { return a < b ? a : b; }
SSKIT_INLINE double total(const vec& a) {
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}
typedef double half_vec __attribute__((vector_size(32), aligned(8), may_alias));
SSKIT_INLINE half_vec load_half(const double* p) { return *(const half_vec*)p; }
SSKIT_INLINE void store(double* p, const half_vec& x) { *(half_vec*)p = x; }
#else  // the same operations for compilers without vector extensions
struct vec { double x[LANES]; };
#define SSKIT_LANEWISE(expr) { vec r; for (int l = 0; l < LANES; ++l) r.x[l] = expr; return r; }
SSKIT_INLINE vec load(const double* p) SSKIT_LANEWISE(p[l])
SSKIT_INLINE void store(double* p, const vec& a) { for (int l = 0; l < LANES; ++l) p[l] = a.x[l]; }
SSKIT_INLINE vec operator+(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] + b.x[l])
SSKIT_INLINE vec operator+(const vec& a, double b) SSKIT_LANEWISE(a.x[l] + b)
SSKIT_INLINE vec operator*(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] * b.x[l])
SSKIT_INLINE vec operator*(double a, const vec& b) SSKIT_LANEWISE(a * b.x[l])
SSKIT_INLINE vec& operator+=(vec& a, const vec& b) { a = a + b; return a; }
SSKIT_INLINE vec larger(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] > b.x[l] ? a.x[l] : b.x[l])
SSKIT_INLINE vec smaller(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] < b.x[l] ? a.x[l] : b.x[l])
SSKIT_INLINE double total(const vec& a) {
    double s = 0; for (int l = 0; l < LANES; ++l) s += a.x[l]; return s;
}
typedef vec half_vec;
SSKIT_INLINE half_vec load_half(const double* p) { return load(p); }
#endif
constexpr ptrdiff_t HALF = sizeof(half_vec) / sizeof(double);

SSKIT_INLINE vec constant(double value) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = value;
    return load(p);
}

// Call `action` with the number of vectors (1 to 4) of each stretch of up to 32 columns.
#define SSKIT_STRETCHES(n, action)                                       \
    for (ptrdiff_t c = 0; c < (n); c += 4 * LANES) {                     \
        switch (((n) - c + LANES - 1) / LANES) {                         \
            case 1: action(1); break;                                    \
            case 2: action(2); break;                                    \
            case 3: action(3); break;                                    \
            default: action(4);                                          \
        }                                                                \
    }

// out (n_states, padded(n_states)) = table (n_states, n_states) + mask (padded as out)
SSKIT_CLONES void masked_table(const double* table, const double* mask, ptrdiff_t n_states,
                               double* out) {
    const ptrdiff_t stride = padded(n_states);
    for (ptrdiff_t a = 0; a < n_states; ++a, table += n_states, mask += stride, out += stride)
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(out + c, load(table + c) + load(mask + c));
}

// Indices of the rows of `direction` (count, stride) that are not all zero; returns how many
SSKIT_CLONES ptrdiff_t active_rows(const double* direction, ptrdiff_t count, ptrdiff_t stride,
                                   int32_t* active) {
    ptrdiff_t n_active = 0;
    for (ptrdiff_t t = 0; t < count; ++t, direction += stride) {
        vec sum = constant(0.0);
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            const vec d = load(direction + c);
            sum += d * d;
        }
        active[n_active] = (int32_t)t;
        n_active += total(sum) > 0.0;
    }
    return n_active;
}

SSKIT_INLINE double dot_padded(const double* a, const double* b, ptrdiff_t n) {
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) sum += load(a + c) * load(b + c);
    return total(sum);
}

// Squared norm of sum_t outer(x_t, d_t) over the active rows, from the packed upper triangle of
// the Gram matrix of the rows x: G[s, t], s <= t, stands at gram[t (t + 1) / 2 + s]
SSKIT_CLONES double gram_sqnorm(const double* gram, const int32_t* active, ptrdiff_t n_active,
                                const double* direction, ptrdiff_t stride) {
    vec sum = constant(0.0);
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        const ptrdiff_t t = active[a];
        const double* row = gram + t * (t + 1) / 2;
        const double* d = direction + t * stride;
        for (ptrdiff_t c = 0; c < stride; c += LANES) {
            vec mixed = (0.5 * row[t]) * load(d + c);
            for (ptrdiff_t b = 0; b < a; ++b)
                mixed += row[active[b]] * load(direction + active[b] * stride + c);
            sum += mixed * load(d + c);
        }
    }
    return 2.0 * total(sum);
}

// target += factor * row, n numbers
SSKIT_CLONES void add_scaled(const double* row, ptrdiff_t n, double factor, double* target) {
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) store(target + j, load(target + j) + factor * load(row + j));
    for (; j < n; ++j) target[j] += factor * row[j];
}

// The same where the row is kept in single precision
SSKIT_CLONES void add_scaled(const float* row, ptrdiff_t n, double factor, double* target) {
    for (ptrdiff_t j = 0; j < n; ++j) target[j] += factor * (double)row[j];
}

// Sum of <d_t, s_t> over the active rows
SSKIT_CLONES double dot_rows(const int32_t* active, ptrdiff_t n_active, const double* direction,
                             const double* scores, ptrdiff_t stride) {
    double sum = 0.0;
    for (ptrdiff_t a = 0; a < n_active; ++a)
        sum += dot_padded(direction + active[a] * stride, scores + active[a] * stride, stride);
    return sum;
}

template <int NV>
SSKIT_INLINE void best_previous(const double* value, const double* transition, ptrdiff_t n_states,
                                ptrdiff_t stride, const double* node, double* out) {
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(-std::numeric_limits<double>::infinity());
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        const double* row = transition + a * stride;
        for (int v = 0; v < NV; ++v) best[v] = larger(load(row + v * LANES) + value[a], best[v]);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(node + v * LANES));
}

// One step of the Viterbi recursion, without back pointers (they are found again on the way
// back, for the states of the best path only):
// out[b] = node[b] + max_a (value[a] + transition[a, b]); rows have padded(n_states) columns
SSKIT_CLONES void viterbi_step(const double* value, const double* transition, ptrdiff_t n_states,
                               const double* node, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV) \
    best_previous<NV>(value, transition + c, n_states, stride, node + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

}  // namespace sskit

#include "rows.hpp"
