"""Validation of graphs: checked once, with their features left in place."""

from copy import copy
from itertools import pairwise

import numpy as np

from sskit._numbers import array
from sskit.inputs.edges import check_edges
from sskit.inputs.ragged import check_widths, items_of, stack_labels
from sskit.inputs.ragged_array import locate, make_offsets
from sskit.inputs.stacking import finite_matrix

__all__ = ["GraphBatch", "check_graphs"]

_IMAGES = "sskit.preprocessing.SuperpixelGraphs makes graphs of images"
_GRAPHS = f"one graph (features, edges, edge_features) per sample ({_IMAGES})"
_PARTS = ("features", "edges", "edge_features", "node_kinds", "areas", "segments")


class GraphBatch:
    """Graphs whose features stay where they are; the rest is stacked.

    Parameters
    ----------
    features, edge_features : list of n matrices (V_i, p) and (E_i, q)
        C-contiguous arrays of float64, float32 or float16, or CSR matrices of the first two.
    ends : ndarray of shape (E, 2), int32
        The two nodes of the edges of all graphs, counted in their graph.
    areas : list of ndarray of shape (V_i,), or None
        Weights of the nodes, such as numbers of pixels.
    segments : list of ndarray of shape (H_i, W_i) of int, or None
        The node of each pixel.
    node_kinds : ndarray of shape (N,), default=None
        The kinds of the nodes of all graphs, of any type that sorts; None if there are none.

    Attributes
    ----------
    n_nodes, n_edges : ndarray of shape (n,)
        Of each graph.
    node_offsets, edge_offsets : ndarray of shape (n + 1,), int64
        Where the graphs begin.
    """

    kinds = None  # of edges, which those of trees may have

    def __init__(self, features, ends, edge_features, areas=None, segments=None, node_kinds=None):
        self.features = features
        self.edge_features = edge_features
        self.ends = ends
        self.areas = areas
        self.segments = segments
        self.node_kinds = node_kinds
        self.lengths = self.n_nodes = np.array([x.shape[0] for x in features], dtype=np.int64)
        self.n_edges = np.array([x.shape[0] for x in edge_features], dtype=np.int64)
        self.offsets = self.node_offsets = make_offsets(self.n_nodes)
        self.edge_offsets = make_offsets(self.n_edges)

    def __len__(self):
        return len(self.features)

    @property
    def n_features(self):
        """Number of features of a node."""
        return self.features[0].shape[1]

    def node_codes(self, known):
        """Return the kinds of the nodes as places in a list of known ones; see `kind_codes`."""
        return kind_codes(self.node_kinds, known, "a node", "graph", self.node_offsets)

    def without_edges(self, labelled):
        """Return the same nodes without the edges of those that have no label.

        Parameters
        ----------
        labelled : ndarray of shape (N,), bool
            Which nodes have a label.

        Returns
        -------
        graphs : GraphBatch
            Of features; copies only where edges are missing.
        """
        first_node = np.repeat(self.node_offsets[:-1], self.n_edges)
        complete = labelled[self.ends + first_node[:, None]].all(axis=1)
        graphs = copy(self)
        graphs.edge_features = [
            x if complete[a:b].all() else x[complete[a:b]]
            for x, (a, b) in zip(self.edge_features, pairwise(self.edge_offsets), strict=True)
        ]
        graphs.ends = self.ends[complete]
        graphs.kinds = None if self.kinds is None else self.kinds[complete]
        graphs.n_edges = np.array([x.shape[0] for x in graphs.edge_features], dtype=np.int64)
        graphs.edge_offsets = make_offsets(graphs.n_edges)
        return graphs

    @property
    def n_edge_features(self):
        """Number of features of an edge."""
        return self.edge_features[0].shape[1]


