"""Sets of labels, scored by labels and by pairs of labels."""

import numpy as np

from sskit.inputs.edges import parents_first
from sskit.oracles.label_sets.sets import TreeSets

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.capabilities cimport StateBlocks
from sskit.core.checks cimport all_below
from sskit.core.decomposition cimport LabelFactors
from sskit.core.lanes cimport padded
from sskit.models.feature_map cimport FeatureMap, score_rows
from sskit.models.rows cimport add_row, dot_row
from sskit.models.structure cimport Block, NodeLoss, Structure, StructuredProblem
from sskit.oracles.label_sets.sets cimport ONE, LabelSetOracle, SetScores, write_pairs

cdef extern from "closed_sets.hpp" namespace "sskit" nogil:
    cppclass ClosedSetMixes:
        ClosedSetMixes(Py_ssize_t n, const int32_t* order, const int32_t* parent) except +
        double best(const double* score)
        void nearest(
            const double* mix, const double* score, double curvature, double highest, double* target
        )

cdef extern from "projection.hpp" namespace "sskit":
    double state_scores(
        const double* theta, double level, const double* loss, const double* weight, Py_ssize_t n,
        double* score, double* mix
    ) noexcept nogil

# Rounding may let single labels go back and forth between sets that are equally good.
cdef Py_ssize_t MAX_SWEEPS = 1000
# If at least this fraction of the labels changes, one pass over the features for all labels is
# faster.
cdef Py_ssize_t FEW = 8
cdef double PER_ONE = 1.0 / ONE


