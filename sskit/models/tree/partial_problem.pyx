"""Trees whose true labels may change, or be several at a node."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem
from sskit.models.graph.problem cimport GraphProblem
from sskit.oracles.graph.potentials cimport Potentials


cdef class PartialTreeProblem(GraphProblem):
    """A `GraphProblem` with an exact oracle, of labels of which only a part is known.

    Parameters are those of `GraphProblem`.
    """

    cdef readonly bint has_sets                # may nodes have several right labels?
    cdef const unsigned char[:, ::1] accepted  # (n_nodes, n_states) which these are, if so

    cdef Potentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil:
        cdef Potentials p = GraphProblem.potentials(self, i, theta, loss_weight)
        cdef Py_ssize_t first = self.nodes[i], v, k
        if self.has_sets:
            # from the true label the loss has been taken already
            for v in range(p.n_nodes):
                for k in range(self.n_states):
                    if self.accepted[first + v, k] and k != self.labels[first + v]:
                        self.augmented[v * self.stride + k] -= loss_weight * self.cost[first + v]
        return p

    cdef double loss_of(self, Py_ssize_t i, const int32_t* labels) noexcept nogil:
        cdef Py_ssize_t first = self.nodes[i], v
        cdef double loss = 0.0
        if not self.has_sets:
            return GraphProblem.loss_of(self, i, labels)
        for v in range(self.n_nodes_of(i)):
            if not self.accepted[first + v, labels[v]]:
                loss += self.cost[first + v]
        return loss

    cpdef Problem fork(self):
        cdef PartialTreeProblem other = GraphProblem.fork(self)
        other.has_sets = self.has_sets
        if self.has_sets:  # else there is no table
            other.accepted = self.accepted
        return other

    def with_truth(self, labels):
        """Return the same problem with other labels as the truth.

        Parameters
        ----------
        labels : ndarray of shape (n_nodes,)
            True states; where nodes may have several right ones, one of these.

        Returns
        -------
        problem : PartialTreeProblem
            Shares all else with this one.
        """
        cdef PartialTreeProblem other = self.fork()
        other.labels = np.ascontiguousarray(labels, dtype=np.int32)
        other.last = np.full(self.n_nodes, -1, dtype=np.int32)
        return other

    def accept(self, accepted):
        """Let nodes have several right labels: none of them costs anything.

        Parameters
        ----------
        accepted : ndarray of shape (n_nodes, n_states), bool
            Which labels are right at each node, the true one among them.
        """
        self.accepted = np.ascontiguousarray(accepted, dtype=bool).view(np.uint8)
        self.has_sets = True
