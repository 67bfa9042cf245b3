"""Requests of a trained model for many blocks: one loop for each kind of answer."""

import heapq
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sskit._numbers import count_threads
from sskit.models.features import SPARE, take_weights

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from sskit.core.lanes cimport LANES, padded
from sskit.core.problem cimport SlackGoal
from sskit.models.feature_map cimport FeatureMap, copy_rows
from sskit.models.features cimport FeatureRows, are_modest
from sskit.models.structure cimport Block, NodeLoss, Structure

# Rows that are scored one after the other, and products from which on threads are worth starting.
GROUP, LEAST_PRODUCTS = 64, 10_000_000
NO_LABELS = np.zeros(0, dtype=np.int32), np.zeros(0)
NO_WEIGHTS = np.zeros(SPARE)
NOTHING_KNOWN = NodeLoss(*NO_LABELS, 0)


def gather(rows, coef, others):
    """Return the weights of a request.

    Parameters
    ----------
    rows : FeatureRows
        Features of the nodes; from now on they read the weights of those that occur.
    coef : ndarray of shape (n_states, n_features), or list of ndarrays
        Weights of the features, as `take_weights` has them.
    others : sequence of ndarray
        All other weights, in the order of the `FeatureMap`.

    Returns
    -------
    weights : ndarray of shape (n_weights + SPARE,), float64
        As a `Request` takes them.
    """
    behind = np.concatenate([*[weights.ravel() for weights in others], NO_WEIGHTS])
    out = take_weights(rows, coef, len(behind))
    out[len(out) - len(behind) :] = behind
    return out


cdef class Request:
    """Blocks that are to be labelled under given weights.

    Parameters
    ----------
    map : FeatureMap
        Of the blocks.
    structure : Structure
        Their labellings.
    weights : ndarray of shape (n_weights + LANES,)
        As the map lays them out; spare numbers behind them.
    possible : ndarray of shape (n_nodes, n_states), bool, default=None
        States that are possible at each node; None means all.
    n_states : int, default=None
        Number of states of a node, whose potentials are the first columns; None: of all columns.
    known : NodeLoss, default=None
        In place of both, for structures whose states are not the columns of nodes: its number of
        states and its masks, which `best` heeds.
    **given : object
        For subclasses.
    """

    cdef readonly FeatureMap map
    cdef readonly Structure structure
    cdef readonly NodeLoss known             # its states that are not possible are never chosen
    cdef bint forbids                        # by the potentials? Else `best` of the structure
    cdef double[::1] weights                 # (n_weights + LANES,)
    cdef readonly Py_ssize_t n_blocks
    cdef const int64_t[::1] offsets          # of the structure
    cdef readonly Py_ssize_t n_nodes         # or labels, if the structure counts them
    cdef readonly Py_ssize_t n_rows          # of arrays by node: more where these are padded
    cdef readonly Py_ssize_t n_states
    cdef dict options                        # optional arguments of the constructor

    def __cinit__(self, FeatureMap map, Structure structure, weights, possible=None,
                  n_states=None, known=None, **options):
        self.options = options | dict(possible=possible, n_states=n_states, known=known)
        self.map, self.structure, self.weights = map, structure, weights
        self.n_blocks = map.n_blocks
        self.n_states = map.n_columns if n_states is None else n_states
        self.offsets = structure.offsets(map)
        self.n_nodes = self.n_rows = self.offsets[map.n_blocks]
        self.known = NOTHING_KNOWN if known is None else known
        self.forbids = known is None
        if possible is not None:
            self.known = NodeLoss(*NO_LABELS, self.n_states, possible=possible)
        elif known is not None:
            self.n_states = self.known.n_states

    # the potentials of a block, in theta, which `begin` has made
    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil:
        self.map.own_scores(i, &self.weights[0], theta)
        b.i, b.first, b.theta = i, self.offsets[i], theta
        b.n = self.offsets[i + 1] - b.first
        if self.forbids:
            self.known.forbid(b.first, b.n, theta + self.map.node_base, self.map.stride)
        return 0

    # the argument of the first call of `next` for the blocks from `start` on
    cdef Block before(self, Py_ssize_t start) noexcept nogil:
        cdef Block b
        b.i = start - 1
        return b

    # go on to the next block before `stop` that is not empty, and load it; False: there is none
    cdef bint next(self, Py_ssize_t stop, double* theta, Block* b) except -1 nogil:
        b.i += 1
        while b.i < stop and self.offsets[b.i] == self.offsets[b.i + 1]:
            b.i += 1
        if b.i < stop:
            self.load(b.i, theta, b)
        return b.i < stop

    def begin(self):
        """Return room for potentials, with those that all blocks have in common."""
        cdef double[::1] theta = np.zeros(self.map.max_statistics + LANES)
        self.map.common_scores(&self.weights[0], &theta[0])
        return np.asarray(theta)

    def is_modest(self):
        """Return whether features and weights are so small that no score can overflow."""
        cdef FeatureRows rows
        cdef Py_ssize_t nodes = self.map.head_weights, edges = self.map.edge_weights
        # the other weights of a fitted estimator are below 1e154: too few to overflow
        cdef bint modest = are_modest(&self.weights[0], nodes) and are_modest(
            &self.weights[edges], self.map.tail_weights - edges
        )
        for rows in (self.map.features, self.map.edge_features or self.map.features):
            # types other than double have no larger numbers
            if rows.rows.values != NULL:
                modest = modest and are_modest(rows.rows.values, rows.n_entries)
        return modest

    def fork(self):
        """Return the same request for another thread."""
        return type(self)(self.map, self.structure.fork(), self.weights, **self.options)


