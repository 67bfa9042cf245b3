"""Compiled contracts, asked from Python: for tests, and for people who write problems.

Solvers call problems and dual points without the GIL and without checks. Here the same methods
take and return NumPy arrays, one call at a time. Directions and planes are dense arrays over the
statistics of a block. `check_problem` tries the laws on which solvers rely.
"""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler

# Spare entries behind a buffer that a problem fills, and what they must still hold afterwards.
GUARD = 16
UNTOUCHED = -77


cdef class ProblemProbe:
    """The methods of a problem, for one call at a time.

    Parameters
    ----------
    problem : Problem
        What to ask.
    """

    cdef readonly Problem problem
    cdef Direction delta

    def __cinit__(self, Problem problem, *args):
        self.problem = problem
        self.delta = Direction(problem.max_statistics)

    cdef Py_ssize_t block(self, Py_ssize_t i) except -1:
        if not 0 <= i < self.problem.n_blocks:
            raise IndexError(f"block {i} of a problem with {self.problem.n_blocks} blocks")
        return i

    cdef codes(self, Py_ssize_t i, code):
        cdef const int32_t[::1] codes = checked(code, self.code_length(i), "code", np.int32)
        if not self.problem.knows(i, &codes[0]):
            raise ValueError(f"block {i} has no plane of the code {code}")
        return codes

    cdef Direction direction(self, delta):
        """Return dense values as a direction, in scratch memory; the caller clears it."""
        dense = checked(delta, self.problem.max_statistics, "delta")
        index = np.flatnonzero(dense).astype(np.int32)
        self.delta.clear()
        if len(index):
            add(self.delta, index, dense[index], 1.0)
        return self.delta

    def code_length(self, Py_ssize_t i):
        """Return the length of the code of the planes of block i."""
        return self.problem.code_length(self.block(i))

    def truth(self, Py_ssize_t i):
        """Return the code of the truth of block i, shape (code_length,), int32."""
        cdef int32_t[::1] code = guarded(self.problem.max_code_length, np.int32)
        self.problem.truth(self.block(i), &code[0])
        return released(code, self.problem.max_code_length, "truth", i)[: self.code_length(i)]

    def scores(self, Py_ssize_t i, w):
        """Return theta = B_i^T w, shape (max_statistics,), for w of shape (n_weights,)."""
        cdef double[::1] padded = room(checked(w, self.problem.n_weights, "w"))
        cdef double[::1] theta = guarded(self.problem.max_statistics, np.float64)
        theta[: self.problem.max_statistics] = 0.0
        self.problem.scores(self.block(i), &padded[0], &theta[0])
        return released(theta, self.problem.max_statistics, "scores", i)

    def argmax(self, Py_ssize_t i, theta, double loss_weight=1.0):
        """Return the code and loss of a y maximising loss_weight * L_i(y) + <theta, m_i(y)>."""
        cdef double[::1] potentials = checked(theta, self.problem.max_statistics, "theta")
        cdef int32_t[::1] code = guarded(self.problem.max_code_length, np.int32)
        cdef double loss = 0.0
        self.problem.argmax(self.block(i), &potentials[0], loss_weight, &code[0], &loss)
        found = released(code, self.problem.max_code_length, "argmax", i)
        return found[: self.code_length(i)], loss

    def plane(self, Py_ssize_t i, code):
        """Return psi of the plane with this code, shape (max_statistics,)."""
        cdef const int32_t[::1] codes = self.codes(i, code)
        cdef int32_t[::1] index = guarded(self.problem.max_support, np.int32)
        cdef double[::1] value = guarded(self.problem.max_support, np.float64)
        cdef Py_ssize_t n = self.problem.plane(self.block(i), &codes[0], &index[0], &value[0])
        places = released(index, self.problem.max_support, "plane", i)[:n]
        psi = np.zeros(self.problem.max_statistics)
        np.add.at(psi, places, released(value, self.problem.max_support, "plane", i)[:n])
        return psi

    def scatter(self, Py_ssize_t i, delta, double step=1.0):
        """Return step * B_i delta, shape (n_weights,)."""
        cdef double[::1] v = np.zeros(self.problem.n_weights + LANES)
        self.problem.scatter(self.block(i), self.direction(delta), step, &v[0])
        self.delta.clear()
        return np.array(v[: self.problem.n_weights])

    def sqnorm(self, Py_ssize_t i, delta):
        """Return || B_i delta ||^2."""
        value = self.problem.sqnorm(self.block(i), self.direction(delta))
        self.delta.clear()
        return value

    def clip(self, Py_ssize_t i, delta, v, lower, upper, w):
        """Return w, clipped anew from v wherever scatter(i, delta) may have moved v."""
        d = self.problem.n_weights
        cdef double[::1] moved = room(checked(v, d, "v")), image = room(checked(w, d, "w"))
        cdef double[::1] low = checked(lower, d, "lower"), high = checked(upper, d, "upper")
        self.problem.clip(
            self.block(i), self.direction(delta), &moved[0], &low[0], &high[0], &image[0]
        )
        self.delta.clear()
        return np.array(image[:d])

    def visit_all(self, w, double[:, ::1] out, int32_t[::1] going, Py_ssize_t first=0,
                  Py_ssize_t step=1):
        """Do for many blocks, one after the other, what a visit asks of a problem.

        Other Python threads run meanwhile. Those that hold the interpreter's lock stop it where a
        method of the problem takes the lock.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            Weights, which do not move.
        out : ndarray of shape (n_blocks, 2)
            Written to: the hinge of each block, and ||B_i psi||^2 of the plane that was found.
        going : ndarray of shape (1,), int32
            Begin again with the first block as long as this is not zero.
        first, step : int, default=0 and 1
            Of all blocks these: first, first + step, ...
        """
        cdef Problem problem = self.problem
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
        if first < 0 or step < 1:
            raise ValueError(f"there are no blocks {first}, {first + step}, ...")
        with nogil:
            while again:
                i = first
                while i < problem.n_blocks:
                    problem.scores(i, &padded[0], &theta[0])
                    problem.argmax(i, &theta[0], 1.0, &code[0], &loss)
                    n = problem.plane(i, &code[0], &index[0], &value[0])
                    problem.scores_at(i, &padded[0], &index[0], n, &theta[0])
                    for e in range(n):
                        loss -= value[e] * theta[index[e]]
                    self.delta.add(&index[0], &value[0], n, 1.0)
                    problem.scatter(i, self.delta, 1.0, &moved[0])
                    problem.clip(i, self.delta, &moved[0], &low[0], &high[0], &moved[0])
                    out[i, 0], out[i, 1] = loss, problem.sqnorm(i, self.delta)
                    self.delta.clear()
                    i += step
                again = going[0] != 0


