// Weight vectors that were the same before they moved, and how far they came together.
#pragma once
#include <cstddef>
#include <vector>

#include "lanes.hpp"

namespace sskit {

// All vectors are read in whole LANES, up to their spare room. Threads may ask for different runs of
// weights at once.
class Comparison {
    std::vector<double*> v, w;  // of every shard; w is clipped if there are bounds
    std::vector<double> before, moves, lower, upper;

    vec clipped(const vec& x, ptrdiff_t j) const {
        return smaller(larger(x, load(&lower[j])), load(&upper[j]));
    }

    void put(const vec& x, ptrdiff_t j) {
        for (double* each : v) store(each + j, x);
        if (!lower.empty())
            for (double* each : w) store(each + j, clipped(x, j));
    }

public:
    void add(double* v_of_shard, double* w_of_shard) {
        v.push_back(v_of_shard);
        w.push_back(w_of_shard);
    }

    void bound(const double* low, const double* high, ptrdiff_t n) {
        lower.assign(low, low + n);
        upper.assign(high, high + n);
        lower.resize(n + LANES);
        upper.resize(n + LANES);
    }

    // the present weights, which are the same for all, are those of the beginning
    void renew(ptrdiff_t n) {
        before.assign(v[0], v[0] + n + LANES);
        moves.assign(n + LANES, 0.0);
    }

    // A round is over, which began with the share `taken` of the moves of the last one: all vectors
    // move as far as all have moved together. <w, move> with w of the beginning, and ||move||^2.
    void join(ptrdiff_t start, ptrdiff_t stop, double taken, double* inner, double* square) {
        vec products = constant(0.0), squares = constant(0.0);
        for (ptrdiff_t j = start; j < stop; j += LANES) {
            const vec old = load(&before[j]) + taken * load(&moves[j]);
            vec move = constant(0.0);
            for (const double* each : v) move += load(each + j) - old;
            products += move * (lower.empty() ? old : clipped(old, j));
            squares += move * move;
            store(&before[j], old);
            store(&moves[j], move);
            put(old + move, j);
        }
        *inner = total(products);
        *square = total(squares);
    }

    // all vectors go back to where this share of the moves leads
    void go_back(ptrdiff_t start, ptrdiff_t stop, double share) {
        for (ptrdiff_t j = start; j < stop; j += LANES)
            put(load(&before[j]) + share * load(&moves[j]), j);
    }
};

}  // namespace sskit
