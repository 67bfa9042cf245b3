"""Oracles of chains each of whose steps has a table of transitions of its own."""

from libc.string cimport memcpy, memset

from sskit.core.lanes cimport padded
from sskit.oracles.chain.max_marginals cimport transpose_padded
from sskit.oracles.chain.viterbi cimport viterbi_step


cdef double viterbi_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* truth, const double* cost, double loss_weight, double* value, int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t, a, best_state = 0
    cdef double best, candidate, total, offset = 0.0
    cdef double* here = value
    memcpy(value, node, stride * sizeof(double))
    for t in range(n_nodes):
        here = value + t * stride
        if t > 0:
            viterbi_step(here - stride, tables[t - 1], n_states, node + t * stride, here)
        if truth != NULL:
            # a loss on all states but one is, up to a constant, a bonus taken from that one
            here[truth[t]] -= loss_weight * cost[t]
            offset += loss_weight * cost[t]
    best = here[0]
    for a in range(1, n_states):
        if here[a] > best:
            best = here[a]
            best_state = a
    total = best + offset
    labels[n_nodes - 1] = <int32_t>best_state
    # back pointers are needed along the best path only, so they are found here
    for t in range(n_nodes - 2, -1, -1):
        best_state = 0
        best = value[t * stride] + tables[t][labels[t + 1]]
        for a in range(1, n_states):
            candidate = value[t * stride + a] + tables[t][a * stride + labels[t + 1]]
            if candidate > best:
                best = candidate
                best_state = a
        labels[t] = <int32_t>best_state
    return total


cdef void max_marginals_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    double* transposed, double* scratch, double* out
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t, k
    cdef double* ahead = scratch             # best score of the nodes after t, by state of t
    cdef double* suffix = scratch + stride   # the same with node t + 1's, by state of t + 1
    cdef double* zero = scratch + 2 * stride
    memcpy(out, node, stride * sizeof(double))
    for t in range(1, n_nodes):
        viterbi_step(
            out + (t - 1) * stride, tables[t - 1], n_states, node + t * stride, out + t * stride
        )
    memset(ahead, 0, stride * sizeof(double))
    memset(zero, 0, stride * sizeof(double))
    for t in range(n_nodes - 2, -1, -1):
        for k in range(stride):
            suffix[k] = ahead[k] + node[(t + 1) * stride + k]
        transpose_padded(tables[t], n_states, transposed)
        viterbi_step(suffix, transposed, n_states, zero, ahead)
        for k in range(stride):
            out[t * stride + k] += ahead[k]


cdef double score_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t
    cdef double score = node[labels[0]]
    for t in range(1, n_nodes):
        score += node[t * stride + labels[t]]
        score += tables[t - 1][labels[t - 1] * stride + labels[t]]
    return score
