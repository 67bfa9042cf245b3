"""Losses and best labellings of batches of graphs and trees."""

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t

from sskit.oracles.graph.potentials import NAMES
from sskit.oracles.tree.choice import ORACLES

from sskit.core.checks cimport check_equal
from sskit.losses.batch cimport Batch, Found, Truths
from sskit.oracles.graph.potentials cimport (
    ELIMINATION, QPBO, ROUNDING, TREE, TRWS, GraphOracle, PairForm, Potentials, choose_oracle,
    labelling_score, pair_score
)

# Elimination may look at so many numbers: some 3 ms.
cdef Py_ssize_t MODEST_ENTRIES = 2**20


cdef class GraphWorker:
    """Scratch memory and oracles of one thread.

    Parameters
    ----------
    batch : Batch
        The graphs.
    forests : bool
        Whether a cycle is an error.
    """

    def __cinit__(self, Batch batch, bint forests):
        if not batch.listed:
            raise ValueError("a graph has a list of edges")
        if batch.width != 1:
            check_equal(batch.width, batch.n_states * batch.n_states, "width")
        self.batch, self.forests = batch, forests
        self.form = PairForm(batch.n_states, "potts" if batch.width == 1 else "full")
        self.oracles = [ORACLES[name]() for name in NAMES]
        self.oracles[ELIMINATION] = ORACLES["elimination"](MODEST_ENTRIES)
        self.tree = self.oracles[TREE]
        for oracle in self.oracles:
            self.oracle_of.push_back(<void*>oracle)

    cdef int load(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t n_states = self.batch.n_states, n_nodes = self.batch.length[i]
        cdef Py_ssize_t m = self.batch.n_edges[i], n_tables = 0, e
        cdef Potentials* p = &self.p
        self.of = i
        self.node.resize(n_nodes * n_states)
        self.batch.load_nodes(i, n_states, self.node.data())
        if m:
            n_tables = m if self.batch.step else 1
        # Potts potentials share no tables
        if self.batch.width == 1:
            n_tables = m
        if n_tables and not (self.has_table and self.batch.one_table and self.batch.width > 1):
            self.pair.resize(n_tables * self.batch.width)
            for e in range(n_tables):
                self.batch.load_table(
                    self.batch.table_of(i, e), n_states if self.batch.width > 1 else 1,
                    &self.pair[e * self.batch.width]
                )
            self.has_table = True
        self.table.refill(m, 0)
        p.n_nodes, p.n_edges, p.n_states, p.stride = n_nodes, m, n_states, n_states
        p.width, p.n_tables = self.batch.width, n_tables
        p.node, p.pair = self.node.data(), self.pair.data()
        p.ends = &self.batch.ends[self.batch.edge_first[i], 0] if m else NULL
        p.table = NULL
        if not self.batch.step and self.batch.width > 1:
            p.table = self.table.data()
        self.take_form(p)
        return 0

    cdef void take_form(self, Potentials* p) noexcept nogil:
        p.column, p.factor = &self.form.column[0, 0], &self.form.factor[0, 0]
        p.potts = self.form.potts

    cdef bint improve(self, Potentials* p, int32_t* labels) except -1 nogil:
        cdef double score
        cdef bint finite = True, cuts = False
        cdef int k
        if self.forests:
            self.take_forest(p)
        else:
            self.topology.take(p.n_nodes, p.n_edges, p.ends)
            p.topology = &self.topology
        if self.topology.closing_edge() >= 0:
            finite = self.is_finite(p)
            cuts = p.n_states == 2 and finite and self.takes_cuts(p)
        k = choose_oracle(
            &self.topology, p.n_states, cuts, p.potts, not finite, MODEST_ENTRIES, 0.0
        )
        (<GraphOracle>self.oracle_of[k]).arrange(&self.topology, p.n_states)
        if finite:
            (<GraphOracle>self.oracle_of[k]).improve(p, labels)
        else:
            with gil:
                self.ask_carefully(self.oracles[k], p, labels)
        if k != QPBO and k != TRWS:
            return True
        score = labelling_score(p, labels)
        return (<GraphOracle>self.oracle_of[k]).bound - score <= 1e-9 * (1.0 + fabs(score))

    cdef int ask_carefully(
        self, GraphOracle oracle, const Potentials* p, int32_t* labels
    ) except -1:
        try:
            oracle.improve(p, labels)
        except ValueError as error:
            self.batch.refuse(self.of, str(error))
        return 0

    cdef bint takes_cuts(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t e
        cdef double equal, other
        for e in range(p.n_edges):
            equal = pair_score(p, e, 0, 0) + pair_score(p, e, 1, 1)
            other = pair_score(p, e, 0, 1) + pair_score(p, e, 1, 0)
            if not equal - other >= -ROUNDING * (
                fabs(pair_score(p, e, 0, 0)) + fabs(pair_score(p, e, 1, 1))
                + fabs(pair_score(p, e, 0, 1)) + fabs(pair_score(p, e, 1, 0))
            ):
                return False
        return True

    cdef bint is_finite(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(p.n_nodes * p.n_states):
            total += fabs(p.node[k])
        for k in range(p.n_tables * p.width):
            total += fabs(p.pair[k]) * p.n_edges
        return isfinite(4.0 * total)

    cdef int take_forest(self, Potentials* p) except -1 nogil:
        cdef Py_ssize_t e
        self.topology.take(p.n_nodes, p.n_edges, p.ends)
        p.topology = &self.topology
        e = self.topology.closing_edge()
        if e >= 0:
            with gil:
                self.batch.refuse(
                    self.of,
                    f"edges[{e}] between the {self.batch.words[1]}s {p.ends[2 * e]} and "
                    f"{p.ends[2 * e + 1]} closes a cycle; the edges of a tree form a forest"
                )
        self.topology.make_forest()
        return 0

    cdef bint complete(self, Truths truths, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t v, n_hidden = 0, n_nodes = self.p.n_nodes
        cdef Py_ssize_t first = self.batch.first[self.of]
        cdef bint exact = True
        self.place.resize(n_nodes)
        for v in range(n_nodes):
            labels[v] = truths.label[first + v]
            self.place[v] = -1
            if labels[v] < 0:
                self.place[v] = <int32_t>n_hidden
                n_hidden += 1
        if n_hidden:
            self.reduce(n_hidden, labels)
            exact = self.improve(&self.rest, self.rest_label.data())
            for v in range(n_nodes):
                if self.place[v] >= 0:
                    labels[v] = self.rest_label[self.place[v]]
        if not labelling_score(&self.p, labels) > -INFINITY:
            with gil:
                if n_hidden:
                    self.batch.refuse(
                        self.of,
                        "no labelling that agrees with labels is allowed by unary and pairwise"
                    )
                self.batch.refuse(self.of, "labels are forbidden by unary and pairwise")
        return exact

    cdef int reduce(self, Py_ssize_t n_hidden, const int32_t* labels) except -1 nogil:
        cdef Potentials* p = &self.p
        cdef Potentials* rest = &self.rest
        cdef Py_ssize_t v, e, k, n_states = p.n_states, n_edges = 0
        cdef int32_t a, b
        cdef double* row
        self.rest_node.resize(n_hidden * n_states)
        self.rest_label.resize(n_hidden)
        self.rest_ends.resize(2 * p.n_edges)
        self.rest_table.resize(p.n_edges)
        self.rest_pair.resize(p.n_edges)
        for v in range(p.n_nodes):
            if self.place[v] >= 0:
                for k in range(n_states):
                    self.rest_node[self.place[v] * n_states + k] = p.node[v * n_states + k]
        for e in range(p.n_edges):
            a, b = self.place[p.ends[2 * e]], self.place[p.ends[2 * e + 1]]
            if a >= 0 and b >= 0:
                self.rest_ends[2 * n_edges] = a
                self.rest_ends[2 * n_edges + 1] = b
                if p.width == 1:
                    self.rest_pair[n_edges] = p.pair[e]
                self.rest_table[n_edges] = 0 if p.table != NULL else <int32_t>e
                n_edges += 1
            elif a >= 0:
                row = &self.rest_node[a * n_states]
                for k in range(n_states):
                    row[k] += pair_score(p, e, <int32_t>k, labels[p.ends[2 * e + 1]])
            elif b >= 0:
                row = &self.rest_node[b * n_states]
                for k in range(n_states):
                    row[k] += pair_score(p, e, labels[p.ends[2 * e]], <int32_t>k)
        rest.n_nodes, rest.n_edges, rest.n_states, rest.stride = (
            n_hidden, n_edges, n_states, n_states
        )
        rest.width, rest.node, rest.ends = p.width, self.rest_node.data(), self.rest_ends.data()
        rest.table = NULL
        if p.width == 1:
            rest.pair, rest.n_tables = self.rest_pair.data(), n_edges
        else:
            rest.pair, rest.n_tables, rest.table = p.pair, p.n_tables, self.rest_table.data()
        self.take_form(rest)
        for v in range(n_hidden):
            self.rest_label[v] = 0
            row = &self.rest_node[v * n_states]
            for k in range(1, n_states):
                if row[k] > row[self.rest_label[v]]:
                    self.rest_label[v] = <int32_t>k
        return 0

    cdef double advantage(self, const int32_t* labels, const int32_t* others) noexcept nogil:
        cdef const Potentials* p = &self.p
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double total = 0.0
        for v in range(p.n_nodes):
            if labels[v] != others[v]:
                total += p.node[v * p.stride + labels[v]] - p.node[v * p.stride + others[v]]
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            if labels[a] != others[a] or labels[b] != others[b]:
                total += pair_score(p, e, labels[a], labels[b])
                total -= pair_score(p, e, others[a], others[b])
        return total


cdef class GraphTask(BatchTask):
    """Graphs, and a worker of its own for each thread.

    Parameters
    ----------
    batch : Batch
        The graphs.
    n_workers : int
        Number of workers.
    forests : bool
        Whether a cycle is an error.
    """

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, bint forests, *args):
        cdef GraphWorker worker
        self.workers = []
        for _ in range(n_workers):
            worker = GraphWorker(batch, forests)
            self.workers.append(worker)
            self.worker_of.push_back(<void*>worker)


cdef class GraphHinge(GraphTask):
    """Hinges of graphs, by margin rescaling.

    Parameters
    ----------
    batch, n_workers, forests : object
        As for `GraphTask`.
    truths : Truths
        Their labels.
    found : Found
        What is written.
    """

    cdef Truths truths
    cdef Found found

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, bint forests, Truths truths, Found found
    ):
        check_equal(truths.label.shape[0], batch.n_rows, "the number of labels")
        check_equal(truths.n_states, batch.n_states, "the number of states of labels")
        check_equal(found.label.shape[0], batch.n_rows, "the number of labels found")
        check_equal(found.loss.shape[0], batch.n, "the number of losses")
        self.truths, self.found = truths, found

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t first = self.batch.first[i], v, k, n_states = self.batch.n_states
        cdef int32_t* labels = &self.found.label[first]
        cdef int32_t* completed = &self.found.completed[first]
        cdef double* node
        cdef double loss = 0.0
        cdef bint exact
        (<GraphWorker>self.worker_of[worker]).load(i)
        exact = (<GraphWorker>self.worker_of[worker]).complete(self.truths, completed)
        node = (<GraphWorker>self.worker_of[worker]).node.data()
        for v in range(self.batch.length[i]):
            labels[v] = completed[v]
            for k in range(n_states):
                node[v * n_states + k] += self.truths.loss(first + v, <int32_t>k)
        # an oracle that is not exact does no worse than the truth
        exact &= (<GraphWorker>self.worker_of[worker]).improve(
            &(<GraphWorker>self.worker_of[worker]).p, labels
        )
        self.batch.load_nodes(i, n_states, node)
        for v in range(self.batch.length[i]):
            loss += self.truths.loss(first + v, labels[v])
        loss += (<GraphWorker>self.worker_of[worker]).advantage(labels, completed)
        self.found.loss[i] = max(loss, 0.0)
        self.found.exact[i] = exact
        return 0


cdef class GraphDecode(GraphHinge):
    """The best labellings of graphs that agree with what is known; in `found.completed`."""

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        (<GraphWorker>self.worker_of[worker]).load(i)
        self.found.exact[i] = (<GraphWorker>self.worker_of[worker]).complete(
            self.truths, &self.found.completed[self.batch.first[i]]
        )
        return 0