cdef class PotentialsMap(FeatureMap):
    """Layout of potentials of a `PotentialsRequest`: a table for each edge, or one for a block.

    Arguments are those of a `FeatureMap`, of rows without features.
    """

    cdef public bint one_each                # has a block one table?

    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return False

    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.edge_base(i) + (0 if self.one_each else e * self.edge_stride)


cdef class PotentialsRequest(Request):
    """Blocks with potentials of nodes from arrays, and of edges too if these have no weights.

    Parameters
    ----------
    map, structure, weights : object
        As for a `Request`.
    nodes : ndarray of shape (n_rows * n_states,), float32 or float64
        Potentials of nodes, row after row, numbers or -inf.
    first : ndarray of shape (n_blocks,), int64
        The row of the first node of a block.
    tables : ndarray, float32 or float64, default=None
        Potentials of edges, table after table; None: features of edges have weights.
    table_first : ndarray of shape (n_blocks,), int64, default=None
        The first table of a block.
    step : {0, 1}, default=1
        0 if all edges of a block have its first table.
    **more : object
        As for a `Request`.
    """

    cdef const double[::1] numbers           # of nodes
    cdef const double[::1] tables
    cdef const int64_t[::1] row, table_first
    cdef Py_ssize_t step

    def __cinit__(self, FeatureMap map, Structure structure, weights, *, nodes, first, tables=None,
                  table_first=None, Py_ssize_t step=1, **more):
        nodes = nodes.astype(np.float64, copy=False)
        tables = None if tables is None else tables.astype(np.float64, copy=False)
        self.numbers, self.row, self.step = nodes, first, step
        self.tables, self.table_first = tables, table_first
        self.n_rows = len(nodes) // map.n_columns

    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil:
        cdef Py_ssize_t n = self.map.count(i), K = self.map.n_columns, stride = self.map.edge_stride
        cdef Py_ssize_t n_rows = 1, columns = self.map.edge_columns, e, table
        b.i, b.n, b.first, b.theta = i, n, self.row[i], theta
        if self.tables is None and self.map.edge_pairs:
            self.map.own_scores(i, &self.weights[0], theta)
        if n:
            copy_rows(&self.numbers[b.first * K], n, K, self.map.stride, theta + self.map.node_base)
        if self.map.edge_pairs:
            n_rows, columns = self.map.head_rows, self.map.head_columns
        theta += self.map.edge_base(i)
        for e in range(self.map.n_edges(i) if self.tables is not None else 0):
            table = (self.table_first[i] + self.step * e) * n_rows * columns
            copy_rows(&self.tables[table], n_rows, columns, stride // n_rows, theta + e * stride)
        return 0


def find_best(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the best labellings of the blocks start .. stop - 1, and their `excess`."""
    cdef int32_t[::1] labels = out[0]
    cdef double[::1] excess = out[1], theta = request.begin()
    cdef Block b = request.before(start)
    with nogil:
        while request.next(stop, &theta[0], &b):
            request.structure.best(&b, request.known, 0.0, &labels[b.first])
            excess[b.i] = request.structure.excess


@cython.boundscheck(True)
@cython.wraparound(True)
def find_top_k(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the k best labellings and their scores, out = (k, list of labels, of scores)."""
    cdef Py_ssize_t k = request.structure.prepare_k_best(out[0]), i, n_labellings = 0
    cdef double[::1] theta = request.begin(), scores = np.empty(k)
    cdef int32_t[::1] labels = np.empty(k * request.map.longest, dtype=np.int32)
    cdef Block b
    if not k:
        return search_top_k(request, start, stop, out)
    for i in range(start, stop):
        with nogil:
            request.load(i, &theta[0], &b)
            n_labellings = request.structure.k_best(&b, k, &labels[0], &scores[0])
        out[1][i] = np.array(labels[: n_labellings * b.n]).reshape(n_labellings, b.n)
        out[2][i] = np.array(scores[:n_labellings])


def find_max_marginals(Request request, Py_ssize_t start, Py_ssize_t stop,
                       double[:, ::1] out):
    """Write the max-marginals of the blocks start .. stop - 1, padded."""
    cdef double[::1] theta = request.begin()
    cdef Block b = request.before(start)
    if not request.structure.prepare_marginals(theta) and not request.forbids:
        return search_max_marginals(request, start, stop, out)
    with nogil:
        while request.next(stop, &theta[0], &b):
            request.structure.max_marginals(&b, &out[b.first, 0])


@cython.boundscheck(True)
@cython.wraparound(True)
def find_grid_marginals(Request request, Py_ssize_t start, Py_ssize_t stop, list out):
    """Write the max-marginals of blocks, arrays of three axes each."""
    cdef double[::1] theta = request.begin()
    cdef double[:, :, ::1] best
    cdef Py_ssize_t i
    cdef Block b
    for i in range(start, stop):
        best = out[i]
        with nogil:
            request.load(i, &theta[0], &b)
            request.structure.max_marginals(&b, &best[0, 0, 0])


cdef class MaskedBlock:
    """The best labellings of a block under masks, for structures that have only `best`.

    Scores are relative to that of the best labelling of all, as planes are differences.

    Parameters
    ----------
    request : Request
        Blocks and weights.
    """

    cdef Request request
    cdef NodeLoss masks
    cdef double[::1] theta
    cdef Block b
    cdef readonly object possible            # (n_nodes, K), bool, of which callers clear entries
    cdef readonly object top                 # (n,) the best labelling of all
    cdef int32_t[::1] index
    cdef double[::1] value

    def __cinit__(self, Request request):
        n_nodes, n_states = request.n_nodes, request.n_states
        self.request, self.theta = request, request.begin()
        self.possible = np.ones((n_nodes, n_states), dtype=bool)
        self.masks = NodeLoss(
            np.zeros(n_nodes, dtype=np.int32), np.zeros(n_nodes), n_states, possible=self.possible
        )
        self.index = np.empty(request.structure.max_support, dtype=np.int32)
        self.value = np.empty(request.structure.max_support)

    def begin(self, Py_ssize_t i):
        """Begin with a block, without masks; return its rows of `possible`."""
        self.request.load(i, &self.theta[0], &self.b)
        self.top = None
        self.top = self.best()[1]
        return self.possible[self.b.first : self.b.first + self.b.n]

    def best(self):
        """Return score and states of the best labelling that is possible, or None."""
        cdef Structure structure = self.request.structure
        cdef Py_ssize_t e, n
        cdef double score = 0.0
        code = np.empty(self.b.n, dtype=np.int32)
        cdef int32_t[::1] states = code, top
        structure.best(&self.b, self.masks, 0.0, &states[0])
        if self.top is not None:
            possible = self.possible[self.b.first : self.b.first + self.b.n]
            if not possible[np.arange(len(code)), code].all():
                return None
            top = self.top
            n = structure.plane(&self.b, &top[0], &states[0], &self.index[0], &self.value[0])
            for e in range(n):
                score -= self.value[e] * self.theta[self.index[e]]
        return score, code


@cython.boundscheck(True)
@cython.wraparound(True)
def search_top_k(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Do the same as `find_top_k`, by partition of the remaining labellings (Lawler 1972)."""
    cdef MaskedBlock masked = MaskedBlock(request)
    for i in range(start, stop):
        possible = masked.begin(i)
        # (less score, a number to order equal ones, states, nodes that are as they are,
        # mask of the node behind them)
        waiting, labellings, n_made = [(0.0, 0, masked.top, 0, possible[0].copy())], [], 1
        while waiting and len(labellings) < out[0]:
            score, _, states, fixed, mask = heapq.heappop(waiting)
            labellings.append((states, 0.0 - score))
            for t in range(len(states)):
                possible[t] = False
                possible[t, states[t]] = True
            for t in range(len(states) - 1, fixed - 1, -1):
                # labellings with the same states before t, and another one at t
                possible[t] = mask if t == fixed else True
                possible[t, states[t]] = False
                other, rest = masked.best(), possible[t].copy()
                if other is not None:
                    heapq.heappush(waiting, (-other[0], n_made, other[1], t, rest))
                    n_made += 1
                possible[t] = True
        possible[:] = True
        out[1][i] = np.array([states for states, _ in labellings])
        out[2][i] = np.array([score for _, score in labellings])


def search_max_marginals(Request request, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out):
    """Do the same as `find_max_marginals`, by the best labelling with each state."""
    cdef MaskedBlock masked = MaskedBlock(request)
    for i in range(start, stop):
        possible = masked.begin(i)
        for t in range(len(possible)):
            for k in range(request.n_states):
                possible[t], possible[t, k] = False, True
                labelling = masked.best()
                out[masked.b.first + t, k] = -INFINITY if labelling is None else labelling[0]
            possible[t] = True


def find_marginals(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write sums over the labellings of the blocks start .. stop - 1.

    Parameters
    ----------
    request : Request
        The blocks.
    start, stop : int
        Which of them.
    out : tuple
        ``(log_sums (n_blocks,), marginals (n_nodes, stride) or None, weight (n_blocks,) or None,
        sums)``: log Z, -inf where no labelling is possible, the probabilities of states and, if the
        blocks have weights, sums[start]: the weighted sums of the probabilities of pairs by their
        places in the head, and the weighted expectation of the potentials of the tail, and of those
        of edges with tables of their own minus those of the head.
    """
    cdef dict sums = out[3]
    log_sums, marginals, weights, _ = out
    cdef FeatureMap map = request.map
    cdef double[::1] log_z = log_sums, theta = request.begin()
    cdef double[::1] room = np.empty(map.longest * map.stride + 1)
    cdef double[:, ::1] rows
    cdef double[::1] own = np.zeros(map.max_statistics + 1), total = np.zeros(map.node_base + 1)
    cdef const double[::1] weight
    cdef Py_ssize_t e, k, place
    cdef bint wants_nodes = marginals is not None, wants_pairs = weights is not None
    cdef double* target
    cdef double expected = 0.0
    cdef Block b = request.before(start)
    if wants_nodes:
        rows = marginals
    if wants_pairs:
        weight = weights
    request.structure.prepare_marginals(theta)
    with nogil:
        while request.next(stop, &theta[0], &b):
            target = NULL
            if wants_nodes:
                target = &rows[b.first, 0]
            elif wants_pairs:
                target = &room[0]
            log_z[b.i] = request.structure.marginals(&b, target, &own[0] if wants_pairs else NULL)
            if not wants_pairs or log_z[b.i] == -INFINITY:
                continue
            for k in range(map.node_base):
                total[k] += weight[b.i] * own[k]
                own[k] = 0.0
            for e in range(map.n_edges(b.i) if map.edge_pairs else 0):
                place = map.edge_base(b.i) + e * map.edge_stride
                for k in range(map.edge_stride):
                    total[k] += weight[b.i] * own[place + k]
                    if own[place + k] and map.edge_table(b.i, e):
                        expected += weight[b.i] * own[place + k] * (theta[place + k] - theta[k])
                    own[place + k] = 0.0
        for k in range(map.tail_base, map.node_base):
            if total[k]:
                expected += total[k] * theta[k]
    if wants_pairs:
        sums[start] = np.asarray(total)[: map.tail_base], expected


def find_samples(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labellings of the blocks start .. stop - 1, drawn by their probabilities.

    out = (uniform, labels), both (n_samples, n_nodes): numbers of [0, 1), and where labels go,
    but where no labelling is possible.
    """
    cdef const double[:, ::1] uniform = out[0]
    cdef int32_t[:, ::1] labels = out[1]
    cdef double[::1] theta = request.begin()
    cdef Py_ssize_t j
    cdef Block b = request.before(start)
    request.structure.prepare_marginals(theta)
    with nogil:
        while uniform.shape[0] and request.next(stop, &theta[0], &b):
            if request.structure.marginals(&b, NULL, NULL) == -INFINITY:
                continue
            for j in range(uniform.shape[0]):
                request.structure.sample(&b, &uniform[j, b.first], &labels[j, b.first])


def find_node_scores(Request request, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] out):
    """Write the potentials of all nodes of the blocks start .. stop - 1, padded."""
    cdef double[::1] theta = request.begin()
    cdef Block b = request.before(start)
    with nogil:
        while request.next(stop, &theta[0], &b):
            memcpy(
                &out[b.first, 0], &theta[request.map.node_base],
                b.n * request.map.stride * sizeof(double)
            )


def find_scores(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the scores of labellings, out = (labels (n_nodes,), scores (n_blocks,))."""
    cdef const int32_t[::1] labels = out[0]
    cdef double[::1] scores = out[1], theta = request.begin()
    cdef Block b = request.before(start)
    with nogil:
        while request.next(stop, &theta[0], &b):
            scores[b.i] = request.structure.score(&b, &labels[b.first])


def find_hinges(PotentialsRequest request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the hinges of the blocks start .. stop - 1.

    Parameters
    ----------
    request : PotentialsRequest
        The blocks.
    start, stop : int
        Which of them.
    out : tuple
        ``(label, known, loss, slack, completed, violating, value, scale, exact)``. Labels (n_rows,)
        that are true, -1 where they are not known; a `NodeLoss` of the states that agree with
        them, and one whose truth is `completed`, or None for completions alone; the number of
        candidates for slack rescaling, 0 for margin rescaling. Then what is written: the labels,
        completed by the best ones (n_rows,); those that violate most; hinges (n_blocks,), -inf
        where the completed labels are forbidden; factors of their gradients; and whether both
        maxima are certain.
    """
    cdef const int32_t[::1] label = out[0]
    cdef NodeLoss known = out[1], loss = out[2]
    cdef bint has_loss = loss is not None, slack = out[3] > 0, certain
    cdef int32_t[::1] completed = out[4], violating = out[5]
    cdef double[::1] value = out[6], scale = out[7], theta = request.begin()
    cdef unsigned char[::1] exact = out[8]
    cdef Structure structure = request.structure
    cdef int32_t[::1] index = np.empty(structure.max_support + 1, dtype=np.int32)
    cdef double[::1] sign = np.empty(structure.max_support + 1)
    cdef SlackGoal goal = SlackGoal(True, 1.0, 1.0, 0.0, INFINITY)
    cdef Py_ssize_t t, n_known, n_wrong
    cdef int32_t* truth
    cdef int32_t* labels
    cdef double more
    cdef Block b = request.before(start)
    structure.make_room(out[3])
    with nogil:
        while request.next(stop, &theta[0], &b):
            truth, labels = &completed[b.first], &violating[b.first]
            n_known, certain = 0, True
            for t in range(b.n):
                n_known += label[b.first + t] >= 0
                truth[t] = max(label[b.first + t], 0)
            if n_known < b.n:
                structure.best(&b, known, 0.0, truth)
                certain = structure.excess == 0.0
            # if no labelling is allowed, `best` may return any
            n_wrong = 0
            for t in range(b.n):
                n_wrong += label[b.first + t] >= 0 and truth[t] != label[b.first + t]
            if n_wrong or not structure.score(&b, truth) > -INFINITY:
                value[b.i] = -INFINITY
                continue
            if not has_loss:
                continue
            memcpy(labels, truth, b.n * sizeof(int32_t))
            if slack:
                structure.choose(&b, loss, &goal, labels)
            else:
                structure.best(&b, loss, 1.0, labels)
                certain = certain and structure.excess == 0.0
            exact[b.i] = certain
            more = 0.0
            # terms that both labellings have cancel to the last bit
            for t in range(structure.plane(&b, truth, labels, &index[0], &sign[0])):
                more -= sign[t] * theta[index[t]]
            value[b.i] = structure.loss_of(&b, loss, labels)
            if slack:
                scale[b.i] = value[b.i]
                more *= value[b.i]
            value[b.i] = max(value[b.i] + more, 0.0)


def find_log_losses(PotentialsRequest request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write -log p of the known labels of the blocks start .. stop - 1, and its gradient.

    Parameters
    ----------
    request : PotentialsRequest
        The blocks; its structure has marginals.
    start, stop : int
        Which of them.
    out : tuple
        ``(label, known, table_first, losses, nodes, tables)``. Labels (n_rows,), -1 where they are
        not known; a `NodeLoss` of the states that agree with them; where the tables of each block
        begin (n_blocks + 1,), one for each edge, or one if all blocks have the same. Then what is
        written: log Z minus the logarithm of the same sum over what agrees, inf where nothing does;
        and its gradients by potentials of nodes (n_rows, K) and of tables (n_tables, size).
    """
    cdef const int32_t[::1] label = out[0]
    cdef NodeLoss known = out[1]
    cdef const int64_t[::1] table_first = out[2]
    cdef double[::1] losses = out[3], theta = request.begin()
    cdef double[:, ::1] nodes = out[4], tables = out[5]
    cdef FeatureMap map = request.map
    cdef Structure structure = request.structure
    cdef double[::1] own = np.zeros(map.max_statistics + LANES), agreeing = own.copy()
    cdef int32_t[::1] index = np.empty(structure.max_support + 1, dtype=np.int32)
    cdef double[::1] value = np.empty(structure.max_support + 1)
    cdef Py_ssize_t K = map.n_columns, base = map.node_base, n_rows = 1, columns = map.edge_columns
    cdef Py_ssize_t t, k, n, e, size, place
    cdef double loss, score
    cdef Block b = request.before(start)
    if request.tables is None or map.edge_pairs:
        n_rows, columns = map.head_rows, map.head_columns
    structure.prepare_marginals(theta)
    with nogil:
        while request.next(stop, &theta[0], &b):
            size = map.edge_base(b.i) + map.n_edges(b.i) * map.edge_stride
            memset(&own[0], 0, size * sizeof(double))
            loss, score, n = structure.marginals(&b, &own[base], &own[0]), 0.0, 0
            for t in range(b.n):
                n += label[b.first + t] >= 0
            if loss > -INFINITY and n == b.n:
                n = structure.statistics(&b, &label[b.first], &index[0], &value[0])
                for k in range(n):
                    own[index[k]] -= value[k]
                    score += value[k] * theta[index[k]]
            elif loss > -INFINITY:
                known.forbid(b.first, b.n, &theta[base], map.stride)
                memset(&agreeing[0], 0, size * sizeof(double))
                score = structure.marginals(&b, &agreeing[base], &agreeing[0])
                for k in range(size):
                    own[k] -= agreeing[k]
            losses[b.i] = INFINITY
            if loss == -INFINITY or score == -INFINITY:
                continue
            losses[b.i] = max(loss - score, 0.0)
            for t in range(b.n):
                for k in range(K):
                    nodes[b.first + t, k] = own[base + t * map.stride + k]
            for e in range(table_first[b.i + 1] - table_first[b.i]):
                # tables follow the nodes, unless all blocks have one
                place = 0 if request.tables is None else map.edge_base(b.i) + e * map.edge_stride
                for t in range(n_rows):
                    for k in range(columns):
                        tables[table_first[b.i] + e, t * columns + k] = own[place + k]
                    place += padded(columns)


class Decoder:
    """Labels of the blocks of a request, written by several threads.

    Parameters
    ----------
    request : Request
        Blocks and weights.
    n_jobs : int, default=None
        Number of threads.
    """

    def __init__(self, request, n_jobs=None):
        self.request = request
        # a single input is the most frequent request: the number of threads is not looked up
        n = request.n_blocks
        n_parts = 1 if n == 1 or n_jobs == 1 else max(1, min(count_threads(n_jobs), n))
        self.parts = [(0, n)]
        if n_parts > 1:
            bounds = np.linspace(0, n, n_parts + 1).astype(np.intp)
            self.parts = list(zip(bounds, bounds[1:], strict=False))

    def run(self, function, out):
        """Call function(request, start, stop, out) for every part; return `out`."""
        own, *others = self.parts
        if not others:
            function(self.request, *own, out)
            return out
        # joblib would check only every hundredth of a second whether its threads are done
        with ThreadPoolExecutor(len(others)) as executor:
            futures = [
                executor.submit(function, self.request.fork(), *part, out) for part in others
            ]
            function(self.request, *own, out)
            for future in futures:
                future.result()
        return out

    def best(self):
        """Return the best labels of all nodes, shape (n_nodes,), int32."""
        return self._best()[0]

    def _best(self):
        labels = np.zeros(self.request.n_rows, dtype=np.int32)
        return self.run(find_best, (labels, np.zeros(self.request.n_blocks)))

    def top_k(self, k):
        """Return the k best labellings of each block and their scores.

        Parameters
        ----------
        k : int
            Number of labellings, positive; fewer are returned where fewer exist.

        Returns
        -------
        labels : ndarray of shape (n,), object
            Each item is an ndarray of shape (m, n_nodes_i), int32, best first.
        scores : ndarray of shape (n,), object
            Each item is an ndarray of shape (m,).
        """
        n = self.request.n_blocks
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self.run(find_top_k, (k, labels, scores))
        return labels, scores

    def scores(self, labels):
        """Return the score of a labelling, (n_nodes,), of each block, (n_blocks,)."""
        labels = np.asarray(labels, dtype=np.int32)
        return self.run(find_scores, (labels, np.zeros(self.request.n_blocks)))[1]

    def node_scores(self):
        """Return the potentials of all nodes, shape (n_nodes, n_states)."""
        request = self.request
        out = np.empty((request.n_nodes, request.map.stride))
        return np.ascontiguousarray(self.run(find_node_scores, out)[:, : request.n_states])

    def marginals(self, *, nodes=True, weight=None):
        """Return sums over all labellings, by probabilities exp(score) / Z.

        Parameters
        ----------
        nodes : bool, default=True
            Whether to return the probabilities of states.
        weight : ndarray of shape (n_blocks,), default=None
            Weights of the blocks in the sums over pairs; None: these are not returned.

        Returns
        -------
        log_sums : ndarray of shape (n_blocks,)
            log Z, -inf where no labelling is possible.
        marginals : ndarray of shape (n_nodes, K) or None
            Of no meaning where none is possible.
        pairs : ndarray of shape (head rows, head columns), or None
            Weighted sums of the probabilities of pairs, by the places of their tables.
        expected : float
            Weighted sum of the expectations of the potentials of edges, beyond the head, and of
            the tail.
        """
        map, sums = self.request.map, {}
        rows = np.zeros((self.request.n_rows, map.stride)) if nodes else None
        out = np.zeros(self.request.n_blocks), rows, weight, sums
        self.run(find_marginals, out)
        pairs, expected = None, 0.0
        if weight is not None:
            parts = [sums[start] for start in sorted(sums)]
            pairs, expected = (sum(some) for some in zip(*parts, strict=True))
            pairs = pairs.reshape(map.head_rows, -1)[:, : map.head_columns]
        return out[0], rows[:, : map.n_columns] if nodes else None, pairs, expected

    def sample(self, uniform):
        """Return labellings drawn by numbers of [0, 1), both (n_samples, n_nodes)."""
        uniform = np.ascontiguousarray(uniform)
        return self.run(find_samples, (uniform, np.zeros(uniform.shape, dtype=np.int32)))[1]

    def max_marginals(self):
        """Return the best score of a labelling for each node and label, (n_nodes, K)."""
        n_states = self.request.n_states
        out = np.zeros((self.request.n_rows, padded(n_states)))
        return np.ascontiguousarray(self.run(find_max_marginals, out)[:, :n_states])

    def excesses(self):
        """Return upper bounds of the difference between the best scores and those found.

        Returns
        -------
        excess : ndarray of shape (n_blocks,)
            Of a structure that is exact, or bounds what it may have missed.
        """
        return self._best()[1]


def row_scores(X, coef, n_jobs=None):
    """Return the products of rows of features and weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        The rows.
    coef : ndarray of shape (n_scores, n_features)
        Weights; of features that occur in no sparse row they are not read.
    n_jobs : int, default=None
        Number of threads; the bits do not depend on it.

    Returns
    -------
    scores : ndarray of shape (n_rows, n_scores)
    """
    rows = FeatureRows(X)
    n, n_scores = rows.n_rows, len(coef)
    # rows are multiplied in groups
    offsets = np.append(np.arange(0, n, GROUP, dtype=np.int64), n)
    n_jobs = n_jobs if rows.n_entries * n_scores >= LEAST_PRODUCTS else 1
    weights = take_weights(rows, coef, SPARE)
    weights[len(weights) - SPARE :] = 0.0
    request = Request(FeatureMap(rows, offsets, n_scores), Structure(), weights)
    return Decoder(request, n_jobs).node_scores()
