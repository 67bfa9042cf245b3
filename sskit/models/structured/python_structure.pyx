"""Structures written in Python with their samples, and a store of the planes found."""

from threading import Lock

import numpy as np

from sskit.models.object_hashes import model_digest, sample_digests
from sskit.models.structured.oracle_pool import OraclePool, uses_processes

cimport cython
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.capabilities cimport PlaneStore
from sskit.core.checks cimport check_equal, check_indices
from sskit.models.structure cimport Block, NodeLoss, Structure

cdef enum:
    TRUTH = 0        # handle of the truth of every block
    UNKNOWN = -1
    OVERHEAD = 160   # bytes of a plane without entries

# Relative error by which an exact oracle may miss its maximum: rounding.
cdef double ROUNDING = 1e-9


cdef class Plane:
    """A labelling: a sparse vector and a loss, and the number of references to it.

    Parameters
    ----------
    index : ndarray of shape (n,), int32
        Rises strictly.
    value : ndarray of shape (n,), float64
        The entries there.
    loss : float, default=0.0
        Of the labelling.
    block : int, default=-1
        Of the labelling; -1: of every one.
    """

    cdef readonly object key
    cdef readonly vector[int32_t] index
    cdef readonly vector[double] value
    cdef readonly double loss
    cdef Py_ssize_t block
    cdef Py_ssize_t n_references         # from pending places, and one each time it was kept

    def __cinit__(self, const int32_t[::1] index=None, const double[::1] value=None,
                  double loss=0.0, Py_ssize_t block=-1):
        self.loss, self.block = loss, block
        if index is not None and index.shape[0]:
            self.index.assign(&index[0], &index[0] + index.shape[0])
            self.value.assign(&value[0], &value[0] + index.shape[0])

    # loss_weight * loss - <vector, theta>, and in `size` the sum of the terms' sizes
    cdef double bound(self, const double* theta, double loss_weight, double* size) noexcept:
        cdef double total = loss_weight * self.loss, term
        cdef Py_ssize_t e
        size[0] = fabs(total)
        for e in range(<Py_ssize_t>self.index.size()):
            term = self.value[e] * theta[self.index[e]]
            total -= term
            size[0] += fabs(term)
        return total

    # write the vector minus that of another; return the number of entries
    cdef Py_ssize_t minus(self, Plane other, int32_t* index, double* value) noexcept:
        cdef Py_ssize_t a = 0, b = 0, n = self.index.size(), m = other.index.size(), n_entries = 0
        while a < n or b < m:
            if b == m or (a < n and self.index[a] < other.index[b]):
                index[n_entries], value[n_entries] = self.index[a], self.value[a]
                a += 1
            elif a == n or other.index[b] < self.index[a]:
                index[n_entries], value[n_entries] = other.index[b], -other.value[b]
                b += 1
            else:
                index[n_entries], value[n_entries] = self.index[a], self.value[a] - other.value[b]
                a += 1
                b += 1
            n_entries += value[n_entries] != 0.0
        return n_entries


