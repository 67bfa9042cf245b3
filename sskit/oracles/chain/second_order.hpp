// Max-sum and sum-product on chains of the second order, compiled for several CPUs; see
// second_order.pxd for the functions.
#pragma once
#include <algorithm>
#include <cstring>

#include "log_sums.hpp"
#include "viterbi.hpp"

namespace sskit {

// A table of triples for second_order_step, of weights (n_states, n_states, n_states) behind which
// LANES numbers can be read: rows (a, b) of padded(n_states) numbers c, then two padded tables
// (a, b) of the least and of the largest of each row. The padding of rows is one of their numbers.
SSKIT_OWN_CLONES void triple_table(const double* weights, ptrdiff_t n_states, double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * stride;
    double* least = out + n_states * size;
    double* most = least + size;
    double low[HALF], high[HALF];
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        for (ptrdiff_t b = 0; b < n_states; ++b) {
            const double* row = weights + (a * n_states + b) * n_states;
            double* to = out + a * size + b * stride;
            for (ptrdiff_t c = 0; c < n_states; c += LANES) store(to + c, load(row + c));
            for (ptrdiff_t c = n_states; c < stride; ++c) to[c] = row[0];
            half_vec floor = load_half(to), top = floor;
            for (ptrdiff_t c = HALF; c < stride; c += HALF) {
                floor = smaller(load_half(to + c), floor);
                top = larger(load_half(to + c), top);
            }
            store(low, floor);
            store(high, top);
            least[a * stride + b] = *std::min_element(low, low + HALF);
            most[a * stride + b] = *std::max_element(high, high + HALF);
        }
        for (ptrdiff_t b = n_states; b < stride; ++b)
            least[a * stride + b] = most[a * stride + b] = 0.0;
    }
}

// best = the larger of best and value + row, n numbers
SSKIT_INLINE void raise_row(double value, const double* row, ptrdiff_t n, double* best) {
    for (ptrdiff_t c = 0; c < n; c += HALF) {
        store(best + c, larger(load_half(row + c) + value, load_half(best + c)));
    }
}

// exp(-50) is below the rounding of a sum: rows whose largest term is so far below are left out.
constexpr double FAR_BELOW = 50.0;

// out = top + log of the sum over a of exp(value[a, b] + triples[a, b, c] - top), where out holds
// top, the largest. A row a is left out for b if its best term is FAR_BELOW less than every top
SSKIT_INLINE void add_up_rows(const double* value, const double* triples, const double* most,
                              ptrdiff_t n_states, const double* floor, double* sums, double* out) {
    const ptrdiff_t stride = padded(n_states);
    // -infinity minus itself would be NaN
    const vec least = constant(std::numeric_limits<double>::lowest());
    for (ptrdiff_t b = 0; b < n_states; ++b, out += stride) {
        std::memset(sums, 0, stride * sizeof(double));
        for (ptrdiff_t a = 0; a < n_states; ++a) {
            const double x = value[a * stride + b];
            if (!(x + most[a * stride + b] >= floor[b] - FAR_BELOW)) continue;
            const double* row = triples + (a * n_states + b) * stride;
            for (ptrdiff_t c = 0; c < stride; c += LANES) {
                const vec top = larger(load(out + c), least);
                store(sums + c, load(sums + c) + exp_lanes((load(row + c) + x) - top));
            }
        }
        for (ptrdiff_t c = 0; c < n_states; ++c)
            out[c] = sums[c] > 0.0 ? out[c] + std::log(sums[c]) : NOTHING;
    }
}

