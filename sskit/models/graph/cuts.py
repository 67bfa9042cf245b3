"""Requests for labels by minimum cuts: graphs bound to weights that allow them."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sskit._ready import is_nonnegative
from sskit.models.features import FeatureRows, row_scores
from sskit.models.graph.request import GraphRequest
from sskit.oracles.graph.cut import take_cut
from sskit.oracles.graph.potentials import PairForm


def refuse_negative(edge_features):
    """Raise ValueError for the first graph that has a negative feature of an edge, naming it."""
    for i, x in enumerate(edge_features):
        stored = x.data if sp.issparse(x) else x
        if not is_nonnegative(stored) and stored.size and stored.min() < 0:
            e, f = np.argwhere((x.toarray() if sp.issparse(x) else x) < 0)[0]
            raise ValueError(
                f"edge features must not be negative, or there may be no cut: X[{i}] has "
                f"{x[e, f]:.6g} at edge {e}, feature {f}"
            )


@lru_cache(maxsize=2)
def two_states(kind):
    """Return the form of pairs of two states, which all requests share."""
    return PairForm(2, kind)


def cut_form(pairwise_form, tables):
    """Return the form of pairs of two states and their weights by its columns.

    Parameters
    ----------
    pairwise_form : {"potts", "full"}
        As of `GraphModel`.
    tables : ndarray of shape (n_edge_features,) or (n_edge_features, 2, 2)
        Weights of the pairs as users see them.

    Returns
    -------
    form : PairForm
        How edges score.
    pairs : ndarray of shape (n_edge_features,) or (n_edge_features * 3,)
        Weights.
    """
    if pairwise_form == "potts":
        return two_states("potts"), tables
    return two_states("symmetric"), tables.reshape(-1, 4)[:, [0, 1, 3]].ravel()


def allows_cuts(tables):
    """Return whether weights of pairs score equal labels no less than different ones.

    Parameters
    ----------
    tables : ndarray of shape (n_edge_features,) or (n_edge_features, K, K)
        As users see them; of tables the upper triangles count.

    Returns
    -------
    allows : bool
        Whether there are cuts, or moves by cuts, for edge features that are not negative.
    """
    if tables.ndim == 1:
        return is_nonnegative(tables) or bool(tables.min(initial=0.0) >= 0.0)
    upper = np.triu(np.ones(tables.shape[1:], dtype=bool), 1)
    equal = np.diagonal(tables, axis1=1, axis2=2)
    return equal.min(initial=0.0) >= 0.0 and tables[:, upper].max(initial=0.0) <= 0.0


def make_request(graphs, coef, pairs, form):
    """Return graphs with the weights that are to cut them, which are not checked.

    Parameters
    ----------
    graphs : GraphBatch
        The graphs.
    coef : ndarray of shape (2, n_features)
        Weights of the nodes.
    pairs : ndarray of shape (n_edge_features * n_columns,)
        Weights of the pairs, by the columns of the form.
    form : PairForm
        How they make tables.

    Returns
    -------
    request : GraphRequest
        What a `CutDecoder` takes.

    Raises
    ------
    ValueError
        If a feature of an edge is negative, naming the graph.
    """
    refuse_negative(graphs.edge_features)
    edge_rows = [FeatureRows(x, sparsify=False) for x in graphs.edge_features]
    node_rows = (FeatureRows(x, sparsify=False) for x in graphs.features)
    scores = row_scores(node_rows, np.asarray(coef, dtype=np.float64))
    pairs = np.asarray(pairs, dtype=np.float64)
    given = graphs.ends, graphs.edge_offsets, form, take_cut()
    return GraphRequest(scores, edge_rows, pairs, *given)
