"""Graphs with pairs of any sign bound to data (see the .pxd)."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import value_digests

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.core.problem cimport Problem
from sskit.oracles.graph.potentials cimport Potentials, Topologies, labelling_score, table_of
from sskit.oracles.graph.roof_dual cimport QPBO


cdef class AnyGraphProblem(GraphProblem):
    """Graphs, each with an oracle of its own choice; see `GraphProblem` for the parameters."""

    def __cinit__(self, *args):
        self.set_oracles((self.oracle,), np.zeros(self.n_blocks, dtype=np.int8))
        self.losses = np.zeros((0, self.n_states))
        self.allowed = np.zeros((0, self.n_states), dtype=np.uint8)
        self.forbidden = np.zeros(0)
        self.messages = np.zeros(0, dtype=np.float32)
        self.message_offset = np.full(self.n_blocks, -1, dtype=np.int64)

    def set_oracles(self, oracles, choice):
        """Say which oracle serves which graph.

        Parameters
        ----------
        oracles : sequence of GraphOracle
            Each is exact, or bounds what it may have missed.
        choice : ndarray of shape (n_blocks,), int8
            The place of the oracle of a graph among them.
        """
        check_equal(len(choice), self.n_blocks, "the length of choice")
        cdef GraphOracle oracle
        cdef vector[void*] pointers
        cdef vector[bint] finite
        used = [oracles[k] for k in np.unique(choice)]
        for oracle in oracles:
            pointers.push_back(<void*>oracle)
            finite.push_back(isinstance(oracle, QPBO))
        self.oracles, self.choice = tuple(oracles), choice
        self.oracle_of, self.needs_finite = pointers, finite
        self.exact = all([(<GraphOracle>each).exact for each in used])
        self.bounds = not self.exact and all(
            [(<GraphOracle>each).exact or (<GraphOracle>each).bounds for each in used]
        )
        self.lock_free = all([(<GraphOracle>each).lock_free for each in used])
        self.takes_turns = not self.lock_free and all(
            [(<GraphOracle>each).lock_free or (<GraphOracle>each).takes_turns for each in used]
        )

    def set_topologies(self, Topologies topologies):
        """Take what follows from the edges, and make what the oracle of each graph reads of it."""
        topologies.arrange(self.oracles, np.asarray(self.choice), self.n_states)
        self.topologies = topologies

    def set_losses(self, losses):
        """Take the loss of each label at each node, (n_nodes, n_states), 0 at the truth."""
        check_equal(losses.shape[0], self.n_nodes, "the number of rows of losses")
        check_equal(losses.shape[1], self.n_states, "the number of columns of losses")
        self.losses = losses

    def allow(self, allowed=None, pairs=None):
        """Forbid labels.

        Parameters
        ----------
        allowed : ndarray of shape (n_nodes, n_states), bool, default=None
            Which labels a node may have, at least one; None: all.
        pairs : ndarray of shape (n_states, n_states), bool, default=None
            Which labels may stand at the first and the second node of an edge; None: all.
            Only if each edge has a table of all pairs.
        """
        if allowed is not None:
            check_equal(allowed.shape[0], self.n_nodes, "the number of rows of allowed")
            check_equal(allowed.shape[1], self.n_states, "the number of columns of allowed")
            self.allowed = np.ascontiguousarray(allowed).view(np.uint8)
        if pairs is not None:
            check_equal(pairs.size, self.form.width, "the number of pairs")
            forbidden = np.zeros(self.width)
            forbidden[: pairs.size][~pairs.ravel()] = -np.inf
            self.forbidden = forbidden
            self.pairs = np.empty(max(int(np.diff(self.tables).max()) * self.width, 1))

    def remember(self, Py_ssize_t most):
        """Keep messages from call to call, of as many graphs as this number of floats allows."""
        cdef Potentials p
        cdef Py_ssize_t i, size, total = 0
        cdef double[::1] theta = np.zeros(self.max_statistics)
        offsets = np.full(self.n_blocks, -1, dtype=np.int64)
        for i in range(self.n_blocks):
            p = self.potentials(i, &theta[0], 0.0)
            size = self.oracle_at(i).memory_size(&p)
            if size and total + size <= most:
                offsets[i] = total
                total += size
        self.messages, self.message_offset = np.zeros(max(total, 1), dtype=np.float32), offsets

    cdef Potentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil:
        cdef Py_ssize_t first = self.nodes[i], n_nodes = self.n_nodes_of(i), v, k
        cdef bint by_label = self.losses.shape[0] > 0
        cdef double share = 0.0 if by_label else loss_weight
        cdef Potentials p = GraphProblem.potentials(self, i, theta, share)
        cdef double* node
        if by_label:
            for v in range(n_nodes):
                node = &self.augmented[v * self.stride]
                for k in range(self.n_states):
                    node[k] += loss_weight * self.losses[first + v, k]
        if self.forbidden.shape[0]:
            self.forbid_pairs(&p)
        if self.allowed.shape[0]:
            self.forbid_labels(i, &p)
        return p

    cdef void forbid_pairs(self, Potentials* p) noexcept nogil:
        cdef Py_ssize_t e, k
        for e in range(p.n_tables):
            for k in range(self.form.width):
                self.pairs[e * self.width + k] = p.pair[e * self.width + k] + self.forbidden[k]
        p.pair = &self.pairs[0]

    cdef void forbid_labels(self, Py_ssize_t i, Potentials* p) noexcept nogil:
        cdef Py_ssize_t first = self.nodes[i], v, k
        cdef double never = -INFINITY
        if self.needs_finite[self.choice[i]]:
            never = -range_of(p)
        for v in range(p.n_nodes):
            if self.labelled[first + v]:
                for k in range(self.n_states):
                    if not self.allowed[first + v, k]:
                        self.augmented[v * self.stride + k] = never

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Potentials p = self.potentials(i, theta, loss_weight)
        cdef float* messages = NULL
        if self.message_offset[i] >= 0:
            messages = &self.messages[self.message_offset[i]]
        self.begin(i, &p, loss_weight > 0.0, code)
        (<GraphOracle>self.oracle_of[self.choice[i]]).improve_from(&p, code, messages)
        self.excess = 0.0
        if self.bounds and not (<GraphOracle>self.oracle_of[self.choice[i]]).exact:
            self.excess = max(
                (<GraphOracle>self.oracle_of[self.choice[i]]).bound - labelling_score(&p, code), 0.0
            )
        memcpy(&self.last[self.nodes[i]], code, p.n_nodes * sizeof(int32_t))
        loss[0] = self.loss_of(i, code)
        return 0

    cdef double loss_of(self, Py_ssize_t i, const int32_t* labels) noexcept nogil:
        cdef Py_ssize_t first = self.nodes[i], v
        cdef double loss = 0.0
        if not self.losses.shape[0]:
            return GraphProblem.loss_of(self, i, labels)
        for v in range(self.n_nodes_of(i)):
            if self.labelled[first + v]:
                loss += self.losses[first + v, labels[v]]
        return loss

    cpdef Problem fork(self):
        cdef AnyGraphProblem other = GraphProblem.fork(self)
        other.set_oracles(
            [(<GraphOracle>oracle).fork() for oracle in self.oracles], np.asarray(self.choice)
        )
        other.losses, other.allowed, other.forbidden = self.losses, self.allowed, self.forbidden
        if self.forbidden.shape[0]:
            other.pairs = np.empty(self.pairs.shape[0])
        other.messages, other.message_offset = self.messages, self.message_offset
        return other

    def fingerprint(self):
        """Return by what the same graphs, labels and losses are known again."""
        inner = GraphProblem.fingerprint(self)
        blocks, nodes = dict(inner.blocks), np.asarray(self.nodes)
        whole = inner.whole | {"the model": "graph with any pairs"}
        for name, table in (("the loss of y", self.losses), ("the labels allowed", self.allowed)):
            if table.shape[0]:
                blocks[name] = value_digests(
                    np.ascontiguousarray(table).ravel(), nodes * self.n_states
                )
        if self.forbidden.shape[0]:
            whole["allowed_pairs"] = tuple(np.flatnonzero(self.forbidden).tolist())
        return Fingerprint(whole, blocks)


cdef double range_of(const Potentials* p) noexcept nogil:
    """More than the scores of two labellings can differ by."""
    cdef Py_ssize_t v, e, k
    cdef double total = 1.0
    for v in range(p.n_nodes):
        for k in range(p.n_states):
            total += 2.0 * fabs(p.node[v * p.stride + k])
    for e in range(p.n_edges):
        for k in range(p.width):
            total += 2.0 * fabs(p.pair[table_of(p, e) * p.width + k])
    return total
