// Vectors of 8 doubles (LANES) for hot loops on raw arrays, and what goes with them.
//
// Tables with n_states columns are read in whole vectors: a load may pass the end of a row by
// up to LANES - 1 doubles. Weight vectors are therefore allocated with LANES spare doubles, and
// statistics and potentials have rows padded to a multiple of LANES (see padded()). Padding of
// a direction is zero, hence adding it to the following row changes nothing.
//
// A function marked SSKIT_CLONES is compiled for several vector widths on Linux/x86-64 GCC and the
// CPU picks at load time, so that a wheel built anywhere runs at the speed of the machine it lands
// on. Each clone is compiled wherever its header is included. Such headers are therefore included
// by one module, which exports the functions, or they use SSKIT_OWN_CLONES: then a module has only
// those that it calls. The vectors are halves of LANES: CPUs with AVX-512 gain from code of their
// own only where sums fill their 32 registers, and such functions are marked SSKIT_WIDE_CLONES.
// SSKIT_PORTABLE chooses the code for compilers without vector extensions on any compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(SSKIT_PORTABLE)
#define SSKIT_VECTORS
#endif
#if defined(SSKIT_VECTORS) && !defined(__clang__) && __GNUC__ >= 12 && defined(__x86_64__) && \
    defined(__linux__) && defined(__GLIBC__)
#define SSKIT_CLONED
#define SSKIT_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#define SSKIT_WIDE_CLONES                                                                        \
    [[maybe_unused]] static __attribute__((                                                      \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SSKIT_CLONES
#define SSKIT_WIDE_CLONES [[maybe_unused]] static
#endif
#define SSKIT_OWN_CLONES [[maybe_unused]] static SSKIT_CLONES
#if defined(SSKIT_VECTORS)
#define SSKIT_INLINE static inline __attribute__((always_inline))
#define SSKIT_PREFETCH(p) __builtin_prefetch(p)
#else
#define SSKIT_INLINE static inline
#define SSKIT_PREFETCH(p) (void)(p)
#endif

namespace sskit {

constexpr ptrdiff_t LANES = 8;

// Prefetch memory that will be read soon: in a random order of blocks the CPU cannot predict where
// the next one begins. Long stretches it prefetches by itself once they have begun.
static inline void prefetch_memory(const void* memory, ptrdiff_t n_bytes) {
    const char* p = (const char*)memory;
    if (n_bytes > 4096) n_bytes = 4096;
    for (ptrdiff_t offset = 0; offset < n_bytes; offset += 64) SSKIT_PREFETCH(p + offset);
}

static inline ptrdiff_t padded(ptrdiff_t n) { return (n + LANES - 1) / LANES * LANES; }

#if defined(SSKIT_VECTORS)
typedef double half_vec __attribute__((vector_size(32), aligned(8), may_alias));
SSKIT_INLINE half_vec load_half(const double* p) { return *(const half_vec*)p; }
SSKIT_INLINE void store(double* p, const half_vec& x) { *(half_vec*)p = x; }
SSKIT_INLINE half_vec larger(const half_vec& a, const half_vec& b) { return a > b ? a : b; }
SSKIT_INLINE half_vec smaller(const half_vec& a, const half_vec& b) { return a < b ? a : b; }
// Two halves, each a vector that CPUs have: compilers take comparisons of wider ones apart into
// single numbers, and pass them through the stack.
struct vec { half_vec low, high; };
SSKIT_INLINE vec load(const double* p) { return {load_half(p), load_half(p + 4)}; }
SSKIT_INLINE void store(double* p, const vec& x) { store(p, x.low); store(p + 4, x.high); }
SSKIT_INLINE vec larger(const vec& a, const vec& b) {
    return {larger(a.low, b.low), larger(a.high, b.high)};
}
SSKIT_INLINE vec smaller(const vec& a, const vec& b) {
    return {smaller(a.low, b.low), smaller(a.high, b.high)};
}
#define SSKIT_OPERATOR(op)                                                                       \
    SSKIT_INLINE vec operator op(const vec& a, const vec& b) {                                   \
        return {a.low op b.low, a.high op b.high};                                               \
    }                                                                                            \
    SSKIT_INLINE vec operator op(const vec& a, double b) { return {a.low op b, a.high op b}; }   \
    SSKIT_INLINE vec operator op(double a, const vec& b) { return {a op b.low, a op b.high}; }
SSKIT_INLINE double total(const vec& a) {
    const half_vec sum = a.low + a.high;
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}
#else  // the same operations for compilers without vector extensions
struct vec { double x[LANES]; };
#define SSKIT_LANEWISE(expr) { vec r; for (int l = 0; l < LANES; ++l) r.x[l] = expr; return r; }
SSKIT_INLINE vec load(const double* p) SSKIT_LANEWISE(p[l])
SSKIT_INLINE void store(double* p, const vec& a) { for (int l = 0; l < LANES; ++l) p[l] = a.x[l]; }
#define SSKIT_OPERATOR(op)                                                                       \
    SSKIT_INLINE vec operator op(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] op b.x[l])    \
    SSKIT_INLINE vec operator op(const vec& a, double b) SSKIT_LANEWISE(a.x[l] op b)             \
    SSKIT_INLINE vec operator op(double a, const vec& b) SSKIT_LANEWISE(a op b.x[l])
SSKIT_INLINE vec larger(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] > b.x[l] ? a.x[l] : b.x[l])
SSKIT_INLINE vec smaller(const vec& a, const vec& b) SSKIT_LANEWISE(a.x[l] < b.x[l] ? a.x[l] : b.x[l])
SSKIT_INLINE double total(const vec& a) {
    const double* x = a.x;
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
typedef vec half_vec;
SSKIT_INLINE half_vec load_half(const double* p) { return load(p); }
#endif
#define SSKIT_OPERATORS(op)                                                                      \
    SSKIT_OPERATOR(op)                                                                           \
    SSKIT_INLINE vec& operator op##=(vec& a, const vec& b) { a = a op b; return a; }
SSKIT_OPERATORS(+)
SSKIT_OPERATORS(-)
SSKIT_OPERATORS(*)
SSKIT_OPERATORS(/)
#undef SSKIT_OPERATORS
#undef SSKIT_OPERATOR
#undef SSKIT_LANEWISE
constexpr ptrdiff_t HALF = sizeof(half_vec) / sizeof(double);

SSKIT_INLINE vec constant(double value) {
    double p[LANES];
    for (int l = 0; l < LANES; ++l) p[l] = value;
    return load(p);
}
SSKIT_INLINE half_vec half_constant(double value) {
    double p[HALF];
    for (int l = 0; l < HALF; ++l) p[l] = value;
    return load_half(p);
}

SSKIT_INLINE double largest_lane(const vec& x) {
    double p[LANES];
    store(p, x);
    for (int l = 1; l < LANES; ++l) p[0] = p[l] > p[0] ? p[l] : p[0];
    return p[0];
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

SSKIT_INLINE double dot_padded(const double* a, const double* b, ptrdiff_t n) {
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < n; c += LANES) sum += load(a + c) * load(b + c);
    return total(sum);
}

}  // namespace sskit
