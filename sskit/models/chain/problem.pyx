"""The chain model bound to data."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.counts import in_units
from sskit.models.features import cut_columns, make_grams, no_grams, row_digests, value_digests

from libc.math cimport INFINITY, NAN
from libc.string cimport memcpy

from sskit.core.capabilities cimport SlackOracle
from sskit.core.checks cimport all_below
from sskit.core.lanes cimport LANES, padded, prefetch_memory
from sskit.models.features cimport (
    active_rows, add_rows, add_rows_between, dot_rows, grow, masked_table, score_rows
)
from sskit.models.kernel.rows cimport KernelExpansion, KernelRows
from sskit.models.rows cimport add_row, clear_rows, clip_rows, dot_row, score_part
from sskit.oracles.chain.viterbi cimport LossIndexed, chain_score, viterbi_labels


cdef class ChainProblem(Problem):
    """Linear chains bound to data.

    Parameters
    ----------
    features : FeatureRows
        Features of all nodes, sequence after sequence.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the rows offsets[i] to offsets[i + 1] - 1; at least one.
    n_states : int
        Number of states K.
    labels : ndarray of shape (n_rows,), int32
        True states.
    cost : ndarray of shape (n_rows,), float64
        Loss of a wrong state at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    allowed : ndarray of shape (n_states, n_states), bool, default=None
        Allowed transitions, from row to column.
    allowed_start, allowed_end : ndarray of shape (n_states,), bool, default=None
        States that a sequence may begin and end with.
    """

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_states, labels, cost,
                  block_weight, allowed=None, allowed_start=None, allowed_end=None, *args):
        longest = int(np.diff(offsets).max())
        self.given = (
            features, offsets, n_states, labels, cost, block_weight, allowed, allowed_start,
            allowed_end, *args
        )
        self.features, self.offsets = features, offsets
        self.labels, self.cost = labels, cost
        self.block_weight = block_weight
        self.n_states = n_states
        self.n_nodes = features.n_rows
        self.stride = padded(n_states)
        self.n_blocks = len(offsets) - 1
        self.transition_weights = features.n_features * n_states
        self.start_weights = self.transition_weights + n_states * n_states
        self.end_weights = self.start_weights + n_states
        self.n_weights = self.end_weights + n_states
        self.max_statistics = (n_states + longest) * self.stride
        self.max_code_length = longest
        self.max_support = 4 * longest
        self.exact = self.lock_free = True
        forbidden = np.zeros((n_states, self.stride))
        if allowed is not None:
            forbidden[:, :n_states][~allowed] = -np.inf
        self.forbidden = forbidden
        self.forbidden_start = forbid(allowed_start, n_states)
        self.forbidden_end = forbid(allowed_end, n_states)
        states = np.arange(n_states, dtype=np.int32)
        weight_of = np.zeros((n_states, self.stride), dtype=np.int32)
        weight_of[:, :n_states] = states[:, None] * n_states + states
        self.weight_of = weight_of.reshape(-1)
        self.grams, self.image = no_grams(self.n_blocks), np.zeros(1)
        self.value = np.empty(longest * self.stride)
        self.active = np.empty(longest, dtype=np.int32)
        self.fresh = np.zeros(longest, dtype=np.int32)
        self.node_scores = np.empty(longest * self.stride)

    def prepare_steps(self):
        """Compute what sqnorm needs: Gram matrices of all short enough blocks."""
        self.grams = make_grams(self.features, self.offsets)
        if np.min(self.grams.offset) < 0:
            self.image = np.zeros(self.features.n_features * self.n_states + LANES)

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef const double** steps(self, Py_ssize_t i, const double* theta) noexcept nogil:
        return NULL

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.length(i)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return all_below(code, self.length(i), self.n_states)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memcpy(code, &self.labels[self.offsets[i]], self.length(i) * sizeof(int32_t))
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t b, n_states = self.n_states, last = self.length(i) - 1
        cdef double* node = theta + n_states * self.stride
        masked_table(w + self.transition_weights, &self.forbidden[0, 0], n_states, theta)
        score_rows(&self.features.rows, self.offsets[i], last + 1, w, n_states, node)
        for b in range(n_states):
            node[b] += w[self.start_weights + b] + self.forbidden_start[b]
            node[last * self.stride + b] += w[self.end_weights + b] + self.forbidden_end[b]
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e, t, k, last = self.length(i) - 1
        cdef unsigned int j, table = <unsigned int>(self.n_states * self.stride)
        cdef double* node
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1
        for e in range(count):
            j = <unsigned int>index[e]
            if j < table:
                theta[j] = w[self.transition_weights + self.weight_of[j]]
                continue
            t = (j - table) // <unsigned int>self.stride
            if self.fresh[t] == self.request:
                continue
            self.fresh[t] = self.request
            node = theta + (self.n_states + t) * self.stride
            score_rows(&self.features.rows, self.offsets[i] + t, 1, w, self.n_states, node)
            for k in range(self.n_states if t == 0 else 0):
                node[k] += w[self.start_weights + k]
            for k in range(self.n_states if t == last else 0):
                node[k] += w[self.end_weights + k]
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef const double* cost = &self.cost[self.offsets[i]]
        cdef Py_ssize_t t
        if self.has_sets:
            return self.argmax_of_sets(i, theta, loss_weight, code, loss)
        self.decode(i, theta + self.n_states * self.stride, theta, labels, cost, loss_weight, code)
        loss[0] = 0.0
        for t in range(self.length(i)):
            if code[t] != labels[t]:
                loss[0] += cost[t]
        return 0

    cdef double decode(
        self, Py_ssize_t i, const double* node, const double* theta, const int32_t* labels,
        const double* cost, double loss_weight, int32_t* code
    ) noexcept nogil:
        return viterbi_labels(
            node, theta, self.steps(i, theta), self.length(i), self.n_states, labels, cost,
            loss_weight, &self.value[0], code
        )

    cdef int argmax_of_sets(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) noexcept nogil:
        cdef Py_ssize_t first = self.offsets[i], stride = self.stride, t, k
        cdef double* node = &self.node_scores[0]
        memcpy(node, theta + self.n_states * stride, self.length(i) * stride * sizeof(double))
        for t in range(self.length(i)):
            # a loss on all labels but some is, up to a constant, a bonus taken from those
            for k in range(self.n_states):
                node[t * stride + k] -= loss_weight * self.cost[first + t] * (
                    self.accepted[first + t, k]
                )
        self.decode(i, node, theta, NULL, NULL, 0.0, code)
        loss[0] = 0.0
        for t in range(self.length(i)):
            if not self.accepted[first + t, code[t]]:
                loss[0] += self.cost[first + t]
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef int32_t stride = <int32_t>self.stride, node = <int32_t>(self.n_states * self.stride)
        cdef Py_ssize_t t, n = 0, differs, differed
        # Every entry is written and stays if the labels differ there: where they do is too
        # irregular for branches.
        differed = code[0] != labels[0]
        index[0] = node + labels[0]
        index[1] = node + code[0]
        value[0], value[1] = 1.0, -1.0
        n = 2 * differed
        for t in range(1, self.length(i)):
            node += stride
            differs = code[t] != labels[t]
            index[n] = node + labels[t]
            index[n + 1] = node + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2 * differs
            index[n] = labels[t - 1] * stride + labels[t]
            index[n + 1] = code[t - 1] * stride + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2 * (differs | differed)
            differed = differs
        return n

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef const double* node = &delta.value[self.n_states * self.stride]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = active_rows(node, self.length(i), self.stride, active)
        add_rows(&self.features.rows, self.offsets[i], active, n, step, node, self.n_states, v)
        self.scatter_rest(i, delta, step, v)
        return 0

    # the weights that belong to no feature; returns by how much ||v||^2 grows
    cdef double scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, e, j, k
        cdef const double* first = &delta.value[n_states * stride]
        cdef const double* last = first + (self.length(i) - 1) * stride
        cdef double growth = 0.0
        for e in range(delta.n):
            j = delta.index[e]
            if j < n_states * stride:
                k = self.transition_weights + self.weight_of[j]
                growth += grow(&v[k], step * delta.value[j])
        for k in range(n_states):
            growth += grow(&v[self.start_weights + k], step * first[k])
            growth += grow(&v[self.end_weights + k], step * last[k])
        return growth

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        cdef const double* node = &delta.value[self.n_states * self.stride]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = active_rows(node, self.length(i), self.stride, active)
        cdef double growth = add_rows_between(
            &self.features.rows, self.offsets[i], active, n, step, node, self.n_states, part[0],
            part[1], v
        )
        return growth if part[0] else growth + self.scatter_rest(i, delta, step, v)

    def cut_weights(self, n_parts):
        """Return the features with which parts of the weights begin."""
        return cut_columns(self.features.count_columns(), n_parts)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, e, j
        cdef const double* node = &delta.value[n_states * stride]
        cdef Py_ssize_t n_active = active_rows(node, self.length(i), stride, &self.active[0])
        clip_rows(
            &self.features.rows, self.offsets[i], &self.active[0], n_active, n_states, v, lower,
            upper, w
        )
        for e in range(delta.n):
            if delta.index[e] < n_states * stride:
                j = self.transition_weights + self.weight_of[delta.index[e]]
                w[j] = min(max(v[j], lower[j]), upper[j])
        for j in range(self.start_weights, self.end_weights + n_states):
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, e, j
        cdef double total = 0.0
        for e in range(delta.n):
            j = delta.index[e]
            # arithmetic instead of a branch that nobody can predict
            total += (j < n_states * stride) * delta.value[j] * delta.value[j]
        return self.add_node_sqnorm(i, delta, total)

    cdef double add_node_sqnorm(
        self, Py_ssize_t i, Direction delta, double total
    ) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, j
        cdef Py_ssize_t count = self.length(i), first = self.offsets[i]
        cdef const double* node = &delta.value[n_states * stride]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n_active = active_rows(node, count, stride, active)
        if self.grams.has(i):
            return total + self.grams.sqnorm(i, active, n_active, node, stride)
        if self.image.shape[0] == 1:     # nobody has called prepare_steps
            return NAN
        # <B delta, B delta> = <delta, B^T (B delta)>, B delta formed in scratch memory
        add_rows(&self.features.rows, first, active, n_active, 1.0, node, n_states, &self.image[0])
        score_rows(
            &self.features.rows, first, count, &self.image[0], n_states, &self.node_scores[0]
        )
        clear_rows(&self.features.rows, first, active, n_active, n_states, &self.image[0])
        for j in range(n_states):
            total += node[j] * node[j]
            total += node[(count - 1) * stride + j] * node[(count - 1) * stride + j]
        return total + dot_rows(active, n_active, node, &self.node_scores[0], stride)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t first = self.offsets[i], count = self.length(i)
        self.features.prefetch(first, count)
        prefetch_memory(&self.labels[first], count * sizeof(int32_t))
        prefetch_memory(&self.cost[first], count * sizeof(double))
        if self.grams.has(i):
            self.grams.prefetch(i, count)

    cpdef Problem fork(self):
        cdef ChainProblem other = type(self)(*self.given)
        other.labels = self.labels
        other.grams = self.grams
        other.image = np.zeros(self.image.shape[0])
        other.slack_kind = self.slack_kind
        other.has_sets = self.has_sets
        if self.has_sets:  # else there is no table
            other.accepted = self.accepted
        return other

    def with_truth(self, labels):
        """Return the same problem with other labels as the truth.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            True states; where nodes may have several right ones, one of these.

        Returns
        -------
        problem : ChainProblem
            Shares all else with this one.
        """
        cdef ChainProblem other = self.fork()
        other.labels = np.ascontiguousarray(labels, dtype=np.int32)
        return other

    def accept(self, accepted):
        """Let nodes have several right labels: none of them costs anything.

        Parameters
        ----------
        accepted : ndarray of shape (n_rows, n_states), bool
            Which labels are right at each node, the true one among them.
        """
        self.accepted = np.ascontiguousarray(accepted, dtype=bool).view(np.uint8)
        self.has_sets = True

    def decomposition(self):
        """Return the nodes and pairs of neighbours of all sequences, as `ChainFactors`.

        None where nodes may have several right labels.
        """
        if self.has_sets:
            return None
        return ChainFactors(
            self.features, self.offsets, self.n_states, self.labels, self.cost,
            self.block_weight, self.forbidden, self.forbidden_start, self.forbidden_end
        )

    def slack_oracle(self):
        """Return a new oracle of the kind that the model chose for slack rescaling, or None."""
        return None if self.slack_kind is None else self.slack_kind(self)

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and transitions are known again."""
        ends = (bytes(self.forbidden_end),) if np.any(self.forbidden_end) else ()
        return Fingerprint(
            {
                "the model": "chain",
                "the number of features": self.features.n_features,
                "the number of labels": self.n_states,
                "transitions": (bytes(self.forbidden), bytes(self.forbidden_start), *ends),
            },
            {
                "X": row_digests(self.features, self.offsets),
                "y": value_digests(self.labels, self.offsets),
                "the loss of y": value_digests(self.cost, self.offsets),
            },
        )


