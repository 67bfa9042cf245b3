"""The contract of a training problem between models and solvers (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport LANES


cdef class Problem:
    """Base of all problems; a subclass fills the sizes and overrides every method."""

    def __cinit__(self):
        self.block_weight = np.zeros(0)
        self.space = FeatureSpace()
        self.plane_store = PlaneStore()

    cdef int lacks(self, str name) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement {name}")

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        return self.lacks("scores")

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        return self.scores(i, w, theta)

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        return self.lacks("argmax")

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.lacks("plane")

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.max_code_length

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        return self.lacks("truth")

    cdef int scatter(self, Py_ssize_t i, Direction delta, double step, double* v) except -1 nogil:
        return self.lacks("scatter")

    cdef double grow(
        self, Py_ssize_t i, Direction delta, const double* w, double* v
    ) except? -1 nogil:
        cdef Py_ssize_t entry
        cdef double[::1] theta
        cdef double growth = self.sqnorm(i, delta)
        with gil:
            theta = np.empty(max(self.max_statistics, 1))
        self.scores_at(i, w, &delta.index[0], delta.n, &theta[0])
        for entry in range(delta.n):
            growth += 2.0 * delta.value[delta.index[entry]] * theta[delta.index[entry]]
        self.scatter(i, delta, 1.0, v)
        return growth

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        return self.lacks("clip")

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        return self.lacks("sqnorm")

    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil:
        with gil:
            products_by_norms(
                self, i, delta, index, value, first, n, out, Direction(self.max_statistics)
            )
        return 0

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return False

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        pass

    cdef int check_weights(self, Py_ssize_t length, str name) except -1:
        return check_least(length, self.n_weights + LANES, f"the length of {name}")

    cpdef Problem fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")

    def restrict(self, blocks, block_weight):
        """Return the same problem for some blocks alone, if it is in a kernel space.

        Its weights are functions of these blocks only, so that their number does not grow with
        that of all blocks.

        Parameters
        ----------
        blocks : ndarray of int
            Numbers of the blocks, which rise.
        block_weight : ndarray of shape (len(blocks),)
            Their weights there.

        Returns
        -------
        problem : Problem
            Its block k is blocks[k] here.
        """
        if self.space.support is None:
            raise NotImplementedError(f"{type(self).__name__} is in no kernel space")
        return self.space.support.restrict(self, blocks, block_weight)

    cdef bint choose(
        self, Py_ssize_t i, const double* theta, const SlackGoal* goal, int32_t* code,
        double* loss
    ) except -1 nogil:
        return self.lacks("choose")

    def n_candidates(self):
        """Make room for candidates for slack rescaling; return how many a block has at most.

        0: there are none, and `choose` is not called.
        """
        return 0

    def oracle_pool(self, n_jobs):
        """Return a pool that computes answers of argmax in advance, or None.

        Parameters
        ----------
        n_jobs : int
            Number of workers.

        Returns
        -------
        pool : object or None
            It has precompute(blocks, w), after which argmax of these blocks, at the potentials of
            this w and with the whole loss, returns the same answers without delay; and clear(),
            which drops the unused ones.
        """
        return None

    def decomposition(self):
        """Return the `Factors` over which the joint feature map is a sum, or None.

        It is for solvers that never need the best labelling of a whole block.
        """
        return None

    def state_blocks(self):
        """Return the `StateBlocks` of a problem whose labellings are states, or None.

        It is for steps that go to the best mix of all planes of a block at once.
        """
        return None

    def coded_planes(self):
        """Return the `CodedPlanes` of a problem, for one thread, or None.

        It is for steps between stored planes.
        """
        return None

    def log_loss(self, n_jobs=None, stop=None):
        """Return an object that evaluates -log p of all truths and its gradient, or None.

        Parameters
        ----------
        n_jobs : int, default=None
            Number of workers, as in scikit-learn.
        stop : Stop, default=None
            Tells when to end a pass early; None: never.

        Returns
        -------
        loss : object or None
            Has ``evaluate(w, gradient)``, which returns the mean over the blocks at padded weights
            and adds its gradient; ``losses()``, those of the blocks; and ``n_queries(n_calls)``.
        """
        return None

    def dual_bytes(self):
        """Return how many bytes the dual point of a likelihood takes; None if there is none."""
        return None

    def log_dual(self, stop):
        """Return the dual point of a likelihood, if `dual_bytes` is not None.

        Parameters
        ----------
        stop : Stop
            Tells when to end a pass early.
        """
        return None

    def margin(self):
        """Return the same problem under margin rescaling: itself, if it has no other."""
        return self

    def mean_length(self):
        """Return the mean length of the codes of planes: of a sequence that of its labels."""
        cdef Py_ssize_t i, total = 0
        for i in range(self.n_blocks):
            total += self.code_length(i)
        return total / max(self.n_blocks, 1)

    @property
    def name(self):
        """What error messages call the problem."""
        return type(self).__name__

    def n_queries(self, n_calls):
        """Return how often the model's own oracle was called.

        Parameters
        ----------
        n_calls : int
            How often argmax was called, through this object and its forks.

        Returns
        -------
        n_queries : int
            The same, unless argmax calls another oracle several times.
        """
        return n_calls

    def fingerprint(self):
        """Return the `Fingerprint`, the same for problems of the same model and data."""
        raise NotImplementedError(f"{type(self).__name__} must implement fingerprint")


# <a, b> = (||a||^2 + ||b||^2 - ||a - b||^2) / 2, for problems without a faster method
cdef int products_by_norms(
    Problem problem, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
    const Py_ssize_t* first, Py_ssize_t n, double* out, Direction other
) except -1:
    cdef double own = problem.sqnorm(i, delta), alone
    cdef Py_ssize_t r, e
    cdef int32_t j
    for r in range(n):
        other.add(index + first[r], value + first[r], first[r + 1] - first[r], 1.0)
        alone = problem.sqnorm(i, other)
        for e in range(delta.n):
            j = delta.index[e]
            other.add(&j, &delta.value[j], 1, -1.0)
        out[r] = 0.5 * (own + alone - problem.sqnorm(i, other))
        other.clear()
    return 0


def block_weights(n_blocks, sample_weight=None, largest=None, total=None):
    """Return the weights c_i of the blocks in the mean loss.

    Parameters
    ----------
    n_blocks : int
        Number of training pairs n.
    sample_weight : array-like of shape (n_blocks,), default=None
        Non-negative weights s_i; None means one for each.
    largest : float, default=None
        If these are only some of the blocks, the largest weight of all.
    total : float, default=None
        Likewise the sum of the weights of all blocks, each divided by the largest.

    Returns
    -------
    ndarray of shape (n_blocks,)
        c_i = s_i / sum(s).
    """
    weight = np.ones(n_blocks) if sample_weight is None else np.array(sample_weight, np.float64)
    # dividing by the maximum first keeps tiny weights from underflowing in the sum
    weight /= weight.max() if largest is None else largest
    return weight / (weight.sum() if largest is None else total)