cdef class DualProbe(ProblemProbe):
    """The methods of a dual point, for one call at a time.

    Parameters
    ----------
    problem : Problem
        Whose dual point it is.
    dual : DualState
        The dual point; moved by the methods that move it.
    """

    cdef readonly DualState dual

    def __cinit__(self, Problem problem, DualState dual):
        dual.match(problem)
        self.dual = dual

    cdef Py_ssize_t slot(self, Py_ssize_t i, Py_ssize_t p) except? -1:
        if p >= self.dual.blocks[self.block(i)].n_planes:
            raise IndexError(f"slot {p} of {self.dual.blocks[i].n_planes} stored planes")
        return p

    def dot(self, Py_ssize_t i, theta):
        """Return <q_i, theta>."""
        cdef double[::1] potentials = checked(theta, self.problem.max_statistics, "theta")
        return self.dual.dot(self.block(i), &potentials[0])

    def mix(self, Py_ssize_t i, double scale=1.0):
        """Return scale * q_i, shape (max_statistics,), as add_to gives it."""
        self.delta.clear()
        self.dual.add_to(self.block(i), self.delta, scale)
        dense = np.array(self.delta.value[: self.problem.max_statistics])
        self.delta.clear()
        return dense

    def advance(self, Py_ssize_t i, delta, double step, double loss_change):
        """Move q_i by step * delta and its loss by loss_change."""
        self.dual.advance(self.block(i), self.direction(delta), step, loss_change)
        self.delta.clear()

    def assign(self, Py_ssize_t i, delta, double loss):
        """Make the block the single plane (delta, loss)."""
        self.dual.assign(self.block(i), self.direction(delta), loss)
        self.delta.clear()

    def blend(self, Py_ssize_t i, Py_ssize_t p, double step):
        """Multiply all weights by 1 - step and give step to slot p, or to the rest (p < 0)."""
        self.dual.blend(i, self.slot(i, p), step)

    def shift(self, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target, double amount):
        """Move weight from one slot to another; a negative slot is the rest."""
        self.dual.shift(i, self.slot(i, source), self.slot(i, target), amount)

    def find(self, Py_ssize_t i, code):
        """Return the slot of the stored plane with this code, or -1."""
        cdef const int32_t[::1] codes = checked(code, self.code_length(i), "code", np.int32)
        return self.dual.find(i, &codes[0])

    def insert(self, Py_ssize_t i, code, double loss):
        """Store a plane with weight zero and return its slot."""
        cdef const int32_t[::1] codes = self.codes(i, code)
        return self.dual.insert(i, &codes[0], loss)

    def evict(self, Py_ssize_t i, Py_ssize_t p):
        """Merge a stored plane into the aggregate plane."""
        if p < 0:
            raise IndexError("the aggregate plane cannot be evicted")
        self.dual.evict(i, self.slot(i, p))

    def touch(self, Py_ssize_t i, Py_ssize_t p, int time):
        """Say that a stored plane was last used at this time."""
        self.dual.blocks[i].last_used[self.slot(i, p)] = time

    def last_used(self, Py_ssize_t i):
        """Return when the stored planes were last used, shape (n_planes,)."""
        cdef Py_ssize_t p, n = self.dual.blocks[self.block(i)].n_planes
        return np.array([self.dual.blocks[i].last_used[p] for p in range(n)], dtype=np.int32)

    def resize_planes(self, Py_ssize_t i, Py_ssize_t size):
        """Make room for `size` planes."""
        if size < self.dual.blocks[self.block(i)].n_planes:
            raise ValueError(f"{self.dual.blocks[i].n_planes} planes do not fit in room for {size}")
        self.dual.resize_planes(i, size)

    def gram(self, Py_ssize_t i):
        """Return the inner products that are known of the first stored planes, (n, n)."""
        cdef Py_ssize_t p, q, stride = self.dual.blocks[self.block(i)].plane_capacity
        known = np.empty((self.dual.blocks[i].n_gram,) * 2)
        for p in range(self.dual.blocks[i].n_gram):
            for q in range(self.dual.blocks[i].n_gram):
                known[p, q] = self.dual.blocks[i].gram[p * stride + q]
        return known

    def move(self, Regularizer regularizer, Py_ssize_t i, delta, double step):
        """Move v of a regularizer by step * B_i delta and let w follow."""
        regularizer.match(self.problem)
        regularizer.move(self.problem, self.block(i), self.direction(delta), step)
        self.delta.clear()


