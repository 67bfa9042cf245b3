"""State of dual-decomposed training of sets of labels (see the .pxd for what it holds)."""

import numpy as np

from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.checks cimport check_index, check_least
from sskit.core.lanes cimport LANES
from sskit.solvers.dual_decomposition.label_pairs.block_code cimport (
    kept, read_block, sort_links, write_block
)
from sskit.solvers.dual_decomposition.label_pairs.pair_step cimport complete


cdef class LabelState:
    """Dual variables of labels and edges, at the truth to begin with.

    Parameters
    ----------
    factors : LabelFactors
        The problem.
    lam : float
        Regularisation strength.
    rho : float
        Weight of the disagreement of factors, in units of c_i^2 / lam.
    w : ndarray of shape (n_weights + LANES,)
        Where the weights are kept; zero, or the prior.
    """

    def __cinit__(self, LabelFactors factors, double lam, double rho, double[::1] w):
        check_least(w.shape[0], factors.n_weights + LANES, "the length of w")
        self.factors, self.lam, self.rho, self.w = factors, lam, rho, w
        self.n_blocks = factors.n_blocks
        self.kept.resize(self.n_blocks)
        self.count = np.zeros(self.n_blocks, dtype=np.int32)
        self.table = PairTable(factors)
        if np.any(w):
            self.prior = np.array(w)
            self.table.renew(w[factors.pair_weights:factors.n_weights])
        self.mix = np.zeros(max(factors.n_labels, 1))
        self.level = np.zeros(max(factors.n_labels, 1), dtype=np.uint8)
        self.opened = np.zeros(factors.n_blocks, dtype=np.uint8)

    cdef double penalty(self, Py_ssize_t i) noexcept nogil:
        return 2.0 * self.rho * self.factors.block_weight[i] / self.lam

    cdef int read(self, Py_ssize_t i) except -1 nogil:
        cdef size_t m
        cdef Link* link
        self.links.resize(self.count[i])
        read_block(
            &self.kept[i], self.factors.n_labels, self.factors.truth(i), &self.mix[0],
            &self.level[0], &self.links,
        )
        for m in range(self.links.size()):
            link = &self.links[m]
            link.first = self.factors.ends[link.edge, 0]
            link.second = self.factors.ends[link.edge, 1]
        return 0

    cdef int load(self, Py_ssize_t i) except -1 nogil:
        cdef size_t m
        cdef const double* y = &self.mix[0]
        cdef Link* link
        self.read(i)
        for m in range(self.links.size()):
            link = &self.links[m]
            complete(&link.q, y[link.first] - link.mu_first, y[link.second] - link.mu_second)
        return 0

    cdef double store(self, Py_ssize_t i) except? -1 nogil:
        cdef double kappa = self.factors.block_weight[i] / self.lam
        cdef double decrease = self.strain(i), more
        cdef const double* y = &self.mix[0]
        cdef Link* link
        cdef size_t m
        cdef vector[unsigned char] exact
        sort_links(&self.links)
        for m in range(self.links.size()):
            link = &self.links[m]
            more = kept(link.q.both) - link.q.both
            if more != 0.0:
                decrease += more * (
                    self.w[self.factors.pair_weights + link.edge] - 0.5 * kappa * more
                )
                self.set_pair(i, link, kept(link.q.both))
            link.mu_first, link.mu_second = kept(link.mu_first), kept(link.mu_second)
            complete(&link.q, y[link.first] - link.mu_first, y[link.second] - link.mu_second)
        write_block(
            self.factors.n_labels, self.factors.truth(i), y, &self.level[0], &self.links,
            &self.text,
        )
        # no more than is needed: vectors that grow double
        exact.reserve(self.text.size())
        exact.resize(self.text.size())
        memcpy(exact.data(), self.text.data(), self.text.size())
        self.kept[i].swap(exact)
        self.count[i] = <int32_t>self.links.size()
        return decrease - self.strain(i)

    cdef Link* join(self) except NULL nogil:
        self.links.resize(self.links.size() + 1)
        return &self.links[self.links.size() - 1]

    cdef double strain(self, Py_ssize_t i) noexcept nogil:
        cdef const double* y = &self.mix[0]
        cdef const Link* link
        cdef size_t m
        cdef double total = 0.0, first, second
        for m in range(self.links.size()):
            link = &self.links[m]
            first, second = link.q.first - y[link.first], link.q.second - y[link.second]
            # ||r + mu||^2 - ||mu||^2
            total += first * (first + 2.0 * link.mu_first)
            total += second * (second + 2.0 * link.mu_second)
        return 0.5 * self.penalty(i) * total

    cdef void set_pair(self, Py_ssize_t i, Link* link, double z) noexcept nogil:
        cdef double* w = &self.w[self.factors.pair_weights + link.edge]
        w[0] -= self.factors.block_weight[i] / self.lam * (z - link.q.both)
        link.q.both = z
        self.table.push(link.edge, w[0])

    cdef double ascend(self, Py_ssize_t i, double step) noexcept nogil:
        cdef const double* y = &self.mix[0]
        cdef Link* link
        cdef size_t m
        cdef double total = 0.0, squares = 0.0, first, second
        for m in range(self.links.size()):
            link = &self.links[m]
            first, second = link.q.first - y[link.first], link.q.second - y[link.second]
            link.mu_first += step * first
            link.mu_second += step * second
            total += abs(first) + abs(second)
            squares += first * first + second * second
        self.ascent += self.factors.block_weight[i] * self.penalty(i) * step * squares
        return total

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small moves."""
        cdef Py_ssize_t i, j
        cdef size_t m
        cdef const Link* link
        cdef LabelFactors factors = self.factors
        cdef double[::1] change = np.zeros(factors.n_labels + LANES)
        cdef double* w = &self.w[0]
        cdef double scale
        cdef const unsigned char* truth
        np.asarray(self.w)[:] = 0.0 if self.prior is None else self.prior
        with nogil:
            for i in range(factors.n_blocks):
                scale, truth = factors.block_weight[i] / self.lam, factors.truth(i)
                self.read(i)
                for j in range(factors.n_labels):
                    change[j] = truth[j] - self.mix[j]
                factors.move(i, &change[0], scale, w)
                for m in range(self.links.size()):
                    link = &self.links[m]
                    w[factors.pair_weights + link.edge] += scale * (
                        true_pair(truth, link) - link.q.both
                    )
        self.table.renew(self.w[factors.pair_weights:factors.n_weights])

    def consistent(self):
        """Return the weights and the mean loss of marginals on which all factors agree.

        Labels keep theirs; an edge that is linked keeps q(1, 1) as far as its ends allow. That is
        a point of the local polytope, and a dual point of the relaxed problem. Where factors
        agree already nothing changes, so that its objective becomes the optimum.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            The prior and (1 / lam) sum_i c_i (psi_i of the marginals).
        loss : float
            sum_i c_i L_i of the marginals. As long as a block is not open both are those of the
            truth, the prior and zero.
        """
        cdef LabelFactors factors = self.factors
        cdef Py_ssize_t i, j
        cdef size_t m
        cdef double loss = 0.0, scale, z
        cdef const Link* link
        cdef const double* y
        moved = np.array(self.w)
        cdef double[::1] w = moved
        for i in range(factors.n_blocks):
            if factors.block_weight[i] > 0.0 and not self.opened[i]:
                if self.prior is None:
                    return np.zeros(factors.n_weights), 0.0
                return self.prior[: factors.n_weights].copy(), 0.0
        with nogil:
            for i in range(factors.n_blocks):
                scale, y = factors.block_weight[i] / self.lam, &self.mix[0]
                self.read(i)
                for j in range(factors.n_labels):
                    loss += factors.block_weight[i] * factors.cost[j] * abs(
                        y[j] - factors.truth(i)[j]
                    )
                for m in range(self.links.size()):
                    link = &self.links[m]
                    z = min(link.q.both, y[link.first], y[link.second])
                    z = max(z, 0.0, y[link.first] + y[link.second] - 1.0)
                    w[factors.pair_weights + link.edge] -= scale * (z - link.q.both)
        return moved[: factors.n_weights], loss

    def largest_loss(self):
        """Return the loss of a block whose labels are all wrong, P(0)."""
        return float(np.sum(self.factors.block_weight) * np.sum(self.factors.cost))

    def mixes(self):
        """Return copies of y and of the levels of labels, (n_blocks, n_labels) each."""
        shape = self.n_blocks, self.factors.n_labels
        mix, level = np.empty(shape), np.empty(shape, dtype=np.uint8)
        for i in range(self.n_blocks):
            self.read(i)
            mix[i] = np.asarray(self.mix)[: shape[1]]
            level[i] = np.asarray(self.level)[: shape[1]]
        return mix, level

    def linked(self, Py_ssize_t i):
        """Return the links of a block: (edge, q(1, 1), marginals, multipliers) of each."""
        cdef size_t m
        cdef const Link* link
        check_index(i, self.n_blocks, "block")
        self.load(i)
        found = []
        for m in range(self.links.size()):
            link = &self.links[m]
            found.append(
                (link.edge, link.q.both, (link.q.first, link.q.second),
                 (link.mu_first, link.mu_second))
            )
        return found

    @property
    def n_links(self):
        """Number of edges of blocks that are linked."""
        return int(np.sum(self.count, dtype=np.int64))

    @property
    def n_bytes(self):
        """Memory of dual variables and messages, in bytes."""
        cdef size_t i, total = 0
        for i in range(self.kept.size()):
            total += sizeof(vector[unsigned char]) + self.kept[i].size() + 5
        return total


cdef double true_pair(const unsigned char* truth, const Link* link) noexcept nogil:
    return truth[link.first] & truth[link.second]
