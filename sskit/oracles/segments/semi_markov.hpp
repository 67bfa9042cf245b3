// Semi-Markov recursions in any algebra, and the step over all lengths, compiled for
// several CPUs; semi_markov.pxd documents the functions.
#pragma once
#include <algorithm>

#include "sum_product.hpp"

namespace sskit {

SSKIT_INLINE vec of_length(const double* opening, const double* length, const double* whole) {
    const vec x = load(opening) + load(length);
    return whole == nullptr ? x : x + load(whole);
}

template <bool SUM, int NV>
SSKIT_INLINE void all_lengths(const double* opening, const double* lengths, const double* whole,
                              ptrdiff_t n_lengths, ptrdiff_t stride, ptrdiff_t whole_step,
                              const double* closing, double* out) {
    vec best[NV];
    for (int v = 0; v < NV; ++v) best[v] = constant(NOTHING);
    for (ptrdiff_t d = 0; d < n_lengths; ++d) {
        const double* further = whole == nullptr ? nullptr : whole - d * whole_step;
        for (ptrdiff_t v = 0, c = 0; v < NV; ++v, c += LANES)
            best[v] = larger(of_length(opening - d * stride + c, lengths + d * stride + c,
                                       further ? further + c : nullptr), best[v]);
    }
    for (ptrdiff_t v = 0, c = 0; SUM && v < NV; ++v, c += LANES) {
        // -infinity minus itself would be NaN
        const vec top = larger(best[v], constant(-std::numeric_limits<double>::max()));
        vec sum = constant(0.0);
        for (ptrdiff_t d = 0; d < n_lengths; ++d)
            sum += exp_lanes(of_length(opening - d * stride + c, lengths + d * stride + c,
                                       whole ? whole - d * whole_step + c : nullptr) - top);
        double sums[LANES];
        store(sums, sum);
        for (double& x : sums) x = std::log(x);
        best[v] = top + load(sums);
    }
    for (int v = 0; v < NV; ++v) store(out + v * LANES, best[v] + load(closing + v * LANES));
}

// out[k] = closing[k] + max over d < n_lengths, or the log of the sum of exponentials, of
// opening[-d, k] + lengths[d, k] + whole[-d, k]; rows of opening and lengths are stride apart,
// those of whole, which may be null, whole_step
template <bool SUM>
SSKIT_INLINE void all_states(const double* opening, const double* lengths, const double* whole,
                             ptrdiff_t n_lengths, ptrdiff_t n_states, ptrdiff_t whole_step,
                             const double* closing, double* out) {
    const ptrdiff_t stride = padded(n_states);
#define SSKIT_ACT(NV)                                                                          \
    all_lengths<SUM, NV>(opening + c, lengths + c, whole == nullptr ? nullptr : whole + c,     \
                         n_lengths, stride, whole_step, closing + c, out + c)
    SSKIT_STRETCHES(n_states, SSKIT_ACT)
#undef SSKIT_ACT
}
SSKIT_OWN_CLONES void lengths_step(bool sum, const double* opening, const double* lengths,
                                   const double* whole, ptrdiff_t n_lengths, ptrdiff_t n_states,
                                   ptrdiff_t whole_step, const double* closing, double* out) {
    if (sum)
        all_states<true>(opening, lengths, whole, n_lengths, n_states, whole_step, closing, out);
    else all_states<false>(opening, lengths, whole, n_lengths, n_states, whole_step, closing, out);
}

// see semi_markov.pxd
struct SegmentPotentials {
    ptrdiff_t n_tokens, n_states, max_length;
    const double *opening, *closing, *lengths, *whole, *transitions;
    const int32_t *bonus_state, *bonus_stop, *bonus_length;
    const double* bonus;

    // The score of a segment of the tokens s .. s + d, in the order in which it is added up here:
    // opening, the sum of what leads to the segment and of its own
    double score(double opening, ptrdiff_t s, ptrdiff_t d, ptrdiff_t k) const {
        const ptrdiff_t stride = padded(n_states);
        double score = opening + lengths[d * stride + k];
        if (whole) score += whole[(s * max_length + d) * stride + k];
        const ptrdiff_t t = s + d;
        if (bonus_state && bonus_state[t] <= k && k < bonus_stop[t] && bonus_length[t] == d)
            score += bonus[t];
        return score;
    }
};

// For LazyLists: list t K + a has the ways to begin a segment of state a at token t, list
// (n_tokens + t) K + a those to end one there, the last list whole segmentations.
struct SegmentLists {
    const SegmentPotentials* p;
    const double *leads, *value;   // of max-sum, without bonuses

    Sources sources(ptrdiff_t v) const {
        const ptrdiff_t K = p->n_states, T = p->n_tokens, M = p->max_length, stride = padded(K);
        const ptrdiff_t t = v / K % T, a = v % K, ends = T * K;
        if (v == 2 * ends) return {K, 0.0, 2 * ends - K, 1, value + (T - 1) * stride};
        if (v < K) return {0, leads[a]};
        if (v < ends)
            return {K, p->opening[t * stride + a], ends + (t - 1) * K, 1,
                    value + (t - 1) * stride, 1, p->transitions + a, stride};
        return {std::min(t + 1, M), p->closing[t * stride + a], t * K + a, -K,
                leads + t * stride + a, -stride, p->lengths + a, stride,
                p->whole ? p->whole + t * M * stride + a : nullptr, (1 - M) * stride};
    }

