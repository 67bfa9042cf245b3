// The oracle of chains of the first or the second order; see viterbi.pxd.
#pragma once
#include "second_order.hpp"
#include "sum_product.hpp"

namespace sskit {

// Sums over the labellings of chains of the second order, one after the other; see ChainOracle.
class SecondSumProduct {
    Chain c;
    std::vector<double> value, shift, scratch, closing;   // shift: subtracted from values

  public:
    double forward(const Chain& chain) {
        c = chain;
        value.resize(second_order_room(c));
        shift.resize(c.n_nodes);
        scratch.resize(4 * c.size + 2 * c.stride);
        const double total = chain_forward<SecondOrder, PairSum>(c, nullptr, nullptr, 0.0,
                                                                 value.data(), shift.data());
        return total + normalise(&value[(c.n_nodes - 1) * c.size], c.size, scratch.data());
    }

    void backward(double* marginals, double* pairs, ptrdiff_t step, double* triples,
                  ptrdiff_t triple_step) {
        const ptrdiff_t K = c.n_states, stride = c.stride;
        double *both = &scratch[2 * c.size + 2 * stride], *fractions = both + c.size;
        std::fill_n(marginals, c.n_nodes * stride, 0.0);
        if (c.n_nodes == 1) normalise(c.node, K, marginals);
        second_backward<PairSum>(c, scratch.data(), [&](ptrdiff_t t, const double* ahead) {
            const double* here = &value[t * c.size];
            for (ptrdiff_t b = 0, at = 0; b < K; ++b)
                for (ptrdiff_t d = 0; d < stride; ++d, ++at)
                    both[at] = d < K ? here[at] + ahead[d * stride + b] : NOTHING;
            const double total = normalise(both, c.size, fractions);
            for (ptrdiff_t b = 0, at = 0; b < K; ++b)
                for (ptrdiff_t d = 0; d < stride; ++d, ++at) {
                    marginals[t * stride + d] += fractions[at];
                    if (t == 1) marginals[b] += fractions[at];
                }
            for (ptrdiff_t at = 0; pairs && at < c.size; ++at)
                pairs[(t - 1) * step + at] += fractions[at];
            if (!triples || t == 1) return;
            for (ptrdiff_t b = 0; b < K; ++b)
                for (ptrdiff_t d = 0; d < K; ++d)
                    both[b * stride + d] = c.at(t - 1)[b * stride + d] + c.node[t * stride + d] +
                                           (ahead[d * stride + b] - shift[t] - total);
            add_triples(here - c.size, c.triples, both, K, triples + (t - 2) * triple_step);
        });
    }

    void sample(const double* uniform, int32_t* labels) {
        double *weight = scratch.data(), *score = weight + c.size;
        const SecondLists of(c, value.data(), closing);
        // the last two labels are drawn together
        trace_back(of, of.goal(), labels, [&](const Sources& from, int32_t t) {
            for (ptrdiff_t s = 0; s < from.n; ++s)
                score[s] = from.first[s * from.first_step] + from.added[s * from.added_step];
            normalise(score, from.n, weight);
            const ptrdiff_t drawn = std::max(t < c.n_nodes ? t - 2 : t - 1, 0);
            return (int32_t)draw_state(weight, from.n, uniform[drawn]);
        });
    }
};

// see viterbi.pxd
class ChainOracle {
    std::vector<double> turned, turned_triples, value, closing, scratch;
    LazyLists<ChainLists> lists;
    LazyLists<SecondLists> triple_lists;
    SumProduct sums;
    SecondSumProduct triple_sums;
    bool has_triples = false;               // had the last chain some?

    Chain both_ways(Chain c) const {
        c.turned = turned.data(), c.turned_triples = turned_triples.data();
        return c;
    }

