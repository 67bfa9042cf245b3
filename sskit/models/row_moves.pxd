# Which weights a scatter of feature rows may move; there is nothing to import at run time.
from libc.stdint cimport int32_t

from sskit.core.moves cimport Moves
from sskit.models.rows cimport Rows


cdef extern from "row_moves.hpp" namespace "sskit" nogil:
    # keep the weights [f, :] of every feature f of the active rows, counted from `first`
    void keep_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        Py_ssize_t n_states, Moves* moves
    )
