"""Max-marginals of chains: the Viterbi recursion from both ends."""

import numpy as np

from sskit.oracles.gate import check_chain, padded_rows

from libc.string cimport memcpy, memset

from sskit.core.lanes cimport padded
from sskit.oracles.chain.viterbi cimport viterbi_step


cdef void find_max_marginals(
    const double* node, const double* transition, const double* transposed,
    Py_ssize_t n_nodes, Py_ssize_t n_states, double* scratch, double* out
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t, k
    cdef double* ahead = scratch             # best score of the nodes after t, by state of t
    cdef double* suffix = scratch + stride   # the same with node t + 1's, by state of t + 1
    cdef double* zero = scratch + 2 * stride
    # forward: best scores up to node t and with it, to which those ahead are added below
    memcpy(out, node, stride * sizeof(double))
    for t in range(1, n_nodes):
        viterbi_step(
            out + (t - 1) * stride, transition, n_states, node + t * stride, out + t * stride
        )
    memset(ahead, 0, stride * sizeof(double))
    memset(zero, 0, stride * sizeof(double))
    for t in range(n_nodes - 2, -1, -1):
        for k in range(stride):
            suffix[k] = ahead[k] + node[(t + 1) * stride + k]
        viterbi_step(suffix, transposed, n_states, zero, ahead)
        for k in range(stride):
            out[t * stride + k] += ahead[k]


cdef void transpose_padded(const double* table, Py_ssize_t n_states, double* out) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), a, b
    memset(out, 0, n_states * stride * sizeof(double))
    for a in range(n_states):
        for b in range(n_states):
            out[b * stride + a] = table[a * stride + b]


def chain_max_marginals(nodes, transitions):
    """Compute the max-marginals of a chain.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there; the score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1},
    y_t]``. The largest of each row is the score of the best labelling. Exact up to rounding;
    O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.

    Returns
    -------
    scores : ndarray of shape (n_nodes, n_states)
        The max-marginals; ``-inf`` where no allowed labelling has that state.

    Raises
    ------
    ValueError
        If shapes do not match or a potential is NaN or +inf.

    References
    ----------
    Wainwright, Jaakkola and Willsky (2004). Tree consistency and bounds on the performance of
    the max-product algorithm and its generalizations. Statistics and Computing 14.

    Examples
    --------
    >>> from sskit.oracles import chain_max_marginals
    >>> chain_max_marginals([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]])
    array([[2. , 0.5],
           [2. , 0.5],
           [2. , 0.5]])
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef Py_ssize_t stride = padded(n_states)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    cdef double[:, ::1] transposed_rows = np.empty((n_states, stride))
    cdef double[:, ::1] scratch = np.empty((3, stride))
    scores = np.empty((n_nodes, stride))
    cdef double[:, ::1] out = scores
    with nogil:
        transpose_padded(&transition_rows[0, 0], n_states, &transposed_rows[0, 0])
        find_max_marginals(
            &node_rows[0, 0], &transition_rows[0, 0], &transposed_rows[0, 0], n_nodes, n_states,
            &scratch[0, 0], &out[0, 0]
        )
    return scores[:, :n_states].copy()
