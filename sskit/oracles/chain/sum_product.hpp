// Sum-product on chains, compiled for several CPUs; see sum_product.pxd.
//
// Rows have padded(n_states) columns. The padding of rows of potentials is not read; that of all
// rows that are written is zero (of logarithms: -infinity).
#pragma once
#include "log_sums.hpp"
#include "viterbi.hpp"

namespace sskit {

// Least value of messages and factors if some transitions have weight zero: products of numbers
// above it do not underflow, so that a zero always means a forbidden state.
constexpr double LEAST_NODE = -200.0;
constexpr double LEAST_MESSAGE = 1e-87;

// out = sum over rows a of weight[a] * table[a]; two sums at a time, since products have a long
// latency
template <int NV>
SSKIT_INLINE void weighted_rows(const double* weight, const double* table, ptrdiff_t n_states,
                                ptrdiff_t stride, double* out) {
    vec even[NV], odd[NV];
    for (int v = 0; v < NV; ++v) even[v] = odd[v] = constant(0.0);
    ptrdiff_t a = 0;
    for (; a + 2 <= n_states; a += 2) {
        const double* row = table + a * stride;
        for (int v = 0; v < NV; ++v) even[v] += load(row + v * LANES) * weight[a];
        for (int v = 0; v < NV; ++v) odd[v] += load(row + stride + v * LANES) * weight[a + 1];
    }
    if (a < n_states)
        for (int v = 0; v < NV; ++v) even[v] += load(table + a * stride + v * LANES) * weight[a];
    for (int v = 0; v < NV; ++v) store(out + v * LANES, even[v] + odd[v]);
}

SSKIT_INLINE void send(const double* weight, const double* table, ptrdiff_t n, double* out) {
    const ptrdiff_t stride = padded(n);
#define SSKIT_ACT(NV) weighted_rows<NV>(weight, table + c, n, stride, out + c)
    SSKIT_STRETCHES(n, SSKIT_ACT)
#undef SSKIT_ACT
}

SSKIT_INLINE bool is_faint(const double* message, ptrdiff_t n) {
    bool faint = false;
    for (ptrdiff_t k = 0; k < n; ++k) faint |= (message[k] > 0.0) & (message[k] < LEAST_MESSAGE);
    return faint;
}

// out = exp(table - its largest entry), rows padded with zeros; returns that entry, and in lowest
// the least one that is finite less the largest, and whether some entry is -infinity
SSKIT_OWN_CLONES double exp_table(const double* table, ptrdiff_t n, double* out, double* lowest,
                                  int* forbids) {
    const ptrdiff_t stride = padded(n);
    double top = NOTHING, least = -NOTHING;
    *forbids = 0;
    for (ptrdiff_t a = 0; a < n; ++a) {
        const double* row = table + a * stride;
        for (ptrdiff_t b = 0; b < n; ++b) {
            const bool finite = row[b] > NOTHING;
            top = row[b] > top ? row[b] : top;
            least = finite && row[b] < least ? row[b] : least;
            *forbids |= !finite;
        }
    }
    if (!(top > NOTHING)) {
        for (ptrdiff_t k = 0; k < n * stride; ++k) out[k] = 0.0;
        *lowest = 0.0;
        return 0.0;
    }
    for (ptrdiff_t a = 0; a < n; ++a) exp_row(table + a * stride, top, n, out + a * stride);
    *lowest = least - top;
    return top;
}

// One step in probabilities that are scaled to sum to one: alpha = (previous table) * exp(node).
// factor gets exp(node - its largest entry). Returns the logarithm of the scale, -infinity if no
// state has any probability, NaN if, being careful, numbers have become too small to be trusted.
SSKIT_OWN_CLONES double scaled_step(const double* node, const double* previous, const double* table,
                                    ptrdiff_t n, bool careful, double* factor, double* alpha) {
    // alpha = (previous @ table) * exp(node);  alpha /= alpha.sum();  log Z += log of that sum
    const ptrdiff_t stride = padded(n);
    const double top = row_max(node, n);
    if (!(top > NOTHING)) return NOTHING;
    exp_row(node, top, n, factor);
    if (careful) {
        bool faint = false;
        for (ptrdiff_t k = 0; k < n; ++k)
            faint |= (node[k] > NOTHING) & (node[k] - top < LEAST_NODE);
        if (faint) return std::numeric_limits<double>::quiet_NaN();
    }
    if (previous == nullptr) {
        for (ptrdiff_t c = 0; c < stride; c += LANES) store(alpha + c, load(factor + c));
    } else {
        send(previous, table, n, alpha);
        if (careful && is_faint(alpha, n)) return std::numeric_limits<double>::quiet_NaN();
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(alpha + c, load(alpha + c) * load(factor + c));
    }
    const double sum = row_sum(alpha, stride);
    if (!(sum > 0.0)) return NOTHING;
    const double scale = 1.0 / sum;
    for (ptrdiff_t c = 0; c < stride; c += LANES) store(alpha + c, load(alpha + c) * scale);
    return top + std::log(sum);
}

// beta = sum over b of table[., b] * ahead[b], by the transposed table or, if that is null, by the
// rows of the table; returns whether numbers are too small to be trusted
SSKIT_OWN_CLONES bool scaled_back(const double* ahead, const double* table,
                                  const double* transposed, ptrdiff_t n, bool careful,
                                  double* beta) {
    const ptrdiff_t stride = padded(n);
    if (transposed != nullptr) {
        send(ahead, transposed, n, beta);
    } else {
        for (ptrdiff_t a = 0; a < n; ++a) beta[a] = dot_padded(table + a * stride, ahead, stride);
        for (ptrdiff_t a = n; a < stride; ++a) beta[a] = 0.0;
    }
    return careful && is_faint(beta, n);
}

// marginal = alpha * beta scaled to sum to one, factor *= beta likewise; returns the first scale
SSKIT_OWN_CLONES double scaled_marginals(const double* alpha, const double* beta, ptrdiff_t n,
                                         double* factor, double* marginal) {
    const ptrdiff_t stride = padded(n);
    const double scale = 1.0 / dot_padded(alpha, beta, stride);
    vec sum = constant(0.0);
    for (ptrdiff_t c = 0; c < stride; c += LANES) {
        store(marginal + c, load(alpha + c) * load(beta + c) * scale);
        const vec x = load(factor + c) * load(beta + c);
        store(factor + c, x);
        sum += x;
    }
    const double inverse = 1.0 / total(sum);
    for (ptrdiff_t c = 0; c < stride; c += LANES) store(factor + c, load(factor + c) * inverse);
    return scale;
}

// pairs[a, b] += scale * alpha[a] * table[a, b] * ahead[b]
SSKIT_OWN_CLONES void scaled_pairs(const double* alpha, const double* table, const double* ahead,
                                   ptrdiff_t n, double scale, double* pairs) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t a = 0; a < n; ++a) {
        const double weight = alpha[a] * scale;
        if (weight == 0.0) continue;
        const double* row = table + a * stride;
        double* out = pairs + a * stride;
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(out + c, load(out + c) + load(row + c) * load(ahead + c) * weight);
    }
}

