// The k best answers of a dynamic programme: lists that grow as far as they are asked for (Jimenez
// and Marzal 1999; Huang and Chiang 2005, algorithm 3).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sskit {

// The first of n states whose value[a * step] + added[a * added_step] is largest.
static inline int32_t best_source(const double* value, ptrdiff_t step, const double* added,
                                  ptrdiff_t added_step, ptrdiff_t n) {
    double best = -std::numeric_limits<double>::infinity();
    ptrdiff_t source = 0;
    for (ptrdiff_t a = 0; a < n; ++a) {
        const double candidate = value[a * step] + added[a * added_step];
        if (candidate > best) best = candidate, source = a;
    }
    return (int32_t)source;
}

const double NOTHING_ADDED[1] = {0.0};

// Where the entries of a list come from: source s is the list list + s * list_step.
// n > 0, a union: entries go on from those of n sources, an entry of source s with
//     ((its score + added[s * added_step]) + more[s * more_step]) + last .
// n = 0: there is one entry, `last`.
// n = -1, a product: an entry joins those of the sources 0 and 1, its score is their sum; that of
// the first is `last`.
struct Sources {
    ptrdiff_t n = 0;
    double last = 0.0;
    ptrdiff_t list = 0, list_step = 0;
    const double* first = nullptr;          // its first entry scores first[s * first_step]
    ptrdiff_t first_step = 1;
    const double* added = NOTHING_ADDED;
    ptrdiff_t added_step = 0;
    const double* more = nullptr;           // may be null
    ptrdiff_t more_step = 0;
};

// The source of a union of which the first entry is best; of equal ones the first.
static inline int32_t best_of(const Sources& from, int32_t) {
    return best_source(from.first, from.first_step, from.added, from.added_step, from.n);
}

// One answer of a programme, from its end: of each union the source that `pick` says, given what
// `write` is told of the list.
template <class G, class Pick>
void trace_back(const G& of, ptrdiff_t v, int32_t* out, Pick pick) {
    for (Sources from = of.sources(v); from.n > 0; from = of.sources(v)) {
        const int32_t place = of.place(v), source = pick(from, place);
        of.write(place, source, out);
        v = from.list + source * from.list_step;
    }
}

// Lists of a programme G, best first. Its first entries are known by max-sum; here they are taken
// again where a list is opened, which happens when an answer has an entry of it. A list grows by an
// entry when one is asked for that is not there: what follows its last entry waits then beside
// what did before, and the best of these is taken, of equal ones that of the earliest source.
//
// G has sources(v), what list v is made of; load(v, from), which makes `added` valid until the next
// call, if it was not; place(v), a number of a list that is a union; and write(place, s, out),
// which notes that an answer goes from such a list to its source s.
template <class G>
class LazyLists {
    static constexpr double NONE = -std::numeric_limits<double>::infinity();

    // Of a union, what goes on from entry `second` of the source `first`; of a product, entry
    // `first` of its source 0 and entry `second` of its source 1.
    struct Entry {
        double score;
        int32_t first, second;
        bool operator<(const Entry& than) const {
            if (score != than.score) return score < than.score;
            return first != than.first ? first > than.first : second > than.second;
        }
    };

    struct List {
        ptrdiff_t number;                     // which list of the programme
        Sources from;
        int32_t place;                        // of a union: what `write` is told of it
        bool is_whole;                        // are there no more entries?
        Entry best;                           // the first one; most lists are asked for no other
        std::vector<Entry> further;
        std::vector<Entry> waiting;           // of a union one of each source, of a product a heap
    };

    G* programme = nullptr;
    std::vector<List> lists;
    std::vector<int32_t> list_of, growing;
    std::vector<std::pair<int32_t, int32_t>> path;   // lists and which entry of theirs

    int32_t source(const Sources& from, ptrdiff_t s) {
        return open(from.list + s * from.list_step);
    }
    bool lacks(int32_t l, int32_t k) const { return !lists[l].is_whole && !has(l, k); }
    bool has(int32_t l, int32_t k) const {
        return k ? k <= (ptrdiff_t)lists[l].further.size() : lists[l].best.score > NONE;
    }
    const Entry& entry(int32_t l, int32_t k) const {
        return k ? lists[l].further[k - 1] : lists[l].best;
    }

