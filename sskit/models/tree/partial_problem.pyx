"""Trees whose true labels may change, or be several at a node, and whose wrong ones cost apart."""

import numpy as np

from sskit.core.fingerprint import Fingerprint

from libc.stdint cimport int32_t

from sskit.core.problem cimport Problem
from sskit.models.graph.problem cimport GraphProblem
from sskit.models.structure cimport NodeLoss
from sskit.oracles.graph.potentials cimport Potentials


cdef class PartialTreeProblem(GraphProblem):
    """A `GraphProblem` with an exact oracle and a `NodeLoss`.

    Parameters are those of `GraphProblem`.
    """

    cdef readonly NodeLoss loss

    def __cinit__(self, *args):
        self.set_costs(None)

    def set_costs(self, table):
        """Take costs by true and predicted state, (n_states, n_states); None: 1 for wrong ones."""
        self.loss = NodeLoss(self.labels, self.cost, self.n_states, table)

    @property
    def has_sets(self):
        """Whether nodes may have several right labels."""
        return self.loss.has_sets

    cdef Potentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil:
        cdef Potentials p = GraphProblem.potentials(self, i, theta, 0.0)
        self.loss.add(self.nodes[i], p.n_nodes, loss_weight, &self.augmented[0], self.stride)
        return p

    cdef double loss_of(self, Py_ssize_t i, const int32_t* labels) noexcept nogil:
        return self.loss.of(self.nodes[i], self.n_nodes_of(i), labels)

    cpdef Problem fork(self):
        cdef PartialTreeProblem other = GraphProblem.fork(self)
        other.loss = self.loss
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
        other.loss = self.loss.with_truth(labels)
        return other

    def accept(self, accepted):
        """Let nodes have several right labels: none of them costs anything.

        Parameters
        ----------
        accepted : ndarray of shape (n_nodes, n_states), bool
            Which labels are right at each node, the true one among them.
        """
        self.loss = self.loss.accepting(accepted)

    def fingerprint(self):
        """Return by what the same trees, labels and losses are known again."""
        inner = GraphProblem.fingerprint(self)
        whole, blocks = self.loss.digests(self.nodes)
        return Fingerprint(inner.whole | whole, inner.blocks | blocks)
