"""Probabilities of labellings of many trees under given potentials."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from sskit.core.lanes cimport padded
from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport PairForm, Potentials
from sskit.oracles.tree.max_sum cimport TreeMaxSum, TreeSumProduct


cdef class TreePotentials:
    """Potentials of trees.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, n_states)
        Potentials of the nodes of all trees; -inf forbids a label.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the trees begin.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of each edge, counted in its tree.
    edges : ndarray of shape (n_blocks + 1,), int64
        Where the edges of the trees begin.
    kinds : ndarray of shape (n_edges,), int32
        Which table is that of each edge.
    tables : ndarray of shape (n_kinds, n_states, n_states)
        Potentials of the edges, from the label of the first node to that of the second.
    form : PairForm
        That of tables of all pairs.
    """

    cdef double[:, ::1] rows
    cdef double[:, ::1] tables
    cdef const int64_t[::1] offsets
    cdef const int32_t[:, ::1] ends
    cdef const int64_t[::1] edges
    cdef const int32_t[::1] kinds
    cdef PairForm form
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_nodes
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_kinds

    def __cinit__(self, const double[:, :] nodes, const int64_t[::1] offsets, ends,
                  const int64_t[::1] edges, const int32_t[::1] kinds,
                  const double[:, :, :] tables, PairForm form):
        self.n_nodes, self.n_states = nodes.shape[0], nodes.shape[1]
        self.n_kinds, self.form = tables.shape[0], form
        self.offsets, self.n_blocks, self.ends = offsets, offsets.shape[0] - 1, ends
        self.edges, self.kinds = edges, kinds
        self.rows = np.zeros((max(self.n_nodes, 1), padded(self.n_states)))
        np.asarray(self.rows)[: self.n_nodes, : self.n_states] = nodes
        self.tables = np.zeros((max(self.n_kinds, 1), form.width))
        np.asarray(self.tables)[: self.n_kinds] = np.asarray(tables).reshape(-1, form.width)

    cdef Potentials potentials(self, Py_ssize_t i) noexcept nogil:
        cdef Potentials p
        p.n_nodes, p.n_states = self.offsets[i + 1] - self.offsets[i], self.n_states
        p.n_edges, p.stride = self.edges[i + 1] - self.edges[i], padded(self.n_states)
        p.width, p.potts, p.n_tables = self.form.width, False, self.n_kinds
        p.node, p.pair = &self.rows[self.offsets[i], 0], &self.tables[0, 0]
        p.ends = &self.ends[self.edges[i], 0] if p.n_edges else NULL
        p.table = &self.kinds[self.edges[i]] if p.n_edges else NULL
        p.column, p.factor = &self.form.column[0, 0], &self.form.factor[0, 0]
        return p

    def fork(self):
        """Return the potentials: nothing of them is written to."""
        return self


def infer(TreePotentials trees, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write what probabilities the labellings of the trees start .. stop - 1 have.

    Parameters
    ----------
    trees : TreePotentials
        The trees.
    start, stop : int
        Which of them.
    out : tuple
        As of `sskit.models.chain.probabilities.infer`; the expected numbers of pairs are
        (n_kinds * n_states, padded(n_states)).
    """
    log_partitions, marginals, pairs = out
    cdef double[::1] log_z = log_partitions
    cdef double[:, ::1] probabilities
    cdef double[:, ::1] total
    cdef const double[::1] weight
    cdef Scratch[double] scratch, edges
    cdef TreeSumProduct oracle = TreeSumProduct()
    cdef Py_ssize_t K = trees.n_states, stride = padded(K), i, e, k, kind, a
    cdef Potentials p
    cdef double* target = NULL
    cdef double* counts = NULL
    cdef bint wants_all = marginals is not None, wants_pairs = pairs is not None
    if wants_all:
        probabilities = marginals
    if wants_pairs:
        weight = pairs[0]
        total = np.zeros((max(trees.n_kinds, 1) * K, stride))
        pairs[1][start] = total
    with nogil:
        for i in range(start, stop):
            log_z[i] = 0.0
            if trees.offsets[i + 1] == trees.offsets[i]:
                continue
            p = trees.potentials(i)
            if wants_all:
                target = &probabilities[trees.offsets[i], 0]
            else:
                scratch.resize(p.n_nodes * stride)
                target = scratch.data()
            if wants_pairs:
                edges.refill(p.n_edges * K * stride + 1, 0.0)
                counts = edges.data()
            log_z[i] = oracle.infer(&p, target, counts)
            if not wants_pairs or log_z[i] == -INFINITY:
                continue
            for e in range(p.n_edges):
                kind = trees.kinds[trees.edges[i] + e]
                for a in range(K):
                    for k in range(K):
                        total[kind * K + a, k] += weight[i] * counts[(e * K + a) * stride + k]


def sample(TreePotentials trees, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labellings of the trees start .. stop - 1, drawn by their probabilities.

    Parameters
    ----------
    trees : TreePotentials
        The trees, each of which has a labelling that is possible.
    start, stop : int
        Which of them.
    out : tuple
        ``(uniform, labels)``, both (n_samples, n_nodes): numbers of [0, 1), and where int32
        labels are written.
    """
    cdef const double[:, ::1] uniform = out[0]
    cdef int32_t[:, ::1] labels = out[1]
    cdef TreeSumProduct oracle = TreeSumProduct()
    cdef Scratch[double] scratch
    cdef Py_ssize_t i, j, first
    cdef Potentials p
    with nogil:
        for i in range(start, stop):
            first = trees.offsets[i]
            if trees.offsets[i + 1] == first:
                continue
            p = trees.potentials(i)
            scratch.resize(p.n_nodes * p.stride)
            oracle.infer(&p, scratch.data(), NULL)
            for j in range(uniform.shape[0]):
                oracle.sample(&p, &uniform[j, first], &labels[j, first])


def best(TreePotentials trees, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] labels):
    """Write the best labelling of the trees start .. stop - 1."""
    cdef TreeMaxSum oracle = TreeMaxSum()
    cdef Py_ssize_t i
    cdef Potentials p
    with nogil:
        for i in range(start, stop):
            if trees.offsets[i + 1] > trees.offsets[i]:
                p = trees.potentials(i)
                oracle.improve(&p, &labels[trees.offsets[i]])
