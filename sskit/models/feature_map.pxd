from libc.stdint cimport int32_t, int64_t, uint8_t

from sskit.core.capabilities cimport FeatureSpace
from sskit.core.direction cimport Direction
from sskit.models.features cimport FeatureRows, SequenceGrams
from sskit.models.rows cimport NodePlaces, Rows

# out (count, stride) = rows[first : first + count] @ weights (n_features, n_columns); the stride is
# padded(n_columns), or 1 for one column
cdef void score_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_columns, double* out, Py_ssize_t stride
) noexcept nogil

# rows of numbers, one after the other, to rows `stride` apart
cdef void copy_rows(
    const double* w, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t stride, double* out
) noexcept nogil


cdef class FeatureMap:
    """The operator B_i of a linear model: phi(x_i, y) = B_i m_i(y).

    The statistics of block i, and its potentials theta = B_i^T w, have up to four parts. A row of
    c columns is padded to a multiple of the vector length; an edge of one column is not padded, nor
    is a node if the map is packed.

        head    a table of weights without features: transitions, lengths
        tail    another such table, from `tail_base` on, after the head: triples of labels, pairs
        nodes   a row for each row of features of the block, from `node_base` on
        edges   a row for each row of edge features, from edge_base(i) on; or, if `edge_pairs`, a
                table as large as the head for each, which includes the weights of the head

    Positions in block i do not depend on other blocks: a dual point is valid for longer ones too.

    Weights, flat: nodes (n_features, n_columns), head, further features of the nodes (those that
    `FeatureRows` stores as marks), edges (n_edge_features, columns), tail; with a kernel its
    functions follow. A missing part has no rows.

    Forks have the same feature rows and numbers, and their own scratch memory.
    """

    cdef readonly Py_ssize_t n_blocks, n_weights, max_statistics
    cdef readonly Py_ssize_t longest         # rows of the longest block
    cdef readonly FeatureSpace space         # kernel functions that add to the scores of nodes
    cdef dict parts                          # arguments of its constructor
    # nodes
    cdef readonly FeatureRows features       # of all blocks
    cdef bint is_plain                       # have nodes no masks, functions and edges?
    cdef bint has_functions                  # is `space` one of kernels?
    cdef bint has_rest                       # are there other parts than nodes?
    cdef readonly Py_ssize_t each            # rows of every block, or 0: they differ
    cdef readonly bint is_single             # is that one?
    cdef Rows rows
    cdef const int64_t[::1] nodes            # (n_blocks + 1,) where the rows of a block begin
    cdef readonly Py_ssize_t n_columns, stride, node_base
    cdef double per_stride                   # 1 / stride
    cdef const double* first_mask            # (n_columns,) 0 or -inf for the first row of a block
    cdef const double* last_mask             # likewise for the last one; NULL: nothing is added
    # head
    cdef readonly Py_ssize_t head_rows, head_columns
    cdef readonly Py_ssize_t head_weights    # where they begin, likewise the next ones
    cdef const double* mask                  # 0 or -inf, as the statistics; NULL: nothing is added
    # edges
    cdef readonly FeatureRows edge_features  # likewise; None: there are none
    cdef bint has_edges
    cdef Rows edge_rows
    cdef const int64_t[::1] edges            # (n_blocks + 1,)
    cdef readonly Py_ssize_t edge_columns
    cdef readonly Py_ssize_t edge_stride     # places of an edge
    cdef readonly Py_ssize_t edge_weights
    cdef readonly bint edge_pairs
    # tail
    cdef readonly Py_ssize_t tail_rows, tail_columns, tail_stride, tail_base, tail_weights
    cdef bint tail_extremes                  # is it a table of `triple_table`?
    cdef const int64_t[::1] place            # the weight of a statistic of head or tail
    # what sqnorm needs, once prepared
    cdef readonly double[::1] row_sqnorm              # (n_blocks,) if every block has one row
    cdef readonly SequenceGrams grams        # of blocks where they cost less than features
    # scratch
    cdef int32_t[::1] active                 # rows of a direction that are not zero
    cdef uint8_t[::1] marks                  # (longest + 8,) zero between calls
    cdef int32_t[::1] fresh                  # (longest,) row of node scores made for request ..
    cdef int32_t request
    cdef double[::1] image                   # (n_weights + LANES,) zero between calls
    cdef double[::1] products                # (max_statistics,)

    cdef int make_room(self) except -1
    cdef inline Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        return self.each or self.nodes[i + 1] - self.nodes[i]
    cdef inline Py_ssize_t first_row(self, Py_ssize_t i) noexcept nogil:
        # `nodes` is not read where it is not needed: that would wait for memory
        return i * self.each if self.each else self.nodes[i]
    cdef inline NodePlaces node_places(self, Py_ssize_t i) noexcept nogil:
        return NodePlaces(self.node_base, self.edge_base(i), self.stride, self.per_stride)
    # the row of a statistic of the nodes, counted from the first one: a product in place of a
    # division, which takes longer than all else that is done with an entry; exact up to 2^31
    cdef inline Py_ssize_t row_at(self, unsigned int j) noexcept nogil:
        return <Py_ssize_t>((<double>j + 0.5) * self.per_stride)
    cdef inline Py_ssize_t edge_base(self, Py_ssize_t i) noexcept nogil:
        return self.node_base + self.count(i) * self.stride
    cdef inline Py_ssize_t n_edges(self, Py_ssize_t i) noexcept nogil:
        return self.edges[i + 1] - self.edges[i] if self.has_edges else 0
    # has edge e of block i no features?
    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil
    # where the potentials of an edge of pairs begin: those without features have the head's
    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil

    # the row of the edge, and the column, that a statistic is of
    cdef inline Py_ssize_t edge_at(
        self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t* column
    ) noexcept nogil:
        return self.edges[i] + self.edge_from(<unsigned int>(j - self.edge_base(i)), column)
    # the same, of the edges of the block, for a statistic counted from the edges' first one; a
    # division of 64 bits takes twice the time
    cdef inline Py_ssize_t edge_from(self, unsigned int j, Py_ssize_t* column) noexcept nogil:
        cdef unsigned int stride = <unsigned int>self.edge_stride, e
        if stride == 1:
            column[0] = 0
            return j
        e = j // stride
        j -= e * stride
        column[0] = self.place[j] - self.head_weights if self.edge_pairs else j
        return e
    # the rows of nodes at which a direction is not zero, into `active`; returns how many
    cdef Py_ssize_t find_active(self, Py_ssize_t i, Direction delta) noexcept nogil

    # theta = B_i^T w, in two steps: what all blocks have in common, and the rest
    cdef void common_scores(self, const double* w, double* theta) noexcept nogil
    cdef int own_scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil
    # the following as of `Problem`
    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil
    cdef int scatter(self, Py_ssize_t i, Direction delta, double step, double* v) except -1 nogil
    cdef double grow(
        self, Py_ssize_t i, Direction delta, const double* w, double* v
    ) except? -1 nogil
    # v += step * the outer products of the first n `active` rows and their part of a direction
    cdef void add_nodes(
        self, Py_ssize_t i, Py_ssize_t n, double step, const double* node, double* v
    ) noexcept nogil
    # the weights of all parts but the nodes
    cdef void scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil
    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil
    cdef double sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil
    cdef double node_sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil
    cdef double take_rest(self, Py_ssize_t i, Direction delta) noexcept nogil
    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil
    # image += B_i delta of the nodes, and back to zero, which returns the squared norm
    cdef void add_node_image(self, Py_ssize_t i, Direction delta) noexcept nogil
    cdef double take_node_image(self, Py_ssize_t i, Direction delta) noexcept nogil
    # does the Gram matrix of block i cost less than its features, for a direction with so many
    # active rows?
    cdef bint takes_gram(self, Py_ssize_t i, Py_ssize_t n_active, Py_ssize_t n) noexcept nogil
    # row t of node scores may be anything, if the present request has not made it yet
    cdef void begin_request(self) noexcept nogil
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil
    cpdef FeatureMap fork(self)
