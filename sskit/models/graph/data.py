"""Arrays of the graph model, made of graphs before it is bound to them."""

import numpy as np
import scipy.sparse as sp

from sskit._numbers import array
from sskit.inputs.stacking import FeatureScale, check_squares


def check_non_negative(edge_features):
    """Raise ValueError for the first graph that has a negative feature of an edge, naming it."""
    for i, x in enumerate(edge_features):
        stored = x.data if sp.issparse(x) else x
        if stored.min(initial=0.0) < 0:
            e, f = np.argwhere((x.toarray() if sp.issparse(x) else x) < 0)[0]
            raise ValueError(
                f"edge features must not be negative, or there may be no cut: X[{i}] has "
                f"{x[e, f]:.6g} at edge {e}, feature {f}"
            )


def allows_cuts(tables):
    """Return whether weights of pairs score equal labels no less than different ones.

    Parameters
    ----------
    tables : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
        As users see them; of tables the upper triangles count.

    Returns
    -------
    allows : bool
        Whether minimum cuts represent the edges, if edge features are not negative.
    """
    if tables.ndim == 1:
        return bool(tables.min(initial=0.0) >= 0.0)
    upper = np.triu(np.ones(tables.shape[1:], dtype=bool), 1)
    equal = np.diagonal(tables, axis1=1, axis2=2)
    return equal.min(initial=0.0) >= 0.0 and tables[:, upper].max(initial=0.0) <= 0.0


def node_sums(labels, labelled, n_states, node_weight, repeated=None):
    """Return the number of nodes with a label, and their weights by label; see `node_costs`.

    Each node counts as often as its graph does: `repeated`, of shape (N,), None for once.
    """
    weight, number = labelled_weight(labelled, node_weight), int(labelled.sum())
    if repeated is not None:
        weight, number = weight * repeated, float(repeated[labelled].sum())
    return number, np.bincount(labels[labelled], weight[labelled], n_states)


def labelled_weight(labelled, node_weight):
    """Return the weights of nodes, zero for those without a label; None means ones."""
    return np.where(labelled, np.ones(len(labelled)) if node_weight is None else node_weight, 0.0)


def node_costs(loss, labels, labelled, n_states, node_weight, n_nodes, sums=None):
    """Return the loss of a wrong label at each node.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum", "balanced"}
        Fraction or number of wrong nodes; or their fraction, in which every class counts the same
        over all graphs.
    labels : ndarray of shape (N,)
        True labels, 0 to K - 1.
    labelled : ndarray of shape (N,), bool
        Which nodes have one; the others cost nothing.
    n_states : int
        Number of labels K.
    node_weight : ndarray of shape (N,) or None
        Weights of the nodes.
    n_nodes : ndarray of shape (n,)
        Numbers of nodes of the graphs.
    sums : tuple, default=None
        The `node_sums` of all training data; None means of these graphs.

    Returns
    -------
    cost : ndarray of shape (N,)
        Non-negative. For "hamming_sum" the weights have the mean one.

    Raises
    ------
    ValueError
        If all weights are zero.
    """
    weight = labelled_weight(labelled, node_weight)
    n_labelled, of_class = sums or node_sums(labels, labelled, n_states, node_weight)
    total = of_class.sum()
    if not total > 0:
        raise ValueError("all nodes that have a label have the weight 0")
    if loss == "hamming_sum":
        return weight * (n_labelled / total)
    graph = np.repeat(np.arange(len(n_nodes)), n_nodes)
    of_graph = np.bincount(graph, weight, len(n_nodes))
    fraction = weight / np.where(of_graph > 0, of_graph, 1.0)[graph]
    if loss == "hamming":
        return fraction
    return fraction * (total / (n_states * np.where(of_class > 0, of_class, 1.0)))[labels]


def losses_by_callable(loss, labels, labelled, classes, offsets):
    """Return the losses of all labels at all nodes, from a function of the labels of a graph.

    Parameters
    ----------
    loss : callable
        Takes the true labels (V,) of a graph and all labels (K,), and returns losses (V, K),
        non-negative, zero at the truth.
    labels : ndarray of shape (N,)
        True labels, 0 to K - 1.
    labelled : ndarray of shape (N,), bool
        Which nodes have one; the function does not get the others.
    classes : ndarray of shape (K,)
        The labels.
    offsets : ndarray of shape (n + 1,)
        Where the graphs begin.

    Returns
    -------
    losses : ndarray of shape (N, K)
        Zero where there is no label.

    Raises
    ------
    ValueError
        Naming the first graph and node whose losses are wrong, or the graph at which the function
        failed.
    """
    losses = np.zeros((len(labels), len(classes)))
    for i, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        nodes = start + np.flatnonzero(labelled[start:stop])
        if not len(nodes):
            continue
        try:
            costs = loss(classes[labels[nodes]], classes.copy())
        except Exception as error:
            told = f"loss={loss!r:.80} failed on the labels of y[{i}]: {error}"
            raise ValueError(told) from error
        shape = len(nodes), len(classes)
        costs = array(costs, "loss", shape, low=0, where=f" of y[{i}]")
        wrong = np.flatnonzero(costs[np.arange(len(nodes)), labels[nodes]])
        if len(wrong):
            v = wrong[0]
            raise ValueError(
                f"loss returned {costs[v].tolist()} for node {nodes[v] - start} of y[{i}], "
                "expected 0 at the true label"
            )
        losses[nodes] = costs
    return losses


def node_scale(features, weight, n_nodes):
    """Return the `FeatureScale` of nodes.

    Parameters
    ----------
    features : list of n matrices (V_i, p)
        Features of the nodes.
    weight : ndarray of shape (n,) or None
        Sample weights.
    n_nodes : ndarray of shape (n,)
        Numbers of nodes.

    Returns
    -------
    scale : FeatureScale
        With the weight of a sample for each of its nodes.

    Raises
    ------
    ValueError
        If squares of the features overflow.
    """
    return FeatureScale.of([sqnorm(x) for x in features], weight, n_nodes)


def default_lam(scale, loss):
    """Return 4 R^2 / n, with R^2 the mean squared norm of a node's features, for "hamming_sum".

    The scale of the features cancels. The factor 4 is good on horses and on MSRC: on horses factors
    from 1 to 4 are equally good, on MSRC those from 3 to 8. Losses that are fractions are smaller
    by the number of nodes, and then the same labellings are learned with a lam that much larger.

    Parameters
    ----------
    scale : FeatureScale
        Of the nodes; the sum of the sample weights takes the place of n.
    loss : {"hamming", "hamming_sum", "balanced"}
        The loss.

    Returns
    -------
    lam : float
        As if R^2 were one if all features are zero.
    """
    n_nodes = 1.0 if loss == "hamming_sum" else scale.rows / scale.weight
    return float(scale.times(4.0) * n_nodes / scale.weight)


def check_edge_features(edge_features):
    """Raise ValueError if squares of the features of edges overflow, naming the graph.

    Parameters
    ----------
    edge_features : list of n matrices (E_i, q)
        Features of the edges.
    """
    check_squares([sqnorm(x) for x in edge_features], "edge features")


def sqnorm(x):
    """Return the sum of the squares of a matrix in double precision."""
    flat = x.data if sp.issparse(x) else x.reshape(-1)
    with np.errstate(over="ignore"):
        return float(np.einsum("i,i->", flat, flat, dtype=np.float64))
