"""State of dual-decomposed training of sets of labels (see the .pxd for what it holds)."""

import numpy as np

from libc.stdlib cimport calloc, free, realloc

from sskit.core.checks cimport check_index, check_least
from sskit.core.lanes cimport LANES
from sskit.core.memory cimport grown

# Links of a block for which there may be room without need
cdef Py_ssize_t SPARE = 8


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
        shape = factors.n_blocks, factors.n_labels
        cdef Py_ssize_t i, j
        check_least(w.shape[0], factors.n_weights + LANES, "the length of w")
        self.factors, self.lam, self.rho, self.w = factors, lam, rho, w
        self.n_blocks = factors.n_blocks
        self.links = <Links*>calloc(max(self.n_blocks, 1), sizeof(Links))
        if self.links == NULL:
            raise MemoryError(f"no memory for the edges of {factors.n_blocks} blocks")
        self.table = PairTable(factors)
        if np.any(w):
            self.prior = np.array(w)
            self.table.renew(w[factors.pair_weights:factors.n_weights])
        self.mix = np.empty(shape)
        self.level = np.zeros(shape, dtype=np.uint8)
        self.opened = np.zeros(factors.n_blocks, dtype=np.uint8)
        for i in range(factors.n_blocks):
            for j in range(factors.n_labels):
                self.mix[i, j] = factors.truth(i)[j]

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.links != NULL:
            for i in range(self.n_blocks):
                free(self.links[i].link)
            free(self.links)

    cdef double penalty(self, Py_ssize_t i) noexcept nogil:
        return 2.0 * self.rho * self.factors.block_weight[i] / self.lam

    cdef Link* join(self, Py_ssize_t i) except NULL nogil:
        cdef Links* links = &self.links[i]
        cdef Py_ssize_t room = links.room + links.room // 2 + 4
        if links.n == links.room:
            links.link = <Link*>grown(links.link, room * sizeof(Link))
            links.room = room
        links.n += 1
        return &links.link[links.n - 1]

    cdef void trim(self, Py_ssize_t i) noexcept nogil:
        cdef Links* links = &self.links[i]
        cdef void* less
        if links.room - links.n > SPARE + links.n // 8:
            # one that cannot be had smaller stays as it is
            less = realloc(links.link, max(links.n, 1) * sizeof(Link))
            if less != NULL:
                links.link, links.room = <Link*>less, max(links.n, 1)

    cdef void set_pair(self, Py_ssize_t i, Link* link, double z) noexcept nogil:
        cdef double* w = &self.w[self.factors.pair_weights + link.edge]
        w[0] -= self.factors.block_weight[i] / self.lam * (z - link.q.both)
        link.q.both = z
        self.table.push(link.edge, w[0])

    cdef double ascend(self, Py_ssize_t i, double step) noexcept nogil:
        cdef Links* links = &self.links[i]
        cdef const double* y = &self.mix[i, 0]
        cdef Link* link
        cdef Py_ssize_t m
        cdef double total = 0.0, squares = 0.0, first, second
        for m in range(links.n):
            link = &links.link[m]
            first, second = link.q.first - y[link.first], link.q.second - y[link.second]
            link.mu_first += step * first
            link.mu_second += step * second
            total += abs(first) + abs(second)
            squares += first * first + second * second
        self.ascent += self.factors.block_weight[i] * self.penalty(i) * step * squares
        return total

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small moves."""
        cdef Py_ssize_t i, j, m
        cdef LabelFactors factors = self.factors
        cdef double[::1] change = np.zeros(self.mix.shape[1] + LANES)
        cdef double* w = &self.w[0]
        cdef double scale
        cdef const unsigned char* truth
        np.asarray(self.w)[:] = 0.0 if self.prior is None else self.prior
        with nogil:
            for i in range(factors.n_blocks):
                scale, truth = factors.block_weight[i] / self.lam, factors.truth(i)
                for j in range(factors.n_labels):
                    change[j] = truth[j] - self.mix[i, j]
                factors.move(i, &change[0], scale, w)
                for m in range(self.links[i].n):
                    w[factors.pair_weights + self.links[i].link[m].edge] += scale * (
                        true_pair(truth, &self.links[i].link[m]) - self.links[i].link[m].q.both
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
        cdef Py_ssize_t i, j, m
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
                scale, y = factors.block_weight[i] / self.lam, &self.mix[i, 0]
                for j in range(factors.n_labels):
                    loss += factors.block_weight[i] * factors.cost[j] * abs(
                        y[j] - factors.truth(i)[j]
                    )
                for m in range(self.links[i].n):
                    link = &self.links[i].link[m]
                    z = min(link.q.both, y[link.first], y[link.second])
                    z = max(z, 0.0, y[link.first] + y[link.second] - 1.0)
                    w[factors.pair_weights + link.edge] -= scale * (z - link.q.both)
        return moved[: factors.n_weights], loss

    def lagrangian(self):
        """Return the augmented Lagrangian, which steps of a pass over open blocks never increase.
        """
        cdef Py_ssize_t i, j, m
        cdef LabelFactors factors = self.factors
        cdef double total = 0.0, half, first, second
        cdef const Link* link
        with nogil:
            for i in range(factors.n_blocks):
                half = 0.5 * factors.block_weight[i] * self.penalty(i)
                for j in range(factors.n_labels):
                    total -= factors.block_weight[i] * factors.cost[j] * abs(
                        self.mix[i, j] - factors.truth(i)[j]
                    )
                for m in range(self.links[i].n):
                    link = &self.links[i].link[m]
                    first = link.q.first - self.mix[i, link.first]
                    second = link.q.second - self.mix[i, link.second]
                    # ||r + mu||^2 - ||mu||^2
                    total += half * first * (first + 2.0 * link.mu_first)
                    total += half * second * (second + 2.0 * link.mu_second)
        w = np.asarray(self.w)[: factors.n_weights]
        total += 0.5 * self.lam * float(np.dot(w, w))
        return total if self.prior is None else total - 0.5 * self.lam * float(
            np.dot(self.prior, self.prior)
        )

    def largest_loss(self):
        """Return the loss of a block whose labels are all wrong, P(0)."""
        return float(np.sum(self.factors.block_weight) * np.sum(self.factors.cost))

    def mixes(self):
        """Return copies of y and of the levels of labels, (n_blocks, n_labels) each."""
        return np.array(self.mix), np.array(self.level)

    def linked(self, Py_ssize_t i):
        """Return the links of a block: (edge, q(1, 1), marginals, multipliers) of each."""
        cdef Py_ssize_t m
        cdef const Link* link
        check_index(i, self.n_blocks, "block")
        found = []
        for m in range(self.links[i].n):
            link = &self.links[i].link[m]
            found.append(
                (link.edge, link.q.both, (link.q.first, link.q.second),
                 (link.mu_first, link.mu_second))
            )
        return found

    @property
    def n_links(self):
        """Number of edges of blocks that are linked."""
        cdef Py_ssize_t i, total = 0
        for i in range(self.factors.n_blocks):
            total += self.links[i].n
        return total

    @property
    def n_bytes(self):
        """Memory of dual variables and messages, in bytes."""
        cdef Py_ssize_t i, total = 9 * self.factors.n_blocks * self.factors.n_labels
        for i in range(self.factors.n_blocks):
            total += sizeof(Links) + self.links[i].room * sizeof(Link)
        return total


cdef double true_pair(const unsigned char* truth, const Link* link) noexcept nogil:
    return truth[link.first] & truth[link.second]
