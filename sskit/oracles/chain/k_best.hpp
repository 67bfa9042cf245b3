// The k best answers of a dynamic programme: lists that grow as far as they are asked for (Jimenez
// and Marzal 1999; Huang and Chiang 2005, algorithm 3).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// Where the entries of a list come from: its source s is list number list + s * list_step. n > 0, a
// union: entries go on from those of n sources, an entry of source s with
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

// Trace one answer of a programme from its end: at each union to the source that `pick` returns for
// the number of the list, which `write` gets too.
template <class G, class Pick>
void trace_back(const G& of, ptrdiff_t v, int32_t* out, Pick pick) {
    for (Sources from = of.sources(v); from.n > 0; from = of.sources(v)) {
        const int32_t place = of.place(v), source = pick(from, place);
        of.write(place, source, out);
        v = from.list + source * from.list_step;
    }
}

// Lists of a programme G, best first. Max-sum has computed their first entries; here these are
// computed again when a list is opened, because an answer has an entry of it. A list grows by one
// entry when it is needed: the successors of its last entry join those that wait, and the best of
// these is taken, of equal ones that of the earliest source.
//
// G has sources(v), what list v is made of; load(v, from), which makes `added` valid until the next
// call, if it was not; place(v), a number >= 0 of a list that is a union; and write(place, s, out),
// which notes that an answer goes from such a list to its source s.
template <class G>
class LazyLists {
    enum : int32_t { FIRST = -1, NONE = -2, UNKNOWN = -3 };

    struct Entry {
        double score;
        int32_t list, next, rank; // the next entry of the list; how many come before
        int32_t source, below;    // of a union: source and its entry; of a product: both entries
        int32_t place;            // of a union: what `write` gets of its list; -1
    };

    struct Candidate {
        double score;
        int32_t rank, other_rank, entry, other;
        bool operator<(const Candidate& than) const {
            if (score != than.score) return score < than.score;
            return rank != than.rank ? rank > than.rank : other_rank > than.other_rank;
        }
    };

    struct List {
        ptrdiff_t number;             // which list of the programme
        Sources from;
        int32_t place;
        int32_t head, last;
        size_t waiting;               // of a union: where the entries that wait and offers begin
        std::vector<Candidate> heap;  // of a product
    };

    G* programme = nullptr;
    std::vector<List> lists;
    std::vector<Entry> entries;
    std::vector<int32_t> list_of, waiting, growing, path;
    std::vector<double> offers;   // of entries that wait; -infinity: there is none

    void append(int32_t l, double score, int32_t source, int32_t below) {
        List& list = lists[l];
        const int32_t here = (int32_t)entries.size();
        const bool is_first = list.head == NONE;
        entries.push_back({score, l, UNKNOWN, is_first ? 0 : entries[list.last].rank + 1, source,
                           below, list.place});
        if (is_first) list.head = here;
        else entries[list.last].next = here;
        list.last = here;
    }

    void finish(int32_t l) {
        if (lists[l].head != NONE) entries[lists[l].last].next = NONE;
    }

    // what an entry of the source s of a list offers, but for `last`
    static double join(const Sources& from, ptrdiff_t s, double score) {
        score += from.added[s * from.added_step];
        return from.more ? score + from.more[s * from.more_step] : score;
    }

    void take(int32_t l) {
        const List& list = lists[l];
        const double* offer = offers.data() + list.waiting;
        double best = -std::numeric_limits<double>::infinity();
        ptrdiff_t source = -1;
        for (ptrdiff_t s = 0; s < list.from.n; ++s)
            if (offer[s] > best) best = offer[s], source = s;
        if (source < 0) finish(l);
        else append(l, best + list.from.last, (int32_t)source, waiting[list.waiting + source]);
    }

