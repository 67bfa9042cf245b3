"""The contract of structures, and the training problem made of one (see the .pxd)."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import value_digests

from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy

from sskit.core.capabilities cimport StateBlocks
from sskit.core.checks cimport all_below
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport prefetch_memory
from sskit.core.problem cimport goal_value

cdef extern from "projection.hpp" namespace "sskit":
    double set_scores(
        const double* theta, double level, const double* loss, const double* weight, Py_ssize_t n,
        double most, double* score, double* mix
    ) noexcept nogil
    void best_set_mix(
        const double* weight, const double* score, Py_ssize_t n, Py_ssize_t truth, double curvature,
        double most, double* result
    ) noexcept nogil

cdef const double[:, ::1] NO_TABLE = np.zeros((0, 1))
cdef const unsigned char[:, ::1] NO_MASK = np.zeros((0, 1), dtype=np.uint8)
cdef const unsigned char[::1] NO_MARKS = np.zeros(0, dtype=np.uint8)
# What error messages call the tables of nodes.
MASKS = (
    "the right labels", "the labels allowed", "which nodes have a label in y",
    "the losses of labels",
)


cdef class NodeLoss:
    """What wrong states cost.

    Parameters
    ----------
    truth : ndarray of shape (n_nodes,), int32
        A right state of each node; 0 where it has no label. If this and the costs are empty, there
        is no loss, and only `possible` has an effect.
    cost : ndarray of shape (n_nodes,), float64
        Loss of a wrong state at each node; 0 where it has no label. Empty where the structure has
        a loss of its own.
    n_states : int
        Number of states K.
    table : ndarray of shape (K, K) or (n_nodes, K), default=None
        Factors of the costs, by true and predicted state, or by node; None: 1 for all wrong ones.
    right, possible : ndarray of shape (n_nodes, K), bool, default=None
        States that are right, and that are possible; None: the truth alone, and all.
    labelled : ndarray of shape (n_nodes,), bool, default=None
        Which nodes have a label; others keep the state 0. None: all.
    by_node : bool, default=False
        Whether `table` has a row for each node; each node then has one right state.
    """

    def __cinit__(self, truth, cost, Py_ssize_t n_states, table=None, right=None, possible=None,
                  labelled=None, bint by_node=False):
        self.arguments = dict(
            truth=truth, cost=cost, table=table, right=right, possible=possible, labelled=labelled
        )
        self.truth, self.cost, self.n_states, self.by_node = truth, cost, n_states, by_node
        self.table = NO_TABLE if table is None else table
        self.right = self.possible = NO_MASK
        self.labelled = NO_MARKS
        if right is not None:
            self.right = np.ascontiguousarray(right, dtype=bool).view(np.uint8)
        if possible is not None:
            self.possible = np.ascontiguousarray(possible, dtype=bool).view(np.uint8)
        if labelled is not None:
            self.labelled = np.ascontiguousarray(labelled, dtype=bool).view(np.uint8)
        # without a truth nothing is added, and what is impossible has been forbidden before
        if len(truth):
            self.has_masks = possible is not None or labelled is not None
            self.is_bonus = not self.has_masks and table is None and right is None

    cdef double at(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t a
        cdef double least = INFINITY
        if not self.right.shape[0]:
            if self.table.shape[0]:
                return self.cost[j] * self.table[j if self.by_node else self.truth[j], k]
            return self.cost[j] * (k != self.truth[j])
        if self.right[j, k]:
            return 0.0
        if not self.table.shape[0]:
            return self.cost[j]
        for a in range(self.n_states):
            if self.right[j, a]:
                least = min(least, self.table[a, k])
        return self.cost[j] * least

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t n, double weight, double* node, Py_ssize_t stride
    ) noexcept nogil:
        cdef Py_ssize_t j, k
        for j in range(first, first + n):
            if self.labelled.shape[0] and not self.labelled[j]:
                for k in range(self.n_states):
                    node[k] = -(k != 0)
            elif self.table.shape[0]:
                for k in range(self.n_states):
                    node[k] += weight * self.at(j, k)
            elif self.right.shape[0]:
                # up to a constant, a loss of all states but some is a negative one of those
                for k in range(self.n_states):
                    node[k] -= weight * self.cost[j] * self.right[j, k]
            else:
                node[self.truth[j]] -= weight * self.cost[j]
            node += stride
        self.forbid(first, n, node - n * stride, stride)

    cdef void forbid(
        self, Py_ssize_t first, Py_ssize_t n, double* node, Py_ssize_t stride
    ) noexcept nogil:
        cdef Py_ssize_t j, k
        for j in range(first, first + (n if self.possible.shape[0] else 0)):
            for k in range(self.n_states):
                if not self.possible[j, k]:
                    node[k] = -INFINITY
            node += stride

    cdef void write(self, Py_ssize_t j, double* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef double cost = self.cost[j]
        if self.table.shape[0] or self.right.shape[0]:
            for k in range(self.n_states):
                out[k] = self.at(j, k)
            return
        for k in range(self.n_states):
            out[k] = cost
        out[self.truth[j]] = 0.0

    cdef double of(self, Py_ssize_t first, Py_ssize_t n, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        if self.table.shape[0] or self.right.shape[0]:
            for t in range(n):
                total += self.at(first + t, code[t])
            return total
        for t in range(n):
            if code[t] != self.truth[first + t]:
                total += self.cost[first + t]
        return total

    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        prefetch_memory(&self.truth[first], n * sizeof(int32_t))
        if self.cost.shape[0]:
            prefetch_memory(&self.cost[first], n * sizeof(double))

    def _but(self, **changes):
        return NodeLoss(n_states=self.n_states, by_node=self.by_node, **self.arguments | changes)

    def with_truth(self, truth):
        """Return the same loss with other states as the truth."""
        return self._but(truth=np.ravel(truth).astype(np.int32, copy=False))

    def accepting(self, right):
        """Return the same loss with several right states, (n_nodes, K), the truth among them."""
        return self._but(right=right)

    def at_nodes(self, numbers):
        """Return the loss of some nodes alone."""
        return self._but(**{
            name: values if values is None or name == "table" and not self.by_node
            else np.asarray(values)[numbers]
            for name, values in self.arguments.items()
        })

    @property
    def labels(self):
        """A right state of each node, shape (n_nodes,), int32."""
        return np.asarray(self.truth)

    @property
    def has_sets(self):
        """Whether nodes may have several right states."""
        return len(self.right) > 0

    def digests(self, offsets):
        """Return what distinguishes losses, of the whole and of each block."""
        whole, by_node = {}, ()
        if self.by_node:
            by_node = self.table
        elif len(self.table):
            whole["the costs of pairs"] = np.asarray(self.table).tobytes()
        blocks = {"y": value_digests(self.truth, offsets)}
        if len(self.cost):
            blocks["the loss of y"] = value_digests(self.cost, offsets)
        tables = map(np.asarray, (self.right, self.possible, self.labelled, by_node))
        for name, table in zip(MASKS, tables):
            if len(table):
                width = table.size // len(table)
                blocks[name] = value_digests(table.ravel(), np.asarray(offsets) * width)
        return whole, blocks


cdef class Structure:
    """Base of all structures; a subclass overrides best, plane and knows.

    Parameters
    ----------
    max_code_length : int
        Length of the longest code of a labelling.
    max_support : int
        Largest number of entries of a plane.
    """

    def __cinit__(self, *arguments, **options):
        self.arguments, self.options = arguments, options
        self.exact = self.lock_free = True

    cdef int lacks(self, str name) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement {name}")

    cdef const int64_t[::1] offsets(self, FeatureMap map):
        if not self.n_labels:
            return map.nodes
        return np.arange(map.n_blocks + 1, dtype=np.int64) * self.n_labels

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        return self.lacks("best")

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        return self.lacks("plane")

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return False

    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil:
        return b.n

    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil:
        memcpy(code, truth, b.n * sizeof(int32_t))

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        return loss.of(b.first, b.n, code)

    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil:
        return self.lacks("candidates")

    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil:
        return self.lacks("take")

    cdef bint choose(
        self, const Block* b, NodeLoss loss, const SlackGoal* goal, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t c, best = -1
        cdef double value, most = 0.0
        self.goal = goal
        for c in range(self.candidates(b, loss, self.h.data(), self.g.data())):
            value = goal_value(goal, goal.offset + self.h[c], self.g[c])
            if value > most:
                best, most = c, value
        if best >= 0:
            self.take(b, loss, best, code)
        else:
            self.truth_code(b, &loss.truth[b.first], code)
        return best >= 0

    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil:
        return self.lacks("k_best")

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        return self.lacks("max_marginals")

    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil:
        return self.lacks("score")

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        return self.lacks("marginals")

    cdef void change_tables(self, const Block* b) noexcept nogil:
        pass

    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.lacks("statistics")

    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil:
        return self.lacks("sample")

    cpdef Structure fork(self):
        """Return the same structure with scratch memory of its own, for another thread."""
        return type(self)(*self.arguments, **self.options)

    def bound_to(self, map):
        """Return the same structure for other blocks."""
        return self.fork()

    def digest(self):
        """Return {public name: value} of what distinguishes this structure from others."""
        return {"the model": type(self).__name__.removesuffix("Structure").lower()}

    def digests(self):
        """Return {public name: digests (n_blocks,)} of data of the structure itself."""
        return {}

    def n_candidates(self, loss):
        """Return the largest number of candidates for slack rescaling; 0: there are none."""
        return 0

    def make_room(self, Py_ssize_t n_candidates):
        """Make room for so many candidates, and return their number."""
        self.h.resize(n_candidates)
        self.g.resize(n_candidates)
        return n_candidates

    def prepare_k_best(self, k):
        """Make room for the k best labellings; return how many there can be at most.

        0 if the structure has no `k_best`; they are then searched for, by `best` under masks.
        """
        return 0

    def prepare_marginals(self, theta):
        """Prepare for marginals and max-marginals of blocks that have these head and tail.

        A user's structure that implements `max_marginals` must return True; otherwise they are
        searched for, by `best` under masks.
        """

    def oracle_pool(self, n_jobs):
        """Return the object that computes best labellings in advance (see `Problem`), or None."""
        return None

    def decomposition(self, problem):
        """Return the `Factors` of a problem of this structure, or None."""
        return None

    def state_blocks(self, problem):
        """Return the `StateBlocks` of a problem of this structure, or None."""
        return None

    def coded_planes(self, problem):
        """Return the `CodedPlanes` of a problem of this structure, or None."""
        return None


cdef class StructuredProblem(Problem):
    """A structure bound to data.

    Parameters
    ----------
    map : FeatureMap
        From statistics to weights.
    structure : Structure
        The labellings.
    loss : NodeLoss
        Their losses.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the blocks, summing to one.
    *more : object
        For subclasses.
    """

    def __cinit__(self, FeatureMap map, Structure structure, NodeLoss loss, block_weight, *more):
        self.map, self.structure, self.loss = map, structure, loss
        self.offsets = structure.offsets(map)
        self.each = structure.n_labels or map.each
        self.block_weight, self.space = block_weight, map.space
        self.n_blocks, self.n_weights = map.n_blocks, map.n_weights
        self.max_statistics = map.max_statistics
        self.max_code_length = structure.max_code_length
        self.max_support = structure.max_support
        self.plane_store = structure.plane_store or self.plane_store
        self.exact, self.bounds = structure.exact, structure.bounds
        self.costly, self.work = structure.costly, structure.work
        self.takes_turns = structure.takes_turns
        # rows of kernels come from Python
        self.lock_free = structure.lock_free and not self.space.is_kernel_space

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        if self.map.node_base:
            self.map.common_scores(w, theta)
        return self.map.own_scores(i, w, theta)

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        return self.map.scores_at(i, w, index, count, theta)

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Block b = self.block(i, theta)
        self.structure.best(&b, self.loss, loss_weight, code)
        loss[0] = self.structure.loss_of(&b, self.loss, code)
        if self.bounds:
            self.excess = self.structure.excess
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Block b = self.block(i, NULL)
        return self.structure.plane(&b, &self.loss.truth[b.first], code, index, value)

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        cdef Block b = self.block(i, NULL)
        return self.structure.code_length(&b)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        cdef Block b = self.block(i, NULL)
        self.structure.truth_code(&b, &self.loss.truth[b.first], code)
        return 0

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Block b = self.block(i, NULL)
        return self.structure.knows(&b, code)

    cdef int scatter(self, Py_ssize_t i, Direction delta, double step, double* v) except -1 nogil:
        return self.map.scatter(i, delta, step, v)

    cdef double grow(
        self, Py_ssize_t i, Direction delta, const double* w, double* v
    ) except? -1 nogil:
        return self.map.grow(i, delta, w, v)

    @property
    def name(self):
        """What error messages call the problem."""
        return type(self.structure).__name__

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        return self.map.clip(i, delta, v, lower, upper, w)

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        return self.map.sqnorm(i, delta)

    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil:
        return self.map.inner_products(i, delta, index, value, first, n, out)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef Block b = self.block(i, NULL)
        self.map.prefetch(i)
        self.loss.prefetch(b.first, b.n)

    cpdef Problem fork(self):
        return type(self)(self.map.fork(), self.structure.fork(), self.loss, self.block_weight)

    def with_truth(self, labels):
        """Return the same problem with other labels as the truth.

        Parameters
        ----------
        labels : ndarray of shape (n_nodes,)
            True states of all blocks; where nodes may have several right ones, one of these.

        Returns
        -------
        problem : StructuredProblem
            All else is that of this one.
        """
        cdef StructuredProblem other = self.fork()
        other.loss = self.loss.with_truth(labels)
        return other

    def accept(self, right):
        """Let nodes have several right labels: none of them costs anything.

        Parameters
        ----------
        right : ndarray of shape (n_nodes, n_states), bool
            Which labels are right at each node, the true one among them.
        """
        self.loss = self.loss.accepting(right)

    def find_unknown_truth(self):
        """Return the first block whose truth is no labelling of the structure, or -1."""
        cdef int32_t[::1] code = np.empty(self.max_code_length, dtype=np.int32)
        cdef Py_ssize_t i
        for i in range(self.n_blocks):
            self.truth(i, &code[0])
            if not self.knows(i, &code[0]):
                return i
        return -1

    cdef bint choose(
        self, Py_ssize_t i, const double* theta, const SlackGoal* goal, int32_t* code,
        double* loss
    ) except -1 nogil:
        cdef Block b = self.block(i, theta)
        cdef bint counts = self.structure.choose(&b, self.loss, goal, code)
        loss[0] = self.structure.loss_of(&b, self.loss, code) if counts else 0.0
        return counts

    def n_candidates(self):
        """Make room for the candidates of the structure; return how many there are at most."""
        return self.structure.make_room(self.structure.n_candidates(self.loss))

    def oracle_pool(self, n_jobs):
        """Return the object that computes answers of argmax in advance, or None."""
        return self.structure.oracle_pool(n_jobs)

    def decomposition(self):
        """Return the problem as a sum over factors, or None."""
        return self.structure.decomposition(self)

    def state_blocks(self):
        """Return the `StateBlocks` of the problem, or None."""
        return self.structure.state_blocks(self)

    def coded_planes(self):
        """Return what computes products of planes by their codes, or None."""
        return self.structure.coded_planes(self)

    def fingerprint(self):
        """Return the `Fingerprint`, the same for problems of the same model and data."""
        maps, blocks = self.map.digests()
        losses, more = self.loss.digests(self.offsets)
        space, rows = self.space.digests()
        # a structure's entries replace those of the same name: they are closer to public names
        own = self.structure.digest()
        whole = own | space | maps | losses | own
        return Fingerprint(whole, blocks | more | rows | self.structure.digests())


cdef class StateStructure(Structure):
    """One state for each block, which is one node: classification.

    Parameters
    ----------
    n_states : int
        Number of states.
    """

    def __cinit__(self, Py_ssize_t n_states):
        self.n_states = n_states
        self.max_code_length, self.max_support = 1, 2

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return all_below(code, 1, self.n_states)

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, truth = loss.truth[b.first], best = truth
        cdef double value = b.theta[truth], more = weight * loss.cost[b.first], other
        if loss.is_bonus:
            for k in range(self.n_states):
                if k != truth and b.theta[k] + more > value:
                    value, best = b.theta[k] + more, k
        else:
            for k in range(self.n_states):
                other = b.theta[k] + weight * loss.at(b.first, k)
                if other > value:
                    value, best = other, k
        code[0] = <int32_t>best
        return 0

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        if code[0] == truth[0]:
            return 0
        index[0], index[1] = truth[0], code[0]
        value[0], value[1] = 1.0, -1.0
        return 2

    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.n_states):
            h[k] = b.theta[k] - b.theta[loss.truth[b.first]]
            g[k] = loss.at(b.first, k)
        return self.n_states

    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil:
        code[0] = <int32_t>candidate
        return 0

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        cdef Py_ssize_t k
        cdef double top = -INFINITY, total = 0.0
        for k in range(self.n_states):
            top = max(top, b.theta[k])
        for k in range(self.n_states):
            total += exp(b.theta[k] - top)
        for k in range(self.n_states if nodes != NULL else 0):
            nodes[k] = exp(b.theta[k] - top) / total
        return top + log(total)

    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        index[0], value[0] = code[0], 1.0
        return 1

    def n_candidates(self, loss):
        """Return the number of states."""
        return self.n_states

    def digest(self):
        """Return {public name: value} of what distinguishes this structure from others."""
        return {"the model": "multiclass"}

    def state_blocks(self, problem):
        """Return the one state of each label; None where several may be right."""
        return None if problem.loss.has_sets else SingleStates(problem)


cdef class WrongStatesStructure(StateStructure):
    """Sets of wrong states of a block, which is one node: the sum of their hinges.

    A code has a one for each state that is in the set; the truth is the empty set. Statistics and
    losses of a set are sums over its states, divided by the number of wrong states there are, so
    that losses are at most those of a single state.

    Parameters
    ----------
    n_states : int
        Number of states.

    References
    ----------
    Weston, Watkins (1999). Support vector machines for multi-class pattern recognition. ESANN.
    """

    cdef double part

    def __cinit__(self, Py_ssize_t n_states):
        self.part = 1.0 / (n_states - 1)
        self.max_code_length = self.max_support = n_states

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return all_below(code, self.n_states, 2)

    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil:
        return self.n_states

    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_states):
            code[k] = 0

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, truth = loss.truth[b.first]
        for k in range(self.n_states):
            code[k] = k != truth and (
                weight * loss.at(b.first, k) + b.theta[k] - b.theta[truth] > 0.0
            )
        return 0

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_states):
            if code[k]:
                total += loss.at(b.first, k)
        return self.part * total

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Py_ssize_t k, n = 0
        for k in range(self.n_states):
            if code[k] and k != truth[0]:
                index[n], value[n], n = <int32_t>k, -self.part, n + 1
        if n:
            index[n], value[n], n = truth[0], self.part * n, n + 1
        return n

    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil:
        return Structure.candidates(self, b, loss, h, g)

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        return Structure.marginals(self, b, nodes, pairs)

    def n_candidates(self, loss):
        """Return 0: there are none for slack rescaling."""
        return 0

    def digest(self):
        """Return {public name: value} of what distinguishes this structure from others."""
        return {"the model": "multiclass, sums over wrong classes"}

    def state_blocks(self, problem):
        """Return the blocks as sets of wrong states."""
        return WrongStates(problem, self.part)


cdef class SingleStates(StateBlocks):
    """One state a block, of which all wrong ones cost the same.

    Parameters
    ----------
    problem : StructuredProblem
        Of a `StateStructure`.
    """

    cdef StructuredProblem problem

    def __cinit__(self, StructuredProblem problem not None, *args):
        self.problem, self.n_states = problem, problem.loss.n_states

    cdef Py_ssize_t truth(self, Py_ssize_t i) noexcept nogil:
        return self.problem.loss.truth[i]

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        return self.problem.map.row_sqnorm[i]

    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil:
        self.problem.loss.write(i, out)


cdef class WrongStates(SingleStates):
    """Sets of wrong states, all of one weight: it is the largest of a wrong state in a mix.

    Parameters
    ----------
    problem : StructuredProblem
        Of a `WrongStatesStructure`.
    most : float
        The weight.
    """

    cdef double most

    def __cinit__(self, StructuredProblem problem not None, double most):
        self.most = most

    cdef double find_scores(
        self, Py_ssize_t i, const double* theta, const double* loss, const double* mix,
        Py_ssize_t n, double* score, double* of_mix
    ) noexcept nogil:
        cdef double level = theta[self.truth(i)]
        return set_scores(theta, level, loss, mix, n, self.most, score, of_mix)

    cdef void find_target(
        self, Py_ssize_t i, const double* mix, const double* score, Py_ssize_t n,
        double curvature, double* target
    ) noexcept nogil:
        best_set_mix(mix, score, self.n_states, self.truth(i), curvature, self.most, target)
