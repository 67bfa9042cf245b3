// Dense feature rows, read a piece at a time in double precision.
#pragma once
#include <algorithm>

#include "rows.hpp"

namespace sskit {

// Columns of a row that are made double at once, so that they stay in the fastest cache.
constexpr ptrdiff_t PIECE = 128;

// Are there registers for 24 vectors?
static inline bool has_wide_registers() {
#if defined(SSKIT_VECTORS) && defined(__x86_64__)
    static const bool has = __builtin_cpu_supports("avx512f");
    return has;
#else
    return false;
#endif
}

// How many columns are read at once: doubles are read where they lie.
template <class V> constexpr ptrdiff_t PIECE_OF = PIECE;
template <> constexpr ptrdiff_t PIECE_OF<double> = PTRDIFF_MAX;

// columns in double precision, in the buffer if they are not so already
template <class V>
SSKIT_INLINE const double* read_piece(const V* x, ptrdiff_t n, double* buffer) {
    for (ptrdiff_t j = 0; j < n; ++j) buffer[j] = number(x[j]);
    return buffer;
}
SSKIT_INLINE const double* read_piece(const double* x, ptrdiff_t, double*) { return x; }

template <class V>
SSKIT_INLINE ptrdiff_t next_piece(ptrdiff_t done, ptrdiff_t n) {
    return n - done < PIECE_OF<V> ? n - done : PIECE_OF<V>;
}

// out (NR, NV vectors) += x (NR, n) @ weights (n, NV vectors)
template <int NR, int NV>
SSKIT_INLINE void add_register_sums(const double* const* x, ptrdiff_t n, const double* weights,
                               ptrdiff_t stride, double* out, ptrdiff_t out_stride) {
    vec sum[NR][NV];
    for (int r = 0; r < NR; ++r)
        for (int v = 0; v < NV; ++v) sum[r][v] = load(out + r * out_stride + v * LANES);
    const double* rows[NR];
    for (int r = 0; r < NR; ++r) rows[r] = x[r];
    for (ptrdiff_t j = 0; j < n; ++j, weights += stride) {
        vec w[NV];
        for (int v = 0; v < NV; ++v) w[v] = load(weights + v * LANES);
        for (int r = 0; r < NR; ++r)
            for (int v = 0; v < NV; ++v) sum[r][v] += rows[r][j] * w[v];
    }
    for (int r = 0; r < NR; ++r)
        for (int v = 0; v < NV; ++v) store(out + r * out_stride + v * LANES, sum[r][v]);
}

// The same where all sums may not find a register.
template <int NR, int NV>
SSKIT_INLINE void add_tile(const double* const* x, ptrdiff_t n, const double* weights,
                           ptrdiff_t stride, double* out, ptrdiff_t out_stride) {
    if constexpr (NR * NV > 24) {
        add_tile<NR / 2, NV>(x, n, weights, stride, out, out_stride);
        add_tile<NR / 2, NV>(x + NR / 2, n, weights, stride, out + NR / 2 * out_stride, out_stride);
    } else {
        add_register_sums<NR, NV>(x, n, weights, stride, out, out_stride);
    }
}

// out (n_rows, n_states) += rows (n_rows, n) @ weights (n, n_states). A function of its own,
// compiled once, and not for each type of the features.
template <int NR>
SSKIT_INLINE void add_tiles(const double* const* rows, ptrdiff_t n, const double* weights,
                            ptrdiff_t n_states, double* out, ptrdiff_t stride) {
#define SSKIT_ACT(NV) add_tile<NR, NV>(rows, n, weights + c, n_states, out + c, stride)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}

SSKIT_WIDE_CLONES void add_products_of(int n_rows, const double* const* rows, ptrdiff_t n,
                                       const double* weights, ptrdiff_t n_states, double* out,
                                       ptrdiff_t stride) {
    switch (n_rows) {
        case 8: add_tiles<8>(rows, n, weights, n_states, out, stride); break;
        case 4: add_tiles<4>(rows, n, weights, n_states, out, stride); break;
        case 2: add_tiles<2>(rows, n, weights, n_states, out, stride); break;
        default: add_tiles<1>(rows, n, weights, n_states, out, stride);
    }
}

// out (count, stride) = x (count, width) @ weights (width, n_states); stride is padded(n_states)
template <class V>
SSKIT_INLINE void score_dense(const V* x, ptrdiff_t count, ptrdiff_t width, const double* weights,
                              ptrdiff_t n_states, double* out, ptrdiff_t stride) {
    constexpr int MOST = 8;
    alignas(64) double buffer[MOST * PIECE];
    const double* rows[MOST];
    int n_rows = has_wide_registers() ? MOST : 2;
    for (ptrdiff_t t = 0; t < count; t += n_rows, x += n_rows * width, out += n_rows * stride) {
        while (n_rows > count - t) n_rows /= 2;
        for (ptrdiff_t k = 0; k < n_rows * stride; k += LANES) store(out + k, constant(0.0));
        const double* w = weights;
        for (ptrdiff_t j = 0, n; j < width; j += n, w += n * n_states) {
            n = next_piece<V>(j, width);
            for (int r = 0; r < n_rows; ++r) {
                rows[r] = read_piece(x + r * width + j, n, buffer + r * PIECE);
                // the piece after this one, while this one is used
                if (PIECE_OF<V> == PIECE)
                    prefetch_memory(x + (j + n < width ? r * width + j + n : (r + n_rows) * width),
                                    PIECE * sizeof(V));
            }
            add_products_of(n_rows, rows, n, w, n_states, out, stride);
        }
    }
}

// weights[:, c : c + HALF] += outer(x_r, d_r) of up to four rows, one after the other, so that the
// sums are those of CSR rows to the last bit
template <int NR>
SSKIT_INLINE void add_outer(const double* const* x, const half_vec* d, ptrdiff_t n,
                            ptrdiff_t stride, double* weights) {
    // aligned: a loop of seven instructions takes 1.4 times as long at a bad address
#pragma GCC unroll 4
    for (ptrdiff_t j = 0; j < n; ++j, weights += stride) {
        half_vec w = load_half(weights);
        for (int r = 0; r < NR; ++r) w = w + x[r][j] * d[r];
        store(weights, w);
    }
}

// weights (n, n_states) += outer(row r, row active[r] of a direction) of `count` rows; compiled
// once for all types, too
SSKIT_OWN_CLONES void add_outers(const double* const* rows, const int32_t* active, ptrdiff_t count,
                                 ptrdiff_t n, double step, const double* direction,
                                 ptrdiff_t n_states, double* weights) {
    const ptrdiff_t stride = padded(n_states);
    for (ptrdiff_t c = 0; c < stride; c += HALF, weights += HALF) {
        const double* x[4];
        half_vec d[4];
        int n_rows = 0;
        for (ptrdiff_t r = 0; r < count; ++r) {
            const double* row = direction + active[r] * stride + c;
            // few states differ between two labellings: most of a direction is zero
            bool zero = true;
            for (ptrdiff_t l = 0; l < HALF; ++l) zero &= row[l] == 0.0;
            if (!zero) {
                x[n_rows] = rows[r];
                d[n_rows++] = step * load_half(row);
            }
            const bool last = r + 1 == count;
            switch (n_rows) {
                case 4: add_outer<4>(x, d, n, n_states, weights); n_rows = 0; break;
                case 3: if (last) add_outer<3>(x, d, n, n_states, weights); break;
                case 2: if (last) add_outer<2>(x, d, n, n_states, weights); break;
                case 1: if (last) add_outer<1>(x, d, n, n_states, weights);
            }
        }
    }
}

// weights += step * outer(row t, direction) for every t of `active`; see add_rows
template <class V>
SSKIT_INLINE void add_dense(const V* values, ptrdiff_t width, const int32_t* active,
                            ptrdiff_t n_active, double step, const double* direction,
                            ptrdiff_t n_states, double* weights) {
    constexpr ptrdiff_t AT_ONCE = 16;
    alignas(64) double buffer[AT_ONCE * PIECE];
    const double* rows[AT_ONCE];
    for (ptrdiff_t a = 0; a < n_active; a += AT_ONCE) {
        const ptrdiff_t count = n_active - a < AT_ONCE ? n_active - a : AT_ONCE;
        for (ptrdiff_t j = 0, n; j < width; j += n) {
            n = next_piece<V>(j, width);
            for (ptrdiff_t r = 0; r < count; ++r)
                rows[r] = read_piece(values + active[a + r] * width + j, n, buffer + r * PIECE);
            add_outers(rows, active + a, count, n, step, direction, n_states,
                       weights + j * n_states);
        }
    }
}

// dot + <x, y> of two pieces
SSKIT_INLINE double add_dot(const double* x, const double* y, ptrdiff_t n, double dot) {
    vec sum = constant(0.0), other = constant(0.0);
    ptrdiff_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        sum += load(x + i) * load(y + i);
        other += load(x + i + LANES) * load(y + i + LANES);
    }
    dot += total(sum + other);
    for (; i < n; ++i) dot += x[i] * y[i];
    return dot;
}

// <x, y> of two dense rows, in the same pieces whatever the type, for the same sums
template <class V>
SSKIT_INLINE double dot_dense(const V* x, const V* y, ptrdiff_t width) {
    alignas(64) double buffers[2][PIECE];
    double dot = 0.0;
    for (ptrdiff_t j = 0, n; j < width; j += n) {
        n = width - j < PIECE ? width - j : PIECE;
        dot = add_dot(read_piece(x + j, n, buffers[0]), read_piece(y + j, n, buffers[1]), n, dot);
    }
    return dot;
}

// packed upper triangle of the Gram matrix of dense rows
template <class V>
SSKIT_INLINE void gram_dense(const V* values, ptrdiff_t count, ptrdiff_t width, double* out) {
    for (ptrdiff_t t = 0; t < count; ++t)
        for (ptrdiff_t s = 0; s <= t; ++s)
            *out++ = dot_dense(values + s * width, values + t * width, width);
}

}  // namespace sskit