def check_graphs(
    X, *, n_features=None, n_edge_features=None, estimator_name="the model", with_kinds=False
):
    """Check graphs.

    Parameters
    ----------
    X : sequence of n graphs
        A graph is a tuple (features, edges) or (features, edges, edge_features), or an object
        with attributes of these names and optionally ``areas`` and ``segments``: features (V, p) of
        the nodes, the two nodes (E, 2) of each edge, features (E, q) of the edges or None for a
        single constant one, weights (V,) of the nodes, and the node (H, W) of each pixel of an
        image. Never modified.
    n_features, n_edge_features : int, default=None
        Numbers of columns that must be found; None takes any.
    estimator_name : str, default="the model"
        Who expects them, for the error message.
    with_kinds : bool, default=False
        Whether nodes may be of several kinds: a tuple may have a fourth item, or an object an
        attribute ``node_kinds``, of shape (V,) or None.

    Returns
    -------
    graphs : GraphBatch
        Dense features of dtype float64, float32 and float16 in C order, memory-mapped ones too,
        are not copied, nor are CSR matrices of float64 and float32.

    Raises
    ------
    TypeError
        If X or a graph is of a wholly wrong type.
    ValueError
        Naming the graph: if there are none, one has no nodes, shapes do not fit, features are
        not finite or numbers, an edge has a node that does not exist or joins a node to itself.

    Examples
    --------
    >>> from sskit.inputs.graphs import check_graphs
    >>> graphs = check_graphs([([[0.5, 1], [2, 0]], [[0, 1]], None)])
    >>> len(graphs), graphs.n_features, graphs.n_edge_features
    (1, 2, 1)
    """
    widths = n_features, n_edge_features
    parts = [
        _graph(item, f"X[{i}]", with_kinds, widths)
        for i, item in enumerate(items_of(X, "X", _GRAPHS))
    ]
    features, ends, edge_features, kinds, areas, segments = map(list, zip(*parts, strict=True))
    check_widths([x.shape[1] for x in features], n_features, estimator_name)
    widths = [x.shape[1] for x in edge_features]
    check_widths(widths, n_edge_features, estimator_name, "edge features")
    areas, segments = all_or_none(areas, "areas"), all_or_none(segments, "segments")
    kinds = all_or_none(kinds, "kinds of nodes")
    if kinds is not None:
        sizes = [x.shape[0] for x in features]
        kinds = stack_labels(kinds, sizes, name="node_kinds")
    return GraphBatch(features, np.concatenate(ends), edge_features, areas, segments, kinds)


def _graph(item, label, with_kinds, widths):
    """Return features, edges, their features, kinds of nodes, areas and segments, checked."""
    parts = parts_of(item, label, "graph", _PARTS, f"; {_IMAGES}", 3 + with_kinds)
    features, edges, edge_features, kinds, areas, segments = parts
    features = finite_matrix(features, f"features of {label}", widths[0])
    n_nodes = features.shape[0]
    if not n_nodes:
        raise ValueError(f"{label} has no nodes")
    ends = check_edges(edges, n_nodes, where=f" of {label}")
    if edge_features is None:
        edge_features = np.ones((len(ends), 1))
    edge_features = finite_matrix(edge_features, f"edge features of {label}", widths[1])
    if edge_features.shape[0] != len(ends):
        raise ValueError(
            f"{label} has {len(ends)} edges but features for {edge_features.shape[0]} of them"
        )
    if segments is not None:
        segments = check_segments(segments, n_nodes, f" of {label}")
    if areas is not None:
        areas = array(areas, f"areas of {label}", (n_nodes,), low=0)
    elif segments is not None:
        areas = np.bincount(segments.ravel(), minlength=n_nodes).astype(np.float64)
    return features, ends, edge_features, kinds if with_kinds else None, areas, segments


def parts_of(item, label, noun, names, hint="", most=3):
    """Return the parts of a graph or tree, which is a tuple of two or three, or has attributes.

    Parameters
    ----------
    item : object
        As users give it.
    label : str
        What error messages call it.
    noun : str
        What it is to be.
    names : tuple of str
        Names of the parts: two that it must have, and others.
    hint : str, default=""
        Text of error messages on where to get one.
    most : int, default=3
        Most items of a tuple.

    Returns
    -------
    parts : tuple
        As many as names, None where there is none.
    """
    form = f"({', '.join(names[:most])})"
    if isinstance(item, (tuple, list)):
        if not 2 <= len(item) <= most:
            raise ValueError(f"{label} must be a {noun} {form}, got {len(item)} items")
        return (*item, *[None] * (len(names) - len(item)))
    if not all(hasattr(item, name) for name in names[:2]):
        raise TypeError(
            f"{label} must be a {noun}: a tuple {form} or an object with these attributes, got "
            f"{type(item).__name__}{hint}"
        )
    return tuple(getattr(item, name, None) for name in names)


