"""The joint feature map of all linear models (see the .pxd)."""

import numpy as np

from sskit.models.features import NO_GRAMS, make_grams, no_features, no_grams, row_digests

from libc.string cimport memcpy, memset

from sskit.core.lanes cimport LANES, padded
from sskit.models.rows cimport add_row, clear_rows, clip_rows, dot_row
from sskit.oracles.chain.second_order cimport triple_room, triple_table

cdef extern from "row_kernels.hpp" namespace "sskit":
    void score_rows_apart(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
        Py_ssize_t n_columns, double* out, Py_ssize_t stride
    ) noexcept nogil
    # weights += step * outer(row t, direction) for every t of `active`, counted from `first`
    void add_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        double step, const double* direction, Py_ssize_t n_columns, double* weights
    ) noexcept nogil

cdef extern from "statistics_kernels.hpp" namespace "sskit":
    # out (n, padded(n)) = table (n, n) + mask (padded as out), if there is one
    void masked_table(
        const double* table, const double* mask, Py_ssize_t n, double* out
    ) noexcept nogil
    # the rows of `direction` (count, stride) that are not all zero; returns how many
    Py_ssize_t active_rows(
        const double* direction, Py_ssize_t count, Py_ssize_t stride, int32_t* active
    ) noexcept nogil
    # sum of <direction_t, scores_t> over the active rows
    double dot_rows(
        const int32_t* active, Py_ssize_t n_active, const double* direction,
        const double* scores, Py_ssize_t stride
    ) noexcept nogil

cdef extern from "edge_tables.hpp" namespace "sskit":
    bint no_entries "sskit::is_bare"(const Rows* rows, Py_ssize_t t) noexcept nogil
    double row_inner(const Rows* rows, Py_ssize_t s, Py_ssize_t t) noexcept nogil
    void clip_edge(
        const Rows* rows, Py_ssize_t t, const double* value, const double* lower,
        const double* upper, double* weights, Py_ssize_t stride
    ) noexcept nogil
    void prefetch_table(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t size
    ) noexcept nogil
    void add_edge_table "sskit::edge_table"(
        const Rows* rows, Py_ssize_t t, const double* base, const double* weights,
        Py_ssize_t n_states, double* out
    ) noexcept nogil

NO_SPACE = FeatureSpace()


cdef void score_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_columns, double* out, Py_ssize_t stride
) noexcept nogil:
    score_rows_apart(rows, first, count, weights, n_columns, out, stride)


cdef void copy_rows(
    const double* w, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t stride, double* out
) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(rows):
        memcpy(out + r * stride, w + r * columns, columns * sizeof(double))


def padded_columns(Py_ssize_t columns):
    """Return how many places a row of so many columns takes."""
    return padded(columns)