// One step of the recursion over pairs of labels, without back pointers:
// out[b, c] = add[b, c] + node[c] + max_a (value[a, b] + triples[a, b, c]) or, if SUM, the log of
// the sum of exponentials in place of the maximum:
//     (value[:, :, None] + triples).max(axis=0) + add + node
// Most rows of triples are left out, and the maximum is the same: the upper bound of row (a, b),
// value[a, b] plus its largest number, is below the lower bound of another row. add and node may
// both be NULL. Tables of pairs have rows of padded(n_states) numbers; scratch has two.
template <bool SUM>
SSKIT_INLINE void step_of_pairs(const double* value, const double* triples, ptrdiff_t n_states,
                                const double* add, const double* node, double* floor, double* out) {
    const ptrdiff_t stride = padded(n_states), size = n_states * stride;
    const double* least = triples + n_states * size;
    const double* most = least + size;
    for (ptrdiff_t b = 0; b < stride; b += HALF) {
        // not -inf, so that states without any way into them are left out too
        half_vec best = half_constant(std::numeric_limits<double>::lowest());
        for (ptrdiff_t at = b; at < size; at += stride) {
            best = larger(load_half(value + at) + load_half(least + at), best);
        }
        store(floor + b, best);
    }
    const half_vec nothing = half_constant(NOTHING);
    for (ptrdiff_t at = 0; at < size; at += HALF) store(out + at, nothing);
    for (ptrdiff_t a = 0; a < n_states; ++a) {
        for (ptrdiff_t b = 0; b < n_states; ++b) {
            const ptrdiff_t pair = a * stride + b;
            if (!(value[pair] + most[pair] >= floor[b])) continue;
            raise_row(value[pair], triples + a * size + b * stride, stride, out + b * stride);
        }
    }
    if (SUM) add_up_rows(value, triples, most, n_states, floor, floor + stride, out);
    if (!add) return;
    for (ptrdiff_t c = 0; c < stride; c += LANES) {
        const vec here = load(node + c);
        for (ptrdiff_t at = c; at < size; at += stride) {
            store(out + at, load(out + at) + (load(add + at) + here));
        }
    }
}
SSKIT_OWN_CLONES void second_order_step(const double* value, const double* triples,
                                        ptrdiff_t n_states, const double* add, const double* node,
                                        double* scratch, double* out) {
    step_of_pairs<false>(value, triples, n_states, add, node, scratch, out);
}
SSKIT_OWN_CLONES void second_order_log_step(const double* value, const double* triples,
                                            ptrdiff_t n_states, const double* add,
                                            const double* node, double* scratch, double* out) {
    step_of_pairs<true>(value, triples, n_states, add, node, scratch, out);
}

// out[a, b, c] += exp(value[a, b] + triples[a, b, c] + rest[b, c]), probabilities, all padded
SSKIT_OWN_CLONES void add_triples(const double* value, const double* triples, const double* rest,
                                  ptrdiff_t n_states, double* out) {
    const ptrdiff_t stride = padded(n_states);
    for (ptrdiff_t a = 0; a < n_states; ++a)
        for (ptrdiff_t b = 0; b < n_states; ++b) {
            const double x = value[a * stride + b];
            const ptrdiff_t row = (a * n_states + b) * stride;
            for (ptrdiff_t c = 0; x > NOTHING && c < stride; c += LANES) {
                const vec y = (load(rest + b * stride + c) + load(triples + row + c)) + x;
                store(out + row + c, load(out + row + c) + exp_lanes(at_most_certain(y)));
            }
        }
}

struct PairMax : MaxPlus {
    static constexpr auto step = second_order_step;
};

struct PairSum {
    static constexpr auto step = second_order_log_step;
    static double settle(double* table, ptrdiff_t n_states) {
        const ptrdiff_t stride = padded(n_states), size = n_states * stride;
        for (double* row = table; row < table + size; row += stride)
            std::fill(row + n_states, row + stride, NOTHING);
        return subtract_largest(table, size);
    }
};