@cython.boundscheck(True)
@cython.wraparound(True)
cdef class HandleStore(PlaneStore):
    """Planes of all blocks, by handle; each stays as long as it has references.

    At first there is only the truth of each block, which has the handle 0. Methods that search for
    keys take the lock of the store: keys may be compared by Python code. Codes may have words
    behind the handle, of a problem that wraps the one of the planes.

    Invariant: handles[i] maps the keys of the truth and of the held planes of block i to their
    handles.

    Parameters
    ----------
    truths : list of tuple (index, value, key)
        The true labellings: their phi, and their keys.
    n_weights : int
        Length of psi.
    """

    cdef list truths             # (n_blocks,) of Plane, phi of the truth
    cdef list completions        # (n_blocks,) of lists of handles of all so far
    cdef list slots              # the plane with this handle, an empty one if it is not held
    cdef list spare              # handles of such slots
    cdef list handles            # (n_blocks,) dict: key to handle
    cdef list kept_counts        # (n_blocks,) dict: handle to how often it was kept
    cdef object lock
    cdef Py_ssize_t n_weights

    def __cinit__(self, list truths, Py_ssize_t n_weights):
        self.n_weights, self.lock = n_weights, Lock()
        self.slots, self.spare = [Plane()], []
        self.truths = [Plane(index, value) for index, value, _ in truths]
        self.handles = [{key: TRUTH} for _, _, key in truths]
        self.completions, self.kept_counts = [[TRUTH] for _ in truths], [{} for _ in truths]

    @property
    def n_planes(self):
        """Number of planes that are held, those of the truth not counted."""
        return len(self.slots) - 1 - len(self.spare)

    # the plane of a handle that is held, or has been
    cdef Plane at(self, int32_t handle):
        return <Plane>self.slots[handle]

    # handle of the plane with this key, which gets one more reference; if there is none, that of
    # `plane`, which is stored, or UNKNOWN
    cdef int32_t find(self, Py_ssize_t i, object key, Plane plane=None) except? -1:
        cdef int32_t handle
        with self.lock:
            handle = self.handles[i].get(key, UNKNOWN)
            if handle == UNKNOWN and plane is not None:
                handle = self.spare.pop() if self.spare else len(self.slots)
                self.slots[handle : handle + 1], plane.key = [plane], key
                self.handles[i][key] = handle
            if handle > TRUTH:
                plane = self.at(handle)
                plane.n_references += 1
        return handle

    # change the number of references to a plane; drop the plane once it has none
    cdef int add_references(self, int32_t handle, int times) except -1:
        cdef Plane plane = self.at(handle)
        if handle != TRUTH:
            with self.lock:
                plane.n_references += times
                if plane.n_references == 0:
                    del self.handles[plane.block][plane.key]
                    self.slots[handle] = Plane(block=plane.block)
                    self.spare.append(handle)
        return 0

    cdef int count_kept(self, Py_ssize_t i, int32_t handle, int times) except -1:
        cdef dict kept_counts = self.kept_counts[i]
        if handle == TRUTH:
            return 0
        if times > 0 and self.at(handle).n_references == 0:
            raise RuntimeError(f"plane {handle} cannot be kept, it is no longer known")
        if times > 0 or handle in kept_counts:
            kept_counts[handle] = kept_counts.get(handle, 0) + times
            if kept_counts[handle] == 0:
                del kept_counts[handle]
            self.add_references(handle, times)
        return 0

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 with gil:
        return self.count_kept(i, code[0], 1)

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept with gil:
        self.count_kept(i, code[0], -1)

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept with gil:
        return OVERHEAD + self.at(code[0]).index.size() * (sizeof(int32_t) + sizeof(double))

    def export_planes(self, code, n_planes):
        """Return planes in a form for other processes: labellings, psi and losses.

        Parameters
        ----------
        code : ndarray, int32
            Codes of planes that are kept, or of the truth, all of one length.
        n_planes : int
            How many.

        Returns
        -------
        planes : dict
            Keys (None for the truth), losses, the entries of psi, and the words behind the handles.
        """
        code = code.reshape(n_planes, len(code) // max(n_planes, 1))
        planes = [self.slots[handle] for handle in code[:, :1].flat]
        return {
            "key": [plane.key for plane in planes],
            "loss": [plane.loss for plane in planes],
            "index": [np.array(plane.index, dtype=np.int32) for plane in planes],
            "value": [np.array(plane.value, dtype=np.float64) for plane in planes],
            "rest": code[:, 1:].copy(),
        }

    def import_planes(self, const int64_t[::1] blocks, planes):
        """Store planes that `export_planes` returned, of this or another store, and keep each.

        Parameters
        ----------
        blocks : ndarray of shape (n,), int64
            Their blocks.
        planes : dict
            From `export_planes`.

        Returns
        -------
        code : ndarray, int32
            Their codes here.
        """
        check_indices(blocks, len(self.handles), "block")
        handles = np.zeros((len(blocks), 1), dtype=np.int32)
        parts = (planes[name] for name in ("key", "loss", "index", "value", "rest"))
        for place, i, key, loss, index, value, _ in zip(handles, blocks, *parts, strict=True):
            check_indices(index, self.n_weights, "feature")
            check_equal(len(value), len(index), "the number of values")
            if key is not None:
                place[0] = self.find(i, key, Plane(index, value, loss, i))
                self.count_kept(i, place[0], 1)
                self.add_references(place[0], -1)
        return np.hstack([handles, planes["rest"]]).ravel()


@cython.boundscheck(True)
@cython.wraparound(True)
cdef class PythonStructure(Structure):
    """A structure written in Python, with its samples.

    It exists because solvers call compiled structures. There is one for each thread, with its
    pending planes; all have one store of planes.

    Statistics are the joint features themselves: the `FeatureMap` is one of `weights_alone`. A
    plane has one word, its handle in a store for all forks; 0 is the truth. The pending place of a
    block refers to the plane that `best` found until argmax is called for this block again through
    the same object; `keep` adds further references.

    Where labellings have hidden parts the truth of a block is a completion. Planes are stored
    relative to the first one, handle 0, and read relative to the present one, so that a handle
    means the same labelling whichever is the truth. Completions stay as long as the store.

    Parameters
    ----------
    binding : PythonBinding
        Calls the user's object; knows the length of the joint features.
    X : list of length n_blocks
        Inputs.
    Y : list of length n_blocks
        True labellings, or their known parts.
    full : list of length n_blocks, default=None
        Full labellings that agree with them; None if they are complete.
    exact : bool, default=True
        Whether the structure's argmax truly maximises.
    costly : bool, default=True
        Whether its argmax is slow compared with a step of the solver.
    planes : HandleStore, default=None
        Those of a structure of which this is a fork.
    """

    cdef readonly object binding         # calls the user's object
    cdef readonly object X, Y            # the samples
    cdef readonly HandleStore planes
    cdef int32_t[::1] pending            # (n_blocks,) handles; 0: none
    cdef object pool                     # OraclePool, or None

    def __cinit__(self, binding, X, Y, full=None, bint exact=True, bint costly=True,
                  HandleStore planes=None):
        self.binding, self.X, self.Y = binding, X, Y
        self.exact, self.costly, self.lock_free = exact, costly, False
        self.n_labels = self.max_code_length = 1
        self.max_support = binding.length
        self.pending = np.zeros(len(X), dtype=np.int32)
        if planes is None:
            labellings = zip(X, Y) if full is None else zip(X, Y, full)
            truths = [binding.truth(i, *sample) for i, sample in enumerate(labellings)]
            planes = HandleStore(truths, self.max_support)
        self.planes = self.plane_store = planes

    def __del__(self):
        # after an error in the constructor there is no store
        for handle in self.pending if self.planes is not None else ():
            self.planes.add_references(handle, -1)

    # is it the truth, or a plane that is held, or has been?
    cdef bint knows(self, const Block* b, const int32_t* code) noexcept with gil:
        return code[0] == TRUTH or (
            TRUTH < code[0] < len(self.planes.slots) and self.planes.at(code[0]).block == b.i
        )

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 with gil:
        cdef Py_ssize_t i = b.i, j
        cdef int32_t handle, best, truth = loss.truth[b.first]
        weights = np.empty(self.max_support)  # a copy: the structure may keep or change it
        cdef double[::1] w = weights
        for j in range(self.max_support):
            # the same maximiser, and the structure takes whole losses only
            w[j] = b.theta[j] / (weight or 1.0)
        computed = None
        if self.pool is not None and weight == 1.0:
            computed = self.pool.computed.pop(i, None)
        if computed is None:
            y = self.binding.argmax(i, self.X[i], weights, *[self.Y[i]] * (weight != 0.0))
        else:
            y = computed[0]
        handle = self.find(i, y, computed)
        # The answer of an exact structure must not be worse than the truth and the stored planes;
        # that of another is replaced by the best of them.
        others = [*self.planes.kept_counts[i], *[self.pending[i]] * self.exact, TRUTH, truth]
        best = self.best_of(i, handle, others, b.theta, weight, "argmax", truth)
        self.planes.add_references(best, 1)
        self.planes.add_references(handle, -1)
        self.planes.add_references(self.pending[i], -1)
        self.pending[i] = code[0] = best
        return 0

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept with gil:
        return self.planes.at(code[0]).loss

    cdef int32_t find(self, Py_ssize_t i, object y, object computed) except? -1:
        """Return the handle of a labelling, with one more reference; computed: it, phi and loss."""
        key = self.binding.key(i, y)
        cdef int32_t handle = self.planes.find(i, key)
        if handle != UNKNOWN:
            return handle
        if computed is None:
            phi = self.binding.joint_feature(i, self.X[i], y)
            loss = self.binding.loss(i, self.Y[i], y)
        else:
            _, phi, loss = computed
        cdef Plane truth = self.planes.truths[i], plane = Plane(*phi)
        cdef Py_ssize_t n = truth.index.size() + plane.index.size() + 1
        cdef int32_t[::1] index = np.empty(n, dtype=np.int32)
        cdef double[::1] value = np.empty(n)
        n = truth.minus(plane, &index[0], &value[0])
        if n == 0 and loss == 0.0:
            return TRUTH  # the same labelling with another key
        return self.planes.find(i, key, Plane(index[:n], value[:n], loss, i))

    cdef int32_t best_of(
        self, Py_ssize_t i, int32_t handle, list others, const double* theta, double loss_weight,
        str method, int32_t truth=TRUTH
    ) except? -1:
        """Return the best of an answer and of other handles; an exact answer must be the best.

        For an exact argmax differences up to rounding are allowed.
        """
        cdef double size, other_size, true_size, value, other_value
        cdef int32_t best = handle, other
        value = self.planes.at(handle).bound(theta, loss_weight, &size)
        for other in others:
            other_value = self.planes.at(other).bound(theta, loss_weight, &other_size)
            if other_value <= value:
                continue
            if self.exact or method == "complete":
                (<Plane>self.planes.truths[i]).bound(theta, 0.0, &true_size)
                if other_value - value <= ROUNDING * (size + other_size + true_size):
                    continue
            if self.exact:
                lower, advice, is_truth = "score is", "If it", False
                if method == "argmax":
                    lower, is_truth = "loss and score are", other in (TRUTH, truth)
                    advice = "Where y_true is given, argmax must add the loss to the scores; if it"
                raise ValueError(
                    f"{method} of sample {i} returned a labelling that is worse than "
                    + ("the truth" if is_truth else "one that it returned before")
                    + f": its {lower} lower by {other_value - value:.3g}. {advice} does not truly "
                    "maximise, set exact = False on the model"
                )
            best, value, size = other, other_value, other_size
        return best

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 with gil:
        # phi(truth) - phi(y), from the differences of both from the first truth
        return self.planes.at(code[0]).minus(self.planes.at(truth[0]), index, value)

    cpdef Structure fork(self):
        return PythonStructure(
            self.binding, self.X, self.Y, None, self.exact, self.costly, self.planes
        )

    def completed(self, labellings, w=None):
        """Return completions as truths, which `with_truth` of the problem takes.

        Parameters
        ----------
        labellings : list of length n_blocks
            Full labellings.
        w : ndarray of shape (n_weights,), default=None
            The weights that they maximise. The completions of an exact structure must score at
            least as much as earlier ones; those of another are replaced by the best so far.

        Returns
        -------
        truths : ndarray of shape (n_blocks,), int32
            Handles, the same for equal labellings.

        Raises
        ------
        ValueError
            If one does not agree with the known part, or scores less than an earlier one.
        """
        cdef Py_ssize_t i
        cdef int32_t handle
        cdef const double[::1] weights = w
        truths = np.empty(len(labellings), dtype=np.int32)
        for i, labelling in enumerate(labellings):
            handle, met = self.find(i, labelling, None), self.planes.completions[i]
            if handle in met:
                self.planes.add_references(handle, -1)
            else:
                self.binding.agrees(i, self.Y[i], labelling)
                met.append(handle)  # its reference stays
            if w is not None:
                handle = self.best_of(i, handle, met, &weights[0], 0.0, "complete")
            truths[i] = handle
        return truths

    def oracle_pool(self, n_jobs):
        """Return the pool of processes that compute answers in advance, or None for threads."""
        self.pool = None
        if uses_processes(self.binding.parallel):
            self.pool = OraclePool(self.binding, self.X, self.Y, n_jobs)
        return self.pool

    def digest(self):
        """Return {public name: value} of what distinguishes this structure from others."""
        model = model_digest(self.binding.model)
        return {"the model object": model, "the number of weights": self.max_support}

    def digests(self):
        """Return {public name: digests (n_blocks,)} of the samples."""
        samples = {"X": self.X, "y": self.Y}
        return {name: sample_digests(items, name) for name, items in samples.items()}
