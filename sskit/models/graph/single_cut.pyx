"""The labels of a single graph of dense features by a minimum cut: what is served most.

It asks nothing of the memory of a `GraphRequest`, which takes as long to set up as the cut.
"""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport are_modest, score_rows, score_rows_apart
from sskit.models.rows cimport Rows, dense_rows
from sskit.oracles.graph.cut cimport Cut, leave_cut, take_cut
from sskit.oracles.graph.potentials cimport PairForm, Potentials

DOUBLE = np.dtype(np.float64)
cdef PairForm POTTS = PairForm(2, "potts")


def cut_single(const double[:, ::1] features, const int32_t[:, ::1] ends,
               const double[:, ::1] edge_features, coef, pairs):
    """Return the best labelling of one graph with two states and Potts potentials.

    Parameters
    ----------
    features : ndarray of shape (n_nodes, p), float64
        Features of the nodes.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of each edge.
    edge_features : ndarray of shape (n_edges, q), float64
        Features of the edges, finite.
    coef : ndarray of shape (2, p)
        Weights of the nodes, numbers of any kind.
    pairs : ndarray of shape (q,)
        Weights of agreement, finite.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32, or None
        None if features of an edge are negative, or other numbers so large that a score may
        overflow: whoever takes all graphs knows what to say of that.
    """
    if coef.dtype is not DOUBLE:
        coef = coef.astype(np.float64)
    if pairs.dtype is not DOUBLE:
        pairs = pairs.astype(np.float64)
    cdef const double[:, :] weights = coef
    cdef const double[:] pair_weights = pairs
    cdef Py_ssize_t n = features.shape[0], p = features.shape[1], m = ends.shape[0]
    cdef Py_ssize_t q = edge_features.shape[1], stride = padded(2), j, e
    cdef bint inside = True, positive = True
    cdef int32_t a, b
    check_equal(weights.shape[0], 2, "the number of rows of coef")
    check_equal(weights.shape[1], p, "the number of columns of coef")
    check_equal(pair_weights.shape[0], q, "the length of pairs")
    check_equal(ends.shape[1], 2, "the number of ends")
    check_equal(edge_features.shape[0], m, "the number of edge features")
    for e in range(m):
        a, b = ends[e, 0], ends[e, 1]
        inside &= (a >= 0) & (a < n) & (b >= 0) & (b < n) & (a != b)
        for j in range(q):
            positive &= edge_features[e, j] >= 0.0
    if not inside:
        raise IndexError("an edge has nodes that are none of its graph")
    if not (n and p and m and q and positive):
        return None
    # weights by features and those of pairs, each with spare ones; scores of nodes and of edges
    cdef double[::1] memory = np.empty(2 * p + q + 2 * LANES + n * stride + m)
    cdef double* w = &memory[0]
    cdef double* b_w = w + 2 * p + LANES
    cdef double* node = b_w + q + LANES
    cdef double* pair = node + n * stride
    for j in range(p):
        w[2 * j], w[2 * j + 1] = weights[0, j], weights[1, j]
    for j in range(q):
        b_w[j] = pair_weights[j]
    for j in range(LANES):
        w[2 * p + j] = b_w[q + j] = 0.0
    if not (are_modest(w, 2 * p) and are_modest(&features[0, 0], n * p)):
        return None
    cdef Rows rows = dense_rows(&features[0, 0], p)
    cdef Rows edge_rows = dense_rows(&edge_features[0, 0], q)
    score_rows(&rows, 0, n, w, 2, node)
    score_rows_apart(&edge_rows, 0, m, b_w, 1, pair, 1)
    cdef Potentials found
    found.n_nodes, found.n_edges, found.n_states = n, m, 2
    found.stride, found.width, found.potts = stride, 1, True
    found.node, found.ends = node, &ends[0, 0]
    found.table = NULL
    found.pair, found.n_tables = pair, m
    found.column, found.factor = &POTTS.column[0, 0], &POTTS.factor[0, 0]
    labels = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef Cut cut = take_cut()
    with nogil:
        cut.improve(&found, &out[0])
    leave_cut(cut)
    return labels