    void load(ptrdiff_t, Sources&) const {}
    int32_t place(ptrdiff_t v) const { return (int32_t)v; }
    void write(int32_t place, int32_t s, int32_t* code) const {
        const ptrdiff_t t = place / p->n_states - p->n_tokens;
        if (t < 0 || t == p->n_tokens) return;
        std::fill(code + t - s, code + t + 1, (int32_t)(place % p->n_states * 2));
        code[t - s] += 1;
    }
};

// see semi_markov.pxd
class Segmentations {
    // of tokens by state: the best score up to a segment that begins there; of segments that end
    // there; of what follows these
    std::vector<double> leads, value, behind;
    std::vector<double> ahead, turned, scores;
    LazyLists<SegmentLists> lists;

    template <class A>
    void forward(const SegmentPotentials& p) {
        const ptrdiff_t K = p.n_states, M = p.max_length, stride = padded(K);
        const size_t size = p.n_tokens * stride;
        for (std::vector<double>* rows : {&leads, &value, &behind})
            if (rows->size() < size) rows->resize(size);
        std::copy_n(p.opening, stride, leads.data());
        // segments of state k that begin, and that end, at token t:
        // leads[t, k] = opening[t, k] + max_j (value[t - 1, j] + transitions[j, k])
        // value[t, k] = closing[t, k] + max_d (leads[t - d, k] + lengths[d, k] + whole[t-d, d, k])
        for (ptrdiff_t t = 0; t < p.n_tokens; ++t) {
            double *lead = &leads[t * stride], *here = &value[t * stride];
            if (t > 0) A::step(here - stride, p.transitions, K, p.opening + t * stride, lead);
            lengths_step(A::SUM, lead, p.lengths, p.whole ? p.whole + t * M * stride : nullptr,
                         std::min(t + 1, M), K, (M - 1) * stride, p.closing + t * stride, here);
            if (!p.bonus_state) continue;
            for (ptrdiff_t k = p.bonus_state[t]; k < p.bonus_stop[t]; ++k) {
                here[k] = NOTHING;
                for (ptrdiff_t s = t; s >= 0 && s > t - M; --s)
                    here[k] = std::max(here[k], p.score(leads[s * stride + k], s, t - s, k) +
                                                    p.closing[t * stride + k]);
            }
        }
    }

    // From the last token to the first; visit(t, k) reads all segments of state k that begin at
    // token t, and returns all that follows that token. After all states of a token, begun(t) may
    // read `ahead`.
    template <class A, class Visit, class Begun>
    void backward(const SegmentPotentials& p, Visit visit, Begun begun) {
        const ptrdiff_t K = p.n_states, stride = padded(K), last = p.n_tokens - 1;
        ahead.assign(stride, NOTHING);
        turned.resize(K * stride);
        transpose_padded(p.transitions, K, turned.data());
        // behind[t, j] = closing[t, j] + max_k (transitions[j, k] + ahead[t + 1, k])
        // ahead[t, k] = opening[t, k] + max_d (lengths[d, k] + whole[t, d, k] + behind[t + d, k])
        for (ptrdiff_t t = last; t >= 0; --t) {
            // behind: what follows a segment that ends at t, its own closing with it
            const double* closing = p.closing + t * stride;
            double* row = &behind[t * stride];
            if (t == last) std::copy_n(closing, K, row);
            else A::step(ahead.data(), turned.data(), K, closing, row);
            // ahead: segments that begin at t, and what follows them
            for (ptrdiff_t k = 0; k < K; ++k) ahead[k] = visit(t, k) + p.opening[t * stride + k];
            begun(t);
        }
    }

    // A number drawn by the logarithms of weights in `scores`, which become fractions, by one of
    // [0, 1), of which what has not been used remains: it becomes such a number again.
    ptrdiff_t draw(ptrdiff_t n, double& uniform) {
        normalise(scores.data(), n, scores.data());
        const ptrdiff_t drawn = draw_state(scores.data(), n, uniform);
        for (ptrdiff_t i = 0; i < drawn; ++i) uniform -= scores[i];
        uniform = std::min(std::max(uniform / scores[drawn], 0.0), 1.0 - 0x1p-53);
        return drawn;
    }

  public:
    double decode(const SegmentPotentials& p, int32_t* code) {
        const ptrdiff_t K = p.n_states, T = p.n_tokens;
        forward<MaxPlus>(p);
        const SegmentLists of = {&p, leads.data(), value.data()};
        trace_back(of, 2 * T * K, code, [&](const Sources& from, int32_t place) {
            const ptrdiff_t t = place / K - T, k = place % K;
            if (t < 0 || t == T) return best_of(from, place);
            double best = NOTHING;
            int32_t length = 0;
            for (int32_t d = 0; d < from.n; ++d) {
                const double score = p.score(from.first[d * from.first_step], t - d, d, k);
                if (score > best) best = score, length = d;
            }
            return length;
        });
        const double* row = &value[(T - 1) * padded(K)];
        return row[first_largest(row, K)];
    }

