"""The multilabel model bound to data (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import cut_columns, row_digests, value_digests
from sskit.models.label_sets.factors import MultilabelFactors

from sskit.core.capabilities cimport SlackOracle
from sskit.core.checks cimport all_below
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.models.features cimport add_rows, add_rows_between, grow, score_rows
from sskit.models.rows cimport clip_rows
from sskit.core.vectors cimport Scratch
from sskit.oracles.label_sets.sets cimport ONE, SetScores, SlackGoal, goal_value, write_pairs


cdef class MultilabelProblem(Problem):
    """Sets of labels bound to data.

    Parameters
    ----------
    features : FeatureRows
        One row for each training pair.
    truths : ndarray of shape (n_blocks, n_labels), uint8
        The true sets, 0 or 1.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label, not negative.
    ends : ndarray of shape (n_edges, 2), int32
        The two labels of each edge.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the rows, summing to one.
    intercept : bool
        Whether to add a constant feature, which is regularised as the others are.
    oracle : LabelSetOracle
        Finds sets of labels.
    whole : dict
        What decides which sets there are, for the fingerprint.
    costly : bool
        Whether the oracle takes far longer than the scores.
    slack : SlackSets, default=None
        Candidates for slack rescaling, if there are any.
    tight : bool, default=None
        Whether mixes of the sets are all points of the local polytope; None if not every set is
        allowed, so that the problem is no sum over labels and pairs alone.
    """

    def __cinit__(self, FeatureRows features, truths, cost, ends, block_weight, bint intercept,
                  LabelSetOracle oracle, whole, bint costly, SlackSets slack=None, tight=None):
        self.features = features
        self.truths = truths
        self.cost = cost
        self.n_blocks, self.n_labels = truths.shape
        self.n_edges = len(ends)
        self.ends = np.concatenate([ends, np.zeros((1, 2), dtype=np.int32)])
        self.block_weight = block_weight
        self.intercept = intercept
        self.oracle = oracle
        self.whole = whole
        self.stride = padded(self.n_labels)
        self.constant_weights = features.n_features * self.n_labels
        self.pair_weights = self.constant_weights + intercept * self.n_labels
        self.n_weights = self.pair_weights + self.n_edges
        self.max_statistics = self.stride + self.n_edges
        self.max_code_length = self.max_support = self.n_labels + self.n_edges
        self.exact, self.lock_free = oracle.exact, oracle.lock_free
        self.costly = costly
        self.tight = tight
        self.slack = slack
        self.augmented = np.zeros(self.n_labels)
        self.asked.n_labels, self.asked.n_edges = self.n_labels, self.n_edges
        self.asked.ends = &self.ends[0, 0]
        self.row_sqnorm = features.sqnorms(intercept)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return all_below(code, self.max_code_length, ONE + 1)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.n_labels):
            code[j] = ONE * self.truths[i, j]
        for j in range(self.n_edges):
            code[self.n_labels + j] = ONE * self.true_pair(i, j)
        return 0

    cdef int32_t true_pair(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.truths[i, self.ends[e, 0]] & self.truths[i, self.ends[e, 1]]

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        self.score_labels(i, w, theta)
        memcpy(theta + self.stride, w + self.pair_weights, self.n_edges * sizeof(double))
        return 0

    cdef void score_labels(self, Py_ssize_t i, const double* w, double* theta) noexcept nogil:
        cdef Py_ssize_t j
        score_rows(&self.features.rows, i, 1, w, self.n_labels, theta)
        for j in range(self.n_labels if self.intercept else 0):
            theta[j] += w[self.constant_weights + j]

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, j
        cdef bint scored = False
        for entry in range(count):
            j = index[entry]
            if j >= self.stride:
                theta[j] = w[self.pair_weights + j - self.stride]
            elif not scored:
                # all labels at once cost little more than one: features lie together
                self.score_labels(i, w, theta)
                scored = True
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef double* label = &self.augmented[0]
        cdef Py_ssize_t j
        for j in range(self.n_labels):
            # the loss is cost |y - t| = cost (t + (1 - 2 t) y)
            label[j] = theta[j] + loss_weight * self.cost[j] * (1 - 2 * self.truths[i, j])
        self.asked.label, self.asked.pair = label, theta + self.stride
        self.oracle.find(&self.asked, code)
        loss[0] = self.set_loss(i, code)
        return 0

    cdef double set_loss(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t j
        cdef double loss = 0.0
        for j in range(self.n_labels):
            loss += self.cost[j] * fabs(code[j] / <double>ONE - self.truths[i, j])
        return loss

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Py_ssize_t j, n = 0
        cdef int32_t more
        for j in range(self.n_labels):
            more = ONE * self.truths[i, j] - code[j]
            index[n] = <int32_t>j
            value[n] = more / <double>ONE
            n += more != 0
        code += self.n_labels
        for j in range(self.n_edges):
            more = ONE * self.true_pair(i, j) - code[j]
            if more != 0:
                index[n] = <int32_t>(self.stride + j)
                value[n] = more / <double>ONE
                n += 1
        return n

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t entry, j
        add_rows(&self.features.rows, i, &row, 1, step, &delta.value[0], self.n_labels, v)
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= self.stride:
                v[self.pair_weights + j - self.stride] += step * delta.value[j]
            elif self.intercept:
                v[self.constant_weights + j] += step * delta.value[j]
        return 0

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t entry, j
        cdef double growth = add_rows_between(
            &self.features.rows, i, &row, 1, step, &delta.value[0], self.n_labels, part[0],
            part[1], v
        )
        for entry in range(delta.n if part[0] == 0 else 0):
            j = delta.index[entry]
            if j >= self.stride:
                growth += grow(&v[self.pair_weights + j - self.stride], step * delta.value[j])
            elif self.intercept:
                growth += grow(&v[self.constant_weights + j], step * delta.value[j])
        return growth

    def cut_weights(self, n_parts):
        """Return the features with which parts of the weights begin."""
        return cut_columns(self.features.count_columns(), n_parts)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef int32_t row = 0
        cdef Py_ssize_t entry, j
        clip_rows(&self.features.rows, i, &row, 1, self.n_labels, v, lower, upper, w)
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= self.stride:
                j += self.pair_weights - self.stride
            elif self.intercept:
                j += self.constant_weights
            else:
                continue
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double labels = 0.0, pairs = 0.0, value
        cdef Py_ssize_t entry
        for entry in range(delta.n):
            value = delta.value[delta.index[entry]]
            if delta.index[entry] < self.stride:
                labels += value * value
            else:
                pairs += value * value
        return labels * self.row_sqnorm[i] + pairs

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.features.prefetch(i, 1)

    cpdef Problem fork(self):
        return MultilabelProblem(
            self.features, np.asarray(self.truths), np.asarray(self.cost),
            np.asarray(self.ends)[:self.n_edges], self.block_weight, self.intercept,
            self.oracle.fork(), self.whole, self.costly,
            None if self.slack is None else self.slack.fork(), self.tight,
        )

    def slack_oracle(self):
        """Return oracles for slack rescaling, or None."""
        return None if self.slack is None else MultilabelSlack(self)

    def decomposition(self):
        """Return labels and pairs as factors; None if not every set of labels is allowed."""
        if self.tight is None:
            return None
        return MultilabelFactors(
            self.features, np.asarray(self.truths), np.asarray(self.cost), np.asarray(self.ends),
            self.block_weight, np.asarray(self.row_sqnorm), self.intercept, self.tight,
        )

    def fingerprint(self):
        """Return by what the same rows, sets and losses are known again."""
        rows = np.arange(self.n_blocks + 1, dtype=np.int64)
        return Fingerprint(
            {
                "the model": "multilabel",
                "the number of features": self.features.n_features,
                "the number of labels": self.n_labels,
                "fit_intercept": str(bool(self.intercept)),
                **self.whole,
                "the edges": np.asarray(self.ends)[:self.n_edges].tobytes(),
                "the loss": np.asarray(self.cost).tobytes(),
            },
            {
                "X": row_digests(self.features, rows),
                "y": value_digests(np.asarray(self.truths).ravel(), rows * self.n_labels),
            },
        )


cdef class MultilabelSlack(SlackOracle):
    """Sets of labels for slack rescaling: the best of the candidates by loss.

    Parameters
    ----------
    problem : MultilabelProblem
        Says what the sets score and lose.
    """

    cdef MultilabelProblem problem
    cdef Scratch[double] h
    cdef Scratch[double] g

    def __cinit__(self, MultilabelProblem problem not None):
        self.problem = problem
        self.has_product = self.has_cone = self.lock_free = True
        self.h.resize(problem.slack.n_candidates)
        self.g.resize(problem.slack.n_candidates)

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef SlackGoal goal = SlackGoal(True, 1.0, 0.0, INFINITY)
        self.ask(i, theta, offset, &goal, code, loss)
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef SlackGoal goal = SlackGoal(False, loss_weight, lower, upper)
        return self.ask(i, theta, offset, &goal, code, loss)

    # the best set, or the truth if none counts, and its loss
    cdef bint ask(
        self, Py_ssize_t i, const double* theta, double offset, const SlackGoal* goal,
        int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t c, n, place = -1
        cdef double best = 0.0, value
        cdef SetScores s = self.problem.asked
        s.label, s.pair = theta, theta + self.problem.stride
        n = self.problem.slack.candidates(
            &s, &self.problem.truths[i, 0], offset, goal, &self.h[0], &self.g[0]
        )
        for c in range(n):
            value = goal_value(goal, self.h[c], self.g[c])
            if value > best:
                best, place = value, c
        if place < 0:
            self.problem.truth(i, code)
        else:
            self.problem.slack.take(place, code)
            write_pairs(&s, code)
        loss[0] = self.problem.set_loss(i, code)
        return place >= 0