// Chains of the second order: a table for each node, by the label before and its own. That of the
// first node has one row only, as if all had the same label before it. Two rows of scratch stand
// behind the tables.
template <class A>
struct SecondOrder {
    static ptrdiff_t size(const Chain& c) { return c.size; }
    static void extend(const Chain& c, ptrdiff_t t, double* here) {
        const double *node = c.node + t * c.stride, *before = here - c.size;
        if (t > 1) {
            A::step(before, c.triples, c.n_states, c.at(t - 1), node,
                    here + (c.n_nodes - t) * c.size, here);
            return;
        }
        for (ptrdiff_t a = 0; a < c.n_states; ++a)
            for (ptrdiff_t b = 0; b < c.stride; ++b)
                here[a * c.stride + b] = t == 1 ? before[a] + (c.at(0)[a * c.stride + b] + node[b])
                    : a == 0 ? node[b] : NOTHING;
    }
};

// Calls visit(t, ahead) from the last node to the second: what is behind node t, [c, b] by its
// label c and the one before it. scratch has two tables of pairs and two rows.
template <class A, class Visit>
void second_backward(const Chain& chain, double* scratch, Visit visit) {
    const ptrdiff_t stride = chain.stride;
    double *ahead = scratch, *further = scratch + chain.size;
    std::memset(ahead, 0, chain.size * sizeof(double));
    for (ptrdiff_t t = chain.n_nodes - 1; t > 0; --t) {
        visit(t, ahead);
        if (t == 1) break;
        for (ptrdiff_t c = 0, at = 0; c < chain.n_states; ++c)
            for (ptrdiff_t b = 0; b < stride; ++b, ++at) {
                const double pair = !chain.tables ? chain.turned[at]
                    : b < chain.n_states ? chain.tables[t - 1][b * stride + c] : 0.0;
                further[at] = ahead[at] + (pair + chain.node[t * stride + c]);
            }
        A::settle(further, chain.n_states);
        A::step(further, chain.turned_triples, chain.n_states, nullptr, nullptr,
                further + chain.size, ahead);
    }
}

// For LazyLists: list (t K + b) K + a has the labellings of the nodes 0 .. t whose last label is b
// and the one before a; the last list whole labellings, from `closing`, the last table read by b.
struct SecondLists {
    Chain c;
    const double *value, *closing;

    SecondLists(const Chain& chain, const double* numbers, std::vector<double>& room)
        : c(chain), value(numbers) {
        const double* last = value + (c.n_nodes - 1) * c.size;
        room.resize(c.n_states * c.n_states);
        for (ptrdiff_t b = 0, at = 0; b < c.n_states; ++b)
            for (ptrdiff_t a = 0; a < c.n_states; ++a, ++at) room[at] = last[a * c.stride + b];
        closing = room.data();
    }

    ptrdiff_t goal() const { return c.n_nodes * c.n_states * c.n_states; }
    Sources sources(ptrdiff_t v) const {
        const ptrdiff_t K = c.n_states, t = v / (K * K), b = v / K % K, a = v % K;
        if (v == goal()) return {K * K, 0.0, v - K * K, 1, closing};
        if (t == 0) return {0, c.node[b]};
        const double last = c.at(t - 1)[a * c.stride + b] + c.node[t * c.stride + b];
        if (t == 1) return {1, last, a * K, 1, c.node + a};
        return {K, last, ((t - 1) * K + a) * K, 1, value + (t - 1) * c.size + a, c.stride,
                c.triples + a * c.stride + b, c.size};
    }

    void load(ptrdiff_t, Sources&) const {}
    int32_t place(ptrdiff_t v) const { return (int32_t)(v / (c.n_states * c.n_states)); }
    void write(int32_t t, int32_t s, int32_t* out) const {
        if (t < c.n_nodes) {
            if (t > 1) out[t - 2] = s;
            return;
        }
        out[t - 1] = s / (int32_t)c.n_states;
        if (t > 1) out[t - 2] = s % (int32_t)c.n_states;
    }
};

static inline ptrdiff_t triple_room(ptrdiff_t n_states) {
    return (n_states + 2) * n_states * padded(n_states);
}
static inline ptrdiff_t second_order_room(const Chain& c) {
    return c.n_nodes * c.size + 2 * c.stride;
}

}  // namespace sskit
