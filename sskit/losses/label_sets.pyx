"""Losses and best sets of batches of label sets."""

from sskit.oracles.label_sets.slack import EnumeratedSlack

from libc.math cimport isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal
from sskit.core.vectors cimport Scratch
from sskit.losses.batch cimport Batch, BatchTask, Found, Truths
from sskit.oracles.label_sets.oracle cimport ONE, LabelSetOracle
from sskit.oracles.label_sets.slack cimport SetQuestion, SlackGoal, SlackSets, product_goal


cdef class SetWorker:
    """Scratch memory and oracles of one thread."""

    cdef Batch batch
    cdef LabelSetOracle oracle
    cdef Scratch[double] gain
    cdef Scratch[double] pair
    cdef Scratch[double] augmented
    cdef Scratch[unsigned char] truth
    cdef Scratch[double] cost
    # of the labels that are not known
    cdef Scratch[int32_t] place      # of a label among them, -1: it is known
    cdef Scratch[double] rest_gain
    cdef Scratch[double] rest_pair
    cdef Scratch[int32_t] rest_ends
    cdef Scratch[int32_t] rest_edge  # the edge that it is
    cdef Scratch[int32_t] rest_code

    def __cinit__(self, Batch batch, LabelSetOracle oracle):
        if not batch.listed:
            raise ValueError("sets of labels have a list of edges")
        check_equal(batch.n_states, 1, "the number of gains of a label")
        check_equal(batch.width, 1, "the number of scores of a pair")
        self.batch, self.oracle = batch, oracle.fork()

    cdef const int32_t* ends(self, Py_ssize_t i) noexcept nogil:
        if not self.batch.n_edges[i]:
            return NULL
        return &self.batch.ends[self.batch.edge_first[i], 0]

    cdef int load(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t k, n = self.batch.length[i], m = self.batch.n_edges[i]
        self.gain.resize(n)
        self.pair.resize(m)
        self.augmented.resize(n)
        for k in range(n):
            self.gain[k] = self.batch.nodes.at(self.batch.first[i] + k)
            if not isfinite(self.gain[k]):
                with gil:
                    self.batch.refuse(
                        i, f"unary of label {k} is {self.gain[k]}, expected a finite number"
                    )
        for k in range(m):
            self.pair[k] = self.batch.tables.at(self.batch.table_of(i, k))
            if not isfinite(self.pair[k]):
                with gil:
                    self.batch.refuse(
                        i, f"pairwise of edge {k} is {self.pair[k]}, expected a finite number"
                    )
        return 0

    # the best set that agrees with what is known, to code (n_labels + n_edges,)
    cdef int complete(self, Truths truths, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef Py_ssize_t k, e, n = self.batch.length[i], m = self.batch.n_edges[i], n_hidden = 0
        cdef Py_ssize_t n_rest = 0, first = self.batch.first[i]
        cdef const int32_t* ends = self.ends(i)
        cdef int32_t a, b
        self.place.resize(n)
        self.rest_gain.resize(n)
        for k in range(n):
            self.place[k] = -1
            code[k] = ONE if truths.label[first + k] == 1 else 0
            if truths.label[first + k] < 0:
                self.place[k] = <int32_t>n_hidden
                self.rest_gain[n_hidden] = self.gain[k]
                n_hidden += 1
        self.rest_ends.resize(2 * m)
        self.rest_edge.resize(m)
        self.rest_pair.resize(m)
        self.rest_code.resize(n + m)
        for e in range(m):
            a, b = ends[2 * e], ends[2 * e + 1]
            code[n + e] = code[a] & code[b]
            if self.place[a] >= 0 and self.place[b] >= 0:
                self.rest_ends[2 * n_rest] = self.place[a]
                self.rest_ends[2 * n_rest + 1] = self.place[b]
                self.rest_edge[n_rest], self.rest_pair[n_rest] = <int32_t>e, self.pair[e]
                n_rest += 1
            elif self.place[a] >= 0 and code[b]:
                self.rest_gain[self.place[a]] += self.pair[e]
            elif self.place[b] >= 0 and code[a]:
                self.rest_gain[self.place[b]] += self.pair[e]
        if not n_hidden:
            return 0
        self.oracle.find(
            n_hidden, self.rest_gain.data(), n_rest, self.rest_ends.data(), self.rest_pair.data(),
            self.rest_code.data()
        )
        for k in range(n):
            if self.place[k] >= 0:
                code[k] = self.rest_code[self.place[k]]
        for e in range(m):
            a, b = ends[2 * e], ends[2 * e + 1]
            if self.place[a] < 0 or self.place[b] < 0:
                # one of them is whole, and so decides
                code[n + e] = min(code[a], code[b])
        for e in range(n_rest):
            code[n + self.rest_edge[e]] = self.rest_code[n_hidden + e]
        return 0

    # the set with the largest sum of score and loss
    cdef int violate(self, Truths truths, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef Py_ssize_t k, n = self.batch.length[i], m = self.batch.n_edges[i]
        cdef Py_ssize_t first = self.batch.first[i]
        for k in range(n):
            self.augmented[k] = self.gain[k] + (
                truths.loss(first + k, 1) - truths.loss(first + k, 0)
            )
        self.oracle.find(n, self.augmented.data(), m, self.ends(i), self.pair.data(), code)
        return 0

    # the set with the largest product of loss and margin; false: there is none above zero
    cdef bint violate_product(
        self, SlackSets oracle, Truths truths, Py_ssize_t i, const int32_t* completed,
        int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, e, n = self.batch.length[i], m = self.batch.n_edges[i]
        cdef Py_ssize_t first = self.batch.first[i]
        cdef SetQuestion q
        self.truth.resize(n)
        self.cost.resize(n)
        q.offset = 1.0
        for k in range(n):
            self.truth[k] = completed[k] == ONE
            self.cost[k] = truths.cost[first + k]
            if completed[k]:
                q.offset -= self.gain[k]
        for e in range(m):
            if completed[n + e]:
                q.offset -= self.pair[e]
        q.n_labels, q.n_edges = n, m
        q.label, q.pair, q.ends = self.gain.data(), self.pair.data(), self.ends(i)
        q.truth, q.cost = self.truth.data(), self.cost.data()
        cdef SlackGoal goal = product_goal()
        return oracle.best(&q, &goal, code)

    cdef double loss(
        self, Truths truths, Py_ssize_t i, const int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t k, first = self.batch.first[i]
        cdef double total = 0.0
        for k in range(self.batch.length[i]):
            if truths.label[first + k] == 1:
                total += truths.cost[first + k] * (<double>(ONE - code[k]) / ONE)
            elif truths.label[first + k] == 0:
                total += truths.cost[first + k] * (<double>code[k] / ONE)
        return total

    # how much more a set scores than another one
    cdef double advantage(
        self, Py_ssize_t i, const int32_t* code, const int32_t* other
    ) noexcept nogil:
        cdef Py_ssize_t k, n = self.batch.length[i]
        cdef double total = 0.0
        for k in range(n):
            total += self.gain[k] * (<double>(code[k] - other[k]) / ONE)
        for k in range(self.batch.n_edges[i]):
            total += self.pair[k] * (<double>(code[n + k] - other[n + k]) / ONE)
        return total


cdef class LabelSetHinge(BatchTask):
    """Hinges of sets of labels.

    Parameters
    ----------
    batch : Batch
        The samples: their labels are nodes of one state each.
    n_workers : int
        Number of workers.
    oracle : LabelSetOracle
        What to ask; each worker has a fork of it.
    truths : Truths
        The labels, 0 or 1.
    found : Found
        Losses and scales are written here.
    codes, completed : ndarray of shape (n, n_labels + n_edges), int32
        The sets, in units of `ONE_LABEL`, are written here.
    slack : bool
        Whether to rescale slacks, which takes sets that can be enumerated.
    """

    cdef list workers
    cdef vector[void*] worker_of
    cdef list slack_oracles
    cdef vector[void*] slack_of
    cdef Truths truths
    cdef Found found
    cdef int32_t[:, ::1] codes
    cdef int32_t[:, ::1] completed
    cdef bint slack

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, LabelSetOracle oracle, Truths truths, Found found,
        codes, completed, bint slack=False,
    ):
        cdef SetWorker worker
        check_equal(truths.label.shape[0], batch.n_rows, "the number of labels")
        check_equal(truths.n_labels, 2, "the number of states of labels")
        check_equal(found.loss.shape[0], batch.n, "the number of losses")
        self.codes, self.completed = codes, completed
        for i in range(batch.n):
            check_equal(batch.length[i], batch.max_nodes, "the number of labels of a row")
            check_equal(batch.n_edges[i], batch.max_edges, "the number of pairs of a row")
        check_equal(self.codes.shape[0], batch.n, "the number of codes")
        check_equal(self.completed.shape[0], batch.n, "the number of completed codes")
        n = batch.max_nodes + batch.max_edges
        if batch.n:
            check_equal(self.codes.shape[1], n, "the length of a code")
            check_equal(self.completed.shape[1], n, "the length of a completed code")
        self.truths, self.found, self.slack = truths, found, slack
        self.workers, self.slack_oracles = [], []
        for _ in range(n_workers):
            worker = SetWorker(batch, oracle)
            self.workers.append(worker)
            self.worker_of.push_back(<void*>worker)
            product = EnumeratedSlack()
            self.slack_oracles.append(product)
            self.slack_of.push_back(<void*>product)

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef int32_t* code = &self.codes[i, 0]
        cdef int32_t* completed = &self.completed[i, 0]
        cdef double loss
        (<SetWorker>self.worker_of[worker]).load(i)
        (<SetWorker>self.worker_of[worker]).complete(self.truths, i, completed)
        if self.slack:
            self.found.scale[i] = 0.0
            if not (<SetWorker>self.worker_of[worker]).violate_product(
                <SlackSets>self.slack_of[worker], self.truths, i, completed, code
            ):
                memcpy(code, completed, self.codes.shape[1] * sizeof(int32_t))
                return 0
            self.found.scale[i] = (<SetWorker>self.worker_of[worker]).loss(self.truths, i, code)
            loss = self.found.scale[i] * (
                1.0 + (<SetWorker>self.worker_of[worker]).advantage(i, code, completed)
            )
        else:
            (<SetWorker>self.worker_of[worker]).violate(self.truths, i, code)
            loss = (<SetWorker>self.worker_of[worker]).loss(self.truths, i, code)
            loss += (<SetWorker>self.worker_of[worker]).advantage(i, code, completed)
        self.found.loss[i] = max(loss, 0.0)
        return 0


cdef class LabelSetDecode(LabelSetHinge):
    """The best sets that agree with what is known; in `completed`."""

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        (<SetWorker>self.worker_of[worker]).load(i)
        (<SetWorker>self.worker_of[worker]).complete(self.truths, i, &self.completed[i, 0])
        return 0


def one_label():
    """Return what a label that is there counts in a code."""
    return ONE
