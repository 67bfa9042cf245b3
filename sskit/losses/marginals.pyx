"""Max-marginals and marginal probabilities of batches of chains and trees."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport padded
from sskit.core.vectors cimport Scratch
from sskit.losses.batch cimport Batch
from sskit.losses.chain cimport ChainTask
from sskit.losses.graph cimport GraphTask, GraphWorker
from sskit.oracles.chain.viterbi cimport transpose_padded, viterbi_step
from sskit.oracles.chain.sum_product cimport SumProduct
from sskit.oracles.tree.max_sum cimport TreeSumProduct


cdef int check_rows(Batch batch, double[:, ::1] out) except -1:
    check_equal(out.shape[0], batch.n_rows, "the number of rows")
    check_equal(out.shape[1], batch.n_states, "the number of columns")
    return 0


cdef class ChainMaxMarginals(ChainTask):
    """Max-marginals of chains.

    Parameters
    ----------
    batch : Batch
        The chains.
    n_workers : int
        Number of workers.
    out : ndarray of shape (n_rows, n_states)
        What is written.
    """

    cdef double[:, ::1] out

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, double[:, ::1] out):
        check_rows(batch, out)
        self.out = out

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t n_nodes = self.batch.length[i], n_states = self.batch.n_states, t, k
        cdef Py_ssize_t first = self.batch.first[i], stride = self.stride
        cdef double* node = self.node(worker)
        cdef double* value = self.value(worker)
        cdef double* ahead = self.spare(worker)
        cdef double* suffix = ahead + stride
        cdef double* zero = suffix + stride
        cdef double* turned = self.own_table(worker) + n_states * stride
        cdef const double* table
        self.batch.load_nodes(i, stride, node)
        memcpy(value, node, stride * sizeof(double))
        for t in range(1, n_nodes):
            viterbi_step(
                value + (t - 1) * stride, self.table(i, t - 1, 0, worker), n_states,
                node + t * stride, value + t * stride
            )
        memset(ahead, 0, stride * sizeof(double))
        memset(zero, 0, stride * sizeof(double))
        for t in range(n_nodes - 1, -1, -1):
            if t < n_nodes - 1:
                for k in range(stride):
                    suffix[k] = ahead[k] + node[(t + 1) * stride + k]
                table = self.table(i, t, n_nodes - 2, worker)
                if self.batch.step or t == n_nodes - 2:
                    transpose_padded(table, n_states, turned)
                viterbi_step(suffix, turned, n_states, zero, ahead)
            for k in range(n_states):
                self.out[first + t, k] = value[t * stride + k] + ahead[k]
        return 0


cdef class ChainMarginals(ChainTask):
    """Marginal probabilities of chains.

    Parameters
    ----------
    batch : Batch
        The chains.
    n_workers : int
        Number of workers.
    out : ndarray of shape (n_rows, n_states)
        What is written.
    log_partition : ndarray of shape (n,)
        log Z is written here.
    """

    cdef double[:, ::1] out
    cdef double[::1] log_partition
    cdef Scratch[double] tables      # of each worker, those of all edges, if each has its own
    cdef vector[SumProduct] oracles

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, double[:, ::1] out, double[::1] log_partition
    ):
        check_rows(batch, out)
        check_equal(log_partition.shape[0], batch.n, "the number of chains")
        self.out, self.log_partition = out, log_partition
        self.oracles.resize(n_workers)
        if batch.step:
            self.tables.resize(n_workers * batch.max_edges * batch.n_states * self.stride)

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t n_nodes = self.batch.length[i], n_states = self.batch.n_states, t, k
        cdef Py_ssize_t first = self.batch.first[i], stride = self.stride
        cdef Py_ssize_t size = n_states * stride
        cdef double* node = self.node(worker)
        cdef double* value = self.value(worker)
        cdef const double* table = self.own_table(worker)
        cdef double* tables
        self.batch.load_nodes(i, stride, node)
        if n_nodes == 1:
            memset(self.own_table(worker), 0, size * sizeof(double))
        elif self.batch.step:
            tables = self.tables.data() + worker * self.batch.max_edges * size
            for t in range(n_nodes - 1):
                self.batch.load_table(self.batch.table_of(i, t), stride, tables + t * size)
            table = tables
        else:
            table = self.table(i, 0, 0, worker)
        self.oracles[worker].begin(n_states, table, not self.batch.step or n_nodes == 1)
        self.log_partition[i] = self.oracles[worker].forward(node, n_nodes)
        if self.log_partition[i] == -INFINITY:
            with gil:
                self.batch.refuse(i, "no labelling is allowed by unary and pairwise")
        self.oracles[worker].backward(node, n_nodes, value, NULL, 0)
        for t in range(n_nodes):
            for k in range(n_states):
                self.out[first + t, k] = value[t * stride + k]
        return 0


cdef class TreeMaxMarginals(GraphTask):
    """Max-marginals of trees.

    Parameters
    ----------
    batch : Batch
        The trees.
    n_workers : int
        Number of workers.
    forests : bool
        As for `GraphTask`.
    out : ndarray of shape (n_rows, n_states)
        What is written.
    """

    cdef double[:, ::1] out

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, bint forests, double[:, ::1] out):
        check_rows(batch, out)
        self.out = out

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        (<GraphWorker>self.worker_of[worker]).load(i)
        (<GraphWorker>self.worker_of[worker]).take_forest(
            &(<GraphWorker>self.worker_of[worker]).p
        )
        (<GraphWorker>self.worker_of[worker]).tree.marginals(
            &(<GraphWorker>self.worker_of[worker]).p, &self.out[self.batch.first[i], 0]
        )
        return 0


cdef class TreeMarginals(GraphTask):
    """Marginal probabilities of trees.

    Parameters
    ----------
    batch : Batch
        The trees.
    n_workers : int
        Number of workers.
    forests : bool
        As for `GraphTask`.
    out : ndarray of shape (n_rows, n_states)
        What is written.
    log_partition : ndarray of shape (n,)
        log Z is written here.
    """

    cdef double[:, ::1] out
    cdef double[::1] log_partition
    cdef double[:, ::1] space        # (n_workers, max_nodes * stride)
    cdef list oracles
    cdef vector[void*] oracle_of

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, bint forests, double[:, ::1] out,
        double[::1] log_partition,
    ):
        cdef TreeSumProduct oracle
        check_rows(batch, out)
        check_equal(log_partition.shape[0], batch.n, "the number of trees")
        self.out, self.log_partition = out, log_partition
        self.space = np.empty((n_workers, max(batch.max_nodes, 1) * padded(batch.n_states)))
        self.oracles = []
        for _ in range(n_workers):
            oracle = TreeSumProduct()
            self.oracles.append(oracle)
            self.oracle_of.push_back(<void*>oracle)

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t v, k, n_states = self.batch.n_states, stride = padded(n_states)
        cdef double* marginals = &self.space[worker, 0]
        (<GraphWorker>self.worker_of[worker]).load(i)
        (<GraphWorker>self.worker_of[worker]).take_forest(
            &(<GraphWorker>self.worker_of[worker]).p
        )
        self.log_partition[i] = (<TreeSumProduct>self.oracle_of[worker]).infer(
            &(<GraphWorker>self.worker_of[worker]).p, marginals, NULL
        )
        if self.log_partition[i] == -INFINITY:
            with gil:
                self.batch.refuse(i, "no labelling is allowed by unary and pairwise")
        for v in range(self.batch.length[i]):
            for k in range(n_states):
                self.out[self.batch.first[i] + v, k] = marginals[v * stride + k]
        return 0
