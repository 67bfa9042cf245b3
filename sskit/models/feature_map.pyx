"""The joint feature map of all linear models (see the .pxd).

In NumPy, with X the feature rows of the nodes of block i, W their weights (n_features, n_columns),
and D the part of a direction delta that belongs to the nodes, a row for each (n_nodes, n_columns):

    theta = B_i^T w         X @ W                       and the weights of head and tail themselves
    v += step B_i delta     W += step * X.T @ D         and delta itself for head and tail
    ||B_i delta||^2         ((X.T @ D)**2).sum()        or (D * (X @ X.T @ D)).sum(), by Gram matrix
    <B_i delta, B_i psi>    ((X @ X.T @ D) * psi).sum()

Edges have the same with rows of their own.
"""

import numpy as np

from sskit.models.features import NO_GRAMS, no_features, row_digests

from libc.string cimport memcpy

from sskit.core.lanes cimport LANES, padded
from sskit.models.rows cimport (
    add_entries,
    add_row,
    clip_rows,
    dot_row,
    entries_of,
    grow_entries,
    rows_of_entries,
    take_entries,
    take_rows,
)
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
    # packed matrix of inner products; scratch, as long as a row, is zero before and after
    void gram_rows(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
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
    # <a sparse vector, (head, rest)>: the first `n_head` numbers from one place, the rest from
    # another
    double product_of_parts(
        const int32_t* index, const double* value, Py_ssize_t n, const double* head,
        Py_ssize_t n_head, const double* rest
    ) noexcept nogil

cdef extern from "edge_tables.hpp" namespace "sskit":
    bint no_entries "sskit::is_bare"(const Rows* rows, Py_ssize_t t) noexcept nogil
    double take_edge(
        const Rows* rows, Py_ssize_t t, double* weights, Py_ssize_t stride
    ) noexcept nogil
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

cdef extern from "compact_image.hpp" namespace "sskit":
    double compact_sqnorm(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* table,
        Py_ssize_t stride, Py_ssize_t n_states, Py_ssize_t n_features, double* scratch
    ) noexcept nogil

NO_SPACE = FeatureSpace()

# Of a direction with fewer nonzero entries than one in so many numbers only the entries are read.
cdef Py_ssize_t DENSE_ENTRIES = 16
# A product of two entries of sparse rows, there and back, takes the time of so many numbers of a
# table that is read in whole vectors. Few active rows are taken from the Gram matrix in any case.
cdef Py_ssize_t ENTRY_COST = 50
cdef Py_ssize_t LEAST_ACTIVE = 12
# Rows have a Gram matrix if both triangles have no more numbers than this times their entries:
# dense ones up to half as many as they have columns (see examples/benchmarks/gram.py). Of sparse
# ones matrices pay up to three times; up to four they save memory, for without them the image of a
# step touches most of a vector of weights.
cdef double GRAM_OF_DENSE = 0.5
cdef double GRAM_OF_SPARSE = 4.0
# Products with planes are computed for all nodes if the planes have so many entries for each.
cdef Py_ssize_t MANY_ENTRIES = 16


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
    features : FeatureRows
        Rows of the nodes of all blocks, one block after the other.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Block i has the rows offsets[i] to offsets[i + 1] - 1.
    n_columns : int
        Number of columns of the nodes.
    head : tuple of (int, int), default=(0, 0)
        Rows and columns of the head.
    mask : ndarray of shape (head rows, head stride), default=None
        0, or -inf for what is forbidden; None forbids nothing.
    first_mask, last_mask : ndarray of shape (n_columns,), default=None
        Likewise, for labels of the first and the last row of each block.
    edges : FeatureRows, default=None
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
    packed : bool, default=False
        Whether nodes of a single column are not padded, for blocks without Gram matrices.
    """

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_columns, *, head=(0, 0),
                  mask=None, first_mask=None, last_mask=None, FeatureRows edges=None,
                  edge_offsets=None, edge_columns=None, tail=(0, 0), triples=False, space=None,
                  bint packed=False):
        cdef Py_ssize_t i, most = 1, n_edge_weights = 0  # a place to point at, also without nodes
        cdef bint even = True
        self.parts = dict(
            features=features, offsets=offsets, n_columns=n_columns, head=head, mask=mask,
            first_mask=first_mask, last_mask=last_mask, edges=edges, edge_offsets=edge_offsets,
            edge_columns=edge_columns, tail=tail, triples=triples, space=space,
            packed=packed,
        )
        self.features, self.nodes, self.n_blocks = features, offsets, len(offsets) - 1
        self.n_columns, self.stride = n_columns, 1 if packed else padded(n_columns)
        self.per_stride = 1.0 / self.stride if self.stride else 0.0
        self.head_rows, self.head_columns = head
        self.tail_rows, self.tail_columns = tail
        self.tail_base = self.head_rows * padded(self.head_columns)
        self.tail_stride = padded(self.tail_columns) if self.tail_rows > 1 else self.tail_columns
        self.tail_extremes = triples
        self.node_base = self.tail_base + padded(
            triple_room(n_columns) if triples else self.tail_rows * self.tail_stride
        )
        self.rows = features.rows
        self.head_weights = self.rows.width * n_columns
        self.edge_weights = self.head_weights + self.head_rows * self.head_columns
        self.rows.further = self.edge_weights // n_columns
        self.edge_weights += self.rows.n_further * n_columns
        self.mask = address(mask)
        self.first_mask, self.last_mask = address(first_mask), address(last_mask)
        self.edge_features, self.has_edges = edges, edges is not None
        if self.has_edges:
            self.edge_rows, self.edges = edges.rows, edge_offsets
            self.edge_pairs = edge_columns is None
            self.edge_columns = (
                self.head_rows * self.head_columns if self.edge_pairs else edge_columns
            )
            if self.edge_pairs:
                self.edge_stride = self.tail_base
            else:
                self.edge_stride = 1 if edge_columns == 1 else padded(edge_columns)
            n_edge_weights = edges.n_features * self.edge_columns
        for i in range(self.n_blocks):
            even = even and self.nodes[i + 1] == (i + 1) * self.nodes[1]
            self.longest = max(self.longest, self.count(i))
            most = max(most, self.count(i) * self.stride + self.n_edges(i) * self.edge_stride)
        self.each = self.nodes[1] if even and self.n_blocks else 0
        self.is_single = self.each == 1 or not self.n_blocks
        self.max_statistics = self.node_base + most
        self.tail_weights = self.edge_weights + n_edge_weights
        self.has_rest = self.node_base > 0 or self.has_edges
        self.space = NO_SPACE if space is None else space
        self.has_functions = self.space.is_kernel_space
        self.is_plain = (
            not self.has_edges and first_mask is None and last_mask is None
            and not self.has_functions
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
        self.grams = NO_GRAMS
        if self.is_single:
            self.row_sqnorm = self.features.sqnorms() if row_sqnorm is None else row_sqnorm
        else:
            self.grams = self.make_grams() if grams is None else grams
        self.make_room()

    def make_grams(self, most=None):
        """Return the Gram matrices of all short enough blocks.

        A step costs T^2 / 2 products of labels by a Gram matrix of T rows, else some for each
        stored entry: more of sparse rows, whose weights are scattered, than of dense ones, which
        vector instructions take. Up to these lengths the matrices pay for themselves too, and take
        at most a quarter of the memory of dense features.

        Parameters
        ----------
        most : float, default=None
            A block has one if T (T + 1) is at most so many times its stored entries; None: as pays.
        """
        cdef Py_ssize_t i, count, total = 0
        cdef double limit = GRAM_OF_DENSE if self.rows.indptr == NULL else GRAM_OF_SPARSE
        limit = limit if most is None else most
        cdef int64_t[::1] offset = np.full(self.n_blocks, -1, dtype=np.int64)
        cdef double[::1] scratch = np.zeros(self.rows.width + LANES), out
        for i in range(self.n_blocks):
            count = self.count(i)
            if 0 < count * (count + 1) <= limit * entries_of(&self.rows, self.first_row(i), count):
                offset[i] = total
                total += count * (count + 1) // 2
        out = numbers = np.empty(total + 1)
        with nogil:
            for i in range(self.n_blocks):
                if offset[i] >= 0:
                    gram_rows(
                        &self.rows, self.first_row(i), self.count(i), &scratch[0],
                        &out[offset[i]]
                    )
        return SequenceGrams(np.asarray(offset), numbers)

    cdef int make_room(self) except -1:
        """Make the scratch memory of a thread."""
        places = [
            first + columns * np.arange(rows)[:, None] + np.minimum(np.arange(stride), columns - 1)
            for first, rows, columns, stride in (
                (self.head_weights, self.head_rows, self.head_columns, padded(self.head_columns)),
                (self.tail_weights, self.tail_rows, self.tail_columns, self.tail_stride),
            )
        ]
        self.place = np.concatenate([np.ravel(some) for some in places] + [[0]]).astype(np.int64)
        self.active = np.zeros(self.longest + 1, dtype=np.int32)
        self.marks = np.zeros(self.longest + 8, dtype=np.uint8)
        self.fresh = np.zeros(self.longest + 1, dtype=np.int32)
        self.products = np.empty(self.max_statistics)
        self.image = np.zeros(self.tail_weights + self.tail_rows * self.tail_columns + LANES)
        return 0

    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return no_entries(&self.edge_rows, self.edges[i] + e)

    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return 0 if self.is_bare(i, e) else self.edge_base(i) + e * self.edge_stride

    cdef Py_ssize_t find_active(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t count = self.count(i)
        if self.is_single and not self.has_functions:
            return 1
        if self.stride == 1 or count * self.stride > DENSE_ENTRIES * delta.n:
            return rows_of_entries(
                &delta.index[0], delta.n, &delta.value[0], self.node_places(i), count,
                &self.marks[0], &self.active[0]
            )
        return active_rows(&delta.value[self.node_base], count, self.stride, &self.active[0])

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
        cdef const Rows* rows = &self.edge_rows
        # X @ W
        score_rows_apart(&self.rows, self.first_row(i), count, w, self.n_columns, node, self.stride)
        if self.is_plain:
            return 0
        for k in range(self.n_columns if self.first_mask != NULL else 0):
            node[k] += self.first_mask[k]
        for k in range(self.n_columns if self.last_mask != NULL else 0):
            node[(count - 1) * self.stride + k] += self.last_mask[k]
        if self.has_functions:
            self.space.add_values(self.nodes[i], count, w, node, self.stride)
        if not self.has_edges:
            return 0
        n_edges = self.n_edges(i)
        w += self.edge_weights
        if not self.edge_pairs:
            score_rows_apart(
                rows, self.edges[i], n_edges, w, self.edge_columns,
                theta + self.edge_base(i), self.edge_stride
            )
            return 0
        for e in range(self.edges[i], self.edges[i] + n_edges):
            if e + 1 < self.edges[i] + n_edges:
                prefetch_table(rows, e + 1, w, self.edge_columns)
            if not no_entries(rows, e):
                add_edge_table(
                    rows, e, theta, w, self.n_columns,
                    theta + self.edge_base(i) + (e - self.edges[i]) * self.edge_stride
                )
        return 0

    cdef void begin_request(self) noexcept nogil:
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, t, c
        cdef unsigned int j, nodes = <unsigned int>self.node_base
        cdef unsigned int edges = <unsigned int>self.edge_base(i)
        cdef unsigned int stride = <unsigned int>self.stride
        self.begin_request()
        for entry in range(count):
            j = <unsigned int>index[entry]
            if j < nodes:
                theta[j] = w[self.place[j]]
            elif j < edges:
                t = self.row_at(j - nodes)
                if self.fresh[t] == self.request:
                    continue
                self.fresh[t] = self.request
                score_rows_apart(
                    &self.rows, self.first_row(i) + t, 1, w, self.n_columns,
                    theta + nodes + t * stride, stride
                )
                if self.has_functions:
                    self.space.add_values(
                        self.nodes[i] + t, 1, w, theta + nodes + t * stride, stride
                    )
            else:
                t = self.edge_at(i, j, &c)
                theta[j] = dot_row(&self.edge_rows, t, w + self.edge_weights + c, self.edge_columns)
                if self.edge_pairs:
                    theta[j] += w[self.head_weights + c]
        return 0

    cdef void add_nodes(
        self, Py_ssize_t i, Py_ssize_t n, double step, const double* node, double* v
    ) noexcept nogil:
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t a, first = self.first_row(i)
        if self.n_columns > 1:
            add_rows(&self.rows, first, active, n, step, node, self.n_columns, v)
            return
        # a column alone would be added as a whole vector
        for a in range(n):
            add_row(&self.rows, first + active[a], step * node[active[a] * self.stride], v, 1)

    cdef int scatter(self, Py_ssize_t i, Direction delta, double step, double* v) except -1 nogil:
        cdef const double* node = &delta.value[self.node_base]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = self.find_active(i, delta)
        # W += step * X.T @ D, for the rows of D that are not zero
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
        cdef double change
        if self.has_edges:
            first, edges = self.edges[i], self.edge_base(i)
        for entry in range(delta.n):
            j = delta.index[entry]
            change = step * delta.value[j]
            if j < self.node_base:
                v[self.place[j]] += change
            elif j >= edges and change != 0.0:
                t = first + self.edge_from(<unsigned int>(j - edges), &c)
                if self.edge_pairs:
                    v[self.head_weights + c] += change
                add_row(&self.edge_rows, t, change, v + self.edge_weights + c, columns)

    cdef double grow(
        self, Py_ssize_t i, Direction delta, const double* w, double* v
    ) except? -1 nogil:
        cdef Py_ssize_t entry, j
        cdef double growth = 0.0, change
        if w == v and self.rows.indptr != NULL and not (self.has_edges or self.has_functions):
            # Every weight is read once: v before and after a change gives its part of the growth.
            for entry in range(delta.n if self.has_rest else 0):
                j = delta.index[entry]
                if j < self.node_base:
                    change = delta.value[j]
                    growth += (2.0 * v[self.place[j]] + change) * change
                    v[self.place[j]] += change
            return growth + grow_entries(
                &self.rows, self.first_row(i), &delta.index[0], delta.n, &delta.value[0],
                self.node_places(i), self.n_columns, v
            )
        self.scores_at(i, w, &delta.index[0], delta.n, &self.products[0])
        for entry in range(delta.n):
            j = delta.index[entry]
            growth += 2.0 * delta.value[j] * self.products[j]
        growth += self.sqnorm(i, delta)
        self.scatter(i, delta, 1.0, v)
        return growth

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t entry, j, t, c, edges = self.edge_base(i)
        cdef Py_ssize_t n = self.find_active(i, delta)
        # there may be fewer weights of edges than statistics
        cdef bint all_edges = self.tail_weights - self.edge_weights <= delta.n
        clip_rows(
            &self.rows, self.first_row(i), &self.active[0], n, self.n_columns, v, lower,
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
                        &self.edge_rows, t, v + self.edge_weights + c,
                        lower + self.edge_weights + c, upper + self.edge_weights + c,
                        w + self.edge_weights + c, self.edge_columns
                    )
                if not self.edge_pairs:
                    continue
                c += self.head_weights
            w[c] = min(max(v[c], lower[c]), upper[c])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t entry, j, base = self.node_base
        cdef double total = 0.0
        if self.has_edges:
            self.scatter_rest(i, delta, 1.0, &self.image[0])
            total = self.take_rest(i, delta)  # before the image has another use
            return total + self.node_sqnorm(i, delta)
        for entry in range(delta.n if base else 0):
            j = delta.index[entry]
            # arithmetic in place of a branch that the processor cannot predict
            total += (j < base) * delta.value[j] * delta.value[j]
        return total + self.node_sqnorm(i, delta)

    cdef double node_sqnorm(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t entry, j, n, most, end = self.edge_base(i)
        cdef const double* node = &delta.value[self.node_base]
        cdef double total = 0.0
        if self.is_single:
            for entry in range(delta.n):
                j = delta.index[entry]
                if self.node_base <= j < end:
                    total += delta.value[j] * delta.value[j]
            return total * self.row_sqnorm[i]  # ||x||^2 ||d||^2
        n = self.find_active(i, delta)
        if self.takes_gram(i, n, delta.n):
            return self.grams.sqnorm(i, &self.active[0], n, node, self.stride)
        # ((X.T @ D)**2).sum()
        n = self.count(i)
        if self.rows.indptr != NULL and self.stride > 1 and delta.n >= n * self.stride:
            # all entries of all nodes
            j = self.edge_weights // self.n_columns
            most = entries_of(&self.rows, self.first_row(i), n) + n * self.rows.n_further
            if j + most * self.n_columns <= self.image.shape[0]:
                return compact_sqnorm(
                    &self.rows, self.first_row(i), n, node, self.stride, self.n_columns, j,
                    &self.image[0]
                )
        self.add_node_image(i, delta)
        return self.take_node_image(i, delta)

    cdef bint takes_gram(self, Py_ssize_t i, Py_ssize_t n_active, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t count = self.count(i)
        if not self.grams.has(i):
            return False
        if self.rows.indptr == NULL or self.has_functions or n_active < LEAST_ACTIVE:
            return True
        return n_active * n_active * self.stride * count <= (
            ENTRY_COST * n * entries_of(&self.rows, self.first_row(i), count)
        )

    cdef void add_node_image(self, Py_ssize_t i, Direction delta) noexcept nogil:
        if self.rows.indptr == NULL:
            self.add_nodes(
                i, self.find_active(i, delta), 1.0, &delta.value[self.node_base], &self.image[0]
            )
            return
        add_entries(
            &self.rows, self.first_row(i), &delta.index[0], delta.n, &delta.value[0],
            self.node_places(i), self.n_columns, &self.image[0]
        )

    cdef double take_node_image(self, Py_ssize_t i, Direction delta) noexcept nogil:
        if self.rows.indptr == NULL:
            return take_rows(
                &self.rows, self.first_row(i), &self.active[0], self.find_active(i, delta),
                self.n_columns, &self.image[0]
            )
        return take_entries(
            &self.rows, self.first_row(i), &delta.index[0], delta.n, &delta.value[0],
            self.node_places(i), self.n_columns, &self.image[0]
        )

    # One row of products B_i^T B_i delta serves all planes that use its node: for many planes that
    # is the least work.
    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil:
        cdef Py_ssize_t e, r, t, c, n_active = 0
        cdef unsigned int j, nodes = <unsigned int>self.node_base
        cdef unsigned int edges = <unsigned int>self.edge_base(i)
        cdef const double* image = &self.image[0]
        cdef double* theta = &self.products[0]
        cdef double total
        cdef bint by_gram = self.is_single
        if not self.is_single:
            n_active = self.find_active(i, delta)
            by_gram = self.grams.has(i)
        if self.has_edges:
            self.scatter_rest(i, delta, 1.0, &self.image[0])
        if not by_gram:
            self.add_node_image(i, delta)
        self.begin_request()
        if not (self.has_edges or self.is_single) and first[n] >= MANY_ENTRIES * self.count(i):
            # so many entries concern nearly all nodes: their nodes are not looked up
            for t in range(self.count(i)):
                product_row(self, i, t, n_active, delta, by_gram)
            for r in range(n):
                e = first[r]
                out[r] = product_of_parts(
                    index + e, value + e, first[r + 1] - e, &delta.value[0], self.node_base, theta
                )
            if not by_gram:
                self.take_node_image(i, delta)
            return 0
        for r in range(n):
            total = 0.0
            for e in range(first[r], first[r + 1]):
                j = <unsigned int>index[e]
                if j < nodes:
                    total += value[e] * (
                        image[self.place[j]] if self.has_edges else delta.value[j]
                    )
                    continue
                if j >= edges:
                    t = self.edge_at(i, j, &c)
                    theta[j] = dot_row(
                        &self.edge_rows, t, image + self.edge_weights + c, self.edge_columns
                    )
                    if self.edge_pairs:
                        theta[j] += image[self.head_weights + c]
                elif self.is_single:
                    theta[j] = self.row_sqnorm[i] * delta.value[j]
                else:
                    t = self.row_at(j - nodes)
                    if self.fresh[t] != self.request:
                        self.fresh[t] = self.request
                        product_row(self, i, t, n_active, delta, by_gram)
                total += value[e] * theta[j]
            out[r] = total
        if self.has_edges:
            self.take_rest(i, delta)
        if not by_gram:
            self.take_node_image(i, delta)
        return 0

    # the squared norm of what scatter_rest has put into the image, which becomes zero
    cdef double take_rest(self, Py_ssize_t i, Direction delta) noexcept nogil:
        cdef Py_ssize_t entry, j, t, c, edges = self.edge_base(i)
        cdef double* image = &self.image[0]
        cdef double total = 0.0
        for entry in range(delta.n):
            j = delta.index[entry]
            if j < self.node_base:
                total += taken_square(&image[self.place[j]])
            elif j >= edges:
                t = self.edge_at(i, j, &c)
                if self.edge_pairs:
                    total += taken_square(&image[self.head_weights + c])
                total += take_edge(
                    &self.edge_rows, t, image + self.edge_weights + c, self.edge_columns
                )
        return total

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.features.prefetch(self.first_row(i), self.count(i))
        if self.has_edges:
            self.edge_features.prefetch(self.edges[i], self.n_edges(i))
        if not self.is_single and self.grams.has(i):
            self.grams.prefetch(i, self.count(i))

    cpdef FeatureMap fork(self):
        cdef FeatureMap other = FeatureMap(**self.parts | {"space": self.space.fork()})
        if self.grams is not None:  # it is prepared for training
            other.grams, other.row_sqnorm = self.grams, self.row_sqnorm
            other.make_room()
        return other

    @property
    def offsets(self):
        """Where the rows of the blocks begin, shape (n_blocks + 1,), int64."""
        return np.asarray(self.nodes)

    def at_rows(self, numbers, offsets, space):
        """Return the map of blocks of some rows alone, in another kernel space."""
        marks = self.features.given_marks
        marks = None if marks is None else marks[numbers]
        rows = no_features(len(numbers), marks, self.rows.n_further)
        return FeatureMap(**self.parts | dict(features=rows, offsets=offsets, space=space))

    def digests(self):
        """Return two dicts, {name: value} of the whole map and {name: digests} of its blocks."""
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
        blocks = {"X": row_digests(self.features, self.nodes)}
        if self.has_edges:
            blocks["the edge features of X"] = row_digests(self.edge_features, self.edges)
        return whole, blocks


def weights_alone(n_blocks, n_weights):
    """Return the map of statistics that are the joint features themselves: a head of one row."""
    feature_map = FeatureMap(
        no_features(0), np.zeros(n_blocks + 1, dtype=np.int64), 1, head=(1, n_weights)
    )
    feature_map.prepare(NO_GRAMS)
    return feature_map


# address of the numbers of a mask, which `parts` keeps alive
cdef const double* address(mask) except? NULL:
    cdef const double[::1] numbers
    if mask is None:
        return NULL
    numbers = np.ravel(mask)
    return &numbers[0]


# the products of node t of a block, from the Gram matrix or from the image of delta
cdef void product_row(
    FeatureMap map, Py_ssize_t i, Py_ssize_t t, Py_ssize_t n_active, Direction delta, bint by_gram
) noexcept nogil:
    cdef double* out = &map.products[map.node_base + t * map.stride]
    if by_gram:
        map.grams.row_of(
            i, t, &map.active[0], n_active, &delta.value[map.node_base], map.stride, out
        )
        return
    score_rows_apart(
        &map.rows, map.first_row(i) + t, 1, &map.image[0], map.n_columns, out, map.stride
    )


# x^2; x becomes zero
cdef inline double taken_square(double* x) noexcept nogil:
    cdef double value = x[0]
    x[0] = 0.0
    return value * value
