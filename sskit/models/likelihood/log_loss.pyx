"""The mean negative log-likelihood of a problem, and its gradient (see the .pxd).

    loss        f(w) = sum_i c_i (log Z_i - <theta_i, m_i(y_i)>),  theta_i = B_i^T w,
                log Z_i = log sum_y exp <theta_i, m_i(y)>
    gradient    sum_i c_i B_i (E[m_i(y)] - m_i(y_i)),  the expectation over p(y) = exp(..) / Z_i

Where several labels of a node may be right, the log-sum over all right labellings takes the place
of the score of y_i, and the expectation over them that of m_i(y_i); f is then not convex. The
solver adds lam / 2 ||w||^2 (`solvers/quasi_newton`).
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memset

from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport FeatureRows
from sskit.models.rows cimport Rows

from sskit._numbers import count_threads
from sskit.core.stop import CutShort
from sskit.models.likelihood.log_dual import LogDual, bytes_of

cdef extern from "expectations.hpp" namespace "sskit":
    void add_feature_range(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, double step, const double* direction,
        Py_ssize_t n_columns, Py_ssize_t low, Py_ssize_t high, double* weights
    ) noexcept nogil
    void add_marked(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, double step, const double* direction,
        Py_ssize_t n_columns, double* weights
    ) noexcept nogil

    void add_edge_range(
        const Rows* rows, Py_ssize_t t, double step, const double* table, Py_ssize_t n_rows,
        Py_ssize_t n_columns, Py_ssize_t stride, Py_ssize_t low, Py_ssize_t high,
        double* weights
    ) noexcept nogil

# Numbers of the statistics of a portion: half a megabyte, for each worker.
cdef Py_ssize_t ROOM = 2**16
# Features of dense rows whose weights stay in the fastest cache.
cdef Py_ssize_t TILE = 64
# More workers would wait for each other.
MOST_WORKERS = 64


cdef class LikelihoodProblem(StructuredProblem):
    """A structure bound to data, whose surrogate is the negative log-likelihood.

    Parameters
    ----------
    *args : object
        As of a `StructuredProblem`; the costs of labels have no effect.
    """

    def log_loss(self, n_jobs=None, stop=None):
        """Return the `LogLoss` of the problem.

        Parameters
        ----------
        n_jobs : int, default=None
            Number of workers, as in scikit-learn.
        stop : Stop, default=None
            Tells when to end a pass early; None: never.

        Returns
        -------
        loss : LogLoss
        """
        n_workers = max(min(count_threads(n_jobs), self.n_blocks, MOST_WORKERS), 1)
        return LogLoss(self, n_workers, Stop() if stop is None else stop)

    def dual_bytes(self):
        """Return the bytes of the `LogDual` of the problem; None if it cannot have one."""
        if self.loss.has_sets or self.map.tail_extremes:
            return None
        return bytes_of(self)

    def log_dual(self, stop):
        """Return the `LogDual` of the problem, at the truths.

        Parameters
        ----------
        stop : Stop
            Tells when to end a pass early.
        """
        return LogDual(self, stop)

    def fingerprint(self):
        """Return the `Fingerprint`, the same for problems of the same model and data."""
        base = StructuredProblem.fingerprint(self)
        return type(base)(base.whole | {"the surrogate": "log"}, base.blocks)


def likelihood_of(StructuredProblem problem):
    """Return the problem with the negative log-likelihood in place of the hinge."""
    cdef StructuredProblem p = problem
    return LikelihoodProblem(p.map, p.structure, p.loss, p.block_weight)


cdef class LogLoss(Task):
    """The log-loss of all blocks.

    Parameters
    ----------
    problem : StructuredProblem
        The problem; its structure has marginals and statistics.
    n_workers : int
        Number of threads, that of the caller included.
    stop : Stop
        Tells when to end a pass early.
    room : int
        Numbers of the statistics of a portion, for each worker.
    """

    def __cinit__(self, StructuredProblem problem, Py_ssize_t n_workers, Stop stop,
                  Py_ssize_t room=ROOM):
        cdef FeatureMap map = problem.map
        cdef Structure structure
        self.problem, self.map, self.stop, self.n_workers = problem, map, stop, n_workers
        self.thread_pool = ThreadPool(n_workers, stop=stop) if n_workers > 1 else None
        self.structures = [
            problem.structure if k == 0 else problem.structure.fork() for k in range(n_workers)
        ]
        for structure in self.structures:
            self.structure_of.push_back(<void*>structure)
        self.theta = np.zeros((n_workers, map.max_statistics + LANES))
        self.index = np.zeros((n_workers, problem.max_support + 1), dtype=np.int32)
        self.value = np.zeros((n_workers, problem.max_support + 1))
        self.loss = np.zeros(problem.n_blocks)
        self.convex = not problem.loss.has_sets
        self.is_open = np.zeros(problem.n_blocks, dtype=np.uint8)
        if not self.convex:
            n_open = np.append(0, np.cumsum(np.sum(problem.loss.right, axis=1) > 1))
            self.is_open = np.diff(n_open[np.asarray(problem.offsets)]).astype(bool).view(np.uint8)
            self.right = np.zeros((n_workers, map.max_statistics + LANES))
        self.arrange_portions(room * n_workers)
        self.node_bound = self.feature_bounds(map.features)
        self.edge_bound = np.zeros(len(self.node_bound), dtype=np.int64)
        if map.has_edges:
            self.edge_bound = np.linspace(
                0, map.edge_rows.width, len(self.node_bound)
            ).astype(np.int64)

    def arrange_portions(self, Py_ssize_t size):
        """Divide the blocks into portions whose statistics are so many numbers, or one block."""
        cdef Py_ssize_t i, own, used = 0, most = 0, n_blocks = self.problem.n_blocks
        cdef FeatureMap map = self.map
        self.place = np.zeros(n_blocks + 1, dtype=np.int64)
        begins = [0]
        for i in range(n_blocks):
            own = map.edge_base(i) + map.n_edges(i) * map.edge_stride + LANES
            if used and used + own > size:
                begins.append(i)
                used = 0
            self.place[i] = used
            used += own
            most = max(most, used)
        self.portion = np.array([*begins, n_blocks], dtype=np.int64)
        self.room = np.zeros(most + LANES)

    def feature_bounds(self, FeatureRows rows):
        """Return where the features of each part begin: as many entries for each worker."""
        p = self.map.rows.width
        if self.map.rows.indptr == NULL:
            n_parts = max(1, -(-p // TILE), self.n_workers)
            return np.linspace(0, p, n_parts + 1).astype(np.int64)
        if self.n_workers == 1:
            return np.array([0, p], dtype=np.int64)
        entries = np.cumsum(np.bincount(rows.indices, minlength=p))
        fractions = np.arange(1, self.n_workers) / self.n_workers
        inner = np.searchsorted(entries, fractions * rows.n_entries) + 1
        return np.append(0, np.append(np.minimum(inner, p), p)).astype(np.int64)

    def n_queries(self, n_calls):
        """Return the number of sums over labellings."""
        return n_calls

    def losses(self):
        """Return -log p of the truth of each block, by the last pass, shape (n_blocks,)."""
        return np.asarray(self.loss)

    def evaluate(self, const double[::1] w, double[::1] gradient):
        """Return the mean loss at w, and add its gradient.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        gradient : ndarray of shape (n_weights + LANES,)
            The gradient is added to it.

        Returns
        -------
        loss : float
            sum_i c_i (log Z_i - score of the truth).

        Raises
        ------
        CutShort
            If the fit is to stop before the end.
        """
        cdef Py_ssize_t k, n_parts = len(self.node_bound) - 1
        cdef double total = 0.0
        self.problem.check_weights(w.shape[0], "w")
        self.problem.check_weights(gradient.shape[0], "gradient")
        self.w, self.gradient = &w[0], &gradient[0]
        for k in range(self.n_workers):
            self.map.common_scores(self.w, &self.theta[k, 0])
            (<Structure>self.structure_of[k]).prepare_marginals(self.theta[k])
        self.common.assign(self.map.tail_base + self.map.tail_rows * self.map.tail_stride, 0.0)
        for k in range(len(self.portion) - 1):
            self.first, self.stop_block = self.portion[k], self.portion[k + 1]
            self.adds = False
            n = self.stop_block - self.first
            self.do_phase(n, n // (8 * self.n_workers))
            if self.stop.over():
                raise CutShort(f"cut short after {self.first} blocks")
            self.adds = True
            self.do_phase(n_parts, 1)
        for k in range(self.common.size()):
            gradient[self.map.place[k]] += self.common[k]
        # not by BLAS, whose threads would spin after each pass
        for k in range(self.problem.n_blocks):
            if self.problem.block_weight[k] != 0.0:
                total += self.problem.block_weight[k] * self.loss[k]
        return total

    cdef int do_phase(self, Py_ssize_t n, Py_ssize_t chunk) except -1:
        if self.thread_pool is None:
            with nogil:
                self.perform(0, n, 0)
            return 0
        self.thread_pool.begin(self)
        try:
            with nogil:
                self.thread_pool.run(n, chunk)
        finally:
            self.thread_pool.end()
        return 0

    cdef bint perform(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t k, i
        for k in range(start, stop):
            if self.adds:
                for i in range(self.first, self.stop_block):
                    self.gather(i, k, self.map)
                continue
            self.expect(
                self.first + k, worker, self.map, <Structure>self.structure_of[worker]
            )
            # only the calling thread may read the clock and handle signals
            if self.stop.over() if worker else self.stop.due():
                return True
        return False

    # the statistics of a block: E[m(y)] - m(truth), the gradient of log Z - score by theta
    cdef int expect(
        self, Py_ssize_t i, Py_ssize_t worker, FeatureMap map, Structure structure
    ) except -1 nogil:
        cdef double* theta = &self.theta[worker, 0]
        cdef double* own = &self.room[self.place[i]]
        cdef const int32_t* truth
        cdef Py_ssize_t k, n, end = map.edge_base(i)
        cdef double score = 0.0
        cdef Block b = self.problem.block(i, theta)
        memset(own, 0, (end + map.n_edges(i) * map.edge_stride) * sizeof(double))
        self.loss[i] = 0.0
        if not b.n:
            return 0
        map.own_scores(i, self.w, theta)
        # own = E[m(y)] - m(truth), loss = log Z - theta @ m(truth)
        self.loss[i] = structure.marginals(&b, own + map.node_base, own)
        if self.loss[i] == -INFINITY:
            self.loss[i] = INFINITY
            return 0
        if self.is_open[i]:
            score = self.expect_right(&b, worker, map, structure, own)
            self.loss[i] = INFINITY if score == -INFINITY else self.loss[i] - score
            return 0
        truth = &self.problem.loss.truth[b.first]
        n = structure.statistics(&b, truth, &self.index[worker, 0], &self.value[worker, 0])
        for k in range(n):
            own[self.index[worker, k]] -= self.value[worker, k]
            score += self.value[worker, k] * theta[self.index[worker, k]]
        self.loss[i] -= score
        return 0

    # own -= the expected statistics of the right labellings; returns the log-sum over these
    cdef double expect_right(
        self, const Block* b, Py_ssize_t worker, FeatureMap map, Structure structure, double* own
    ) except? -1 nogil:
        cdef Py_ssize_t t, k, size = map.edge_base(b.i) + map.n_edges(b.i) * map.edge_stride
        cdef double* theta = &self.theta[worker, 0]
        cdef double* right = &self.right[worker, 0]
        cdef double log_sum
        for t in range(b.n):
            for k in range(self.problem.loss.n_states):
                if not self.problem.loss.right[b.first + t, k]:
                    theta[map.node_base + t * map.stride + k] = -INFINITY
        memset(right, 0, size * sizeof(double))
        log_sum = structure.marginals(b, right + map.node_base, right)
        for k in range(size):
            own[k] -= right[k]
        return log_sum

    # add the statistics of a block to the gradient, for a part of the features
    cdef void gather(self, Py_ssize_t i, Py_ssize_t part, FeatureMap map) noexcept nogil:
        cdef const double* own = &self.room[self.place[i]]
        cdef double step = self.problem.block_weight[i]
        cdef double* out = self.gradient
        cdef double* common = self.common.data()
        cdef Py_ssize_t e, j, c, first = map.first_row(i), count = map.count(i)
        cdef Py_ssize_t n_rows = 1, columns = map.edge_columns, stride = map.edge_stride
        cdef Py_ssize_t low = self.edge_bound[part], high = self.edge_bound[part + 1]
        # gradient += c_i B_i own
        add_feature_range(
            &map.rows, first, count, step, own + map.node_base, map.n_columns,
            self.node_bound[part], self.node_bound[part + 1], out
        )
        own += map.edge_base(i)
        if map.edge_pairs:
            n_rows, columns, stride = map.head_rows, map.head_columns, padded(map.head_columns)
        for e in range(map.n_edges(i) if high > low else 0):
            add_edge_range(
                &map.edge_rows, map.edges[i] + e, step, own + e * map.edge_stride, n_rows, columns,
                stride, low, high, out + map.edge_weights
            )
        if part:
            return
        own -= map.edge_base(i)
        add_marked(&map.rows, first, count, step, own + map.node_base, map.n_columns, out)
        # the weights of the tables are few: their places are found once, at the end of a pass
        for j in range(map.tail_base + map.tail_rows * map.tail_stride):
            common[j] += step * own[j]
        own += map.edge_base(i)
        # a table of an edge includes the weights of the head
        for e in range(map.n_edges(i) if map.edge_pairs else 0):
            for c in range(map.edge_stride):
                common[c] += step * own[e * map.edge_stride + c]
