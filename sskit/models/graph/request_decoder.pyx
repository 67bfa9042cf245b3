"""Labelling graphs exactly, by cuts or, without cycles, by max-sum."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_equal, check_least, check_range
from sskit.models.graph.request cimport GraphRequest
from sskit.oracles.graph.cut cimport Cut, leave_cut
from sskit.oracles.graph.potentials cimport Potentials, labelling_score


class RequestDecoder(Decoder):
    """Labels of graphs: a `Decoder` of a GraphRequest."""

    def best(self):
        """Return the labels of all nodes, shape (n_nodes,), int32."""
        return self._run(decode_best, np.empty(self.request.n_nodes, dtype=np.int32))

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
        return self._run(decode_marginals, self._table())

    def _run(self, function, out):
        out = super()._run(function, out)
        leave_cut(self.request.oracle)
        return out


def decode_best(GraphRequest graphs, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
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


def decode_marginals(GraphRequest graphs, Py_ssize_t start, Py_ssize_t stop,
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