cdef class FeatureMap:
    """Statistics of blocks to weights, and back.

    Parameters
    ----------
    features : FeatureRows, or sequence of n_blocks FeatureRows
        Rows of the nodes of all blocks, one block after the other; or those of each block.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Block i has the rows offsets[i] to offsets[i + 1] - 1.
    n_columns : int
        Number of columns of the nodes.
    head : tuple of (int, int), default=(0, 0)
        Rows and columns of the head.
    mask : ndarray of shape (head rows, head stride), default=None
        0, or -inf for what is forbidden; None forbids nothing.
    first_mask, last_mask : ndarray of shape (n_columns,), default=None
        Likewise, for the first and the last row of each block.
    edges : FeatureRows, or sequence of FeatureRows, default=None
        Rows of the edges, as those of the nodes.
    edge_offsets : ndarray of shape (n_blocks + 1,), int64, default=None
        Where those of a block begin.
    edge_columns : int, default=None
        Their number of columns; None if an edge has a table as large as the head.
    tail : tuple of (int, int), default=(0, 0)
        Rows and columns of the tail.
    triples : bool, default=False
        Whether the tail is one of `triple_table`, for blocks of three rows or more.
    space : FeatureSpace, default=None
        Functions that add to the scores of the nodes.
    longest : int, default=None
        Rows of the longest block; None: of these.
    """

    def __cinit__(self, features, offsets, Py_ssize_t n_columns, *, head=(0, 0), mask=None,
                  first_mask=None, last_mask=None, edges=None, edge_offsets=None,
                  edge_columns=None, tail=(0, 0), triples=False, space=None):
        cdef FeatureRows one
        cdef Py_ssize_t i, most = 1, n_edge_weights = 0  # a place to point at, also without nodes
        cdef bint single
        self.parts = dict(
            features=features, offsets=offsets, n_columns=n_columns, head=head, mask=mask,
            first_mask=first_mask, last_mask=last_mask, edges=edges, edge_offsets=edge_offsets,
            edge_columns=edge_columns, tail=tail, triples=triples, space=space,
        )
        self.shared = isinstance(features, FeatureRows)
        self.features = features if self.shared else tuple(features)
        self.nodes, self.n_blocks = offsets, len(offsets) - 1
        self.n_columns, self.stride = n_columns, padded(n_columns)
        self.head_rows, self.head_columns = head
        self.tail_rows, self.tail_columns = tail
        self.tail_base = self.head_rows * padded(self.head_columns)
        self.tail_stride = padded(self.tail_columns) if self.tail_rows > 1 else self.tail_columns
        self.tail_extremes = triples
        self.node_base = self.tail_base + padded(
            triple_room(n_columns) if triples else self.tail_rows * self.tail_stride
        )
        one = self.features if self.shared else self.features[0]
        self.head_weights = one.rows.width * n_columns
        self.edge_weights = self.head_weights + self.head_rows * self.head_columns
        for one in (self.features,) if self.shared else self.features:
            self.node_rows.push_back(one.rows)
            self.node_rows.back().further = self.edge_weights // n_columns
        self.edge_weights += one.rows.n_further * n_columns
        self.mask = address(mask)
        self.first_mask, self.last_mask = address(first_mask), address(last_mask)
        self.edge_features = edges
        if edges is not None:
            self.edge_features = edges if self.shared else tuple(edges)
            for one in (edges,) if self.shared else self.edge_features:
                self.edge_rows.push_back(one.rows)
            self.edges = edge_offsets
            self.edge_pairs = edge_columns is None
            self.edge_columns = (
                self.head_rows * self.head_columns if self.edge_pairs else edge_columns
            )
            if self.edge_pairs:
                self.edge_stride = self.tail_base
            else:
                self.edge_stride = 1 if edge_columns == 1 else padded(edge_columns)
            n_edge_weights = one.n_features * self.edge_columns
        single = self.shared
        for i in range(self.n_blocks):
            single = single and self.count(i) == 1
            self.longest = max(self.longest, self.count(i))
            most = max(most, self.count(i) * self.stride + self.n_edges(i) * self.edge_stride)
        self.is_single = single
        self.max_statistics = self.node_base + most
        self.tail_weights = self.edge_weights + n_edge_weights
        self.has_rest = self.node_base > 0 or edges is not None
        self.space = NO_SPACE if space is None else space
        self.has_functions = self.space.is_kernel_space
        self.is_plain = (
            edges is None and first_mask is None and last_mask is None and not self.has_functions
        )
        self.n_weights = self.tail_weights + self.tail_rows * self.tail_columns
        if self.has_functions:
            self.n_weights = self.space.stop

    def prepare(self, grams=None, row_sqnorm=None):
        """Compute what training needs.

        Parameters
        ----------
        grams : SequenceGrams, default=None
            Gram matrices of blocks; None: computed for all blocks that are short enough.
        row_sqnorm : ndarray of shape (n_blocks,), default=None
            In place of them if every block has one row.
        """
        self.row_sqnorm = np.zeros(0)
        self.grams = self.edge_grams = NO_GRAMS
        if self.is_single:
            self.row_sqnorm = self.features.sqnorms() if row_sqnorm is None else row_sqnorm
        else:
            self.grams = make_grams(self.features, self.nodes) if grams is None else grams
        if self.edge_pairs:
            self.edge_grams = make_grams(self.edge_features, self.edges)
        self.make_room()

    cdef int make_room(self) except -1:
        """Make the scratch memory of a thread."""
        cdef Py_ssize_t n_nodes = 0, n_edges = 0
        places = [
            first + columns * np.arange(rows)[:, None] + np.minimum(np.arange(stride), columns - 1)
            for first, rows, columns, stride in (
                (self.head_weights, self.head_rows, self.head_columns, padded(self.head_columns)),
                (self.tail_weights, self.tail_rows, self.tail_columns, self.tail_stride),
            )
        ]
        self.place = np.concatenate([np.ravel(some) for some in places] + [[0]]).astype(np.int64)
        self.active = np.zeros(self.longest + 1, dtype=np.int32)
        self.fresh = np.zeros(self.longest + 1, dtype=np.int32)
        if not self.is_single and np.min(self.grams.offset, initial=0) < 0:
            n_nodes = self.edge_weights
        if not (self.edge_pairs or self.edge_rows.empty()):  # which may have no features at all
            n_edges = self.tail_weights - self.edge_weights + 1
        self.image = np.zeros(self.edge_weights + n_edges + LANES if n_nodes or n_edges else 1)
        self.row_scores = np.empty(self.longest * self.stride + 1 if n_nodes else 1)
        self.pair_total = np.zeros(self.tail_base if self.edge_pairs else 0)
        self.pair_head = np.full(self.tail_base if self.edge_pairs else 0, -1, dtype=np.int32)
        return 0

    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return no_entries(self.edge_rows_of(i), self.first_edge(i) + e)

    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return 0 if self.is_bare(i, e) else self.edge_base(i) + e * self.edge_stride

    cdef Py_ssize_t find_active(self, Py_ssize_t i, Direction delta) noexcept nogil:
        if self.is_single and not self.has_functions:
            return 1
        return active_rows(
            &delta.value[self.node_base], self.count(i), self.stride, &self.active[0]
        )

    cdef void common_scores(self, const double* w, double* theta) noexcept nogil:
        cdef const double* tail = w + self.tail_weights
        w += self.head_weights
        if self.head_rows == self.head_columns:
            masked_table(w, self.mask, self.head_rows, theta)
        else:
            copy_rows(w, self.head_rows, self.head_columns, padded(self.head_columns), theta)
        theta += self.tail_base
        if self.tail_extremes:
            triple_table(tail, self.n_columns, theta)
        else:
            copy_rows(tail, self.tail_rows, self.tail_columns, self.tail_stride, theta)

    cdef int own_scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t count = self.count(i), k, e, n_edges
        cdef double* node = theta + self.node_base
        cdef const Rows* rows
        score_rows_apart(
            self.rows_of(i), self.first_row(i), count, w, self.n_columns, node, self.stride
        )
        if self.is_plain:
            return 0
        for k in range(self.n_columns if self.first_mask != NULL else 0):
            node[k] += self.first_mask[k]
        for k in range(self.n_columns if self.last_mask != NULL else 0):
            node[(count - 1) * self.stride + k] += self.last_mask[k]
        if self.has_functions:
            self.space.add_values(self.nodes[i], count, w, node, self.stride)
        if self.edge_rows.empty():
            return 0
        rows, n_edges = self.edge_rows_of(i), self.n_edges(i)
        w += self.edge_weights
        if not self.edge_pairs:
            score_rows_apart(
                rows, self.first_edge(i), n_edges, w, self.edge_columns,
                theta + self.edge_base(i), self.edge_stride
            )
            return 0
        for e in range(self.first_edge(i), self.first_edge(i) + n_edges):
            if e + 1 < self.first_edge(i) + n_edges:
                prefetch_table(rows, e + 1, w, self.edge_columns)
            if not no_entries(rows, e):
                add_edge_table(
                    rows, e, theta, w, self.n_columns,
                    theta + self.edge_base(i) + (e - self.first_edge(i)) * self.edge_stride
                )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, t, c
        cdef unsigned int j, nodes = <unsigned int>self.node_base
        cdef unsigned int edges = <unsigned int>self.edge_base(i)
        cdef unsigned int stride = <unsigned int>self.stride
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1
        for entry in range(count):
            j = <unsigned int>index[entry]
            if j < nodes:
                theta[j] = w[self.place[j]]
            elif j < edges:
                t = (j - nodes) // stride
                if self.fresh[t] == self.request:
                    continue
                self.fresh[t] = self.request
                score_rows_apart(
                    self.rows_of(i), self.first_row(i) + t, 1, w, self.n_columns,
                    theta + nodes + t * stride, stride
                )
                if self.has_functions:
                    self.space.add_values(
                        self.nodes[i] + t, 1, w, theta + nodes + t * stride, stride
                    )
            else:
                t = self.edge_at(i, j, &c)
                theta[j] = dot_row(
                    self.edge_rows_of(i), t, w + self.edge_weights + c, self.edge_columns
                )
                if self.edge_pairs:
                    theta[j] += w[self.head_weights + c]
        return 0

    cdef void add_nodes(
        self, Py_ssize_t i, Py_ssize_t n, double step, const double* node, double* v
    ) noexcept nogil:
        cdef const Rows* rows = self.rows_of(i)
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t a, first = self.first_row(i)
        if self.n_columns > 1:
            add_rows(rows, first, active, n, step, node, self.n_columns, v)
            return
        # a column alone would be added as a whole vector
        for a in range(n):
            add_row(rows, first + active[a], step * node[active[a] * self.stride], v, 1)

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef const double* node = &delta.value[self.node_base]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = self.find_active(i, delta)
        self.add_nodes(i, n, step, node, v)
        if self.has_rest:
            self.scatter_rest(i, delta, step, v)
        # no row of kernels is computed for a direction that has become zero
        if n and self.has_functions:
            self.space.add_rows(self.nodes[i], active, n, step, node, self.stride, v)
        return 0

    cdef void scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil:
        cdef Py_ssize_t entry, j, t, c, edges = self.max_statistics, first = 0
        cdef Py_ssize_t columns = self.edge_columns
        cdef const Rows* rows = NULL
        cdef double change
        if not self.edge_rows.empty():
            first, rows, edges = self.first_edge(i), self.edge_rows_of(i), self.edge_base(i)
        for entry in range(delta.n):
            j = delta.index[entry]
            change = step * delta.value[j]
            if j < self.node_base:
                v[self.place[j]] += change
            elif j >= edges and change != 0.0:
                t = first + self.edge_from(<unsigned int>(j - edges), &c)
                if self.edge_pairs:
                    v[self.head_weights + c] += change
                add_row(rows, t, change, v + self.edge_weights + c, columns)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t entry, j, t, c, edges = self.edge_base(i)
        cdef Py_ssize_t n = self.find_active(i, delta)
        # there may be fewer weights of edges than statistics
        cdef bint all_edges = self.tail_weights - self.edge_weights <= delta.n
        clip_rows(
            self.rows_of(i), self.first_row(i), &self.active[0], n, self.n_columns, v, lower,
            upper, w
        )
        for j in range(self.edge_weights, self.tail_weights if all_edges else 0):
            w[j] = min(max(v[j], lower[j]), upper[j])
        for entry in range(delta.n if self.has_rest else 0):
            j = delta.index[entry]
            if j < self.node_base:
                c = self.place[j]
            elif j < edges or all_edges and not self.edge_pairs:
                continue
            else:
                t = self.edge_at(i, j, &c)
                if not all_edges:
                    clip_edge(
                        self.edge_rows_of(i), t, v + self.edge_weights + c,
                        lower + self.edge_weights + c, upper + self.edge_weights + c,
                        w + self.edge_weights + c, self.edge_columns
                    )
                if not self.edge_pairs:
                    continue
                c += self.head_weights
            w[c] = min(max(v[c], lower[c]), upper[c])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t entry, j, base = self.node_base
        cdef double total = 0.0
        if self.edge_pairs:
            return self.pair_sqnorm(i, delta) + self.node_sqnorm(i, delta)
        for entry in range(delta.n if base else 0):
            j = delta.index[entry]
            # arithmetic in place of a branch that nothing predicts
            total += (j < base) * delta.value[j] * delta.value[j]
        if not self.edge_rows.empty():
            total += self.edge_sqnorm(i, delta)
        return total + self.node_sqnorm(i, delta)

    cdef double node_sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t entry, j, n, end = self.edge_base(i), first = self.first_row(i)
        cdef const double* node = &delta.value[self.node_base]
        cdef const Rows* rows = self.rows_of(i)
        cdef int32_t* active = &self.active[0]
        cdef double total = 0.0
        if self.is_single:
            for entry in range(delta.n):
                j = delta.index[entry]
                if self.node_base <= j < end:
                    total += delta.value[j] * delta.value[j]
            return total * self.row_sqnorm[i]
        n = self.find_active(i, delta)
        if self.grams.has(i):
            return self.grams.sqnorm(i, active, n, node, self.stride)
        self.add_nodes(i, n, 1.0, node, &self.image[0])
        if rows.indptr == NULL:
            # || B delta ||^2 itself where it has fewer numbers than delta
            total = taken_squares(&self.image[0], rows.width * self.n_columns)
            j = rows.further * self.n_columns
            return total + taken_squares(&self.image[j], rows.n_further * self.n_columns)
        # <B delta, B delta> = <delta, B^T (B delta)>
        score_rows_apart(
            rows, first, self.count(i), &self.image[0], self.n_columns, &self.row_scores[0],
            self.stride
        )
        clear_rows(rows, first, active, n, self.n_columns, &self.image[0])
        return dot_rows(active, n, node, &self.row_scores[0], self.stride)

    cdef double edge_sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t entry, j, t, c, edges = self.edge_base(i)
        cdef Py_ssize_t first = self.first_edge(i), columns = self.edge_columns
        cdef const Rows* rows = self.edge_rows_of(i)
        cdef double* image = &self.image[self.edge_weights]
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= edges and delta.value[j] != 0.0:
                t = first + self.edge_from(<unsigned int>(j - edges), &c)
                add_row(rows, t, delta.value[j], image + c, columns)
        return taken_squares(image, self.tail_weights - self.edge_weights)

    # of all but the nodes where edges have tables as large as the head
    cdef double pair_sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        # Entries of the same pair of labels form a list, and only those share weights: with
        # numbers x_e, || sum_e d_e outer(x_e, pair) ||^2 is a sum over the pairs of entries.
        cdef Py_ssize_t base = self.tail_base, first = self.edge_base(i), entry, j, e, cell
        cdef int32_t other
        cdef double total = 0.0, value
        self.pair_next.resize(delta.n)
        for entry in range(delta.n):
            j = delta.index[entry]
            value = delta.value[j]
            if j < base:
                self.pair_total[j] += value
            elif j < self.node_base:
                total += value * value
            if j < first or value == 0.0:
                continue
            e, cell = (j - first) // base, (j - first) % base
            self.pair_total[cell] += value
            total += value * value * self.edge_inner(i, e, e)
            other = self.pair_head[cell]
            while other >= 0:
                total += 2.0 * value * delta.value[delta.index[other]] * self.edge_inner(
                    i, (delta.index[other] - first) // base, e
                )
                other = self.pair_next[other]
            self.pair_next[entry] = self.pair_head[cell]
            self.pair_head[cell] = <int32_t>entry
        for entry in range(delta.n):
            j = delta.index[entry]
            if base <= j < first:
                continue
            cell = j if j < base else (j - first) % base
            total += self.pair_total[cell] * self.pair_total[cell]
            self.pair_total[cell] = 0.0
            self.pair_head[cell] = -1
        return total

    # <x_e, x_f>, of edges of block i
    cdef double edge_inner(self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t f) noexcept nogil:
        if self.edge_grams.has(i):
            return self.edge_grams.at(i, e, f)
        return row_inner(self.edge_rows_of(i), self.first_edge(i) + e, self.first_edge(i) + f)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        if not self.shared:
            return
        (<FeatureRows>self.features).prefetch(self.nodes[i], self.count(i))
        if self.edge_pairs:
            (<FeatureRows>self.edge_features).prefetch(
                self.edges[i], self.edges[i + 1] - self.edges[i]
            )
        if not self.is_single and self.grams.has(i):
            self.grams.prefetch(i, self.count(i))

    cpdef FeatureMap fork(self):
        cdef FeatureMap other = FeatureMap(**self.parts | {"space": self.space.fork()})
        if self.grams is not None:  # it is prepared for training
            other.grams, other.edge_grams = self.grams, self.edge_grams
            other.row_sqnorm = self.row_sqnorm
            other.make_room()
        return other

    def all_rows(self):
        """Return the `FeatureRows` of nodes and edges, as a list."""
        parts = [self.features, self.edge_features if self.edge_features is not None else ()]
        return [
            rows for part in parts
            for rows in ((part,) if isinstance(part, FeatureRows) else part)
        ]

    @property
    def offsets(self):
        """Where the rows of the blocks begin, shape (n_blocks + 1,), int64."""
        return np.asarray(self.nodes)

    def mark_sqnorms(self):
        """Return how many further features the rows have, shape (n_rows,)."""
        marks = self.features.given_marks
        return 0.0 if marks is None else np.unpackbits(marks[:, None], axis=1).sum(axis=1) * 1.0

    def at_rows(self, numbers, offsets, space):
        """Return the map of blocks of some rows alone, in another kernel space."""
        marks = self.features.given_marks
        marks = None if marks is None else marks[numbers]
        rows = no_features(len(numbers), marks, (<FeatureRows>self.features).rows.n_further)
        return FeatureMap(**self.parts | dict(features=rows, offsets=offsets, space=space))

    def digests(self):
        """Return what tells maps apart, of the whole and of each block."""
        whole = {
            "the number of features": self.head_weights // self.n_columns,
            "the number of edge features": (
                0 if self.edge_features is None
                else (self.tail_weights - self.edge_weights) // self.edge_columns
            ),
            "the number of labels": self.n_columns,
            "the weights": (self.head_rows, self.edge_weights, self.tail_weights, self.tail_rows),
            "transitions": tuple(
                np.asarray(mask).tobytes() if np.any(mask) else None
                for mask in map(self.parts.get, ("mask", "first_mask", "last_mask"))
            ),
        }
        blocks = {"X": digests_of(self.features, self.nodes)}
        if self.edge_features is not None:
            blocks["the edge features of X"] = digests_of(self.edge_features, self.edges)
        return whole, blocks


def weights_alone(n_blocks, n_weights):
    """Return the map of statistics that are the joint features themselves: a head of one row."""
    feature_map = FeatureMap(
        no_features(0), np.zeros(n_blocks + 1, dtype=np.int64), 1, head=(1, n_weights)
    )
    feature_map.prepare(no_grams(n_blocks))
    return feature_map


def digests_of(features, offsets):
    """Return a digest of the rows of each block, of one matrix or of one each."""
    if isinstance(features, FeatureRows):
        return row_digests(features, offsets)
    ends = [np.array([0, rows.n_rows], dtype=np.int64) for rows in features]
    return np.concatenate([row_digests(rows, end) for rows, end in zip(features, ends)])


# where the numbers of a mask are, which stays in the parts of a map
cdef const double* address(mask) except? NULL:
    cdef const double[::1] numbers
    if mask is None:
        return NULL
    numbers = np.ravel(mask)
    return &numbers[0]


# ||x||^2; zeros are left behind
cdef double taken_squares(double* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(n):
        total += x[j] * x[j]
    memset(x, 0, n * sizeof(double))
    return total
