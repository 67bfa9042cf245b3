"""Structured hinge losses of given potentials, and their subgradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sskit._parameters import parameter, parameters
from sskit._types import ArrayLike, Dictionary
from sskit.inputs.weights import cost_table
from sskit.losses.evaluation import HingeEvaluation
from sskit.losses.layer import StructuredLayer, find_hinges_of
from sskit.losses.layout import pack_weights


@parameters
class StructuredHinge(StructuredLayer):
    r"""Structured hinge loss of potentials, with its subgradient: a last layer for any model.

    A network, or any other model, computes potentials :math:`\theta` of nodes and edges; the score
    of a labelling is :math:`F(y) = \sum_v u_v(y_v) + \sum_{(v, w)} p_{vw}(y_v, y_w)`. The loss of
    a sample with the labels :math:`y_i` is

    .. math:: \max_y\, [L(y_i, y) + F(y)] - F(y_i)

    or, with slack rescaling, :math:`\max_y L(y_i, y)\, [1 + F(y) - F(y_i)]`. A subgradient by the
    potentials is the difference of two labellings, times L(y_i, y) with slack rescaling. The class
    depends on no library for networks.

    Parameters
    ----------
    structure : {"chain", "tree", "graph"}, default="chain"
        The structure that is labelled: tokens of sequences, nodes of forests or of graphs. The best
        labelling of a graph is found by the first of these that applies: max-sum (without cycles),
        a minimum cut (two labels that attract each other), elimination (small treewidth), which are
        exact, and roof duality (two labels) or message passing, which may miss it, as `exact` of an
        evaluation says.
    loss : str, array-like of shape (n_labels, n_labels) or dict, default="hamming_sum"
        L: "hamming_sum" is the number of wrong labels, "hamming" their fraction among the known
        ones. A table has the cost of each label (column) for each true one (row), not negative and
        zero on the diagonal; it is summed over the nodes. A dict of dicts has the same, ``{true:
        {predicted: cost}}``, with one for missing costs.
    rescaling : {"margin", "slack"}, default="margin"
        Surrogate of the loss. "slack" is for chains with one table of transitions, for which the
        maximum is found exactly.
    pairwise_form : {"full", "potts"}, default="full"
        Trees and graphs: whether an edge has a table of shape (n_labels, n_labels), from the label
        of its first node to that of its second, or a number that counts if both are the same.
    n_jobs : int, default=None
        Number of threads, each of which computes some of the samples without the interpreter's
        lock; minimum cuts hold it. The results do not depend on it. None means 1, unless joblib's
        context says otherwise; -1 means all processors.

    See Also
    --------
    SequenceTagger : A linear model of the same loss, trained to a certificate.
    sskit.oracles : The maximisations, of one sample at a time.

    Notes
    -----
    *Batches.* Potentials of nodes are a padded array of shape (n, n_nodes, n_labels) or a list of
    arrays (n_nodes_i, n_labels), float32 or float64; computations are in double precision, and
    results have the type of the potentials. ``-inf`` forbids a label or a pair. Potentials at
    padding are ignored.

    *Padding and unknown labels.* A label of -100 is unknown. It costs nothing, and :math:`F(y_i)`
    is then the best score of all labellings that agree with the known labels, so the potentials of
    neighbours still have gradients. Padding is not part of a sample: in a padded array it is where
    `mask` is false or, for sequences without a mask, where a label of -100 is followed by no other
    label. A sample without nodes, or without known labels, has the loss 0, and its potentials have
    no gradient.

    With unknown labels the loss is a difference of convex functions of the potentials, else it is
    convex in them.

    References
    ----------
    Tsochantaridis, Joachims, Hofmann, Altun (2005). Large margin methods for structured and
    interdependent output variables. JMLR 6.

    Yu and Joachims (2009). Learning structural SVMs with latent variables. ICML.

    Bauer, Goernitz, Biegler, Mueller, Kloft (2014). Efficient algorithms for exact inference in
    sequence labeling SVMs. IEEE Transactions on Neural Networks and Learning Systems 25(5).

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.losses import StructuredHinge
    >>> unary = np.array([[[1.0, 0.0], [0.0, 0.5], [0.0, 0.0]]])
    >>> transitions = np.array([[0.0, -1.0], [-1.0, 0.0]])
    >>> evaluation = StructuredHinge("chain").evaluate(unary, transitions, [[0, 0, -100]])
    >>> evaluation.losses
    array([1.5])
    >>> unary_gradient, transition_gradient = evaluation.gradients()
    >>> unary_gradient
    array([[[-1.,  1.],
            [-1.,  1.],
            [ 0.,  0.]]])
    >>> transition_gradient
    array([[-1.,  0.],
           [ 0.,  1.]])
    """

    loss: Literal["hamming_sum", "hamming"] | ArrayLike | Dictionary = parameter(
        dict, "array-like", default="hamming_sum"
    )
    rescaling: Literal["margin", "slack"] = parameter(default="margin")

    def evaluate(
        self,
        unary: ArrayLike | Sequence[ArrayLike],
        pairwise: ArrayLike | Sequence[ArrayLike] | None,
        labels: ArrayLike | Sequence[ArrayLike],
        *,
        edges: ArrayLike | Sequence[ArrayLike] | None = None,
        mask: ArrayLike | None = None,
        token_weight: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> HingeEvaluation:
        """Compute the losses of a batch, and what their gradients need.

        Parameters
        ----------
        unary : array-like of shape (n, n_nodes, n_labels), or list of (n_nodes_i, n_labels)
            Potentials of the nodes.
        pairwise : array-like or list of array-like
            Potentials of the edges. Chains: transitions, of shape (n_labels, n_labels) for all,
            (n, n_labels, n_labels) by sequence, (n, n_nodes - 1, n_labels, n_labels) by token, or
            a list of arrays of the last two. Trees and graphs: of shape (n_labels, n_labels)
            for all, (n_edges, n_labels, n_labels) if all samples have the same edges, (n, n_edges,
            n_labels, n_labels) by edge, or a list of (n_edges_i, n_labels, n_labels); with
            ``pairwise_form="potts"`` the same without the last two axes.
        labels : array-like of int of shape (n, n_nodes), or list of (n_nodes_i,)
            True labels, from 0 on; -100 for unknown ones and at padding.
        edges : array-like of int, (n_edges, 2) or (n, n_edges, 2), or list of (n_edges_i, 2), \
