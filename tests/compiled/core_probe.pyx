"""Dual points, directions and samplers, asked from Python, and visits without the GIL."""

import numpy as np

cimport cython
from libc.stdint cimport int32_t

from sskit.core.checks cimport check_indices
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualBlock, DualState, resize_block
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.testing.probe cimport ProblemProbe

from sskit.testing.probe import checked, room


def planes_of(DualState dual, Py_ssize_t i):
    """Return (code, weights, losses, weight of plane 0) of the stored planes of block i."""
    check_indices([i], dual.n_blocks, "block")
    cdef DualBlock* block = &dual.blocks[i]
    cdef Py_ssize_t n = dual.code_length[i], p, j
    stored = range(1, block.n_planes)
    code = np.array([[block.code[p * n + j] for j in range(n)] for p in stored])
    weights = np.array([block.weight[p] for p in stored])
    losses = np.array([block.plane_loss[p] for p in stored])
    return code.astype(np.int32).reshape(-1, n), weights, losses, block.weight[0]


def mix_of(DualState dual, Py_ssize_t i):
    """Return (index, value, loss) of the mix of block i."""
    check_indices([i], dual.n_blocks, "block")
    cdef Direction delta = Direction(dual.max_statistics)
    dual.add_to(i, delta, 1.0)
    index = np.array(delta.index[: delta.n])
    return index, np.array(delta.value)[index], dual.loss(i)


cdef class DualProbe(ProblemProbe):
    """The methods of a dual point, for one call at a time.

    Parameters
    ----------
    problem : Problem
        Whose dual point it is.
    dual : DualState
        The dual point; changed by the methods that change it.
    """

    cdef readonly DualState dual

    def __cinit__(self, Problem problem, DualState dual):
        self.dual = dual

    cdef Py_ssize_t slot(self, Py_ssize_t i, Py_ssize_t p) except? -1:
        if not 0 <= p < self.dual.blocks[self.block(i)].n_planes:
            raise IndexError(f"slot {p} of {self.dual.blocks[i].n_planes} planes")
        return p

    def mix(self, Py_ssize_t i, double scale=1.0):
        """Return scale * q_i, shape (max_statistics,), as add_to gives it."""
        self.delta.clear()
        self.dual.add_to(self.block(i), self.delta, scale)
        dense = np.array(self.delta.value[: self.problem.max_statistics])
        self.delta.clear()
        return dense

    @cython.boundscheck(True)
    @cython.wraparound(True)
    def merged(self, Py_ssize_t i):
        """Return psi of plane 0, shape (max_statistics,)."""
        cdef DualBlock* block = &self.dual.blocks[self.block(i)]
        dense = np.zeros(self.problem.max_statistics)
        for e in range(block.n):
            dense[block.index[e]] = block.value[e]
        return dense

    def blend(self, Py_ssize_t i, Py_ssize_t p, double step):
        """Multiply all weights by 1 - step and give step to slot p."""
        p = self.slot(i, p)
        for q in range(self.dual.blocks[i].n_planes):
            self.dual.blocks[i].weight[q] *= 1.0 - step
        self.dual.blocks[i].weight[p] += step

    def shift(self, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target, double amount):
        """Shift weight from one slot to another."""
        cdef double* weight = self.dual.blocks[i].weight
        source, target = self.slot(i, source), self.slot(i, target)
        weight[source] = 0.0 if amount >= weight[source] else weight[source] - amount
        weight[target] += amount

    def find(self, Py_ssize_t i, code):
        """Return the slot of the stored plane with this code, or -1."""
        cdef const int32_t[::1] codes = checked(code, self.code_length(i), "code", np.int32)
        return self.dual.find(i, &codes[0])

    def insert(self, Py_ssize_t i, code, double loss):
        """Store a plane with weight zero and return its slot."""
        cdef const int32_t[::1] codes = self.codes(i, code)
        return self.dual.insert(i, &codes[0], loss)

    def evict(self, Py_ssize_t i, Py_ssize_t p):
        """Merge a stored plane into plane 0."""
        if p < 1:
            raise IndexError("plane 0 cannot be evicted")
        self.dual.evict(i, self.slot(i, p))

    def touch(self, Py_ssize_t i, Py_ssize_t p, int time):
        """Say that a stored plane was last used at this time."""
        self.dual.blocks[i].last_used[self.slot(i, p)] = time

    def last_used(self, Py_ssize_t i):
        """Return when the stored planes were last used."""
        cdef Py_ssize_t p, n = self.dual.blocks[self.block(i)].n_planes
        return np.array([self.dual.blocks[i].last_used[p] for p in range(1, n)], dtype=np.int32)

    def resize_planes(self, Py_ssize_t i, Py_ssize_t size):
        """Make room for `size` planes."""
        if size < self.dual.blocks[self.block(i)].n_planes:
            raise ValueError(f"{self.dual.blocks[i].n_planes} planes do not fit in room for {size}")
        resize_block(&self.dual.blocks[i], self.dual.code_length[i], size)

    def gram(self, Py_ssize_t i):
        """Return the inner products that are known of the first planes, (n, n)."""
        cdef Py_ssize_t p, q, stride = self.dual.blocks[self.block(i)].plane_capacity
        known = np.empty((self.dual.blocks[i].n_gram,) * 2)
        for p in range(self.dual.blocks[i].n_gram):
            for q in range(self.dual.blocks[i].n_gram):
                known[p, q] = self.dual.blocks[i].gram[p * stride + q]
        return known

    def add(self, Regularizer regularizer, Py_ssize_t i, delta, double step):
        """Add step * B_i delta to v of a regularizer and let w follow."""
        regularizer.add(self.problem, self.block(i), self.direction(delta), step)
        self.delta.clear()


