// Distance transforms, and max-sum over trees of parts on springs; max_sum.pxd says what they are
// for.
#pragma once
#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sskit {

struct Spring {
    double linear, square, mean;

    double cost(ptrdiff_t p, ptrdiff_t q) const {
        const double t = p - q - mean;
        return t * (linear + square * t);
    }
    // the cost of q seen from p is then that of p seen from q
    Spring reversed() const { return {-linear, square, -mean}; }
};

class DistanceTransform {
    static constexpr double NONE = -std::numeric_limits<double>::infinity();
    static constexpr ptrdiff_t TILE = 8;    // columns at a time: doubles of a cache line
    std::vector<int32_t> root;              // of the parabolas of the envelope
    std::vector<double> height_of, start;   // their scores; where each of them begins
    std::vector<double> reciprocal;         // of whole numbers
    std::vector<double> row_best;           // after the rows; likewise the column of that best one
    std::vector<int32_t> row_place;
    std::vector<double> column, column_best;   // of a tile, one column after the other
    std::vector<int32_t> column_place;

    static void line_by_trial(const double* scores, ptrdiff_t n, const Spring& spring, double* best,
                              int32_t* place) {
        for (ptrdiff_t q = 0; q < n; ++q) {
            best[q] = NONE, place[q] = -1;
            for (ptrdiff_t p = 0; p < n; ++p) {
                const double score = scores[p] - spring.cost(p, q);
                if (score > best[q]) best[q] = score, place[q] = (int32_t)p;
            }
        }
    }

  public:
    void line(const double* scores, ptrdiff_t n, const Spring& spring, double* best,
              int32_t* place) {
        // the reciprocal of too small a square is infinite, which places no parabola
        if (!(spring.square >= DBL_MIN)) return line_by_trial(scores, n, spring, best, place);
        if ((ptrdiff_t)root.size() < n) root.resize(n), height_of.resize(n), start.resize(n + 1);
        while ((ptrdiff_t)reciprocal.size() <= n) reciprocal.push_back(1.0 / reciprocal.size());
        // With the square completed the score from p is scores[p] - square (p - u)^2 + constant,
        // u = q + shift: parabolas of one width over u, any two of which meet once.
        const double half = 0.5 / spring.square, shift = spring.mean - spring.linear * half;
        ptrdiff_t k = -1;
        for (ptrdiff_t p = 0; p < n; ++p) {  // section 2.1, algorithm DT(f)
            if (scores[p] == NONE) continue;
            double meet = NONE;
            for (; k >= 0; --k, meet = NONE) {
                meet = 0.5 * (root[k] + p) +
                       (height_of[k] - scores[p]) * half * reciprocal[p - root[k]];
                if (meet > start[k]) break;
            }
            ++k;
            root[k] = (int32_t)p, height_of[k] = scores[p], start[k] = meet;
        }
        if (k < 0) {
            std::fill_n(best, n, NONE);
            std::fill_n(place, n, -1);
            return;
        }
        start[k + 1] = -NONE;
        k = 0;
        for (ptrdiff_t q = 0; q < n; ++q) {
            while (start[k + 1] < q + shift) ++k;
            best[q] = height_of[k] - spring.cost(root[k], q);
            place[q] = root[k];
        }
    }

    void grid(const double* scores, ptrdiff_t height, ptrdiff_t width, const Spring& vertical,
              const Spring& horizontal, double* best, int32_t* place) {
        row_best.resize(height * width), row_place.resize(height * width);
        column.resize(TILE * height), column_best.resize(TILE * height);
        column_place.resize(TILE * height);
        for (ptrdiff_t at = 0; at < height * width; at += width)
            line(scores + at, width, horizontal, &row_best[at], &row_place[at]);
        for (ptrdiff_t first = 0; first < width; first += TILE) {
            const ptrdiff_t count = std::min(TILE, width - first);
            for (ptrdiff_t y = 0; y < height; ++y)
                for (ptrdiff_t x = 0; x < count; ++x)
                    column[x * height + y] = row_best[y * width + first + x];
            for (ptrdiff_t at = 0; at < count * height; at += height)
                line(&column[at], height, vertical, &column_best[at], &column_place[at]);
            for (ptrdiff_t y = 0; y < height; ++y)
                for (ptrdiff_t x = 0; x < count; ++x) {
                    const ptrdiff_t at = y * width + first + x;
                    const ptrdiff_t row = column_place[x * height + y] * width;
                    best[at] = column_best[x * height + y];
                    place[at] = row < 0 ? -1 : (int32_t)(row + row_place[row + first + x]);
                }
        }
    }
};

// see max_sum.pxd
struct PartPotentials {
    ptrdiff_t n_parts, n_types, height, width;
    const int32_t *parents, *types_of;
    const double *node, *bias;
    const Spring* springs;
};

