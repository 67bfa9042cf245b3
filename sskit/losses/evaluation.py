"""A structured loss of a batch: losses, labellings and gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array

from sskit._types import ArrayLike
from sskit.losses.layout import as_potentials

if TYPE_CHECKING:
    from sskit.losses.nodes import NodeProblem


class BatchEvaluation:
    """Losses of a batch, of which subclasses have the gradients of each."""

    losses: np.ndarray

    def __init__(self, problem: NodeProblem, losses: np.ndarray) -> None:
        self._layout, self._tables, self._dtypes = problem.layout, problem.tables, problem.dtypes
        self._n_states = problem.n_states
        self.losses = as_type(losses, problem.dtypes[0])

    def gradients(self, weights: ArrayLike | None = None) -> tuple[Any, Any]:
        """Return a subgradient of the weighted sum of the losses by the potentials.

        Parameters
        ----------
        weights : array-like of shape (n,), default=None
            Weight of each loss: the incoming gradient of backpropagation. None means ones. Values
            that are not finite are passed on.

        Returns
        -------
        unary : ndarray or list of ndarray
            By the potentials of the nodes, of their shape and type; zero at padding.
        pairwise : ndarray, list of ndarray or None
            By the potentials of the edges, in the same way; None if there were none.

        Raises
        ------
        ValueError
            If there is not one weight for each sample.
        """
        n = len(self.losses)
        if weights is None:
            weights = np.ones(n)
        weights = as_potentials(weights, "weights")
        if weights.shape != (n,):
            raise ValueError(f"weights must have shape ({n},), got {weights.shape}")
        with np.errstate(over="ignore", invalid="ignore"):
            weights = weights.astype(np.float64)
            nodes = self._layout.split(self._by_nodes(weights).astype(self._dtypes[0], copy=False))
            tables = self._by_edges(weights).astype(self._dtypes[1], copy=False)
        shape = () if self._tables.size == 1 else (self._n_states, self._n_states)
        return nodes, self._tables.restore(tables, shape)

    if TYPE_CHECKING:

        def _by_nodes(self, weights: np.ndarray) -> np.ndarray: ...

        def _by_edges(self, weights: np.ndarray) -> np.ndarray: ...


class HingeEvaluation(BatchEvaluation):
    """Losses of a batch, and all that their gradients need.

    :meth:`StructuredHinge.evaluate` makes it. Potentials are not stored: a gradient consists of
    two labellings of each sample.

    Parameters
    ----------
    problem : object
        The batch; its potentials are not stored.
    labels, completed : ndarray of shape (n_rows,), int32
        The most violating and the true labelling, of all samples; -1 at padding.
    losses, scale : ndarray of shape (n,)
        Hinges, and factors of their gradients.
    exact : ndarray of bool of shape (n,)
        As the attribute.

    Attributes
    ----------
    losses : ndarray of shape (n,)
        The hinge of each sample, not negative; of the type of the potentials of the nodes.
    labels : ndarray of int of shape (n, n_nodes), or list of ndarray
        The labelling of each sample that attains the maximum in its loss; -100 at padding.
    completed : ndarray or list of ndarray
        The true labels, with the best ones instead of -100.
    exact : ndarray of bool of shape (n,)
        Whether the maximum is known to be exact. If not, the loss is that of the best labelling
        found, which is no larger.

    See Also
    --------
    StructuredHinge : Makes evaluations.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.losses import StructuredHinge
    >>> layer = StructuredHinge("chain")
    >>> evaluation = layer.evaluate(np.zeros((1, 2, 2)), np.zeros((2, 2)), [[0, 1]])
    >>> evaluation.losses, evaluation.labels, evaluation.exact
    (array([2.]), array([[1, 0]], dtype=int32), array([ True]))
    """

    labels: Any
    completed: Any
    exact: np.ndarray

    def __init__(
        self,
        problem: NodeProblem,
        labels: np.ndarray,
        completed: np.ndarray,
        losses: np.ndarray,
        scale: np.ndarray,
        exact: np.ndarray,
    ) -> None:
        super().__init__(problem, losses)
        self._edges, self._labellings, self._scale = problem.edges, (labels, completed), scale
        self.labels, self.completed = map(problem.layout.split_labels, self._labellings)
        self.exact = exact

    def _by_nodes(self, weights):
        """Return the gradient by the potentials of nodes."""
        labels, completed = self._labellings
        rows = np.flatnonzero(labels != completed)
        weights = (weights * self._scale)[self._layout.samples_of(rows)]
        unary = np.zeros((self._layout.n_rows, self._n_states), dtype=self._dtypes[0])
        unary[rows, labels[rows]] = weights
        unary[rows, completed[rows]] = -weights
        return unary

    def _by_edges(self, weights):
        """Return the gradient by the potentials of edges."""
        edges, tables, K = self._edges, self._tables, self._n_states
        sample, e = edges.places()
        first = self._layout.first[sample]
        if edges.ends is None:
            u, v = first + e, first + e + 1
        else:
            u, v = edges.ends[edges.first[sample] + e].T + first
        (a, true_a), (b, true_b) = ([states[end] for states in self._labellings] for end in (u, v))
        table = tables.first[sample] + tables.step * e
        weights = (weights * self._scale)[sample]
        if tables.size == 1:  # a number that counts where the states agree
            changes = [((a == b).astype(np.int8) - (true_a == true_b), table)]
        else:
            # different from zero, so that equal terms cancel to the last bit
            sign = ((a != true_a) | (b != true_b)).astype(np.int8)
            place = table * tables.size
            changes = [(sign, place + a * K + b), (-sign, place + true_a * K + true_b)]
        out = np.zeros(len(tables.values), dtype=self._dtypes[1] if tables.own else np.float64)
        for sign, place in changes:
            used = np.flatnonzero(sign)
            place, values = place[used], sign[used] * weights[used]
            if tables.own:
                out[place] = values
            else:
                out += np.bincount(place, values, minlength=len(out))
        return out


class LogLossEvaluation(BatchEvaluation):
    """Losses of a batch, and their gradients.

    :meth:`StructuredLogLoss.evaluate` makes it. A gradient is a difference of probabilities: those
    of labels and of pairs of neighbouring ones under all labellings, less those under the
    labellings that agree with the known labels. They are stored.

    Parameters
    ----------
    problem : object
        The batch; its potentials are not stored.
    losses : ndarray of shape (n,)
        Negative logarithms of probabilities.
    nodes : ndarray of shape (n_rows, n_labels)
        Gradients by the potentials of nodes.
    tables : ndarray of shape (n_tables, size)
        Gradients by those of edges, a table for each edge, or one for each sample.
    table_first : ndarray of shape (n + 1,)
        Where the tables of each sample begin.

    Attributes
    ----------
    losses : ndarray of shape (n,)
        -log p of the known labels of each sample, not negative; of the type of the potentials of
        the nodes.

    See Also
    --------
    StructuredLogLoss : Makes evaluations.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.losses import StructuredLogLoss
    >>> layer = StructuredLogLoss("chain")
    >>> evaluation = layer.evaluate(np.zeros((1, 2, 2)), np.zeros((2, 2)), [[0, 1]])
    >>> np.exp(-evaluation.losses)
    array([0.25])
    """

    def __init__(
        self,
        problem: NodeProblem,
        losses: np.ndarray,
        nodes: np.ndarray,
        tables: np.ndarray,
        table_first: np.ndarray,
    ) -> None:
        super().__init__(problem, losses)
        self._nodes, self._pairs = nodes, tables
        # which sample and which of the given tables each table belongs to
        self._sample = np.repeat(np.arange(len(losses)), np.diff(table_first))
        self._place = self._tables.first[self._sample]
        if self._tables.step:
            self._place = self._place + np.arange(len(tables)) - table_first[self._sample]

    def _by_nodes(self, weights):
        """Return the gradient by the potentials of nodes."""
        width = self._layout.width  # None: rows are not padded
        rows = np.repeat(weights, self._layout.length if width is None else width)
        return self._nodes * rows[:, np.newaxis]

    def _by_edges(self, weights):
        """Return the gradient by the potentials of edges."""
        size, weights = self._tables.size, weights[self._sample]
        n_tables = len(self._tables.values) // size
        if n_tables == 1:
            return weights @ self._pairs
        # a table of the batch is the sum of those of all its edges
        sums = coo_array(
            (weights, (self._place, np.arange(len(weights)))), (n_tables, len(weights))
        )
        return (sums @ self._pairs).ravel()


def as_type(numbers, dtype):
    """Return numbers in a type; those that are too large for it are infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers, dtype=dtype)
