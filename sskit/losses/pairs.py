"""Potentials of edges, as tables of one array."""

from dataclasses import dataclass

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.edges import check_edges
from sskit.losses.layout import as_potentials, is_ragged, read_items


@dataclass
class Edges:
    """Pairs of nodes that are joined, of all samples.

    Parameters
    ----------
    count : ndarray of shape (n,), int64
        Number of edges of each sample.
    ends : ndarray of shape (m, 2), int32, or None
        Their nodes; None: those of chains.
    first : ndarray of shape (n,), int64, or None
        Number of the first edge of each sample.
    shared : bool
        Whether all samples have the same.
    width : int or None
        Edges of a sample in padded arrays; None if they stand in lists.
    """

    count: np.ndarray
    ends: np.ndarray | None
    first: np.ndarray | None
    shared: bool
    width: int | None

    def places(self):
        """Return the sample and the number within it of each edge of all samples."""
        sample = np.repeat(np.arange(len(self.count)), self.count)
        return sample, np.arange(len(sample)) - (np.cumsum(self.count) - self.count)[sample]

    def check(self, layout):
        """Raise ValueError for the first edge whose nodes its sample does not have."""
        # most samples have more nodes than any edge names
        usual = self.ends.max(initial=-1) < layout.length.min(initial=2**31)
        if usual and self.ends.min(initial=0) >= 0 and (self.ends[:, 0] != self.ends[:, 1]).all():
            return
        item, node, _ = layout.words
        for i, n_nodes in enumerate(layout.length.tolist()):
            own = self.ends[self.first[i] : self.first[i] + self.count[i]]
            check_edges(own, n_nodes, where=f" of {item} {i}", noun=node)


@dataclass
class Tables:
    """Tables of edges, and the first table of each sample.

    Parameters
    ----------
    values : ndarray of shape (n_tables * size,)
        One after the other.
    size : int
        Numbers of a table.
    first : ndarray of shape (n,), int64
        The first table of a sample.
    step : {0, 1}
        1 if each edge of a sample has its own, 0 if all have one.
    own : bool
        Whether every edge has a table of its own.
    shape : tuple or None
        Shape of the argument; None: a list.
    length : ndarray of shape (n,), int64
        Number of tables of each sample, for lists.
    """

    values: np.ndarray
    size: int
    first: np.ndarray
    step: int
    own: bool
    shape: tuple | None
    length: np.ndarray

    def restore(self, flat, table_shape):
        """Return numbers for all tables in the form of the caller."""
        if self.shape is not None:
            return flat.reshape(self.shape)
        if not len(self.length):
            return []
        tables = flat.reshape(-1, *table_shape)
        pieces = np.split(tables, np.cumsum(self.length)[:-1])
        return pieces if self.step else [piece[0] for piece in pieces]


def chain_edges(layout):
    """Return the edges of chains."""
    width = None if layout.width is None else max(layout.width - 1, 0)
    return Edges(np.maximum(layout.length - 1, 0), None, None, False, width)