// pairs[a, b] += table[a, b] * sum over t of scale[t] * alpha[t, a] * ahead[t, b], two rows at a
// time; alpha is scaled
template <int NV>
SSKIT_INLINE void add_tied(const double* alpha, const double* table, const double* ahead,
                           ptrdiff_t n_steps, ptrdiff_t n, ptrdiff_t stride, double* pairs) {
    for (ptrdiff_t a = 0; a < n; a += 2) {
        const ptrdiff_t second = a + 1 < n ? 1 : 0;
        vec sum[2][NV];
        for (int v = 0; v < NV; ++v) sum[0][v] = sum[1][v] = constant(0.0);
        for (ptrdiff_t t = 0; t < n_steps; ++t) {
            const double *left = alpha + t * stride + a, *right = ahead + t * stride;
            for (int v = 0; v < NV; ++v) {
                const vec x = load(right + v * LANES);
                sum[0][v] += x * left[0];
                sum[1][v] += x * left[second];
            }
        }
        for (ptrdiff_t r = 0; r <= second; ++r)
            for (int v = 0; v < NV; ++v) {
                const ptrdiff_t at = (a + r) * stride + v * LANES;
                store(pairs + at, load(pairs + at) + load(table + at) * sum[r][v]);
            }
    }
}

SSKIT_OWN_CLONES void tied_pairs(double* alpha, const double* scale, const double* table,
                                 const double* ahead, ptrdiff_t n_steps, ptrdiff_t n,
                                 double* pairs) {
    const ptrdiff_t stride = padded(n);
    for (ptrdiff_t t = 0; t < n_steps; ++t)
        for (ptrdiff_t c = 0; c < stride; c += LANES)
            store(alpha + t * stride + c, load(alpha + t * stride + c) * scale[t]);
#define SSKIT_ACT(NV) add_tied<NV>(alpha, table + c, ahead + c, n_steps, n, stride, pairs + c)
    for (ptrdiff_t c = 0; c < n; c += 2 * LANES) {
        if (n - c <= LANES) SSKIT_ACT(1);
        else SSKIT_ACT(2);
    }
#undef SSKIT_ACT
}

struct LogSum {
    static constexpr bool SUM = true;
    static constexpr auto step = log_sum_step;
    static double settle(double* x, ptrdiff_t n_states) {
        for (ptrdiff_t k = n_states; k < padded(n_states); ++k) x[k] = NOTHING;
        return subtract_largest(x, n_states);
    }
};

// How far transitions may differ before logarithms are taken.
constexpr double WIDEST = -100.0;

// Sums over the labellings of chains of the first order, one after the other; see ChainOracle.
class SumProduct {
    Chain c;
    bool logs = false;                      // was the last chain computed in logarithms?
    double shift = 0.0, lowest = 0.0;       // largest transition; the least finite one less that
    int forbids = 0;                        // is one of them -inf?
    // the transitions that the next two tables were computed from
    const double *table_source = nullptr, *transposed_source = nullptr;
    std::vector<double> table;              // (n_states, stride) exp(transitions - shift)
    std::vector<double> transposed;         // the same
    std::vector<double> factor, alpha;      // (n_nodes, stride) exp(node), scaled; nodes so far
    std::vector<double> scale, row;         // (n_nodes,) for products to sum to one; scratch

