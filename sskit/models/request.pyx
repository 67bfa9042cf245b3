"""Labelling many blocks with a trained model: one loop for each kind of answer."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import effective_n_jobs

from libc.stdint cimport int32_t

from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport FeatureRows, are_modest


NO_LABELS = np.zeros(0, dtype=np.int32), np.zeros(0)
NOTHING_KNOWN = NodeLoss(*NO_LABELS, 0)


cdef class Request:
    """Blocks that are to be labelled under given weights.

    Parameters
    ----------
    map : FeatureMap
        Of the blocks.
    structure : Structure
        Their labellings.
    weights : ndarray of shape (n_weights + LANES,)
        As the map says; spare numbers behind them.
    possible : ndarray of shape (n_nodes, n_states), bool, default=None
        States that are possible at each node; None means all.
    """

    def __cinit__(self, FeatureMap map, Structure structure, weights, possible=None):
        self.map, self.structure, self.weights = map, structure, weights
        self.n_blocks, self.n_states = map.n_blocks, map.n_columns
        self.offsets = structure.offsets(map)
        self.n_nodes = self.offsets[map.n_blocks]
        self.known = NOTHING_KNOWN
        if possible is not None:
            self.known = NodeLoss(*NO_LABELS, map.n_columns, possible=possible)

    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil:
        self.map.own_scores(i, &self.weights[0], theta)
        b.i, b.first, b.theta = i, self.offsets[i], theta
        b.n = self.offsets[i + 1] - b.first
        self.known.forbid(b.first, b.n, theta + self.map.node_base, self.map.stride)
        return 0

    def begin(self):
        """Return room for potentials, with those that all blocks have in common."""
        cdef double[::1] theta = np.zeros(self.map.max_statistics + LANES)
        self.map.common_scores(&self.weights[0], &theta[0])
        return np.asarray(theta)

    def potentials(self, Py_ssize_t i):
        """Return the potentials of a block, as the map lays them out."""
        theta = self.begin()
        cdef double[::1] out = theta
        cdef Block b
        self.load(i, &out[0], &b)
        return theta

    def node_scores(self):
        """Return the potentials of all nodes, shape (n_nodes, n_states)."""
        out = np.empty((self.n_nodes, padded(self.n_states)))
        cdef double[:, ::1] rows = out
        cdef Py_ssize_t i
        cdef Block b
        cdef double[::1] theta = self.begin()
        stride, base = self.map.stride, self.map.node_base
        for i in range(self.n_blocks):
            self.load(i, &theta[0], &b)
            block = np.asarray(theta)[base : base + b.n * stride]
            out[b.first : b.first + b.n] = block.reshape(b.n, stride)
        return np.ascontiguousarray(out[:, : self.n_states])

    def is_modest(self):
        """Return whether features and weights are so small that no score can overflow."""
        cdef FeatureRows rows
        cdef Py_ssize_t nodes = self.map.head_weights, edges = self.map.edge_weights
        # others are below 1e154 in a fitted estimator: it takes too many to overflow
        cdef bint modest = are_modest(&self.weights[0], nodes) and are_modest(
            &self.weights[edges], self.map.tail_weights - edges
        )
        for rows in self.map.all_rows():
            # all but doubles are of a type that has no larger numbers
            if rows.rows.values != NULL:
                modest = modest and are_modest(rows.rows.values, rows.n_entries)
        return modest

    def fork(self):
        """Return the same request for another thread."""
        cdef Request other = Request(self.map.fork(), self.structure.fork(), self.weights)
        other.known = self.known
        return other


def find_best(Request request, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the best labellings of the blocks start .. stop - 1."""
    cdef double[::1] theta = request.begin()
    cdef Py_ssize_t i
    cdef Block b
    with nogil:
        for i in range(start, stop):
            request.load(i, &theta[0], &b)
            request.structure.best(&b, request.known, 0.0, &out[b.first])


def find_top_k(Request request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the k best labellings and their scores, out = (k, list of labels, of scores)."""
    cdef Py_ssize_t k = request.structure.prepare_k_best(out[0]), i, found = 0
    cdef double[::1] theta = request.begin(), scores = np.empty(k)
    cdef int32_t[::1] labels = np.empty(k * request.map.longest, dtype=np.int32)
    cdef Block b
    for i in range(start, stop):
        with nogil:
            request.load(i, &theta[0], &b)
            found = request.structure.k_best(&b, k, &labels[0], &scores[0])
        out[1][i] = np.array(labels[: found * b.n]).reshape(found, b.n)
        out[2][i] = np.array(scores[:found])


def find_max_marginals(Request request, Py_ssize_t start, Py_ssize_t stop,
                       double[:, ::1] out):
    """Write the max-marginals of the blocks start .. stop - 1, padded."""
    cdef double[::1] theta = request.begin()
    cdef Py_ssize_t i
    cdef Block b
    request.structure.prepare_max_marginals(theta)
    with nogil:
        for i in range(start, stop):
            request.load(i, &theta[0], &b)
            request.structure.max_marginals(&b, &out[b.first, 0])


class Decoder:
    """Labels of the blocks of a request, which threads share.

    Parameters
    ----------
    request : Request
        Blocks and weights.
    n_jobs : int, default=None
        Number of threads.
    """

    def __init__(self, request, n_jobs=None):
        self.request = request
        # a single input is what is served most: it asks nobody how many threads there are
        n = request.n_blocks
        n_parts = 1 if n == 1 else max(1, min(effective_n_jobs(n_jobs), n))
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
        # joblib would look only every hundredth of a second whether its threads are done
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
        return self.run(find_best, np.empty(self.request.n_nodes, dtype=np.int32))

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

    def max_marginals(self):
        """Return the best score of a labelling for each node and label, (n_nodes, K)."""
        n_states = self.request.n_states
        out = np.empty((self.request.n_nodes, padded(n_states)))
        return np.ascontiguousarray(self.run(find_max_marginals, out)[:, :n_states])
