"""Variable elimination: exact maximisation over the labellings of graphs of small treewidth."""

import numpy as np

from sskit.oracles.gate import check_count
from sskit.oracles.graph.potentials import DEFAULT_ENTRIES

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sskit.oracles.graph.potentials cimport (
    GraphPotentials, check_capacities, labelling_score, pair_score
)


cdef class Elimination(GraphOracle):
    """Exact for any potentials, for graphs that fall apart by few nodes at a time.

    Parameters
    ----------
    max_entries : int, default=2**24
        Refuse graphs where more numbers have to be looked at: for each node one for each joint
        state of it and its neighbours when it is eliminated.
    """

    def __cinit__(self, Py_ssize_t max_entries=DEFAULT_ENTRIES):
        self.exact = self.lock_free = self.bounds = True
        self.max_entries = max_entries

    cpdef GraphOracle fork(self):
        return Elimination(self.max_entries)

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        cdef Py_ssize_t width
        topology.make_incidence()
        if topology.takes_elimination(n_states, self.max_entries):
            return 0
        width = topology.most
        with gil:
            raise ValueError(
                f"the induced width of {topology.n_nodes} nodes with {topology.n_edges} edges is "
                + (f"{topology.width}, which takes {topology.count_entries(n_states):.0f} entries"
                   if topology.width <= width else f"larger than {width}")
                + f" of tables over {n_states} states: more than "
                f"max_entries={self.max_entries}"
            )

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t i
        if p.n_states == 1:
            memset(labels, 0, p.n_nodes * sizeof(int32_t))
        else:
            self.graph = self.topology_of(p)
            self.reserve(p)
            for i in range(p.n_nodes):
                self.eliminate(p, i)
            for i in range(p.n_nodes - 1, -1, -1):
                labels[self.graph.eliminated[i]] = self.best(p, i, labels)
        self.bound = labelling_score(p, labels)
        if self.bound == -INFINITY:
            with gil:
                raise ValueError(
                    f"no labelling of {p.n_nodes} nodes is allowed by the potentials"
                )
        return 0

    cdef int reserve(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t i, _j, n, size, total = 0, most = 0
        self.n_states = p.n_states
        self.offset.resize(p.n_nodes)
        for i in range(p.n_nodes):
            self.offset[i] = total
            n = self.graph.first_joined[i + 1] - self.graph.first_joined[i]
            size = n > 0
            for _j in range(n):
                size *= p.n_states
            total += size
            most = max(most, self.graph.first[i + 1] - self.graph.first[i])
        self.n_entries = total
        self.tables.resize(total + most * p.n_states * p.n_states)
        return 0

    cdef int eliminate(self, const Potentials* p, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t n = self.graph.first_joined[i + 1] - self.graph.first_joined[i]
        cdef Py_ssize_t n_states = p.n_states, c = n - 1, level, k, part, n_parts
        cdef double* table = self.tables.data() + self.offset[i]
        cdef double* sums
        cdef const double* row
        cdef Py_ssize_t* rows
        cdef int32_t* state
        cdef double best
        if n == 0:
            return 0
        self.collect(p, i)
        self.state.refill(n, 0)
        n_parts = self.row.size()
        rows, state = self.row.data(), self.state.data()
        while True:
            # sums of level l, which begin at l n_states: with all parts whose first neighbour is l
            # or later
            for level in range(c, -1, -1):
                sums = self.sums.data() + level * n_states
                for k in range(n_states):
                    sums[k] = sums[k + n_states]
                for part in range(n_parts):
                    if self.level[part] == level:
                        row = self.tables.data() + rows[part]
                        for k in range(n_states):
                            sums[k] += row[k]
            best = sums[0]
            for k in range(1, n_states):
                best = max(best, sums[k])
            table[0] = best
            table += 1
            c = 0
            while c < n and state[c] == n_states - 1:
                state[c] = 0
                c += 1
            if c == n:
                return 0
            state[c] += 1
            for part in range(n_parts):
                rows[part] += self.step[part * n + c]

    cdef int collect(self, const Potentials* p, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t v = self.graph.eliminated[i], n_states = p.n_states, j, k, e, begin, end, n
        cdef int32_t a, b, other
        cdef double* sums
        cdef Py_ssize_t free = self.n_entries
        n = self.graph.first_joined[i + 1] - self.graph.first_joined[i]
        self.row.resize(0)
        self.step.resize(0)
        self.level.resize(0)
        self.sums.resize((n + 1) * n_states)
        sums = &self.sums[n * n_states]
        memcpy(sums, p.node + v * p.stride, n_states * sizeof(double))
        for k in range(self.graph.first[v], self.graph.first[v + 1]):
            e = self.graph.incident[k]
            other = self.graph.other_end(e, v)
            if self.graph.place[other] < i:
                continue  # it is in a table by now
            for a in range(<int32_t>n_states):
                for b in range(<int32_t>n_states):
                    self.tables[free + a * n_states + b] = (
                        pair_score(p, e, b, a) if p.ends[2 * e] == v else pair_score(p, e, a, b)
                    )
            self.take_part(i, free, &other, 1)
            free += n_states * n_states
        j = self.graph.child[i]
        while j >= 0:
            begin = self.graph.first_joined[j] + 1  # the first neighbour is this node itself
            end = self.graph.first_joined[j + 1]
            if begin < end:
                self.take_part(i, self.offset[j], &self.graph.joined[begin], end - begin)
            else:
                for k in range(n_states):
                    sums[k] += self.tables[self.offset[j] + k]
            j = self.graph.sibling[j]
        return 0

    cdef int take_part(
        self, Py_ssize_t i, Py_ssize_t row, const int32_t* scope, Py_ssize_t n_scope
    ) except -1 nogil:
        """step: how far the row goes on when a neighbour gets its next state, and those that vary
        faster their first one again."""
        cdef Py_ssize_t first = self.graph.first_joined[i], c, k = 0, stride = self.n_states
        cdef Py_ssize_t n = self.graph.first_joined[i + 1] - first, back = 0
        for c in range(n):
            if k < n_scope and self.graph.joined[first + c] == scope[k]:
                if k == 0:
                    self.level.push(<int32_t>c)
                self.step.push(stride - back)
                back += stride * (self.n_states - 1)
                stride *= self.n_states
                k += 1
            else:
                self.step.push(-back)
        self.row.push(row)
        return 0

    cdef int32_t best(
        self, const Potentials* p, Py_ssize_t i, const int32_t* labels
    ) except -1 nogil:
        cdef const int32_t* joined = self.graph.joined.data() + self.graph.first_joined[i]
        cdef Py_ssize_t n = self.graph.first_joined[i + 1] - self.graph.first_joined[i]
        cdef Py_ssize_t n_states = p.n_states, part, c, k, row, stride, back
        cdef int32_t best = 0
        cdef double* sums
        self.collect(p, i)
        sums = &self.sums[n * n_states]
        for part in range(<Py_ssize_t>self.row.size()):
            row, back = self.row[part], 0
            for c in range(n):
                stride = self.step[part * n + c] + back
                back += stride * (n_states - 1)
                row += stride * labels[joined[c]]
            for k in range(n_states):
                sums[k] += self.tables[row + k]
        for k in range(1, n_states):
            if sums[k] > sums[best]:
                best = <int32_t>k
        return best


def elimination(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0,
                max_entries=DEFAULT_ENTRIES):
    """Find the best labelling of a graph of small treewidth by variable elimination.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact. Nodes are
    eliminated one by one, each for all joint states of the neighbours that it has by then, which
    are joined with each other; the order is that of minimum fill. Takes n_states^(width + 1)
    time and n_states^width memory a node, where the width is at most the number of neighbours
    at an elimination: 1 on trees, 2 on cycles and ladders, about the shorter side on grids.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges: for each edge a number of any sign that counts where its two
        states agree (Potts), or tables from the state of its first node to that of the second;
        one table serves all edges. ``-inf`` forbids a pair.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    max_entries : int, default=2**24
        Refuse graphs with more joint states, of each node and its neighbours when it is
        eliminated, in sum over the nodes.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not
        exist or joins a node to itself, a true state is out of range, a cost is negative,
        `max_entries` is no positive integer, there are more entries, or no labelling is allowed.

    See Also
    --------
    tree_max_sum : Trees.
    trws : Any graph, not exactly.

    References
    ----------
    Dechter (1999). Bucket elimination: a unifying framework for reasoning. Artificial
    Intelligence 113.

    Examples
    --------
    >>> from sskit.oracles import elimination
    >>> triangle = [[0, 1], [1, 2], [2, 0]]
    >>> elimination([[0, 0.5], [0, 0.25], [0, 0]], triangle, [[-1, 0], [0, -1]])
    (array([1, 1, 0], dtype=int32), -0.25)
    """
    max_entries = check_count(max_entries, "max_entries")
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost, True)
    cdef Elimination oracle = Elimination(max_entries)
    check_capacities(&potentials.struct_)
    labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    with nogil:
        oracle.improve(&potentials.struct_, &out[0])
    return labels, oracle.bound
