"""What a structured hinge says of a batch: losses, labellings and gradients."""

import numpy as np

from sskit.losses.layout import IGNORED, as_potentials


class HingeEvaluation:
    """Losses of a batch, and all that their gradients need.

    Made by :meth:`StructuredHinge.evaluate`. Potentials are not kept: what a gradient consists of
    are two labellings of each sample. What it is made of are its attributes, but for `parts`.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        The hinge of each sample, not negative; of the type of the potentials of the nodes.
    labels : ndarray of int of shape (n, n_nodes), or list of ndarray
        The labelling of each sample that attains the maximum in its loss; -100 at padding.
    completed : ndarray or list of ndarray
        The true labels, and the best ones in place of those that are -100.
    exact : ndarray of bool of shape (n,)
        Whether the maximum is known to be one. Where it is not the loss is that of the best
        labelling that was found, which is no larger.
    parts : object
        Makes gradients.

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

    def __init__(self, losses, labels, completed, exact, parts):
        self.losses = losses
        self.labels = labels
        self.completed = completed
        self.exact = exact
        self._parts = parts

    def gradients(self, weights=None):
        """Return a subgradient of the weighted sum of the losses by the potentials.

        Parameters
        ----------
        weights : array-like of shape (n,), default=None
            Weight of each loss: what backpropagation hands on. None means ones. What is not
            finite goes through.

        Returns
        -------
        unary : ndarray or list of ndarray
            By the potentials of the nodes, of their shape and type; zero at padding.
        pairwise : ndarray, list of ndarray or None
            By the potentials of the edges, likewise; None if there were none.

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
            return self._parts.gradients(weights.astype(np.float64))


class NodeGradients:
    """Gradients of hinges whose labellings give each node one state.

    Parameters
    ----------
    problem : NodeProblem
        What the hinges are of; its potentials are not kept.
    labels, completed : ndarray of shape (n_rows,), int32
        The most violating and the true labelling; -1 at padding.
    scale : ndarray of shape (n,)
        Factor of each sample.
    """

    def __init__(self, problem, labels, completed, scale):
        self.layout, self.edges, self.tables = problem.layout, problem.edges, problem.tables
        self.n_states, self.dtypes = problem.n_states, problem.dtypes
        self.labels, self.completed, self.scale = labels, completed, scale

    def gradients(self, weights):
        """Return gradients by the potentials of nodes and of edges."""
        weights = weights * self.scale
        return self._by_nodes(weights), self._by_edges(weights)

    def _by_nodes(self, weights):
        """Return the gradient by the potentials of nodes."""
        rows = np.flatnonzero(self.labels != self.completed)
        weights = weights[self.layout.samples_of(rows)]
        unary = np.zeros((self.layout.n_rows, self.n_states), dtype=self.dtypes[0])
        unary[rows, self.labels[rows]] = weights
        unary[rows, self.completed[rows]] = -weights
        return self.layout.split(unary)

    def _by_edges(self, weights):
        """Return the gradient by the potentials of edges."""
        edges, tables, K = self.edges, self.tables, self.n_states
        sample, e = edges.places()
        first = self.layout.first[sample]
        if edges.ends is None:
            u, v = first + e, first + e + 1
        else:
            u, v = edges.ends[edges.first[sample] + e].T + first
        a, b, true_a, true_b = self.labels[u], self.labels[v], self.completed[u], self.completed[v]
        table = tables.first[sample] + tables.step * e
        weights = weights[sample]
        if tables.size == 1:  # a number that counts where the states agree
            changes = [((a == b).astype(np.int8) - (true_a == true_b), table)]
        else:
            # different from zero, so that equal terms cancel to the last bit
            sign = ((a != true_a) | (b != true_b)).astype(np.int8)
            place = table * tables.size
            changes = [(sign, place + a * K + b), (-sign, place + true_a * K + true_b)]
        out = np.zeros(len(tables.values), dtype=self.dtypes[1] if tables.own else np.float64)
        for sign, place in changes:
            used = np.flatnonzero(sign)
            place, values = place[used], sign[used] * weights[used]
            if tables.own:
                out[place] = values
            else:
                out += np.bincount(place, values, minlength=len(out))
        shape = () if tables.size == 1 else (K, K)
        return tables.restore(out.astype(self.dtypes[1], copy=False), shape)


def as_type(numbers, dtype):
    """Return numbers in a type; those that are too large for it are infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers, dtype=dtype)


def restored_labels(flat, layout):
    """Return labels as users know them, -100 at padding."""
    return layout.split(np.where(flat < 0, IGNORED, flat))