class PartsMaxSum {
    DistanceTransform transform;
    ptrdiff_t n_cells = 0;
    // (n_parts, n_cells): best score of a part's subtree; its part of the parent's belief; where
    // that puts the part, and of which type it is then
    std::vector<double> belief, message;
    std::vector<int32_t> choice, kind;
    std::vector<double> best;               // of one type; likewise where
    std::vector<int32_t> place;
    std::vector<int32_t> order;             // of the parts, parents before their children
    std::vector<int32_t> child, sibling;    // first child of part k at k + 1, first root at 0; the next

    void arrange(const PartPotentials& p) {
        child.assign(p.n_parts + 1, -1);
        sibling.resize(p.n_parts);
        order.clear();
        for (int32_t k = (int32_t)p.n_parts - 1; k >= 0; --k)
            sibling[k] = std::exchange(child[p.parents[k] + 1], k);
        for (ptrdiff_t at = 0; at <= (ptrdiff_t)order.size(); ++at)
            for (int32_t k = child[at ? order[at - 1] + 1 : 0]; k >= 0; k = sibling[k])
                order.push_back(k);
    }

    // message of part k = the best over types and places of belief - cost + bias, `up` to its parent
    void pass_on(const PartPotentials& p, ptrdiff_t k, bool up) {
        double* to = &message[k * n_cells];
        int32_t *where = &choice[k * n_cells], *which = &kind[k * n_cells];
        std::fill_n(to, n_cells, -std::numeric_limits<double>::infinity());
        std::fill_n(where, n_cells, 0);
        std::fill_n(which, n_cells, 0);
        for (int32_t t = 0; t < p.types_of[k]; ++t) {
            const Spring* axes = p.springs + 2 * (k * p.n_types + t);
            const double bias = p.bias[k * p.n_types + t];
            transform.grid(&belief[k * n_cells], p.height, p.width,
                           up ? axes[0] : axes[0].reversed(), up ? axes[1] : axes[1].reversed(),
                           best.data(), place.data());
            // arithmetic instead of a branch that cannot be predicted
            for (ptrdiff_t q = 0; q < n_cells; ++q) {
                const double score = best[q] + bias;
                where[q] = score > to[q] ? place[q] : where[q];
                which[q] = score > to[q] ? t : which[q];
                to[q] = score > to[q] ? score : to[q];
            }
        }
    }

    // beliefs and messages of all parts, children first
    void collect(const PartPotentials& p) {
        n_cells = p.height * p.width;
        arrange(p);
        for (std::vector<double>* rows : {&belief, &message}) rows->resize(p.n_parts * n_cells);
        for (std::vector<int32_t>* rows : {&choice, &kind}) rows->resize(p.n_parts * n_cells);
        best.resize(n_cells), place.resize(n_cells);
        std::copy_n(p.node, p.n_parts * n_cells, belief.data());
        for (ptrdiff_t at = p.n_parts - 1; at >= 0; --at) {
            const ptrdiff_t k = order[at];
            if (p.parents[k] < 0) continue;
            pass_on(p, k, true);
            double* above = &belief[p.parents[k] * n_cells];
            for (ptrdiff_t q = 0; q < n_cells; ++q) above[q] += message[k * n_cells + q];
        }
    }

    const double* highest(ptrdiff_t k) const {
        return std::max_element(&belief[k * n_cells], &belief[k * n_cells] + n_cells);
    }

  public:
    double decode(const PartPotentials& p, int32_t* places, int32_t* types) {
        double total = 0.0;
        collect(p);
        for (ptrdiff_t at = 0; at < p.n_parts; ++at) {
            const ptrdiff_t k = order[at];
            if (p.parents[k] >= 0) {
                const ptrdiff_t cell = k * n_cells + places[p.parents[k]];
                places[k] = choice[cell], types[k] = kind[cell];
                continue;
            }
            places[k] = (int32_t)(highest(k) - &belief[k * n_cells]), types[k] = 0;
            total += *highest(k);
        }
        return total;
    }

    void marginals(const PartPotentials& p, double* out) {
        double total = 0.0;
        collect(p);
        for (ptrdiff_t k = 0; k < p.n_parts; ++k)
            if (p.parents[k] < 0) total += *highest(k);
        for (ptrdiff_t at = 0; at < p.n_parts; ++at) {
            const ptrdiff_t k = order[at];
            double *here = out + k * n_cells, *from = &belief[k * n_cells];
            const double* sent = &message[k * n_cells];
            std::copy_n(from, n_cells, here);
            if (p.parents[k] < 0) {
                const double others = total - *highest(k);
                for (ptrdiff_t q = 0; q < n_cells; ++q) here[q] += others;
                continue;
            }
            // the messages to the parent of all but this part, seen from this part
            const double* above = out + p.parents[k] * n_cells;
            for (ptrdiff_t q = 0; q < n_cells; ++q) from[q] = above[q] - sent[q];
            pass_on(p, k, false);
            for (ptrdiff_t q = 0; q < n_cells; ++q) here[q] += sent[q];
        }
    }
};

}  // namespace sskit