def visit_all(Problem problem, w, double[:, ::1] out, int32_t[::1] going):
    """Do for many blocks, one after the other, what a visit asks of a problem.

    Other Python threads run meanwhile. Those that hold the interpreter's lock stop it where a
    method of the problem takes the lock.

    Parameters
    ----------
    problem : Problem
        What to ask.
    w : ndarray of shape (n_weights,)
        Weights, which do not change.
    out : ndarray of shape (n_blocks, 2)
        Written to: the hinge of each block, and ||B_i psi||^2 of the plane that was found.
    going : ndarray of shape (1,), int32
        Begin again with the first block as long as this is not zero.
    """
    cdef Direction delta = Direction(problem.max_statistics)
    cdef double[::1] padded = room(checked(w, problem.n_weights, "w"))
    cdef double[::1] moved = np.zeros(problem.n_weights + LANES)
    cdef double[::1] low = np.full(problem.n_weights, -1.0), high = np.ones(problem.n_weights)
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef int32_t[::1] code = np.zeros(problem.max_code_length, dtype=np.int32)
    cdef int32_t[::1] index = np.zeros(problem.max_support, dtype=np.int32)
    cdef double[::1] value = np.zeros(problem.max_support)
    cdef double loss = 0.0
    cdef Py_ssize_t i, e, n
    cdef bint again = True
    if out.shape[0] != problem.n_blocks or out.shape[1] != 2 or going.shape[0] != 1:
        raise ValueError(f"out must have shape ({problem.n_blocks}, 2), and going (1,)")
    with nogil:
        while again:
            for i in range(problem.n_blocks):
                problem.scores(i, &padded[0], &theta[0])
                problem.argmax(i, &theta[0], 1.0, &code[0], &loss)
                n = problem.plane(i, &code[0], &index[0], &value[0])
                problem.scores_at(i, &padded[0], &index[0], n, &theta[0])
                for e in range(n):
                    loss -= value[e] * theta[index[e]]
                delta.add(&index[0], &value[0], n, 1.0)
                problem.scatter(i, delta, 1.0, &moved[0])
                problem.clip(i, delta, &moved[0], &low[0], &high[0], &moved[0])
                out[i, 0], out[i, 1] = loss, problem.sqnorm(i, delta)
                delta.clear()
            again = going[0] != 0


@cython.boundscheck(True)
@cython.wraparound(True)
def draw(Sampler sampler, Py_ssize_t n_steps):
    """Return the blocks of a pass of at most n_steps: next(), and peek(0), peek(1) after it."""
    cdef Py_ssize_t k
    n_steps = sampler.begin_pass(n_steps)
    order = np.empty((n_steps, 3), dtype=np.intp)
    for k in range(n_steps):
        order[k] = sampler.next(), sampler.peek(0), sampler.peek(1)
    return order


@cython.boundscheck(True)
@cython.wraparound(True)
def draw_batch(Sampler sampler, Py_ssize_t n_steps):
    """Return the blocks of one pass, shape (n_steps,), each set aside when it has come."""
    cdef Py_ssize_t k
    sampler.begin_pass(n_steps)
    order = np.empty(n_steps, dtype=np.intp)
    for k in range(n_steps):
        order[k] = sampler.next()
        sampler.set_aside(order[k])
    return order


def learn(Sampler sampler, Py_ssize_t i, double gap):
    """Tell a sampler the gap of block i, as a visit does."""
    if not 0 <= i < sampler.n_blocks:
        raise IndexError(f"block {i} of {sampler.n_blocks}")
    sampler.record_gap(i, gap)