    // an entry of a union, but for `last`
    static Entry join(const Sources& from, int32_t s, double score, int32_t second) {
        score += from.added[s * from.added_step];
        return {from.more ? score + from.more[s * from.more_step] : score, s, second};
    }
    static Entry join_first(const Sources& from, int32_t s) {
        return join(from, s, from.first[s * from.first_step], 0);
    }

    int32_t open(ptrdiff_t v) {
        if (list_of[v] >= 0) return list_of[v];
        Sources from = programme->sources(v);
        Entry best = {from.n > 0 ? NONE : 0.0, 0, 0};
        if (from.n > 0) programme->load(v, from);
        for (int32_t s = 0; s < from.n; ++s) best = std::max(best, join_first(from, s));
        best.score += from.last;
        const int32_t place = from.n > 0 ? programme->place(v) : 0;
        lists.push_back({v, from, place, from.n == 0 || best.score == NONE, best, {}, {}});
        return list_of[v] = (int32_t)lists.size() - 1;
    }

    void propose(int32_t l, int32_t one, int32_t first, int32_t two, int32_t second) {
        if (!has(one, first) || !has(two, second)) return;
        const double score = entry(one, first).score + entry(two, second).score;
        lists[l].waiting.push_back({score, first, second});
        std::push_heap(lists[l].waiting.begin(), lists[l].waiting.end());
    }

    // Add an entry to a list, or return the list that has to grow before.
    int32_t expand(int32_t l) {
        Sources from = lists[l].from;
        const Entry last = entry(l, (int32_t)lists[l].further.size());
        const int32_t next = last.second + 1, below = source(from, from.n > 0 ? last.first : 1);
        if (lacks(below, next)) return below;
        if (from.n < 0) {
            // two may follow: each of all pairs comes once, after one that is no worse
            const int32_t one = source(from, 0);
            if (last.second == 0 && lacks(one, last.first + 1)) return one;
            propose(l, one, last.first, below, next);
            if (last.second == 0) propose(l, one, last.first + 1, below, 0);
            std::vector<Entry>& heap = lists[l].waiting;
            lists[l].is_whole = heap.empty();
            if (heap.empty()) return -1;
            std::pop_heap(heap.begin(), heap.end());
            lists[l].further.push_back(heap.back());
            heap.pop_back();
            return -1;
        }
        List& list = lists[l];
        programme->load(list.number, from);
        if (list.waiting.empty()) {
            list.waiting.resize(from.n);
            for (int32_t s = 0; s < from.n; ++s) list.waiting[s] = join_first(from, s);
        }
        list.waiting[last.first] =
            has(below, next) ? join(from, last.first, entry(below, next).score, next)
                             : Entry{NONE, last.first, next};
        Entry best = *std::max_element(list.waiting.begin(), list.waiting.end());
        list.is_whole = best.score == NONE;
        best.score += from.last;
        if (!list.is_whole) list.further.push_back(best);
        return -1;
    }

    // a stack of its own, since programmes may be deeper than that of calls
    void grow(int32_t l) {
        growing.assign(1, l);
        while (!growing.empty()) {
            const int32_t needed = expand(growing.back());
            if (needed < 0) growing.pop_back();
            else growing.push_back(needed);
        }
    }

    void trace(int32_t l, int32_t k, int32_t* out) {
        for (path.assign(1, {l, k}); !path.empty();) {
            auto [at, rank] = path.back();
            path.pop_back();
            while (lists[at].from.n != 0) {
                const List& list = lists[at];
                const int32_t first = entry(at, rank).first, second = entry(at, rank).second;
                const bool is_union = list.from.n > 0;
                const ptrdiff_t one = list.from.list, step = list.from.list_step;
                if (is_union) programme->write(list.place, first, out);
                else path.push_back({open(one), first});
                at = open(one + step * (is_union ? first : 1)), rank = second;
            }
        }
    }

  public:
    // The best entries of one of n_lists lists, by falling score, distinct, as many as there are up
    // to k: writes n_out numbers each to out, and scores; returns how many.
    ptrdiff_t decode(G& of, ptrdiff_t n_lists, ptrdiff_t answer, ptrdiff_t k, ptrdiff_t n_out,
                     int32_t* out, double* scores) {
        programme = &of;
        lists.clear();
        list_of.assign(n_lists, -1);
        const int32_t l = open(answer);
        int32_t found = 0;
        for (; found < k; ++found) {
            if (lacks(l, found)) grow(l);
            if (!has(l, found)) break;
            scores[found] = entry(l, found).score;
            trace(l, found, out + found * n_out);
        }
        return found;
    }
};

}  // namespace sskit
