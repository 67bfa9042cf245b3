"""Label sets of hierarchies: the best set that holds, with each label, all its ancestors."""

import numpy as np

from sskit.oracles.gate import check_numbers
from sskit.oracles.label_sets.hierarchy import check_dag, check_parents
from sskit.oracles.label_sets.oracle import find_label_set
from sskit._numbers import as_array

from libc.math cimport fabs
from libc.stdint cimport int32_t

from sskit.oracles.graph.cut cimport flow_graph
from sskit.oracles.label_sets.oracle cimport ONE, LabelSetOracle


cdef class Closure(LabelSetOracle):
    """What the two oracles have in common: how many labels there are, and no pairs."""

    cdef readonly Py_ssize_t n_labels

    cdef int check(self, Py_ssize_t n_labels, Py_ssize_t n_edges) except -1 nogil:
        if n_labels != self.n_labels:
            with gil:
                raise ValueError(f"the hierarchy has {self.n_labels} labels, got {n_labels}")
        if n_edges:
            with gil:
                raise ValueError(f"a hierarchy has no pairs, got {n_edges} edges")
        return 0


cdef class TreeClosure(Closure):
    """The best set of labels on a forest that is closed under ancestors, in O(n_labels).

    From the leaves to the roots: a subtree scores what its root does and, of its children's
    subtrees, the sum of those that are positive. Of several best sets the smallest.

    Parameters
    ----------
    parents : array-like of int of shape (n_labels,)
        The parent of each label; -1 for a root.

    Raises
    ------
    ValueError
        If a parent is not a label, or labels are their own ancestors; one is named.
    """

    cdef object parents
    cdef const int32_t[::1] parent
    cdef const int32_t[::1] order     # parents before their children
    cdef double[::1] total            # (n_labels,) scores of subtrees

    def __cinit__(self, parents):
        self.exact = self.lock_free = True
        self.parents, order = check_parents(parents)
        self.n_labels = len(self.parents)
        self.parent, self.order = self.parents, order
        self.total = np.empty(self.n_labels)

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        self.check(n_labels, n_edges)
        self.choose(label, code)
        return 0

    cdef void choose(self, const double* label, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t v, parent
        for v in range(self.n_labels):
            self.total[v] = label[v]
        for k in range(self.n_labels - 1, -1, -1):
            v = self.order[k]
            parent = self.parent[v]
            if parent >= 0 and self.total[v] > 0.0:
                self.total[parent] += self.total[v]
        for k in range(self.n_labels):
            v = self.order[k]
            parent = self.parent[v]
            code[v] = 0
            if self.total[v] > 0.0 and (parent < 0 or code[parent]):
                code[v] = ONE

    cpdef LabelSetOracle fork(self):
        return TreeClosure(self.parents)


cdef class DagClosure(Closure):
    """The best set of labels on a directed acyclic graph that is closed under ancestors.

    A maximum closure (Picard 1976): one minimum cut. Labels are chosen on the side of the sink;
    an arc from parent to child, of more than any cut need cost, keeps the chosen child of a
    parent that is not from being. Of several best sets the smallest.

    Parameters
    ----------
    edges : array-like of int of shape (n_edges, 2)
        Child and parent of each edge.
    n_labels : int, default=None
        Number of labels; None takes them from the edges.

    Raises
    ------
    ValueError
        If an edge has no such labels, or labels are their own ancestors; one is named.
    """

    cdef object edges
    cdef object graph
    cdef tuple arrays                 # labels, gains, zeros; parents, children, capacities, zeros
    cdef double[::1] gain             # (n_labels,) of absence
    cdef double[::1] capacity         # (n_edges,)

    def __cinit__(self, edges, n_labels=None):
        self.exact = True
        self.edges, self.n_labels = check_dag(edges, n_labels)
        n_edges = len(self.edges)
        self.graph = flow_graph(max(self.n_labels, 1), max(n_edges, 1))
        gain, capacity = np.empty(self.n_labels), np.empty(n_edges)
        child, parent = np.ascontiguousarray(self.edges.T)
        self.gain, self.capacity = gain, capacity
        self.arrays = (
            np.arange(self.n_labels, dtype=np.int32), gain, np.zeros(self.n_labels),
            parent, child, capacity, np.zeros(n_edges),
        )

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        self.check(n_labels, n_edges)
        if n_labels == 0:
            return 0
        cdef double enough = 1.0
        cdef Py_ssize_t v
        for v in range(n_labels):
            self.gain[v] = -label[v]
            enough += fabs(label[v])
        for v in range(self.capacity.shape[0]):
            self.capacity[v] = enough
        with gil:
            return self.cut(code)

    # the network goes to PyMaxflow, see `sskit.oracles.graph.cut`
    cdef int cut(self, int32_t* code) except -1:
        cdef object graph = self.graph
        cdef const unsigned char[::1] sides
        cdef Py_ssize_t v
        labels, gain, zero, parent, child, capacity, none = self.arrays
        graph.reset()
        graph.add_nodes(self.n_labels)
        if len(parent):
            graph.add_edges(parent, child, capacity, none)
        graph.add_grid_tedges(labels, gain, zero)
        graph.maxflow()
        sides = graph.get_grid_segments(labels).view(np.uint8)
        for v in range(self.n_labels):
            code[v] = ONE * sides[v]
        return 0

    cpdef LabelSetOracle fork(self):
        return DagClosure(self.edges, self.n_labels)


def closure(gains, hierarchy):
    """Find the best set of labels that holds, with each label, all its ancestors.

    Maximises ``sum_l gains[l] y_l`` over ``y_l in {0, 1}`` with ``y_child <= y_parent``. Exact:
    by a dynamic programme in O(n_labels) on trees, by one minimum cut on directed acyclic
    graphs.

    Parameters
    ----------
    gains : array-like of shape (n_labels,)
        Scores of the labels, finite.
    hierarchy : array-like of int, (n_labels,) or (n_edges, 2)
        The parent of each label, -1 for a root; or child and parent of each edge of a directed
        acyclic graph.

    Returns
    -------
    labels : ndarray of shape (n_labels,), int32
        1 for each label of the best set, else 0. Of several best sets the smallest.
    value : float
        The maximum, at least 0, the score of the empty set.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, a parent is not a label or labels are
        their own ancestors (one is named).

    References
    ----------
    Cai and Hofmann (2004). Hierarchical document categorization with support vector machines.
    CIKM.

    Picard (1976). Maximal closure of a graph and applications to combinatorial problems.
    Management Science 22(11).

    Examples
    --------
    >>> from sskit.oracles import closure
    >>> closure([-1, 3, -1, 0.5], [-1, 0, 0, 2])
    (array([1, 1, 0, 0], dtype=int32), 2.0)
    >>> closure([-1, 3, -1, 0.5], [[1, 0], [1, 2], [3, 2]])
    (array([1, 1, 1, 1], dtype=int32), 1.5)
    """
    gains = check_numbers(gains, "gains", "(n_labels,)")
    hierarchy = as_array(hierarchy, "hierarchy")
    try:
        is_graph = hierarchy.ndim == 2
        oracle = DagClosure(hierarchy, len(gains)) if is_graph else TreeClosure(hierarchy)
    except ValueError as error:
        raise ValueError(f"hierarchy: {error}") from None
    none = np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    labels = find_label_set(oracle, gains, *none)[0].astype(np.int32)
    with np.errstate(over="ignore"):
        return labels, float(gains @ labels)