cdef class ChainFactors(Factors):
    """Nodes and pairs of neighbours of linear chains; weights as in `ChainProblem`.

    Edge e of sequence i leads from node e + i to the next one: sequences have an edge less than
    nodes.

    Parameters
    ----------
    features : FeatureRows
        Features of all nodes, sequence after sequence.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the rows offsets[i] to offsets[i + 1] - 1; at least one.
    n_states : int
        Number of states K.
    labels : ndarray of shape (n_rows,), int32
        True states.
    cost : ndarray of shape (n_rows,), float64
        Loss of a wrong state at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    forbidden : ndarray of shape (n_states, padded(n_states)), float64
        0, or -inf for a transition that may not occur.
    forbidden_start, forbidden_end : ndarray of shape (n_states,), float64
        0, or -inf for a state that a sequence may not begin or end with.
    """

    def __cinit__(self, FeatureRows features, const int64_t[::1] offsets, Py_ssize_t n_states,
                  const int32_t[::1] labels, const double[::1] cost, double[::1] block_weight,
                  const double[:, ::1] forbidden, const double[::1] forbidden_start,
                  const double[::1] forbidden_end, *args):
        self.features = features
        self.offsets = offsets
        self.labels = labels
        self.costs = cost
        self.block_weight = block_weight
        self.forbidden = forbidden
        self.forbidden_start = forbidden_start
        self.forbidden_end = forbidden_end
        self.n_states = n_states
        self.n_blocks = offsets.shape[0] - 1
        self.n_nodes = features.n_rows
        self.n_edges = self.n_nodes - self.n_blocks
        self.n_terms = features.n_entries / max(self.n_nodes, 1)
        self.transition_weights = features.n_features * n_states
        self.start_weights = self.transition_weights + n_states * n_states
        self.end_weights = self.start_weights + n_states
        self.n_weights = self.end_weights + n_states
        self.forest = True
        self.free = not np.any(forbidden)
        self.pair_weights = self.transition_weights if self.free else -1
        self.row_sqnorm = features.sqnorms()

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i]

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i] - i

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        first[0] = e + i
        second[0] = e + i + 1

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return self.labels[j]

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return self.costs[j]

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        cdef Py_ssize_t y, n_states = self.n_states
        if stop - start == n_states:
            score_rows(&self.features.rows, j, 1, w, n_states, out)
        else:
            score_part(&self.features.rows, j, w, n_states, start, stop, out)
        if j == self.offsets[i]:
            for y in range(start, stop):
                out[y] += w[self.start_weights + y] + self.forbidden_start[y]
        if j == self.offsets[i + 1] - 1:
            for y in range(start, stop):
                out[y] += w[self.end_weights + y] + self.forbidden_end[y]
        return 0

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        cdef double score = dot_row(&self.features.rows, j, w + y, self.n_states)
        if j == self.offsets[i]:
            score += w[self.start_weights + y] + self.forbidden_start[y]
        if j == self.offsets[i + 1] - 1:
            score += w[self.end_weights + y] + self.forbidden_end[y]
        return score

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        # start and end weights are one more feature of the first and the last node
        return (
            self.row_sqnorm[j] + (j == self.offsets[i]) + (j == self.offsets[i + 1] - 1)
        )

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        add_row(&self.features.rows, j, step, w + y, self.n_states)
        if j == self.offsets[i]:
            w[self.start_weights + y] += step
        if j == self.offsets[i + 1] - 1:
            w[self.end_weights + y] += step

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        cdef const double* row = w + self.transition_weights + a * self.n_states
        cdef Py_ssize_t b
        if self.free:
            return row
        for b in range(self.n_states):
            scratch[b] = row[b] + self.forbidden[a, b]
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        # a pair that is forbidden is no truth and is never found, but may be asked for
        if not self.free and self.forbidden[pair // self.n_states, pair % self.n_states] != 0.0:
            return -INFINITY
        return w[self.transition_weights + pair]

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 1.0

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        w[self.transition_weights + pair] += step


cdef class CountedChainSlack(SlackOracle):
    """Chains whose losses are whole numbers of a unit of the sequence.

    Of all labellings with one loss only the best can maximise what grows with the score, so the
    loss-indexed programme gives all candidates. They are also what `argmax_within` looks at.

    Parameters
    ----------
    problem : ChainProblem
        Its costs `are_counts`.
    """

    cdef ChainProblem problem
    cdef const int32_t[::1] levels       # (n_rows,) cost of a wrong label, in units
    cdef const double[::1] unit          # (n_blocks,)
    cdef Py_ssize_t largest              # loss of all, in units
    cdef LossIndexed programme
    cdef double[::1] margin              # scratch: h of the best labelling by loss

    def __cinit__(self, ChainProblem problem not None):
        self.problem = problem
        self.unit, levels, totals = in_units(
            np.asarray(problem.cost), np.asarray(problem.offsets)
        )
        self.largest = int(np.round(totals.max()))
        self.levels = np.round(levels).astype(np.int32)
        self.margin = np.empty(self.largest + 1)
        self.programme = LossIndexed(problem.max_code_length, self.largest, problem.n_states)
        self.has_product = self.has_cone = self.lock_free = True

    # h of the best labelling by loss, -inf where there is none; returns the largest loss
    cdef Py_ssize_t solve(self, Py_ssize_t i, const double* theta, double offset) except -1 nogil:
        cdef const double* node = theta + self.problem.n_states * self.problem.stride
        cdef const int32_t* labels = &self.problem.labels[self.problem.offsets[i]]
        cdef Py_ssize_t e, n_units
        self.programme.tables = self.problem.steps(i, theta)
        n_units = self.programme.solve(
            node, theta, self.problem.length(i), labels, &self.levels[self.problem.offsets[i]]
        )
        offset -= chain_score(
            node, theta, self.programme.tables, self.problem.length(i), self.problem.n_states,
            labels
        )
        for e in range(n_units + 1):
            self.margin[e] = offset + self.programme.best[e]
        return n_units

    # code and loss of the best labelling with a loss of the block that was solved last
    cdef int answer(
        self, Py_ssize_t i, const double* theta, Py_ssize_t units, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t t, first = self.problem.offsets[i]
        loss[0] = 0.0
        if units == 0:
            return self.problem.truth(i, code)
        self.programme.labelling(
            theta, self.problem.length(i), &self.problem.labels[first], &self.levels[first],
            units, code
        )
        for t in range(self.problem.length(i)):
            if code[t] != self.problem.labels[first + t]:
                loss[0] += self.problem.cost[first + t]
        return 0

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = 0.0
        for e in range(1, self.solve(i, theta, offset) + 1):
            if e * self.margin[e] > best:
                units, best = e, e * self.margin[e]
        self.answer(i, theta, units, code, loss)
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = -INFINITY, h, g
        for e in range(1, self.solve(i, theta, offset) + 1):
            h, g = self.margin[e], e * self.unit[i]
            if h > 0.0 and lower * h <= g < upper * h and h + loss_weight * g > best:
                units, best = e, h + loss_weight * g
        self.answer(i, theta, units, code, loss)
        return units > 0


cdef class KernelChainProblem(ChainProblem):
    """Linear chains whose nodes are scored by functions of a kernel space.

    What is linear, transitions, start and end, is a chain problem without features; the
    functions of the kernel space follow in the weight vector.

    Parameters
    ----------
    features : FeatureRows
        As many rows as there are nodes, without features.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the nodes offsets[i] to offsets[i + 1] - 1; at least one.
    n_states : int
        Number of states K.
    labels : ndarray of shape (n_rows,), int32
        True states.
    cost : ndarray of shape (n_rows,), float64
        Loss of a wrong state at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    allowed : ndarray of shape (n_states, n_states), bool or None
        Allowed transitions, from row to column.
    allowed_start, allowed_end : ndarray of shape (n_states,), bool or None
        States that a sequence may begin and end with.
    rows : KernelRows
        The kernel matrix of the nodes of all sequences.
    identity : callable
        Returns the `Fingerprint` of the problem.
    """

    cdef readonly KernelExpansion functions
    cdef object identity

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_states, labels, cost,
                  block_weight, allowed, allowed_start, allowed_end, KernelRows rows,
                  identity):
        self.space = self.functions = KernelExpansion(
            rows, n_states, self.n_weights, offsets, labels
        )
        self.n_weights = self.functions.stop
        self.lock_free = False     # rows come from Python
        self.identity = identity

    def take_gram(self, blocks):
        """Take the kernel matrices of the nodes of each sequence, which `sqnorm` needs.

        Parameters
        ----------
        blocks : iterable of (first, last, ndarray)
            Numbers of sequences, first to last - 1, and the kernel matrix of all of their nodes.
        """
        cdef Py_ssize_t i, s, t, origin, first, last
        cdef const double[:, ::1] matrix
        cdef double* gram
        rows = self.functions.rows
        lengths = np.diff(self.offsets)
        sizes = lengths * (lengths + 1) // 2
        offset, numbers = np.cumsum(sizes) - sizes, np.empty(sizes.sum())
        cdef const int64_t[::1] place = offset
        cdef double[::1] packed = numbers
        for first, last, kernels in blocks:
            matrix = rows.rounded(kernels)
            origin = self.offsets[first]
            for i in range(first, last):
                gram = &packed[place[i]]
                for t in range(self.length(i)):
                    for s in range(t + 1):
                        gram[t * (t + 1) // 2 + s] = matrix[
                            self.offsets[i] - origin + s, self.offsets[i] - origin + t
                        ]
                # start and end weights are one more feature of the first and the last node
                gram[0] += 1.0
                gram[self.length(i) * (self.length(i) + 1) // 2 - 1] += 1.0
        self.grams = SequenceGrams(offset, numbers)

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        ChainProblem.scores(self, i, w, theta)
        self.functions.add_values(
            self.offsets[i], self.length(i), w, theta + self.n_states * self.stride, self.stride
        )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t t
        ChainProblem.scores_at(self, i, w, index, count, theta)
        for t in range(self.length(i)):
            if self.fresh[t] == self.request:
                self.functions.add_values(
                    self.offsets[i] + t, 1, w, theta + (self.n_states + t) * self.stride,
                    self.stride
                )
        return 0

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef const double* node = &delta.value[self.n_states * self.stride]
        cdef Py_ssize_t n_active
        ChainProblem.scatter(self, i, delta, step, v)
        n_active = active_rows(node, self.length(i), self.stride, &self.active[0])
        return self.functions.add_rows(
            self.offsets[i], &self.active[0], n_active, step, node, self.stride, v
        )

    cpdef Problem fork(self):
        cdef KernelChainProblem other = ChainProblem.fork(self)
        other.space.support = self.space.support
        return other

    def decomposition(self):
        """Return None: solvers that work factor by factor know no kernel spaces."""
        return None

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and kernel are known again."""
        return self.identity()


def forbid(allowed, n_states):
    """Return 0 for states that are allowed and -inf for others; None allows all."""
    forbidden = np.zeros(n_states)
    if allowed is not None:
        forbidden[~allowed] = -np.inf
    return forbidden
