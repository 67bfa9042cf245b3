// How far weights have moved in a round.
#pragma once
#include <cstddef>
#include <utility>
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

// The moves of one weight vector: what it was before it first moved in this round, then, once it is
// measured, how far it has come; and the same of the round before, which others may read while
// this one is under way.
class Moves {
    struct Vector {
        std::vector<double> value;
        bool any = false;  // has anything moved?
    };
    Vector now, before;
    ptrdiff_t n_weights = 0;
    double* weights = nullptr;

public:
    // of the n weights at w
    void follow(double* w, ptrdiff_t n) {
        weights = w;
        n_weights = n;
        // all at once: threads that are not Python's own cannot throw where memory ends
        for (Vector* moves : {&now, &before}) moves->value.assign(n, 0.0);
    }

    // the weights are about to move
    void keep() {
        if (now.any) return;
        for (ptrdiff_t j = 0; j < n_weights; ++j) now.value[j] = weights[j];
        now.any = true;
    }

    // What was kept becomes how far the weights have come. Its products with what was kept, or with
    // image(kept, place) of that, and with itself.
    template <class Image>
    void measure(Image image, double* inner, double* sqnorm) {
        vec products = constant(0.0), squares = constant(0.0);
        double product = 0.0, square = 0.0, *move = now.value.data();
        ptrdiff_t j = 0;
        const ptrdiff_t n = now.any ? n_weights : 0;
        for (; Image::LINEAR && j + LANES <= n; j += LANES) {
            const vec old = load(move + j), change = load(weights + j) - old;
            products = products + change * old;
            squares = squares + change * change;
            store(move + j, change);
        }
        for (; j < n; ++j) {
            const double old = move[j], change = weights[j] - old;
            product += change * image(old, j);
            square += change * change;
            move[j] = change;
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
        now.any = false;
    }

    // forget both rounds
    void clear() { now.any = before.any = false; }

    // target += step * the moves of this round
    void add_to(double* target, double step) const { add(now, target, step); }

    // target += step * the moves of the round before
    void add_before_to(double* target, double step) const { add(before, target, step); }

    // <moves, moves of another> of this round
    double dot(const Moves& other) const {
        vec products = constant(0.0);
        double product = 0.0;
        const double *a = now.value.data(), *b = other.now.value.data();
        const ptrdiff_t n = now.any && other.now.any ? n_weights : 0;
        ptrdiff_t j = 0;
        for (; j + LANES <= n; j += LANES) products = products + load(a + j) * load(b + j);
        for (; j < n; ++j) product += a[j] * b[j];
        return total(products) + product;
    }

private:
    void add(const Vector& moves, double* target, double step) const {
        const ptrdiff_t n = moves.any ? n_weights : 0;
        for (ptrdiff_t j = 0; j < n; ++j) target[j] += step * moves.value[j];
    }
};

}  // namespace sskit