def pack_edges(edges, layout):
    """Return edges of graphs, checked in part: `Edges.check` checks their nodes.

    Parameters
    ----------
    edges : array-like of int, (n_edges, 2) or (n, n_edges, 2), or list of (n_edges_i, 2)
        The same for all samples, or of each; rows of -1 at the end are padding.
    layout : Layout
        Of the potentials.

    Returns
    -------
    edges : Edges
        The same.

    Raises
    ------
    ValueError
        Naming the first that is wrong.
    """
    item, node, _ = layout.words
    n = layout.n
    if edges is None:
        raise ValueError(f"edges must say which {node}s are joined, got None")
    # of a list of samples each is a list of pairs; of a list of pairs each is two numbers
    pairs = np.ndim(edges[0]) == 1 and len(edges[0]) > 0 if is_ragged(edges) and len(edges) else n
    if not is_ragged(edges) or pairs:
        edges = as_array(edges, "edges")
        if edges.ndim != 3:
            shared = check_edges(edges, noun=node)
            count = np.full(n, len(shared), dtype=np.int64)
            return Edges(count, shared, np.zeros(n, dtype=np.int64), True, len(shared))
        if edges.shape[0] != n or edges.shape[2] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                f"edges must be integers of shape (n_edges, 2) or ({n}, n_edges, 2), got shape "
                f"{edges.shape} and dtype {edges.dtype}"
            )
        width = edges.shape[1]
        count = (edges >= 0).all(axis=2).sum(axis=1)
        ends = edges[np.arange(width) < count[:, np.newaxis]].astype(np.int32)
        return Edges(count, ends, np.cumsum(count) - count, False, width)
    if len(edges) != n:
        raise ValueError(f"edges has {len(edges)} {item}s, but unary {n}")
    items = [check_edges(x, where=f" of {item} {i}", noun=node) for i, x in enumerate(edges)]
    count = np.array([len(x) for x in items], dtype=np.int64)
    ends = np.concatenate(items) if n else np.zeros((0, 2), dtype=np.int32)
    return Edges(count, ends, np.cumsum(count) - count, False, None)


def pack_tables(pairwise, layout, edges, n_states, potts, chains):
    """Return potentials of edges.

    Parameters
    ----------
    pairwise : array-like or list of array-like
        Potentials.
    layout : Layout
        Of the potentials of the nodes.
    edges : Edges
        The edges.
    n_states : int
        Number of states.
    potts : bool
        Whether a number stands for a table.
    chains : bool
        Whether edges are transitions, of which each sample may have one table.

    Returns
    -------
    tables : Tables
        The same.

    Raises
    ------
    ValueError
        If their shapes do not fit the edges; the error lists those that do.
    """
    n, table = layout.n, () if potts else (n_states, n_states)
    size = 1 if potts else n_states * n_states
    zeros, samples = np.zeros(n, dtype=np.int64), np.arange(n, dtype=np.int64)
    if pairwise is None:
        raise ValueError("pairwise must hold the potentials of the edges, got None")
    if is_ragged(pairwise) and not (len(pairwise) == 0 and n):
        return _pack_list(pairwise, layout, edges, table, size)
    values = as_potentials(pairwise, "pairwise")
    own_shape, flat = values.shape, values.reshape(-1)
    # shape, first table, step, has every edge its own?
    forms = [(table, zeros, 0, False)]
    if chains:
        forms.append(((n, *table), samples, 0, False))
    if edges.shared:
        forms.append(((edges.width, *table), zeros, 1, False))
    if edges.width is not None:
        forms.append(((n, edges.width, *table), samples * edges.width, 1, True))
    for shape, first, step, own in forms:
        if own_shape == shape:
            return Tables(flat, size, first, step, own, own_shape, edges.count)
    expected = [str(shape) for shape, *_ in forms]
    if edges.width is None:
        lists = str(("n_edges", *table)).replace("'", "")
        expected.append(f"be a list of arrays {lists}")
    raise ValueError(
        f"pairwise must have shape {' or '.join(expected)} to go with {n} {layout.words[0]}s, got "
        f"{own_shape}"
    )


def _pack_list(pairwise, layout, edges, table, size):
    """Return the tables of a list with an array for each sample."""
    count, shapes = edges.count, [(m, *table) for m in edges.count.tolist()]
    # all edges of a sample have one table
    one_each = bool(table) and layout.n > 0 and as_potentials(pairwise[0], "pairwise[0]").ndim == 2
    if one_each:
        count, shapes = np.ones_like(count), [table] * layout.n
    items = read_items(pairwise, "pairwise", layout, shapes)
    flat = np.concatenate([x.reshape(-1) for x in items]) if items else np.zeros(0)
    first = np.cumsum(count) - count
    return Tables(flat, size, first, int(not one_each), not one_each, None, count)
