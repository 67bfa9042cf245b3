// How far weights have moved in a round, where they have moved at all.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "lanes.hpp"

namespace sskit {

static inline double clipped(double value, double lower, double upper) {
    const double raised = value < lower ? lower : value;
    return raised > upper ? upper : raised;
}

// Of weights without bounds: themselves.
struct Itself {
    static constexpr bool LINEAR = true;
    double operator()(double value, ptrdiff_t) const { return value; }
};

// Of weights with bounds: clipped.
struct Clipped {
    static constexpr bool LINEAR = false;
    const double *lower, *upper;
    double operator()(double value, ptrdiff_t j) const {
        return clipped(value, lower[j], upper[j]);
    }
};

// The moves of one weight vector, run by run: what a run was before it first moved in this round,
// then, once it is measured, how far it has come; and the same of the round before, which others
// may read while this one is under way.
class Moves {
    static constexpr ptrdiff_t AHEAD = 8;
    struct Runs {
        std::vector<std::int32_t> run;
        std::vector<double> value;  // `unit` for each run
        ptrdiff_t n = 0;
    };
    Runs now, before;
    std::vector<std::int32_t> place;  // by run: where it is in `now`, if it is there
    ptrdiff_t n_runs = 0, n_weights = 0, unit = 1;
    double* weights = nullptr;

    // where run r begins and ends in the weights
    ptrdiff_t begin_of(std::int32_t r) const { return r * unit; }
    ptrdiff_t end_of(std::int32_t r) const { return std::min((r + 1) * unit, n_weights); }

public:
    // of the n weights at w, in runs of `size`
    void follow(double* w, ptrdiff_t n, ptrdiff_t size) {
        weights = w;
        n_weights = n;
        unit = std::max(size, (ptrdiff_t)1);
        n_runs = (n + unit - 1) / unit;
        place.assign(n_runs, 0);
        // all at once: threads that are not Python's own cannot throw where memory ends
        for (Runs* runs : {&now, &before}) {
            runs->run.assign(n_runs, 0);
            runs->value.assign(n_runs * unit, 0.0);
        }
    }

    // a run is about to move; nothing happens if it has moved before in this round
    void keep_run(ptrdiff_t r) {
        const ptrdiff_t p = place[r];
        if (p < now.n && now.run[p] == r) return;
        place[r] = (std::int32_t)now.n;
        now.run[now.n] = (std::int32_t)r;
        const double* w = weights + begin_of(r);
        double* old = now.value.data() + now.n * unit;
        for (ptrdiff_t j = 0, n = end_of(r) - begin_of(r); j < n; ++j) old[j] = w[j];
        ++now.n;
    }

    // so are the weights start .. stop - 1
    void keep(ptrdiff_t start, ptrdiff_t stop) {
        if (is_full()) return;
        for (ptrdiff_t r = start / unit; r * unit < stop; ++r) keep_run(r);
    }

    bool is_one_run() const { return n_runs <= 1; }
    bool is_full() const { return now.n == n_runs; }

    // What was kept becomes how far the weights have come. Its products with what was kept, or with
    // image(kept, place) of that, and with itself.
    template <class Image>
    void measure(Image image, double* inner, double* sqnorm) {
        vec products = constant(0.0), squares = constant(0.0);
        double product = 0.0, square = 0.0;
        for (ptrdiff_t e = 0; e < now.n; ++e) {
            const ptrdiff_t start = begin_of(now.run[e]), n = end_of(now.run[e]) - start;
            const double* w = weights + start;
            double* move = now.value.data() + e * unit;
            ptrdiff_t j = 0;
            for (; Image::LINEAR && j + LANES <= n; j += LANES) {
                const vec old = load(move + j), change = load(w + j) - old;
                products = products + change * old;
                squares = squares + change * change;
                store(move + j, change);
            }
            for (; j < n; ++j) {
                const double old = move[j], change = w[j] - old;
                product += change * image(old, start + j);
                square += change * change;
                move[j] = change;
            }
        }
        *inner = total(products) + product;
        *sqnorm = total(squares) + square;
    }

    void measure_linear(double* inner, double* sqnorm) { measure(Itself{}, inner, sqnorm); }
    void measure_clipped(const double* lower, const double* upper, double* inner, double* sqnorm) {
        measure(Clipped{lower, upper}, inner, sqnorm);
    }

    // a new round begins, and nothing has moved
    void turn() {
        std::swap(now, before);
        now.n = 0;
    }

    // forget both rounds
    void clear() { now.n = before.n = 0; }

    // target += step * the moves of this round
    void add_to(double* target, double step) const { add(now, target, step); }

    // target += step * the moves of the round before
    void add_before_to(double* target, double step) const { add(before, target, step); }

    // w = clip(v, lower, upper) where the weights moved in the round before
    void clip_before(const double* v, const double* lower, const double* upper, double* w) const {
        for (ptrdiff_t e = 0; e < before.n; ++e) {
            for (ptrdiff_t j = begin_of(before.run[e]); j < end_of(before.run[e]); ++j)
                w[j] = clipped(v[j], lower[j], upper[j]);
        }
    }

    // <moves, moves of another> of this round
    double dot(const Moves& other) const {
        if (other.now.n < now.n) return other.dot(*this);
        vec products = constant(0.0);
        double product = 0.0;
        for (ptrdiff_t e = 0; e < now.n; ++e) {
            const std::int32_t r = now.run[e];
            const ptrdiff_t p = other.place[r], n = end_of(r) - begin_of(r);
            if (p >= other.now.n || other.now.run[p] != r) continue;
            const double *a = now.value.data() + e * unit, *b = other.now.value.data() + p * unit;
            ptrdiff_t j = 0;
            for (; j + LANES <= n; j += LANES) products = products + load(a + j) * load(b + j);
            for (; j < n; ++j) product += a[j] * b[j];
        }
        return total(products) + product;
    }

private:
    void add(const Runs& runs, double* target, double step) const {
        for (ptrdiff_t e = 0; e < runs.n; ++e) {
            // runs of many weights are all over the memory
            if (e + AHEAD < runs.n)
                prefetch_memory(target + begin_of(runs.run[e + AHEAD]),
                                unit * (ptrdiff_t)sizeof(double));
            const double* move = runs.value.data() + e * unit;
            double* t = target + begin_of(runs.run[e]);
            for (ptrdiff_t j = 0, n = end_of(runs.run[e]) - begin_of(runs.run[e]); j < n; ++j)
                t[j] += step * move[j];
        }
    }
};

}  // namespace sskit