cdef class LabelSetStructure(Structure):
    """Sets of labels, a set for each row.

    Potentials are those of a `FeatureMap` of one row a block, with a tail of pairs. The truth of a
    block are zeros and ones, one for each label. Codes are labels and then pairs, in units of the
    oracle: relaxations have fractions of labels, and their planes are those of the relaxed problem.

    Parameters
    ----------
    oracle : LabelSetOracle
        Finds sets of labels.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label, not negative.
    ends : ndarray of shape (n_edges + 1, 2), int32
        The two labels of each edge, and a spare row.
    domain : dict
        What determines the allowed sets, for the fingerprint.
    costly : bool
        Whether the oracle takes far longer than the scores.
    slack : LabelSetOracle, default=None
        Candidates for slack rescaling, if there are any.
    tight : bool, default=None
        Whether mixes of the sets are all points of the local polytope; None if not every set is
        allowed, so that the problem is no sum over labels and pairs alone.
    """

    cdef readonly LabelSetOracle oracle
    cdef LabelSetOracle slack
    cdef readonly object tight
    cdef readonly Py_ssize_t n_edges
    cdef Py_ssize_t base                     # where the scores of labels begin
    cdef const double[::1] cost
    cdef const int32_t[:, ::1] ends
    # scratch
    cdef double[::1] augmented               # (n_labels,) scores of labels with the loss
    cdef SetScores scored                     # input of the oracle

    def __cinit__(self, LabelSetOracle oracle, cost, ends, domain, bint costly,
                  LabelSetOracle slack=None, tight=None):
        self.oracle, self.slack, self.tight = oracle, slack, tight
        self.cost, self.ends = cost, ends
        self.n_labels, self.n_edges = len(cost), len(ends) - 1
        self.base = padded(self.n_edges)
        self.max_code_length = self.max_support = self.n_labels + self.n_edges
        self.exact, self.lock_free, self.costly = oracle.exact, oracle.lock_free, costly
        self.work = 3.0 if costly else 1.0
        self.augmented = np.zeros(self.n_labels)
        self.scored.n_labels, self.scored.n_edges = self.n_labels, self.n_edges
        self.scored.ends = &self.ends[0, 0]

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return all_below(code, self.max_code_length, ONE + 1)

    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil:
        return self.max_code_length

    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_labels):
            code[j] = ONE * truth[j]
        write_pairs(&self.scored, code)

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef const int32_t* truth = &loss.truth[b.first]
        cdef const double* label = b.theta + self.base
        cdef Py_ssize_t j
        for j in range(self.n_labels):
            # the loss is cost |y - t| = cost (t + (1 - 2 t) y)
            self.augmented[j] = label[j] + weight * self.cost[j] * (1 - 2 * truth[j])
        self.scored.label, self.scored.pair = &self.augmented[0], b.theta
        return self.oracle.find(&self.scored, code)

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        cdef const int32_t* truth = &loss.truth[b.first]
        cdef double total = 0.0
        cdef Py_ssize_t j
        for j in range(self.n_labels):
            total += self.cost[j] * fabs(code[j] / <double>ONE - truth[j])
        return total

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Py_ssize_t j, e, n = 0
        cdef int32_t more
        cdef const int32_t* pair = code + self.n_labels
        cdef const int32_t* ends = self.scored.ends
        # Every entry is written, and counted only if the sets differ there: branches would be
        # mispredicted too often.
        for j in range(self.n_labels):
            more = ONE * truth[j] - code[j]
            index[n], value[n] = <int32_t>(self.base + j), more * PER_ONE
            n += more != 0
        # the scores of pairs come first
        for e in range(self.n_edges):
            more = ONE * (truth[ends[2 * e]] & truth[ends[2 * e + 1]]) - pair[e]
            index[n], value[n] = <int32_t>e, more * PER_ONE
            n += more != 0
        return n

    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil:
        self.scored.label, self.scored.pair = b.theta + self.base, b.theta
        return self.slack.candidates(&self.scored, &loss.truth[b.first], self.goal, h, g)

    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil:
        self.slack.take(candidate, code)
        write_pairs(&self.scored, code)
        return 0

    def n_candidates(self, loss):
        """Return the largest number of sets for slack rescaling; 0: there are none."""
        return 0 if self.slack is None else self.slack.n_candidates

    cpdef Structure fork(self):
        slack = None if self.slack is None else self.slack.fork()
        return LabelSetStructure(self.oracle.fork(), *self.arguments[1:5], slack, self.tight)

    def digest(self):
        """Return what distinguishes structures."""
        cost, ends, domain = self.arguments[1:4]
        own = {"the model": "multilabel", "the number of labels": self.n_labels}
        return own | domain | {"the edges": ends.tobytes(), "the loss": cost.tobytes()}

    def decomposition(self, StructuredProblem problem):
        """Return labels and pairs as factors; None if not every set of labels is allowed."""
        return None if self.tight is None else LabelSetFactors(problem, self)

    def state_blocks(self, problem):
        """Return labels as states; None with pairs of labels, or several parents of one."""
        if self.n_edges or not isinstance(self.oracle, TreeSets):
            return None
        return ClosedSets(problem, self.cost, self.oracle.parents)

    def best_sets(self, const double[:, ::1] scores, pairs, const signed char[:, ::1] fixed=None):
        """Return the set with the highest score for each row.

        Labels that a relaxation leaves undecided are rounded up. If there are pairs, single labels
        are then added and dropped until none gains anything; a label without gain is dropped.

        Parameters
        ----------
        scores : ndarray of shape (n, n_labels)
            Scores of the labels.
        pairs : ndarray of shape (n_edges,)
            Scores of the edges.
        fixed : ndarray of shape (n, n_labels), int8, default=None
            1 for labels in the set, 0 for labels that are not, -1 for those to be found.

        Returns
        -------
        sets : ndarray of shape (n, n_labels), uint8
            0 or 1.
        """
        cdef SetScores* s = &self.scored
        cdef Py_ssize_t i, j, n_labels = self.n_labels, n_edges = self.n_edges
        cdef int32_t[::1] code = np.zeros(self.max_code_length + 1, dtype=np.int32)
        cdef const double[::1] pair_scores = np.append(pairs, 0.0)
        cdef double[::1] label = self.augmented, gain = np.zeros(n_labels)
        cdef double[::1] pair = pair_scores.copy()
        out = np.zeros((len(scores), n_labels), dtype=np.uint8)
        cdef unsigned char[:, ::1] sets = out
        s.label, s.pair = &label[0], &pair[0]
        with nogil:
            for i in range(scores.shape[0]):
                memcpy(&label[0], &scores[i, 0], n_labels * sizeof(double))
                if fixed is not None:
                    memcpy(&pair[0], &pair_scores[0], n_edges * sizeof(double))
                    condition(s, &fixed[i, 0], &label[0], &pair[0])
                self.oracle.find(s, &code[0])
                for j in range(n_labels):
                    sets[i, j] = code[j] >= ONE // 2
                if n_edges:
                    climb(s, &sets[i, 0], &gain[0])
        return out


