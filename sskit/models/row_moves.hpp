// Which weights a scatter of feature rows may move.
#pragma once
#include "moves.hpp"
#include "rows.hpp"

namespace sskit {

// keep the weights [f, :] of every feature f of the active rows, counted from `first`; runs of
// moves have n_states weights
static inline void keep_rows(const Rows* rows, ptrdiff_t first, const int32_t* active,
                             ptrdiff_t n_active, ptrdiff_t n_states, Moves* moves) {
    if (!n_active || moves->is_full()) return;
    moves->keep(rows->further * n_states, (rows->further + rows->n_further) * n_states);
    if (!rows->indptr || moves->is_one_run()) {
        // all dense rows have the same features
        moves->keep(0, rows->width * n_states);
        return;
    }
    for (ptrdiff_t a = 0; a < n_active; ++a) {
        Columns f;
        const ptrdiff_t n = columns_of(*rows, first + active[a], f);
        for (ptrdiff_t j = 0; j < n; ++j) moves->keep_run(f[j]);
    }
}

}  // namespace sskit
