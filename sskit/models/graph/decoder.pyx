"""Labelling many graphs with a trained graph model, approximately or by cuts and max-sum."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_equal, check_least, check_range
from sskit.models.graph.problem cimport GraphProblem
from sskit.models.graph.request cimport GraphRequest
from sskit.oracles.graph.cut cimport Cut, leave_cut
from sskit.oracles.graph.potentials cimport Potentials, labelling_score, pair_score


class GraphDecoder(Decoder):
    """Labels of graphs where an oracle may start from several: a `Decoder` of a GraphProblem."""

    def best(self):
        """Return the labels of all nodes, shape (n_nodes,), int32."""
        return self._run(decode_best, np.empty(self.request.n_nodes, dtype=np.int32))

    def node_scores(self):
        """Return the scores of all nodes alone, shape (n_nodes, K)."""
        return self._run(decode_nodes, self._table())

    def max_marginals(self):
        """Return scores of the labelling that was found with a label at a node, (n_nodes, K).

        With this label in place of its own: not more than the max-marginal, and the largest of a
        row is that of the label that was found.
        """
        return self._run(decode_conditionals, self._table())

    def excesses(self):
        """Return by how much the best labellings may score more than those that are found.

        Returns
        -------
        excess : ndarray of shape (n_blocks,)
            Of an oracle that is exact, or bounds what it may have missed.
        """
        return self._run(decode_excesses, np.empty(self.request.n_blocks))

    def _table(self):
        return np.empty((self.request.n_nodes, self.request.n_states))


class RequestDecoder(Decoder):
    """Labels of graphs: a `Decoder` of a GraphRequest."""

    def best(self):
        """Return the labels of all nodes, shape (n_nodes,), int32."""
        return self._run(decode_requested, np.empty(self.request.n_nodes, dtype=np.int32))

    def node_scores(self):
        """Return the scores of all nodes alone, shape (n_nodes, K)."""
        blocks = range(self.request.n_blocks)
        return np.concatenate([self.request.node_scores(i) for i in blocks])

    def _table(self):
        return np.empty((self.request.n_nodes, self.request.n_states))


class CutDecoder(RequestDecoder):
    """Labels of graphs by minimum cuts; the thread keeps the memory of the cut for the next."""

    def max_marginals(self):
        """Return the best score of a labelling for each node and label, (n_nodes, K)."""
        return self._run(decode_cut_marginals, self._table())

    def _run(self, function, out):
        out = super()._run(function, out)
        leave_cut(self.request.oracle)
        return out


def decode_best(GraphProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                int32_t[::1] out):
    """Write the labels of the graphs start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], problem.n_nodes, "the room for labels")
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef double loss
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            problem.scores(i, &w[0], &theta[0])
            problem.argmax(i, &theta[0], 0.0, &out[problem.nodes[i]], &loss)


def decode_nodes(GraphProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                 double[:, ::1] out):
    """Write the scores of the nodes of the graphs start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_table(problem, out)
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef Py_ssize_t i, v, k
    with nogil:
        for i in range(start, stop):
            problem.scores(i, &w[0], &theta[0])
            for v in range(problem.n_nodes_of(i)):
                for k in range(problem.n_states):
                    out[problem.nodes[i] + v, k] = theta[v * problem.stride + k]


def decode_conditionals(GraphProblem problem, const double[::1] w, Py_ssize_t start,
                        Py_ssize_t stop, double[:, ::1] out):
    """Write the scores of labellings that differ at one node from those that are found."""
    problem.check_run(start, stop, w.shape[0])
    check_table(problem, out)
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef int32_t[::1] labels = np.zeros(problem.max_code_length, dtype=np.int32)
    cdef Potentials p
    cdef double loss, score
    cdef double[:, ::1] table
    cdef int32_t k, a, b
    cdef Py_ssize_t i, v, e
    for i in range(start, stop):
        table = out[problem.nodes[i] : problem.nodes[i + 1]]
        with nogil:
            problem.scores(i, &w[0], &theta[0])
            problem.argmax(i, &theta[0], 0.0, &labels[0], &loss)
            p = problem.potentials(i, &theta[0], 0.0)
            score = labelling_score(&p, &labels[0])
            for v in range(p.n_nodes):
                for k in range(p.n_states):
                    table[v, k] = score
                    if k != labels[v]:
                        table[v, k] += (
                            p.node[v * p.stride + k] - p.node[v * p.stride + labels[v]]
                        )
            for e in range(p.n_edges):
                a, b = p.ends[2 * e], p.ends[2 * e + 1]
                score = pair_score(&p, e, labels[a], labels[b])
                for k in range(p.n_states):
                    table[a, k] += pair_score(&p, e, k, labels[b]) - score
                    table[b, k] += pair_score(&p, e, labels[a], k) - score


def decode_excesses(GraphProblem problem, const double[::1] w, Py_ssize_t start,
                    Py_ssize_t stop, double[::1] out):
    """Write what the labellings of the graphs start .. stop - 1 may have missed."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], problem.n_blocks, "the room for graphs")
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef int32_t[::1] labels = np.zeros(problem.max_code_length, dtype=np.int32)
    cdef double loss
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            problem.scores(i, &w[0], &theta[0])
            problem.argmax(i, &theta[0], 0.0, &labels[0], &loss)
            out[i] = problem.excess


cdef int check_table(GraphProblem problem, const double[:, ::1] out) except -1:
    check_least(out.shape[0], problem.n_nodes, "the room for nodes")
    return check_equal(out.shape[1], problem.n_states, "the room for labels")


def decode_requested(GraphRequest graphs, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the labels of the graphs start .. stop - 1."""
    check_range(start, stop, graphs.n_blocks, "graphs")
    check_least(out.shape[0], graphs.n_nodes, "the room for labels")
    cdef double[::1] theta = np.empty(graphs.max_statistics + 1)
    cdef Potentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            p = graphs.potentials(i, &theta[0])
            graphs.oracle.improve(&p, &out[graphs.nodes[i]])


def decode_cut_marginals(GraphRequest graphs, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the graphs start .. stop - 1, by cuts."""
    check_range(start, stop, graphs.n_blocks, "graphs")
    check_least(out.shape[0], graphs.n_nodes, "the room for nodes")
    check_equal(out.shape[1], 2, "the number of states")
    check_equal(graphs.n_states, 2, "the number of states")
    cdef double[::1] theta = np.empty(graphs.max_statistics + 1)
    cdef int32_t[::1] labels = np.zeros(graphs.n_nodes, dtype=np.int32)
    cdef Cut cut = graphs.oracle
    cdef Potentials p
    cdef Py_ssize_t i
    for i in range(start, stop):
        p = graphs.potentials(i, &theta[0])
        cut.improve(&p, &labels[0])
        out[graphs.nodes[i] : graphs.nodes[i + 1]] = labelling_score(&p, &labels[0])
        cut.marginals(out[graphs.nodes[i] : graphs.nodes[i + 1]])