def collect(Py_ssize_t size, terms):
    """Add sparse vectors to a direction, read it, and clear it.

    Parameters
    ----------
    size : int
        Length of the direction.
    terms : iterable of (index, value, scale)
        Sparse vectors and their factors.

    Returns
    -------
    index : ndarray, int32
        Places in the order in which they first appeared.
    value : ndarray of shape (size,)
        Sum of all terms.
    clean : bool
        Whether clearing left only zeros.
    """
    cdef Direction delta = Direction(size)
    for index, value, scale in terms:
        places = np.array(index, dtype=np.int32)
        if len(places) and not (0 <= places.min() and places.max() < size):
            raise IndexError(f"a direction of size {size} has no places {index}")
        if len(places):
            add(delta, places, checked(value, len(places), "value"), scale)
    result = np.array(delta.index[: delta.n]), np.array(delta.value[:size])
    delta.clear()
    return *result, delta.n == 0 and not np.any(delta.value) and not np.any(delta.seen)


def draw(Sampler sampler, Py_ssize_t n_steps):
    """Return the blocks of a pass of at most n_steps: next(), and peek(0), peek(1) after it."""
    cdef Py_ssize_t k
    n_steps = sampler.begin_pass(n_steps)
    sampler.check(sampler.n_blocks, n_steps)
    order = np.empty((n_steps, 3), dtype=np.intp)
    for k in range(n_steps):
        order[k] = sampler.next(), sampler.peek(0), sampler.peek(1)
    return order


def draw_batch(Sampler sampler, Py_ssize_t n_steps):
    """Return the blocks of one pass, shape (n_steps,), each set aside when it has come."""
    cdef Py_ssize_t k
    sampler.begin_pass(n_steps)
    sampler.check(sampler.n_blocks, n_steps)
    order = np.empty(n_steps, dtype=np.intp)
    for k in range(n_steps):
        order[k] = sampler.next()
        sampler.set_aside(order[k])
    return order


def learn(Sampler sampler, Py_ssize_t i, double gap):
    """Tell a sampler the gap of block i, as a visit does."""
    if not 0 <= i < sampler.n_blocks:
        raise IndexError(f"block {i} of {sampler.n_blocks}")
    sampler.learned(i, gap)


cdef void add(Direction delta, const int32_t[::1] index, const double[::1] value, double scale):
    delta.add(&index[0], &value[0], index.shape[0], scale)


def checked(values, size, name, dtype=np.float64):
    """Return a contiguous copy of `size` values, with room for at least one."""
    values = np.array(values, dtype=dtype)
    if values.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {values.shape}")
    return values if size else np.zeros(1, dtype=dtype)


def room(values):
    """Return values with the spare room of weight vectors behind them."""
    return np.concatenate([values, np.zeros(LANES)])


def guarded(Py_ssize_t size, dtype):
    """Return a buffer of `size` entries with a guard behind them."""
    return np.full(size + GUARD, UNTOUCHED, dtype=dtype)


def released(buffer, size, method, i):
    """Return the entries of a guarded buffer; raise AssertionError if the guard was hit."""
    values = np.array(buffer)
    if not (values[size:] == UNTOUCHED).all():
        raise AssertionError(f"block {i}: {method} writes behind its buffer")
    return values[:size]