    int32_t open(ptrdiff_t v) {
        if (list_of[v] >= 0) return list_of[v];
        const int32_t l = list_of[v] = (int32_t)lists.size();
        Sources from = programme->sources(v);
        if (from.n > 0) programme->load(v, from);
        lists.push_back({v, from, from.n > 0 ? programme->place(v) : -1, NONE, NONE,
                         waiting.size(), {}});
        if (from.n > 0) {
            waiting.resize(waiting.size() + from.n, FIRST);
            offers.resize(waiting.size());
            double* offer = offers.data() + lists[l].waiting;
            for (ptrdiff_t s = 0; s < from.n; ++s)
                offer[s] = join(from, s, from.first[s * from.first_step]);
            take(l);
        } else {
            append(l, from.last, FIRST, from.n == 0 ? NONE : FIRST);
            if (from.n == 0) finish(l);
        }
        return l;
    }

    // find what an entry goes on from, if it was known as the first of its list only
    void resolve(int32_t entry) {
        if (entries[entry].below != FIRST) return;
        const Sources from = lists[entries[entry].list].from;
        const int32_t source = from.n > 0 ? entries[entry].source : lists[open(from.list)].head;
        const int32_t below = open(from.list + from.list_step * (from.n > 0 ? source : 1));
        entries[entry].source = source;
        entries[entry].below = lists[below].head;
    }

    void propose(int32_t l, int32_t entry, int32_t other) {
        if (entry == NONE || other == NONE) return;
        const Entry &one = entries[entry], &two = entries[other];
        lists[l].heap.push_back({one.score + two.score, one.rank, two.rank, entry, other});
        std::push_heap(lists[l].heap.begin(), lists[l].heap.end());
    }

    // Add an entry to a list, or return the list that has to grow before.
    int32_t expand(int32_t l) {
        resolve(lists[l].last);
        const int32_t source = entries[lists[l].last].source, below = entries[lists[l].last].below;
        const int32_t next = entries[below].next;
        if (next == UNKNOWN) return entries[below].list;
        if (lists[l].place >= 0) {
            waiting[lists[l].waiting + source] = next;
            double& offer = offers[lists[l].waiting + source];
            offer = -std::numeric_limits<double>::infinity();
            if (next != NONE) {
                programme->load(lists[l].number, lists[l].from);
                offer = join(lists[l].from, source, entries[next].score);
            }
            take(l);
            return -1;
        }
        // Two may follow: each of all pairs comes once, after one that is no worse.
        const bool is_first = entries[below].rank == 0;
        if (is_first && entries[source].next == UNKNOWN) return entries[source].list;
        propose(l, source, next);
        if (is_first) propose(l, entries[source].next, below);
        std::vector<Candidate>& heap = lists[l].heap;
        if (heap.empty()) {
            finish(l);
            return -1;
        }
        std::pop_heap(heap.begin(), heap.end());
        const Candidate best = heap.back();
        heap.pop_back();
        append(l, best.score, best.entry, best.other);
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

    void trace(int32_t entry, int32_t* out) {
        path.assign(1, entry);
        while (!path.empty()) {
            entry = path.back();
            path.pop_back();
            for (resolve(entry); entries[entry].below != NONE; resolve(entry)) {
                const Entry& e = entries[entry];
                if (e.place >= 0) programme->write(e.place, e.source, out);
                else path.push_back(e.source);
                entry = e.below;
            }
        }
    }

  public:
    // The best entries of one of n_lists lists, by falling score, distinct, as many as there are up
    // to k: writes n_out numbers each to out, and scores; returns how many.
    ptrdiff_t decode(G& of, ptrdiff_t n_lists, ptrdiff_t goal, ptrdiff_t k, ptrdiff_t n_out,
                     int32_t* out, double* scores) {
        programme = &of;
        lists.clear();
        entries.clear();
        waiting.clear();
        offers.clear();
        list_of.assign(n_lists, -1);
        const int32_t l = open(goal);
        int32_t entry = lists[l].head;
        if (entry != NONE && entries[entry].score == -std::numeric_limits<double>::infinity())
            return 0;
        ptrdiff_t n_found = 0;
        while (entry != NONE) {
            scores[n_found] = entries[entry].score;
            trace(entry, out + n_found * n_out);
            if (++n_found == k) break;
            if (entries[entry].next == UNKNOWN) grow(l);
            entry = entries[entry].next;
        }
        return n_found;
    }
};

}  // namespace sskit