cdef void condition(
    const SetScores* s, const signed char* fixed, double* label, double* pair
) noexcept nogil:
    """Add the pair scores of fixed labels to the other labels, and fix them by their own scores."""
    cdef Py_ssize_t e, j
    cdef int32_t u, v
    for e in range(s.n_edges):
        u, v = s.ends[2 * e], s.ends[2 * e + 1]
        label[v] += pair[e] * (fixed[u] == 1)
        label[u] += pair[e] * (fixed[v] == 1)
        if fixed[u] >= 0 or fixed[v] >= 0:
            pair[e] = 0.0
    for j in range(s.n_labels):
        if fixed[j] >= 0:
            label[j] = 2 * fixed[j] - 1


cdef void climb(const SetScores* s, unsigned char* has, double* gain) noexcept nogil:
    """Add and drop single labels until none gains anything: coordinate ascent."""
    cdef Py_ssize_t e, j, side, _sweep
    cdef bint changed
    memcpy(gain, s.label, s.n_labels * sizeof(double))
    for e in range(s.n_edges):
        for side in range(2):
            gain[s.ends[2 * e + side]] += s.pair[e] * has[s.ends[2 * e + 1 - side]]
    for _sweep in range(MAX_SWEEPS):
        changed = False
        for j in range(s.n_labels):
            if has[j] == (gain[j] > 0.0):
                continue
            has[j], changed = not has[j], True
            for e in range(s.n_edges):
                for side in range(2):
                    if s.ends[2 * e + side] == j:
                        gain[s.ends[2 * e + 1 - side]] += s.pair[e] if has[j] else -s.pair[e]
        if not changed:
            break


cdef class ClosedSets(StateBlocks):
    """Sets of labels that hold all ancestors of their labels, without scores of pairs.

    The states are labels, of which a labelling has any number.

    Parameters
    ----------
    problem : StructuredProblem
        Rows and true sets.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label.
    parents : ndarray of shape (n_labels,), int32, or None
        The parent of each label, -1 for a root; None: all are roots.
    """

    cdef StructuredProblem problem
    cdef const double[::1] cost
    cdef ClosedSetMixes* mixes
    cdef double highest              # of the scores that were found last

    def __cinit__(self, StructuredProblem problem not None, const double[::1] cost, parents):
        self.problem, self.cost, self.n_states, self.pays = problem, cost, len(cost), True
        parents = np.full(len(cost), -1, dtype=np.int32) if parents is None else parents
        cdef const int32_t[:, ::1] places = parents_first(parents)
        self.mixes = new ClosedSetMixes(self.n_states, &places[0, 0], &places[1, 0])

    def __dealloc__(self):
        del self.mixes

    cdef void add_truth(self, Py_ssize_t i, double scale, double* mix) noexcept nogil:
        cdef const int32_t* truth = &self.problem.loss.truth[i * self.n_states]
        cdef Py_ssize_t k
        for k in range(self.n_states):
            mix[k] += scale * truth[k]

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        return self.problem.map.row_sqnorm[i]

    # cost |y - t| is cost t, which all labellings have, and cost (1 - 2 t) y
    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef const int32_t* truth = &self.problem.loss.truth[i * self.n_states]
        cdef Py_ssize_t k
        for k in range(self.n_states):
            out[k] = self.cost[k] * (1 - 2 * truth[k])

    cdef double find_scores(
        self, Py_ssize_t i, const double* theta, const double* loss, const double* mix,
        Py_ssize_t n, double* score, double* of_mix
    ) noexcept nogil:
        self.highest = state_scores(theta, 0.0, loss, mix, n, score, of_mix)
        return self.mixes.best(score)

    cdef void find_target(
        self, Py_ssize_t i, const double* mix, const double* score, Py_ssize_t n,
        double curvature, double* target
    ) noexcept nogil:
        self.mixes.nearest(mix, score, curvature, self.highest, target)