def check_segments(values, n_nodes, where=""):
    """Return node numbers of pixels, checked; error messages name the place after the word."""
    shape, high = ("height", "width"), n_nodes - 1
    segments = array(values, "segments", shape, "integers", low=0, high=high, where=where)
    empty = np.flatnonzero(np.bincount(segments.ravel(), minlength=n_nodes) == 0)
    if empty.size:
        raise ValueError(f"segments{where} leave node {empty[0]} without a pixel")
    return segments


def kind_codes(kinds, fitted_kinds, what, things, offsets, nodes=None):
    """Return kinds of nodes or edges as places among those of the fit.

    Parameters
    ----------
    kinds : ndarray of shape (N,) or None
        Of all graphs.
    fitted_kinds : ndarray of shape (n_kinds,) or None
        Those that were there in fit, sorted; None if there must be none.
    what, things : str
        What has a kind in error messages, such as "a node", and in what, such as "graph".
    offsets : ndarray of shape (n + 1,)
        Where the kinds of the graphs begin.
    nodes : ndarray of shape (N,), default=None
        The nodes that error messages name; None: counted in the graph.

    Returns
    -------
    codes : ndarray of shape (N,), int32, or None
        0 to n_kinds - 1; None if there are no kinds.

    Raises
    ------
    ValueError
        Naming the graph and the node with an unknown kind, or if either side has no kinds.
    """
    if (fitted_kinds is None) != (kinds is None):
        have, fitted = ("no ", "with") if kinds is None else ("", "without")
        raise ValueError(
            f"X has {have}kinds of {what.split()[1]}s, but the model was fitted to {things}s "
            f"{fitted} kinds"
        )
    if fitted_kinds is None:
        return None
    place = {kind: code for code, kind in enumerate(fitted_kinds.tolist())}
    values, inverse = np.unique(kinds, return_inverse=True)
    codes = np.array([place.get(kind, -1) for kind in values.tolist()], dtype=np.int32)[inverse]
    for t in np.flatnonzero(codes < 0)[:1]:
        i, v = locate(offsets, t)
        raise ValueError(
            f"X[{i}] has {what} of the kind {kinds[[t]].tolist()[0]!r} at node "
            f"{v if nodes is None else nodes[t]}, which no {things} in fit had"
        )
    return codes


def check_known_of_kinds(possible, of_kind, graphs):
    """Return which labels are possible at each node, of those that its kind may have.

    Parameters
    ----------
    possible : ndarray of shape (N, K), bool, or None
        What is known of the nodes; None allows all.
    of_kind : ndarray of shape (N, K), bool
        Labels of the kinds of the nodes.
    graphs : GraphBatch
        Their graphs.

    Returns
    -------
    possible : ndarray of shape (N, K), bool
        Both.

    Raises
    ------
    ValueError
        Naming the first node of which no label is left.
    """
    possible = of_kind if possible is None else possible & of_kind
    for node in np.flatnonzero(~possible.any(axis=1))[:1]:
        i, v = locate(graphs.node_offsets, node)
        kind = graphs.node_kinds.tolist()[node]
        raise ValueError(f"known[{i}][{v}] is no label that nodes of the kind {kind!r} may have")
    return possible


def check_allowed_pairs(pairs, n_labels):
    """Return which labels neighbours may have as an array (n_labels, n_labels), bool, or None."""
    if pairs is None:
        return None
    allowed = np.asarray(pairs)
    if allowed.dtype != bool or allowed.shape != (n_labels, n_labels):
        raise ValueError(
            f"allowed_pairs must be a boolean array of shape ({n_labels}, {n_labels}), a "
            "row and a column for each label in y, got shape "
            f"{allowed.shape} and dtype {allowed.dtype}"
        )
    return allowed


def all_or_none(items, what):
    """Return a list of what all graphs have, or None if none has it."""
    missing = [i for i, item in enumerate(items) if item is None]
    if 0 < len(missing) < len(items):
        raise ValueError(f"X[{missing[0]}] has no {what}, but others have")
    return None if missing else items
