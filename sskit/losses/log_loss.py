"""Negative log-likelihoods of given potentials, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from sskit._parameters import parameter, parameters
from sskit._types import ArrayLike
from sskit.inputs.ragged_array import make_offsets
from sskit.losses.evaluation import LogLossEvaluation
from sskit.losses.layer import StructuredLayer
from sskit.models.request import Decoder, find_log_losses


@parameters
class StructuredLogLoss(StructuredLayer):
    r"""Negative log-likelihood of potentials, with its gradient: the last layer of a neural CRF.

    A network, or any other model, computes potentials of nodes and edges; the score of a labelling
    is :math:`F(y) = \sum_v u_v(y_v) + \sum_{(v, w)} p_{vw}(y_v, y_w)`. The loss of a sample with
    the labels :math:`y_i` is

    .. math:: -\log p(y_i) = \log \sum_y \exp F(y) - F(y_i),

    as in a conditional random field. Its gradient by the potentials is the probabilities of labels
    and of pairs of neighbouring ones, less ones where :math:`y_i` has them. The class depends on no
    library for networks.

    Parameters
    ----------
    structure : {"chain", "tree"}, default="chain"
        The structure that is labelled: tokens of sequences, or nodes of forests.
    pairwise_form : {"full", "potts"}, default="full"
        Trees: whether an edge has a table of shape (n_labels, n_labels), from the label of its
        first node to that of its second, or a number that counts if both are the same.
    n_jobs : int, default=None
        Number of threads, each of which computes some of the samples without the interpreter's
        lock. The results do not depend on it. None means 1, unless joblib's context says otherwise;
        -1 means all processors.

    See Also
    --------
    StructuredHinge : A loss of labels, by the best labelling in place of the sum over all.
    SequenceTagger : With ``surrogate="log"`` a linear model of this loss.

    Notes
    -----
    Batches, padding and what potentials may be are as for :class:`StructuredHinge`. A label of -100
    inside a sample is unknown, and the loss is :math:`-\log p` of the known ones: the sum over all
    labellings that agree with them takes the place of :math:`\exp F(y_i)`. Then it is a difference
    of convex functions of the potentials, else convex in them. A sample without nodes, or without
    known labels, has the loss 0, and its potentials have no gradient.

    References
    ----------
    Lafferty, McCallum, Pereira (2001). Conditional random fields: probabilistic models for
    segmenting and labeling sequence data. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.losses import StructuredLogLoss
    >>> unary = np.log([[[3.0, 1.0], [1.0, 1.0]]])
    >>> layer = StructuredLogLoss("chain")
    >>> evaluation = layer.evaluate(unary, np.zeros((2, 2)), [[0, 1]])
    >>> np.exp(-evaluation.losses)
    array([0.375])
    >>> unary_gradient, transition_gradient = evaluation.gradients()
    >>> unary_gradient
    array([[[-0.25,  0.25],
            [ 0.5 , -0.5 ]]])
    >>> transition_gradient
    array([[ 0.375, -0.625],
           [ 0.125,  0.125]])
    """

    structure: Literal["chain", "tree"] = parameter(default="chain", kw_only=False)

    def evaluate(
        self,
        unary: ArrayLike | Sequence[ArrayLike],
        pairwise: ArrayLike | Sequence[ArrayLike] | None,
        labels: ArrayLike | Sequence[ArrayLike],
        *,
        edges: ArrayLike | Sequence[ArrayLike] | None = None,
        mask: ArrayLike | None = None,
    ) -> LogLossEvaluation:
        """Compute the losses of a batch, and their gradients.

        Parameters
        ----------
        unary, pairwise : array-like or list of array-like
            Potentials of nodes and of edges, as for :meth:`StructuredHinge.evaluate`.
        labels : array-like of int of shape (n, n_nodes), or list of (n_nodes_i,)
            True labels, from 0 on; -100 for unknown ones and at padding.
        edges : array-like of int, (n_edges, 2) or (n, n_edges, 2), or list of (n_edges_i, 2), \
default=None
            The two nodes of each edge, for all samples or of each; rows of -1 at the end of an
            array are padding. Not for chains.
        mask : array-like of bool of shape (n, n_nodes), default=None
            Where a padded array has nodes; all nodes of a sample are at its beginning.

        Returns
        -------
        evaluation : LogLossEvaluation
            Contains the `losses`, and computes gradients of any weighted sum of them.

        Raises
        ------
        ValueError
            With the sample and the node, label or edge that is wrong, and what was expected.
        """
        if labels is None:
            raise ValueError("labels must hold the true labels, got None")
        problem = self._pack(unary, pairwise, labels, edges, mask)
        # the sums over pairs have a table for each edge, unless all share one
        counts, layout = problem.table_counts(one_each=False), problem.layout
        table_first = make_offsets(np.ones(layout.n, dtype=int) if counts is None else counts)
        losses, nodes = np.zeros(layout.n), np.zeros((layout.n_rows, problem.n_states))
        tables = np.zeros((table_first[-1], problem.tables.size))
        arrays = problem.truth, problem.agreeing(), table_first, losses, nodes, tables
        request = problem.request(one_each=False)
        Decoder(request, self.n_jobs).run(find_log_losses, arrays)
        if losses.max(initial=0.0) == np.inf:
            raise problem.forbidden(int(losses.argmax()))
        return LogLossEvaluation(problem, losses, nodes, tables, table_first)
