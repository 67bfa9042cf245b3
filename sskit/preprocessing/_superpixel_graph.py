"""An image as a graph of superpixels."""

from __future__ import annotations

import numpy as np

from sskit._types import ArrayLike
from sskit.inputs.edges import check_edges
from sskit.inputs.graphs import check_segments
from sskit.inputs.masks import check_mask, majority_labels
from sskit.inputs.stacking import finite_matrix


class SuperpixelGraph:
    """Superpixels of one image as a graph with features.

    It unpacks as the triple that graph models take, ``features, edges, edge_features = graph``,
    and stores how to convert labels of nodes to pixels.

    Parameters
    ----------
    features : array-like of shape (V, p)
        Node features, float32 or float64 (other numbers become float64). Not copied.
    edges : array-like of int of shape (E, 2)
        Pairs of adjacent nodes, each pair once.
    edge_features : array-like of shape (E, q)
        Edge features, float32 or float64.
    segments : array-like of int of shape (H, W)
        The node that every pixel belongs to, 0 to V - 1.

    Attributes
    ----------
    features, edges, edge_features, segments : ndarray
        As given; `edges` and `segments` are int32.
    areas : ndarray of int64 of shape (V,)
        The number of pixels of every node.
    shape : tuple of two int
        Height and width of the image in pixels.

    Raises
    ------
    ValueError
        If shapes do not fit together, a node has no pixel, or an edge leads out of the graph or
        back to its own node.

    See Also
    --------
    SuperpixelGraphs : Makes such graphs of images.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.preprocessing import SuperpixelGraph
    >>> segments = np.array([[0, 0, 1], [0, 1, 1]])
    >>> graph = SuperpixelGraph(np.eye(2), [[0, 1]], [[1.0]], segments)
    >>> graph
    SuperpixelGraph(2 nodes, 1 edges, image of 2 x 3 pixels)
    >>> graph.areas
    array([3, 3])
    >>> labels = graph.node_labels(np.array([["sky", "sky", "sea"], ["sea", "sea", "sea"]]))
    >>> labels
    array(['sky', 'sea'], dtype='<U3')
    >>> graph.pixel_mask(labels)
    array([['sky', 'sky', 'sea'],
           ['sky', 'sea', 'sea']], dtype='<U3')
    """

    features: np.ndarray
    edges: np.ndarray
    edge_features: np.ndarray
    segments: np.ndarray
    areas: np.ndarray

    def __init__(
        self, features: ArrayLike, edges: ArrayLike, edge_features: ArrayLike, segments: ArrayLike
    ) -> None:
        self.features = finite_matrix(features, "features")
        self.edge_features = finite_matrix(edge_features, "edge_features")
        n_nodes = len(self.features)
        self.segments = check_segments(segments, n_nodes).astype(np.int32, copy=False)
        self.edges = check_edges(edges, n_nodes)
        if len(self.edges) != len(self.edge_features):
            raise ValueError(
                f"there are {len(self.edges)} edges but {len(self.edge_features)} rows of "
                "edge_features"
            )
        self.areas = np.bincount(self.segments.ravel(), minlength=n_nodes).astype(np.int64)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image in pixels."""
        return self.segments.shape

    def __iter__(self):
        # No __len__ and no __getitem__: to NumPy, which would iterate over a sequence, a list of
        # graphs must remain a list of objects.
        return iter((self.features, self.edges, self.edge_features))

    def __repr__(self):
        height, width = self.shape
        return (
            f"{type(self).__name__}({len(self.features)} nodes, {len(self.edges)} edges, "
            f"image of {height} x {width} pixels)"
        )

    def node_labels(self, mask: ArrayLike, ignore_label: object = None) -> np.ndarray:
        """Return for every node the label of most of its pixels.

        Parameters
        ----------
        mask : array-like of shape (H, W)
            One label per pixel, of any type that can be sorted.
        ignore_label : object or None, default=None
            Pixels with this label do not count; a node that has no others gets it.

        Returns
        -------
        labels : ndarray of shape (V,)
            Of the dtype of the mask; of equally frequent labels, the smallest.

        Raises
        ------
        TypeError, ValueError
            If the mask does not have the size of the image; or with the first pixel that is wrong,
            such as NaN if `ignore_label` is not.
        """
        mask = check_mask(mask, "mask", ignore_label)
        if mask.shape != self.shape:
            raise ValueError(f"mask has shape {mask.shape} but the image has {self.shape}")
        return majority_labels(self.segments, mask, len(self.features), ignore_label)

    def pixel_mask(self, labels: ArrayLike) -> np.ndarray:
        """Return for every pixel the label of its node.

        Parameters
        ----------
        labels : array-like of shape (V,) or (V, K)
            One label, or one row of numbers such as scores, per node.

        Returns
        -------
        mask : ndarray of shape (H, W) or (H, W, K)
            Of the dtype of `labels`.

        Raises
        ------
        ValueError
            If there is not one label per node.
        """
        labels = np.asarray(labels)
        if labels.ndim == 0 or len(labels) != len(self.features):
            raise ValueError(
                f"labels must have one entry per node, {len(self.features)}, "
                f"got an array of shape {labels.shape}"
            )
        return labels[self.segments]
