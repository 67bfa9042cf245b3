"""Shapes and ranges of the arrays that problems are made of, checked before they are."""

import numpy as np

from sskit.core.checks import (
    check_equal,
    check_indices,
    check_least,
    check_offsets,
)
from sskit.models.features import FeatureRows


def check_lengths(n, **items):
    """Raise ValueError unless all of some arrays have n items; their names are the keywords."""
    for name, array in items.items():
        check_equal(len(array), n, f"the length of {name}")


def check_chains(n_rows, offsets, n_states, labels, cost, block_weight):
    """Raise ValueError or IndexError unless arrays describe sequences of some of n_states labels.

    Parameters
    ----------
    n_rows : int
        Number of nodes of all sequences.
    offsets, n_states, labels, cost, block_weight
        As of `ChainProblem`.
    """
    check_offsets(offsets, n_rows, 1, "offsets")
    check_lengths(len(offsets) - 1, block_weight=block_weight)
    check_lengths(n_rows, labels=labels, cost=cost)
    check_indices(labels, n_states, "label")


def check_truth(labels, n_rows, n_states):
    """Return labels of all nodes as int32, or raise ValueError or IndexError.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        States.
    n_rows, n_states : int
        Numbers of nodes and of states.

    Returns
    -------
    labels : ndarray of shape (n_rows,), int32
        Contiguous.
    """
    labels = np.ascontiguousarray(labels, dtype=np.int32)
    check_lengths(n_rows, labels=labels)
    check_indices(labels, n_states, "label")
    return labels


def check_accepted(accepted, n_rows, n_states):
    """Return which labels are right at each node as bytes, or raise ValueError.

    Parameters
    ----------
    accepted : ndarray of shape (n_rows, n_states), bool
        Which labels are right.
    n_rows, n_states : int
        Numbers of nodes and of states.

    Returns
    -------
    accepted : ndarray of shape (n_rows, n_states), uint8
        Contiguous.
    """
    accepted = np.ascontiguousarray(accepted, dtype=bool)
    if accepted.shape != (n_rows, n_states):
        raise ValueError(f"accepted must have shape ({n_rows}, {n_states}), got {accepted.shape}")
    return accepted.view(np.uint8)


def check_graphs(features, edge_features, ends, edges, labels, others, block_weight, form, table):
    """Raise ValueError or IndexError unless arrays describe graphs.

    Parameters
    ----------
    features, edge_features, ends, edges, labels, block_weight, form, table
        As of `GraphProblem`.
    others : iterable of ndarray
        Its other arrays with an item for each node.

    Returns
    -------
    sizes : ndarray of shape (n_blocks,)
        Numbers of nodes.
    n_tables : ndarray of shape (n_blocks,)
        Numbers of rows of edge features.
    """
    sizes, n_tables = heights(features), heights(edge_features)
    check_lengths(len(sizes), edge_features=n_tables, block_weight=block_weight)
    check_lengths(len(sizes) + 1, edges=edges)
    check_offsets(edges, len(ends), 0, "edges")
    for array in (labels, *others):
        check_lengths(sizes.sum(), labels=array)
    check_indices(labels, form.n_states, "label")
    n_edges = np.diff(edges)
    if (ends < 0).any() or (ends >= np.repeat(sizes, n_edges)[:, None]).any():
        raise IndexError("the ends of an edge are no nodes of its graph")
    if table is None or len(table) == 0:
        if (n_tables != n_edges).any():
            raise ValueError("every edge needs a row of edge features")
        return sizes, n_tables
    check_lengths(len(ends), table=table)
    if (table < 0).any() or (table >= np.repeat(n_tables, n_edges)).any():
        raise IndexError("the table of an edge is none of its graph")
    return sizes, n_tables


def heights(parts):
    """Return the numbers of rows of `FeatureRows`, which must all have the same features."""
    for rows in parts:
        if not isinstance(rows, FeatureRows):
            raise TypeError(f"expected FeatureRows, got {type(rows).__name__}")
    if len({rows.n_features for rows in parts}) != 1:
        raise ValueError("all graphs must have the same features, and there must be at least one")
    return np.array([rows.n_rows for rows in parts])


def check_grams(gram, gram_offset, sizes):
    """Raise ValueError or IndexError unless packed Gram matrices fit blocks of these sizes.

    Parameters
    ----------
    gram, gram_offset
        As of `GraphProblem.set_grams`.
    sizes : ndarray of shape (n_blocks,)
        Numbers of rows.
    """
    check_lengths(len(sizes), gram_offset=gram_offset)
    there = np.asarray(gram_offset) != -1
    starts = gram_offset[there]
    check_indices(starts, len(gram) + 1, "the start of a matrix,")
    stops = starts + (sizes * (sizes + 1) // 2)[there]
    check_indices(stops, len(gram) + 1, "the end of a matrix,")


def check_poses(maps, truths, scale, block_weight, parents, types_of, means):
    """Raise ValueError or IndexError unless arrays describe poses on score maps.

    Parameters
    ----------
    maps, truths, scale, block_weight, parents, types_of, means
        As of `PartsProblem`.
    """
    n_blocks, n_parts = len(maps), len(parents)
    check_least(n_blocks, 1, "the number of blocks")
    check_lengths(n_blocks, truths=truths, scale=scale, block_weight=block_weight)
    check_lengths(n_parts, types_of=types_of, means=means)
    check_equal(truths.shape[1], 2 * n_parts, "the length of the code of the truth")
    check_equal(means.shape[2], 2, "the number of axes of means")
    for scores, code in zip(maps, truths, strict=True):
        check_lengths(n_parts, scores=scores)
        check_least(scores.size, 1, "the number of scores")
        check_indices(code[:n_parts], scores[0].size, "cell")
    if (truths[:, n_parts:] < 0).any() or (truths[:, n_parts:] >= types_of).any():
        raise IndexError(f"true types must be from 0 to one less than {types_of}")


def check_sets(n_rows, truths, cost, ends, block_weight):
    """Raise ValueError or IndexError unless arrays describe sets of labels.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    truths, cost, ends, block_weight
        As of `MultilabelProblem`.
    """
    check_lengths(n_rows, truths=truths, block_weight=block_weight)
    check_lengths(truths.shape[1], cost=cost)
    check_indices(ends, truths.shape[1], "label")
