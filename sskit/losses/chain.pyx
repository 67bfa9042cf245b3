"""Losses, best labellings and max-marginals of batches of chains."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal, check_indices
from sskit.core.lanes cimport padded
from sskit.losses.batch cimport Batch, BatchTask, Found, Truths
from sskit.oracles.chain.viterbi cimport LossIndexed, viterbi_step


cdef class ChainTask(BatchTask):
    """Chains and scratch memory: a subclass says what is done with them.

    Parameters
    ----------
    batch : Batch
        The chains.
    n_workers : int
        Number of workers.
    """

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, *args):
        cdef Py_ssize_t stride = padded(batch.n_states), n_rows = 2 * batch.max_nodes
        check_equal(batch.width, batch.n_states * batch.n_states, "width")
        if batch.listed:
            raise ValueError("a chain has no list of edges")
        self.stride = stride
        self.shared = np.empty((batch.n_states if batch.one_table else 0, stride))
        self.space = np.empty((n_workers, (n_rows + 2 * batch.n_states + 4) * stride))
        if batch.one_table:
            batch.load_table(0, stride, &self.shared[0, 0])

    cdef const double* table(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t start, Py_ssize_t worker
    ) except NULL nogil:
        if self.batch.one_table:
            return &self.shared[0, 0]
        if self.batch.step or e == start:
            self.batch.load_table(self.batch.table_of(i, e), self.stride, self.own_table(worker))
        return self.own_table(worker)

    cdef double viterbi(
        self, Py_ssize_t i, Py_ssize_t worker, int32_t* labels
    ) except? -1 nogil:
        cdef Py_ssize_t n_nodes = self.batch.length[i], n_states = self.batch.n_states
        cdef Py_ssize_t t, a, stride = self.stride, number
        cdef const double* node = self.node(worker)
        cdef double* value = self.value(worker)
        cdef const double* last
        cdef double best, candidate, total
        cdef int32_t state = 0
        memcpy(value, node, stride * sizeof(double))
        for t in range(1, n_nodes):
            viterbi_step(
                value + (t - 1) * stride, self.table(i, t - 1, 0, worker), n_states,
                node + t * stride, value + t * stride
            )
        last = value + (n_nodes - 1) * stride
        for a in range(1, n_states):
            if last[a] > last[state]:
                state = <int32_t>a
        labels[n_nodes - 1] = state
        total = last[state]
        # back pointers are needed along the best path only, so they are found here
        for t in range(n_nodes - 2, -1, -1):
            last = value + t * stride
            best, state = -INFINITY, 0
            number = self.batch.table_of(i, t) * n_states * n_states + labels[t + 1]
            for a in range(n_states):
                candidate = last[a] + self.batch.tables.at(number + a * n_states)
                if candidate > best:
                    best, state = candidate, <int32_t>a
            labels[t] = state
        return total

    cdef void keep_known(
        self, Truths truths, Py_ssize_t i, Py_ssize_t worker
    ) noexcept nogil:
        cdef Py_ssize_t t, k
        cdef int32_t truth
        cdef double* row = self.node(worker)
        for t in range(self.batch.length[i]):
            truth = truths.label[self.batch.first[i] + t]
            if truth >= 0:
                for k in range(self.batch.n_states):
                    if k != truth:
                        row[k] = -INFINITY
            row += self.stride

    cdef bint complete(
        self, Truths truths, Py_ssize_t i, Py_ssize_t worker, int32_t* labels
    ) except -1 nogil:
        cdef Py_ssize_t t, n_nodes = self.batch.length[i], first = self.batch.first[i]
        cdef Py_ssize_t n_known = 0
        cdef double score = 0.0
        for t in range(n_nodes):
            labels[t] = truths.label[first + t]
            n_known += labels[t] >= 0
        if n_known < n_nodes:
            self.keep_known(truths, i, worker)
            if self.viterbi(i, worker, labels) == -INFINITY:
                with gil:
                    self.batch.refuse(
                        i, "no labelling that agrees with labels is allowed by unary and pairwise"
                    )
            return True
        for t in range(n_nodes):
            score = self.node_at(i, t, labels[t])
            if t:
                score += self.edge_at(i, t - 1, labels[t - 1], labels[t])
            if score == -INFINITY:
                with gil:
                    self.name_forbidden(i, t, labels[t - 1] if t else -1, labels[t])
        return False

    cdef int name_forbidden(
        self, Py_ssize_t i, Py_ssize_t t, int32_t before, int32_t label
    ) except -1:
        item, node, state = self.batch.words
        where = f"{item} {i}, {node} {t}: the true {state} {label} is forbidden "
        if self.node_at(i, t, label) == -INFINITY:
            raise ValueError(where + "there by unary")
        raise ValueError(where + f"after {state} {before} by pairwise")

    cdef double advantage(
        self, Py_ssize_t i, const int32_t* labels, const int32_t* others
    ) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        for t in range(self.batch.length[i]):
            if labels[t] != others[t]:
                total += self.node_at(i, t, labels[t]) - self.node_at(i, t, others[t])
            if t and (labels[t] != others[t] or labels[t - 1] != others[t - 1]):
                total += self.edge_at(i, t - 1, labels[t - 1], labels[t])
                total -= self.edge_at(i, t - 1, others[t - 1], others[t])
        return total


cdef class ChainHinge(ChainTask):
    """Hinges of chains, by margin rescaling.

    Parameters
    ----------
    batch : Batch
        The chains.
    n_workers : int
        Number of workers.
    truths : Truths
        Their labels.
    found : Found
        What is written.
    """

    cdef Truths truths
    cdef Found found

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, Truths truths, Found found, *args):
        check_equal(truths.label.shape[0], batch.n_rows, "the number of labels")
        check_equal(truths.n_states, batch.n_states, "the number of states of labels")
        check_equal(found.label.shape[0], batch.n_rows, "the number of labels found")
        check_equal(found.loss.shape[0], batch.n, "the number of losses")
        self.truths, self.found = truths, found

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t first = self.batch.first[i], t, k
        cdef int32_t* labels = &self.found.label[first]
        cdef int32_t* completed = &self.found.completed[first]
        cdef double* row = self.node(worker)
        cdef int32_t truth
        cdef double loss = 0.0
        self.batch.load_nodes(i, self.stride, row)
        if self.complete(self.truths, i, worker, completed):
            self.batch.load_nodes(i, self.stride, row)
        for t in range(self.batch.length[i]):
            truth = self.truths.label[first + t]
            if truth >= 0:
                if self.truths.has_table:
                    for k in range(self.batch.n_states):
                        row[k] += self.truths.loss(first + t, <int32_t>k)
                else:
                    # up to a constant the same
                    row[truth] -= self.truths.cost[first + t]
            row += self.stride
        self.viterbi(i, worker, labels)
        for t in range(self.batch.length[i]):
            loss += self.truths.loss(first + t, labels[t])
        self.found.loss[i] = max(loss + self.advantage(i, labels, completed), 0.0)
        return 0


cdef class ChainSlack(ChainHinge):
    """Hinges of chains, by slack rescaling.

    Parameters
    ----------
    batch, n_workers, truths, found : object
        As for `ChainHinge`.
    levels : ndarray of shape (n_rows,), int32
        Loss of a wrong label at each row, in units; 0 where the label is not known.
    unit : ndarray of shape (n,)
        The unit of a chain.
    """

    cdef const int32_t[::1] levels
    cdef const double[::1] unit
    cdef list programmes
    cdef vector[void*] programme_of

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, Truths truths, Found found, levels, unit
    ):
        cdef Py_ssize_t i, t, _t, most = 0, total
        cdef LossIndexed programme
        if batch.step:
            raise ValueError("slack rescaling takes one table of transitions for a chain")
        self.levels, self.unit = levels, unit
        check_equal(self.levels.shape[0], batch.n_rows, "the number of levels")
        check_equal(self.unit.shape[0], batch.n, "the number of units")
        check_indices(levels, 10_001, "level")
        for i in range(batch.n):
            total = 0
            for t in range(batch.first[i], batch.first[i] + batch.length[i]):
                total += self.levels[t]
            if total > 10_000:
                batch.refuse(
                    i, f"token_weight adds up to {total}, expected at most "
                    "10000 for slack rescaling"
                )
            most = max(most, total)
        self.programmes = []
        for _t in range(n_workers):
            programme = LossIndexed(batch.max_nodes, most, batch.n_states)
            self.programmes.append(programme)
            self.programme_of.push_back(<void*>programme)

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t first = self.batch.first[i], n_nodes = self.batch.length[i], t, e, reach
        cdef Py_ssize_t best = 0
        cdef int32_t* labels = &self.found.label[first]
        cdef int32_t* completed = &self.found.completed[first]
        cdef const double* table = self.node(worker)   # of one node: nothing is read
        cdef double truth = 0.0, value, most = 0.0
        self.batch.load_nodes(i, self.stride, self.node(worker))
        if self.complete(self.truths, i, worker, completed):
            self.batch.load_nodes(i, self.stride, self.node(worker))
        if n_nodes > 1:
            table = self.table(i, 0, 0, worker)
        for t in range(n_nodes):
            truth += self.node_at(i, t, completed[t])
            if t:
                truth += self.edge_at(i, t - 1, completed[t - 1], completed[t])
        reach = (<LossIndexed>self.programme_of[worker]).solve(
            self.node(worker), table, n_nodes, completed, &self.levels[first]
        )
        for e in range(1, reach + 1):
            value = e * (1.0 + ((<LossIndexed>self.programme_of[worker]).best[e] - truth))
            if value > most:
                best, most = e, value
        memcpy(labels, completed, n_nodes * sizeof(int32_t))
        self.found.scale[i] = 0.0
        if best:
            (<LossIndexed>self.programme_of[worker]).labelling(
                table, n_nodes, completed, &self.levels[first], best, labels
            )
            self.found.scale[i] = best * self.unit[i]
        self.found.loss[i] = max(
            self.found.scale[i] * (1.0 + self.advantage(i, labels, completed)), 0.0
        )
        return 0


cdef class ChainDecode(ChainHinge):
    """The best labellings of chains that agree with what is known; in `found.completed`."""

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        self.batch.load_nodes(i, self.stride, self.node(worker))
        self.complete(self.truths, i, worker, &self.found.completed[self.batch.first[i]])
        return 0
