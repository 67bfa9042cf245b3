"""Which edges of a block of labels are linked, and which may be left alone."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.solvers.dual_decomposition.label_pairs.block_code cimport Link

# Weights and marginals below it are rounding.
cdef double NOISE = 1e-9
# Links of labels whose shares sum to more are kept: they will be needed again.
cdef double CROWDED = 0.9
# No label has such a share.
cdef double NEVER = 2.0


cdef class LabelLevels:
    r"""Raises and lowers the levels of labels, see `LabelState`.

    *Why edges that are not linked may be left alone.* At the optimum of the relaxed problem there
    are messages lambda for every edge e = (k, j) under which its state has the largest gain of

        0 in (0, 0),  -lambda_k in (1, 0),  -lambda_l in (0, 1),  w_e - lambda_k - lambda_l in
        (1, 1),

    and y_j is the best for g_j y_j, where g_j is what label j gains by its scores, the loss
    and the sum of its messages. An implied edge agrees with its ends, so its multipliers do not
    count in the Lagrangian and can be chosen:

    - between an end that is on, even in part, and one that is off: max(w_e, 0) to the latter;
    - between two that are off: max(w_e, 0), split in any way;
    - between two that are true and fresh: min(w_e, 0) to each;
    - between two others that are on, with shares that sum to one at most: nothing, if w_e <= 0.

    In all cases the state of the edge is among the best. So all is at its optimum if no label
    that is off gains with the weights that attract it to labels that are on; if weights between
    two that are off can be split without making one gain; if those that are true and fresh gain
    by staying, with their negative weights alone; if no two others that are on attract
    each other; and if none would have more than the shares of others leave to it. Fresh labels
    that violate this are released, labels that are on are linked to those that
    attract them, and a label at its ceiling to those with at least half of what it
    lacks, so that the next ceiling is half as far from one. Of the pairs that are off the one that
    gains most is linked; if none gains by
    itself but many together may, the best of those in screen. Where nothing is linked or released
    any more and links agree, w is optimal.

    A label is idle if it is off, its links agree, and it would stay so without them. Its links are
    given up but for those between true labels, and if it is not true it is fresh again. So are
    links that have the mix which they would have if they were implied, a weight that is not
    positive, no messages that hold an end back, and ends that leave each other room.

    Parameters
    ----------
    state : LabelState
        Whose levels are kept.
    gain : ndarray of shape (n_labels + LANES,)
        What labels of the block at hand gain, messages aside; the caller keeps it up to date.
    """

    def __cinit__(self, LabelState state, double[::1] gain):
        n = state.factors.n_labels
        self.state, self.factors, self.gain = state, state.factors, gain
        self.pull, self.reduced_cost, self.scratch = np.zeros(n), np.zeros(n), np.zeros(n)
        self.start = np.zeros(n + 2, dtype=np.int32)
        self.stamp = np.zeros(n, dtype=np.int64)
        self.attracted, self.idle = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
        self.noise = NOISE * max(np.max(np.asarray(state.factors.cost)), 0.0)

    cdef void listen(self, Py_ssize_t i) noexcept nogil:
        cdef const vector[Link]* links = &self.state.links
        cdef const double* y = &self.state.mix[0]
        cdef const Link* link
        cdef double penalty = self.state.penalty(i)
        cdef Py_ssize_t m
        self.pull[:] = 0.0
        for m in range(<Py_ssize_t>links.size()):
            link = links.data() + m
            self.pull[link.first] += penalty * (link.q.first - y[link.first] + link.mu_first)
            self.pull[link.second] += penalty * (link.q.second - y[link.second] + link.mu_second)

    cdef int gather(self, Py_ssize_t i) except -1 nogil:
        cdef const vector[Link]* links = &self.state.links
        cdef Py_ssize_t m, j, n = self.factors.n_labels
        self.n_gathered = links.size()
        self.member.resize(2 * links.size())
        self.start[:] = 0
        for m in range(<Py_ssize_t>links.size()):
            self.start[links[0][m].first + 2] += 1
            self.start[links[0][m].second + 2] += 1
        for j in range(n):
            self.start[j + 2] += self.start[j + 1]
        for m in range(<Py_ssize_t>links.size()):
            self.member[self.start[links[0][m].first + 1]] = <int32_t>m
            self.start[links[0][m].first + 1] += 1
            self.member[self.start[links[0][m].second + 1]] = <int32_t>m
            self.start[links[0][m].second + 1] += 1
        return 0

    cdef void mark(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        cdef const Link* link
        cdef Py_ssize_t m
        self.n_stamps += 1
        for m in range(self.start[k], self.start[k + 1]):
            link = &self.state.links[self.member[m]]
            self.stamp[link.second if link.first == k else link.first] = self.n_stamps
        for m in range(self.n_gathered, <Py_ssize_t>self.state.links.size()):
            link = &self.state.links[m]
            if link.first == k:
                self.stamp[link.second] = self.n_stamps
            elif link.second == k:
                self.stamp[link.first] = self.n_stamps

    cdef int release(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef unsigned char* level = &self.state.level[0]
        cdef Py_ssize_t m, j
        level[k] = 1
        if not truth[k]:
            return 0
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            j = self.state.table.label[m]
            # those that were released before are linked to it since
            if truth[j] and level[j] == 0:
                self.join(i, k, j, self.state.table.edge[m], self.state.table.weight[m])
        return 0

    cdef double ceiling(self, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[0]
        cdef const int32_t* label = &self.state.table.label[0]
        cdef double most = 0.0
        cdef Py_ssize_t m, j
        self.mark(i, k)
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            j = label[m]
            if y[j] > most and self.stamp[j] != self.n_stamps and not (truth[k] and truth[j]):
                most = y[j]
        # a sum may be one but for rounding
        return max(1.0 - most, y[k])

    cdef int reach(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t least, double bar
    ) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[0]
        cdef Py_ssize_t m, j
        self.mark(i, k)
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            j = self.state.table.label[m]
            if (
                y[j] > 0.0 and j >= least and self.stamp[j] != self.n_stamps
                and (y[j] >= bar or self.state.table.weight[m] > self.noise)
                and not (truth[k] and truth[j])
            ):
                self.join(i, k, j, self.state.table.edge[m], self.state.table.weight[m])
        return 0

    cdef int widen(self, Py_ssize_t i, Py_ssize_t k) except -1 nogil:
        return self.reach(i, k, 0, 0.5 * (1.0 - self.state.mix[k]))

    cdef int join(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j, Py_ssize_t e, double w
    ) except -1 nogil:
        """Link an edge of label k, whose level is rising, with multipliers that it implied."""
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[0]
        cdef Link* link = self.state.join()
        cdef double penalty = self.state.penalty(i)
        cdef double first = y[self.factors.ends[e, 0]], second = y[self.factors.ends[e, 1]]
        link.edge = <int32_t>e
        link.first, link.second = self.factors.ends[e, 0], self.factors.ends[e, 1]
        link.q.both = truth[k] & truth[j]
        link.q.first, link.q.second = y[link.first], y[link.second]
        link.mu_first = link.mu_second = 0.0
        if w > 0.0:
            # the end with less of state 1 holds the other back, and could have the weight for it
            link.mu_first = w / penalty * (0.5 * (first == second) + (first < second))
            link.mu_second = w / penalty - link.mu_first
        elif first + second > 1.0:
            link.mu_first = link.mu_second = w / penalty
        return 0

    cdef void imply(self, Py_ssize_t i) noexcept nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const double* y = &self.state.mix[0]
        cdef const int64_t* offsets = &self.state.table.offsets[0]
        cdef const int32_t* label = &self.state.table.label[0]
        cdef const double* weight = &self.state.table.weight[0]
        cdef Py_ssize_t k, j, m
        self.reduced_cost[:] = 0.0
        for k in range(self.factors.n_labels):
            self.attracted[k] = False
            if y[k] == 0.0:
                continue
            self.mark(i, k)
            for m in range(offsets[k], offsets[k + 1]):
                # most weights are not: the rest is looked at for few
                if not weight[m] > self.noise:
                    continue
                j = label[m]
                if self.stamp[j] == self.n_stamps:
                    continue
                if y[j] == 0.0:
                    self.reduced_cost[j] += weight[m]
                elif k < j and not (truth[k] and truth[j]):
                    self.attracted[k] = True
            for m in range(offsets[k], offsets[k + 1] if truth[k] else offsets[k]):
                # both are fresh, or else they were linked
                if truth[label[m]] and self.stamp[label[m]] != self.n_stamps:
                    if weight[m] < -self.noise:
                        self.reduced_cost[label[m]] += weight[m]

    cdef double retire(self, Py_ssize_t i) except? -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef unsigned char* level = &self.state.level[0]
        cdef const double* y = &self.state.mix[0]
        cdef vector[Link]* links = &self.state.links
        cdef Link* link
        cdef double* reduced_cost = &self.reduced_cost[0]
        cdef double kappa = self.factors.block_weight[i] / self.state.lam
        cdef double half = 0.5 * self.state.penalty(i), decrease = 0.0, w
        cdef Py_ssize_t j, m, n = 0
        self.gather(i)
        self.imply(i)
        for m in range(<Py_ssize_t>links.size()):
            link = links.data() + m
            w = self.state.w[self.factors.pair_weights + link.edge]
            if inconsistent(link, y):
                reduced_cost[link.first] = reduced_cost[link.second] = INFINITY
            elif w > self.noise:
                # to labels that are on: it would be implied
                reduced_cost[link.first] += w * (y[link.second] > 0.0)
                reduced_cost[link.second] += w * (y[link.first] > 0.0)
        for j in range(self.factors.n_labels):
            self.idle[j] = y[j] == 0.0 and self.gain[j] + reduced_cost[j] < 0.0
            if self.idle[j] and not truth[j]:
                level[j] = 0
        for m in range(<Py_ssize_t>links.size()):
            link = links.data() + m
            w = self.state.w[self.factors.pair_weights + link.edge]
            if (truth[link.first] and truth[link.second]) or (
                not (self.idle[link.first] or self.idle[link.second])
                and (
                    w > self.noise or y[link.first] + y[link.second] > CROWDED
                    or inconsistent(link, y) or tied(link)
                )
            ):
                links[0][n] = link[0]
                n += 1
                continue
            # what is left of disagreement is given up
            decrease -= link.q.both * (w + 0.5 * kappa * link.q.both)
            w = link.q.first - y[link.first]
            decrease += half * w * (w + 2.0 * link.mu_first)
            w = link.q.second - y[link.second]
            decrease += half * w * (w + 2.0 * link.mu_second)
            self.state.set_pair(i, link, 0.0)
        links.resize(n)
        return decrease

    cdef int doubt(self, Py_ssize_t i) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef Py_ssize_t k
        self.gather(i)
        self.listen(i)
        self.imply(i)
        for k in range(self.factors.n_labels):
            if truth[k] and self.state.level[k] == 0:
                if self.gain[k] + self.pull[k] + self.reduced_cost[k] < 0.0:
                    self.release(i, k)
        return 0

    cdef int seek(self, Py_ssize_t i) except -1 nogil:
        cdef const unsigned char* truth = self.factors.truth(i)
        cdef const unsigned char* level = &self.state.level[0]
        cdef const double* y = &self.state.mix[0]
        cdef double* reduced_cost = &self.reduced_cost[0]
        cdef Py_ssize_t k
        self.doubt(i)
        for k in range(self.factors.n_labels):
            if level[k] == 0:
                if not truth[k] and self.gain[k] + reduced_cost[k] > 0.0:
                    self.release(i, k)
                    self.reach(i, k, 0, 0.5)
            elif self.attracted[k]:
                self.reach(i, k, k, NEVER)
            elif reduced_cost[k] > 0.0 and self.gain[k] + self.pull[k] + reduced_cost[k] > 0.0:
                self.reach(i, k, 0, NEVER)
            if y[k] > 0.0:
                reduced_cost[k] = -INFINITY
            else:
                reduced_cost[k] = min(self.gain[k] + self.pull[k] + reduced_cost[k], 0.0)
        self.show(i, False)
        if self.state.table.find(reduced_cost, 0.0) or (
            self.state.table.screen(reduced_cost, &self.scratch[0])
            and self.state.table.find(reduced_cost, -INFINITY)
        ):
            self.bind(i, self.state.table.first, self.state.table.second)
        self.show(i, True)
        return 0

    cdef void show(self, Py_ssize_t i, bint seen) noexcept nogil:
        # It is for edges that are not linked, and asks for labels that are off only.
        cdef const double* y = &self.state.mix[0]
        cdef const vector[Link]* links = &self.state.links
        cdef const double* w = &self.state.w[self.factors.pair_weights]
        cdef Py_ssize_t m
        for m in range(<Py_ssize_t>links.size()):
            if y[links[0][m].first] == 0.0 and y[links[0][m].second] == 0.0:
                self.state.table.push(links[0][m].edge, w[links[0][m].edge] if seen else 0.0)

    cdef int bind(self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j) except -1 nogil:
        """Release two labels that are off, and link their edge."""
        cdef Py_ssize_t m
        if self.state.level[k] == 0:
            self.release(i, k)
        if self.state.level[j] == 0:
            self.release(i, j)
        for m in range(self.state.table.offsets[k], self.state.table.offsets[k + 1]):
            if self.state.table.label[m] == j:
                self.join(i, k, j, self.state.table.edge[m], self.state.table.weight[m])
        return 0


cdef bint inconsistent(const Link* link, const double* y) noexcept nogil:
    """Return whether an edge has not the mix that it would have if it were implied."""
    return (
        abs(link.q.first - y[link.first]) > NOISE
        or abs(link.q.second - y[link.second]) > NOISE
        or link.q.both > NOISE
    )


cdef bint tied(const Link* link) noexcept nogil:
    """Return whether messages hold the ends back, as where their shares sum to one."""
    return link.mu_first < -NOISE or link.mu_second < -NOISE