default=None
            The two nodes of each edge, for all samples or of each; rows of -1 at the end of an
            array are padding. Not for chains.
        mask : array-like of bool of shape (n, n_nodes), default=None
            Where a padded array has nodes; all nodes of a sample are at its beginning.
        token_weight : array-like of shape (n, n_nodes), or list of (n_nodes_i,), default=None
            Factor of the loss of each node; not negative, and integers for slack rescaling of
            chains. None means ones.

        Returns
        -------
        evaluation : HingeEvaluation
            Contains the `losses`, and computes gradients of any weighted sum of them.

        Raises
        ------
        ValueError
            With the sample and the node, label or edge that is wrong, and what was expected.
        """
        if labels is None:
            raise ValueError("labels must hold the true labels, got None")
        problem = self._pack(unary, pairwise, labels, edges, mask)
        weight = pack_weights(token_weight, problem.layout)
        table = cost_table(self.loss, np.arange(problem.n_states))
        costs = self._costs(problem, weight)
        return HingeEvaluation(problem, *find_hinges_of(problem, self.n_jobs, table, *costs))

    def _check_together(self):
        """Raise ValueError for a parameter that does not go with another."""
        if self.rescaling == "slack":
            if self.structure != "chain":
                raise ValueError(
                    f"rescaling='slack' has no exact oracle for structure={self.structure!r}; it "
                    "is for chains"
                )
            if not isinstance(self.loss, str):
                raise ValueError("rescaling='slack' takes loss='hamming_sum' or 'hamming'")
        super()._check_together()

    def _costs(self, problem, weight):
        """Return the costs of wrong labels, also as counts of units for slack rescaling."""
        known, layout = problem.truth >= 0, problem.layout
        cost, unit = np.where(known, weight, 0.0), np.ones(layout.n)
        levels = cost if self.rescaling == "slack" else None
        if levels is not None and (cost != np.floor(cost)).any():
            wrong = cost[(cost != np.floor(cost)).argmax()]
            raise ValueError(
                f"token_weight holds {wrong}, expected whole numbers for rescaling='slack'"
            )
        if isinstance(self.loss, str) and self.loss == "hamming":
            unit = 1.0 / np.maximum(layout.totals(known), 1)
            if layout.n_rows:
                cost = cost * unit[layout.samples_of(np.arange(layout.n_rows))]
        return cost, levels, unit