  public:
    void begin(const Chain& c) {
        const ptrdiff_t K = c.n_states;
        turned.resize(c.size);
        transpose_padded(c.table, K, turned.data());
        sums.begin();
        if (!c.triples) return;
        std::vector<double> weights(K * K * K + LANES);
        for (ptrdiff_t a = 0; a < K; ++a)
            for (ptrdiff_t b = 0; b < K; ++b)
                for (ptrdiff_t d = 0; d < K; ++d)
                    weights[(d * K + b) * K + a] = c.triples[(a * K + b) * c.stride + d];
        turned_triples.resize(triple_room(K));
        triple_table(weights.data(), K, turned_triples.data());
    }

    double best(const Chain& c, const int32_t* truth, const double* cost, double loss_weight,
                int32_t* labels) {
        const size_t room = c.triples ? second_order_room(c) : c.n_nodes * c.stride;
        if (value.size() < room) value.resize(room);
        if (!c.triples)
            return first_order_labels(c, truth, cost, loss_weight, value.data(), labels);
        const double offset =
            chain_forward<SecondOrder, PairMax>(c, truth, cost, loss_weight, value.data());
        const SecondLists of(c, value.data(), closing);
        trace_back(of, of.goal(), labels, best_of);
        return *std::max_element(closing.begin(), closing.end()) + offset;
    }

    ptrdiff_t k_best(const Chain& c, ptrdiff_t k, int32_t* labels, double* scores) {
        const ptrdiff_t K = c.n_states, T = c.n_nodes;
        if (!c.triples) {
            if (value.size() < (size_t)(T * c.stride)) value.resize(T * c.stride);
            chain_forward<FirstOrder, MaxPlus>(c, nullptr, nullptr, 0.0, value.data());
            ChainLists of = {c, value.data()};
            return lists.decode(of, T * K + 1, T * K, k, T, labels, scores);
        }
        value.resize(second_order_room(c));
        chain_forward<SecondOrder, PairMax>(c, nullptr, nullptr, 0.0, value.data());
        SecondLists of(c, value.data(), closing);
        return triple_lists.decode(of, of.goal() + 1, of.goal(), k, T, labels, scores);
    }

    void max_marginals(const Chain& chain, double* out) {
        const Chain c = both_ways(chain);
        const ptrdiff_t K = c.n_states, stride = c.stride;
        scratch.resize(2 * c.size + 3 * stride);
        if (!c.triples) {
            chain_forward<FirstOrder, MaxPlus>(c, nullptr, nullptr, 0.0, out);
            const auto add = [&](ptrdiff_t t, const double* ahead, double*) {
                for (ptrdiff_t k = 0; k < stride; ++k) out[t * stride + k] += ahead[k];
            };
            chain_backward<MaxPlus>(c, scratch.data(), add);
            return;
        }
        std::copy_n(c.node, stride, out);
        if (c.n_nodes == 1) return;
        value.resize(second_order_room(c));
        chain_forward<SecondOrder, PairMax>(c, nullptr, nullptr, 0.0, value.data());
        std::fill_n(out, c.n_nodes * stride, NOTHING);
        second_backward<PairMax>(c, scratch.data(), [&](ptrdiff_t t, const double* ahead) {
            const double* here = &value[t * c.size];
            for (ptrdiff_t b = 0; b < K; ++b)
                for (ptrdiff_t d = 0; d < K; ++d) {
                    const double x = here[b * stride + d] + ahead[d * stride + b];
                    out[t * stride + d] = std::max(out[t * stride + d], x);
                    if (t == 1) out[b] = std::max(out[b], x);
                }
        });
    }

    double forward(const Chain& c) {
        has_triples = c.triples;
        return has_triples ? triple_sums.forward(both_ways(c)) : sums.forward(both_ways(c));
    }

    void backward(double* marginals, double* pairs, ptrdiff_t step, double* triples,
                  ptrdiff_t triple_step) {
        if (has_triples) triple_sums.backward(marginals, pairs, step, triples, triple_step);
        else sums.backward(marginals, pairs, step);
    }

    void sample(const double* uniform, int32_t* labels) {
        if (has_triples) triple_sums.sample(uniform, labels);
        else sums.sample(uniform, labels);
    }
};

}  // namespace sskit