cdef class LabelSetFactors(LabelFactors):
    """Labels of rows and pairs of labels; weights as in the `FeatureMap`.

    Parameters
    ----------
    problem : StructuredProblem
        Rows and true sets.
    structure : LabelSetStructure
        Costs and pairs of labels.
    """

    cdef FeatureMap map

    def __cinit__(self, StructuredProblem problem, LabelSetStructure structure):
        self.map, self.block_weight, self.tight = problem.map, problem.block_weight, structure.tight
        self.cost, self.ends, self.truth = structure.cost, structure.ends, problem.loss.truth
        self.n_blocks, self.n_weights, self.n_states = problem.n_blocks, problem.n_weights, 2
        self.n_labels, self.n_pairs = structure.n_labels, structure.n_edges
        self.n_nodes, self.n_edges = self.n_blocks * self.n_labels, self.n_blocks * self.n_pairs
        blocks = np.arange(self.n_blocks + 1, dtype=np.int64)
        self.first_node, self.first_edge = blocks * self.n_labels, blocks * self.n_pairs
        self.forest, self.first_pair = self.n_pairs == 0, self.map.tail_weights
        self.row_sqnorm = self.map.row_sqnorm

    cdef void label_scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil:
        score_rows(&self.map.rows, i, 1, w, self.n_labels, out, padded(self.n_labels))

    cdef void scatter_labels(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil:
        cdef Py_ssize_t j, n = 0
        for j in range(self.n_labels):
            n += change[j] != 0.0
        if n * FEW >= self.n_labels:
            self.map.add_nodes(i, 1, step, change, w)
            return
        for j in range(self.n_labels):
            if change[j] != 0.0:
                add_row(&self.map.rows, i, step * change[j], w + j, self.n_labels)

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        out[0] = 0.0
        out[1] = dot_row(&self.map.rows, i, w + j % self.n_labels, self.n_labels)
        return 0

    cdef void edge_scores(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* out
    ) noexcept nogil:
        out[0], out[1] = 0.0, w[self.first_pair + e % self.n_pairs] if a else 0.0

    cdef double score(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, const double* w
    ) noexcept nogil:
        cdef double scores[2]
        if f < self.n_nodes:
            self.node_scores(i, f, w, 0, 2, scores)
            return scores[s[0]]
        self.edge_scores(i, f - self.n_nodes, w, s[0], scores)
        return scores[s[1]]

    cdef double sqnorm(self, Py_ssize_t i, Py_ssize_t f, const int32_t* s) noexcept nogil:
        if f < self.n_nodes:
            return s[0] * self.row_sqnorm[i]
        return s[0] & s[1]

    cdef void scatter(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, double step, double* w
    ) noexcept nogil:
        cdef Py_ssize_t j = f % self.n_labels
        if f >= self.n_nodes:
            w[self.first_pair + (f - self.n_nodes) % self.n_pairs] += step * (s[0] & s[1])
        elif s[0] == 1:
            add_row(&self.map.rows, i, step, w + j, self.n_labels)