    void max_marginals(const SegmentPotentials& p, ptrdiff_t step, double* out) {
        const ptrdiff_t stride = padded(p.n_states);
        for (ptrdiff_t t = 0; t < p.n_tokens; ++t) std::fill_n(out + t * step, p.n_states, NOTHING);
        forward<MaxPlus>(p);
        backward<MaxPlus>(p, [&](ptrdiff_t t, ptrdiff_t k) {
            double best = NOTHING;
            // a token is in all segments from here that are at least as long
            for (ptrdiff_t d = std::min(p.max_length, p.n_tokens - t) - 1; d >= 0; --d) {
                double& here = out[(t + d) * step + k];
                best = std::max(best, p.score(0.0, t, d, k) + behind[(t + d) * stride + k]);
                here = std::max(here, leads[t * stride + k] + best);
            }
            return best;
        }, [](ptrdiff_t) {});
    }

    double log_partition(const SegmentPotentials& p) {
        const ptrdiff_t stride = padded(p.n_states);
        forward<LogSum>(p);
        scores.resize(padded(std::max(p.n_states, p.max_length)));
        return normalise(&value[(p.n_tokens - 1) * stride], p.n_states, scores.data());
    }

    double infer(const SegmentPotentials& p, ptrdiff_t step, double* tokens, double* segments,
                 double* pairs) {
        const ptrdiff_t K = p.n_states, stride = padded(K);
        const double log_partition = this->log_partition(p);
        if (log_partition == NOTHING) return log_partition;
        backward<LogSum>(p, [&](ptrdiff_t t, ptrdiff_t k) {
            const ptrdiff_t n = std::min(p.max_length, p.n_tokens - t);
            double best = NOTHING, total = 0.0;
            for (ptrdiff_t d = 0; d < n; ++d) {
                scores[d] = p.score(0.0, t, d, k) + behind[(t + d) * stride + k];
                best = std::max(best, scores[d]);
            }
            if (best == NOTHING) {
                for (ptrdiff_t d = 0; d < n; ++d) segments[(t * p.max_length + d) * K + k] = 0.0;
                return best;
            }
            // a probability, of which rounding may make more than one
            const double most = leads[t * stride + k] + best - log_partition;
            const double scale = std::exp(std::min(most, 0.0));
            for (ptrdiff_t d = n - 1; d >= 0; --d) {
                const double fraction = std::exp(scores[d] - best);
                total += fraction;
                tokens[(t + d) * step + k] += scale * total;
                segments[(t * p.max_length + d) * K + k] = scale * fraction;
            }
            return best + std::log(total);
        }, [&](ptrdiff_t t) {
            if (t > 0 && pairs != nullptr)
                add_pairs(&value[(t - 1) * stride], p.transitions, ahead.data(), K, log_partition,
                          pairs);
        });
        return log_partition;
    }

    void sample(const SegmentPotentials& p, const double* uniform, int32_t* code) {
        const ptrdiff_t K = p.n_states, stride = padded(K);
        for (ptrdiff_t t = p.n_tokens - 1, next = -1; t >= 0;) {
            double rest = uniform[t];
            for (ptrdiff_t k = 0; k < K; ++k)
                scores[k] =
                    value[t * stride + k] + (next < 0 ? 0.0 : p.transitions[k * stride + next]);
            next = draw(K, rest);
            const ptrdiff_t n = std::min(t + 1, p.max_length);
            for (ptrdiff_t d = 0; d < n; ++d)
                scores[d] = p.score(leads[(t - d) * stride + next], t - d, d, next);
            const ptrdiff_t first = t - draw(n, rest);
            std::fill(code + first, code + t + 1, (int32_t)(2 * next));
            code[first] += 1;
            t = first - 1;
        }
    }

    // see semi_markov.pxd
    static double score(const SegmentPotentials& p, const int32_t* code) {
        const ptrdiff_t stride = padded(p.n_states);
        double total = 0.0;
        for (ptrdiff_t t = 0, s = 0, before = -1; t < p.n_tokens; ++t) {
            if (code[t] & 1) s = t;
            if (t + 1 < p.n_tokens && !(code[t + 1] & 1)) continue;
            const ptrdiff_t k = code[t] >> 1;
            if (t - s >= p.max_length) return NOTHING;
            total += p.score(p.opening[s * stride + k], s, t - s, k) + p.closing[t * stride + k];
            if (before >= 0) total += p.transitions[before * stride + k];
            before = k;
        }
        return total;
    }

    ptrdiff_t k_best(const SegmentPotentials& p, ptrdiff_t k, int32_t* code, double* out) {
        const ptrdiff_t goal = 2 * p.n_tokens * p.n_states;
        forward<MaxPlus>(p);
        SegmentLists of = {&p, leads.data(), value.data()};
        return lists.decode(of, goal + 1, goal, k, p.n_tokens, code, out);
    }
};

}  // namespace sskit