    // table as that of transition t
    void make_table(ptrdiff_t t) {
        if (c.at(t) == table_source) return;
        table.resize(c.size);
        table_source = c.at(t), transposed_source = nullptr;
        shift = exp_table(table_source, c.n_states, table.data(), &lowest, &forbids);
    }

    // a table with zeros may lose numbers that a later table without zeros would make large again:
    // if transitions have tables of their own, all numbers are checked
    bool careful() const { return forbids || c.tables; }

    // alpha gets logarithms, of each node less the largest
    double log_forward() {
        const double total =
            chain_forward<FirstOrder, LogSum>(c, nullptr, nullptr, 0.0, alpha.data());
        return total + normalise(&alpha[(c.n_nodes - 1) * c.stride], c.n_states, row.data());
    }

    void log_backward(double* marginals, double* pairs, ptrdiff_t step) {
        double* both = row.data() + 3 * c.stride + c.size;
        chain_backward<LogSum>(c, row.data(), [&](ptrdiff_t t, double* ahead, double* suffix) {
            const double* here = &alpha[t * c.stride];
            for (ptrdiff_t k = 0; k < c.n_states; ++k) both[k] = here[k] + ahead[k];
            const double total = normalise(both, c.n_states, marginals + t * c.stride);
            if (pairs && t < c.n_nodes - 1)
                add_pairs(here, c.at(t), suffix, c.n_states, total, pairs + t * step);
        });
    }

  public:
    // the tables of chains to come may have other numbers
    void begin() { table_source = nullptr; }

    double forward(const Chain& chain) {
        double total = 0.0;
        c = chain;
        if (c.tables) table_source = nullptr;
        factor.resize(c.n_nodes * c.stride);
        alpha.resize(c.n_nodes * c.stride);
        row.resize(4 * c.stride + c.size);
        logs = false;
        // whether it forbids transitions matters for the first node, too
        if (c.n_nodes > 1) make_table(0);
        for (ptrdiff_t t = 0; t < c.n_nodes && !logs; ++t) {
            double* here = &alpha[t * c.stride];
            if (t > 0) make_table(t - 1);
            if (t > 0 && lowest < WIDEST) {
                logs = true;
                break;
            }
            const double sum =
                scaled_step(c.node + t * c.stride, t ? here - c.stride : nullptr, table.data(),
                            c.n_states, careful(), &factor[t * c.stride], here);
            if (sum == NOTHING) return sum;
            logs = std::isnan(sum);
            total += sum + (t ? shift : 0.0);
        }
        return logs ? log_forward() : total;
    }

    void backward(double* marginals, double* pairs, ptrdiff_t step) {
        double* beta = row.data();
        scale.resize(c.n_nodes);
        std::fill_n(beta, c.stride, 1.0);
        for (ptrdiff_t t = c.n_nodes - 1; t >= 0 && !logs; --t) {
            if (t < c.n_nodes - 1) {
                make_table(t);
                if (!c.tables && transposed_source != table_source) {
                    transposed.resize(c.size);
                    transpose_padded(table.data(), c.n_states, transposed.data());
                    transposed_source = table_source;
                }
                logs = scaled_back(&factor[(t + 1) * c.stride], table.data(),
                                   c.tables ? nullptr : transposed.data(), c.n_states, careful(),
                                   beta);
                if (logs) log_forward();
                if (logs) break;
            }
            scale[t] = scaled_marginals(&alpha[t * c.stride], beta, c.n_states,
                                        &factor[t * c.stride], marginals + t * c.stride);
        }
        if (logs) log_backward(marginals, pairs, step);
        if (pairs && !logs && !c.tables && !step && c.n_nodes > 1) {
            make_table(0);
            tied_pairs(alpha.data(), scale.data(), table.data(), &factor[c.stride], c.n_nodes - 1,
                       c.n_states, pairs);
            return;
        }
        for (ptrdiff_t t = 0; pairs && !logs && t < c.n_nodes - 1; ++t) {
            make_table(t);
            scaled_pairs(&alpha[t * c.stride], table.data(), &factor[(t + 1) * c.stride],
                         c.n_states, scale[t], pairs + t * step);
        }
    }

    void sample(const double* uniform, int32_t* labels) {
        double *weight = row.data(), *value = weight + c.stride;
        for (ptrdiff_t t = c.n_nodes - 1; t >= 0; --t) {
            std::copy_n(&alpha[t * c.stride], c.stride, value);
            if (t < c.n_nodes - 1) {
                if (!logs) make_table(t);
                const double* column = (logs ? c.at(t) : table.data()) + labels[t + 1];
                for (ptrdiff_t k = 0; k < c.n_states; ++k, column += c.stride)
                    value[k] = logs ? value[k] + *column : value[k] * *column;
            }
            if (logs) normalise(value, c.n_states, weight);
            labels[t] = (int32_t)draw_state(logs ? weight : value, c.n_states, uniform[t]);
        }
    }
};

}  // namespace sskit
