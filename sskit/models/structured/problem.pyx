"""Structures written in Python, bound to data, and the planes that they have found."""

from threading import Lock

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.object_hashes import model_digest, sample_digests
from sskit.models.structured.oracle_pool import OraclePool, uses_processes

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.capabilities cimport PlaneStore
from sskit.core.checks cimport check_equal, check_indices
from sskit.core.problem cimport Problem
from sskit.models.weight_space cimport WeightSpaceProblem

cdef enum:
    TRUTH = 0        # handle of the truth of every block
    UNKNOWN = -1
    OVERHEAD = 160   # bytes of a plane without entries

# Share of the size of the numbers by which an exact oracle may miss its maximum: rounding.
cdef double ROUNDING = 1e-9


cdef class Plane:
    """What is known of a labelling, and who holds it."""

    cdef object key
    cdef vector[int32_t] index           # psi, sparse; indices rise
    cdef vector[double] value
    cdef double loss
    cdef Py_ssize_t block
    cdef Py_ssize_t n_pending            # pending places that hold the plane
    cdef Py_ssize_t n_kept               # times that it was kept and not forgotten
    cdef int64_t rank                    # in the order in which planes were first kept

    cdef Py_ssize_t n_bytes(self) noexcept:
        return self.index.size() * (sizeof(int32_t) + sizeof(double))


cdef class HandleStore(PlaneStore):
    """Planes of all blocks, by handle; each stays until nobody holds it.

    There are none to begin with but the truth of each block, which has the handle 0. Methods that
    change the store take its lock: keys may be compared by Python code.

    Invariant: known[i] maps the keys of the truth and of the held planes of block i to their
    handles.

    Parameters
    ----------
    truth_keys : list of hashable
        Keys of the true labellings.
    n_weights : int
        Length of psi.
    """

    cdef list slots              # the plane with this handle, an empty one if nobody holds it
    cdef list spare              # handles of such slots
    cdef list known              # (n_blocks,) dict
    cdef object lock
    cdef int64_t n_keeps
    cdef readonly Py_ssize_t n_bytes     # of all psi
    cdef Py_ssize_t n_weights

    def __cinit__(self, list truth_keys, Py_ssize_t n_weights):
        cdef Plane truth = Plane()
        truth.block = -1
        self.n_weights = n_weights
        self.slots, self.spare = [truth], []
        self.known = [{key: TRUTH} for key in truth_keys]
        self.lock = Lock()

    @property
    def n_planes(self):
        """Number of planes that somebody holds, those of the truth not counted."""
        return len(self.slots) - 1 - len(self.spare)

    # the plane of a handle that somebody holds, or has held
    cdef Plane at(self, int32_t handle):
        return <Plane>self.slots[handle]

    # is this the handle of a plane of block i that somebody holds, or has held?
    cdef bint has(self, Py_ssize_t i, int32_t handle):
        return TRUTH < handle < len(self.slots) and self.at(handle).block == i

    cdef int move(self, int32_t handle, int pending, int kept) except -1:
        """Count pending places and keepers of a plane; let it go once nobody holds it."""
        cdef Plane plane = self.at(handle)
        plane.n_pending += pending
        plane.n_kept += kept
        if plane.n_pending or plane.n_kept:
            return 0
        self.n_bytes -= plane.n_bytes()
        plane.index.clear()
        plane.value.clear()
        del self.known[plane.block][plane.key]
        plane.key = None
        self.spare.append(handle)
        return 0

    # handle of the plane with this key, held for a pending place, or UNKNOWN
    cdef int32_t find(self, Py_ssize_t i, object key) except? -1:
        cdef int32_t handle
        with self.lock:
            handle = self.known[i].get(key, UNKNOWN)
            if handle > TRUTH:
                self.move(handle, 1, 0)
        return handle

    # store a plane, held for a pending place; one with the same key is taken instead
    cdef int32_t add(
        self, Py_ssize_t i, object key, const int32_t[::1] index, const double[::1] value,
        double loss
    ) except? -1:
        cdef int32_t handle = UNKNOWN
        cdef Py_ssize_t n = index.shape[0]
        cdef Plane plane = Plane()
        if n:
            plane.index.assign(&index[0], &index[0] + n)
            plane.value.assign(&value[0], &value[0] + n)
        plane.key, plane.loss, plane.block, plane.n_pending = key, loss, i, 1
        with self.lock:
            if key in self.known[i]:  # another thread was faster
                handle = self.known[i][key]
                if handle > TRUTH:
                    self.move(handle, 1, 0)
                return handle
            if self.spare:
                handle = self.spare.pop()
                self.slots[handle] = plane
            else:
                handle = <int32_t>len(self.slots)
                self.slots.append(plane)
            self.n_bytes += plane.n_bytes()
            self.known[i][key] = handle
        return handle

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil:
        if code[0] != TRUTH:
            with gil:
                self.keep_handle(code[0])
        return 0

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        if code[0] != TRUTH:
            with gil:
                self.forget_handle(code[0])

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        with gil:
            return self.at(code[0]).n_bytes() + OVERHEAD

    cdef int keep_handle(self, int32_t handle) except -1:
        cdef Plane plane = self.at(handle)
        with self.lock:
            if not (plane.n_pending or plane.n_kept):
                raise RuntimeError(f"plane {handle} cannot be kept, it is no longer known")
            if plane.n_kept == 0:
                plane.rank = self.n_keeps
                self.n_keeps += 1
            plane.n_kept += 1
        return 0

    cdef int forget_handle(self, int32_t handle) except -1:
        with self.lock:
            if self.at(handle).n_kept > 0:
                self.move(handle, 0, -1)
        return 0

    # by a pending place
    cdef int hold(self, int32_t handle) except -1:
        if handle == TRUTH:
            return 0
        with self.lock:
            self.move(handle, 1, 0)
        return 0

    cdef int release(self, int32_t handle) except -1:
        if handle == TRUTH:
            return 0
        with self.lock:
            self.move(handle, -1, 0)
        return 0

    # handles of the planes of block i that are kept, in the order in which they first were
    cdef list kept(self, Py_ssize_t i):
        cdef int32_t handle
        with self.lock:
            ranked = [
                (self.at(handle).rank, handle)
                for handle in self.known[i].values() if self.at(handle).n_kept > 0
            ]
        return [handle for _, handle in sorted(ranked)]

    def export_planes(self, const int32_t[::1] handles):
        """Return what planes are, by their labellings, with psi and loss, without their handles.

        Parameters
        ----------
        handles : ndarray of shape (n,), int32
            Of planes that are kept, or of the truth.

        Returns
        -------
        planes : dict
            Keys (None for the truth), losses, numbers of entries of psi, and the entries.
        """
        cdef int32_t handle
        cdef Plane plane
        cdef list keys = [], losses = [], counts = [], indices = [], values = []
        check_indices(handles, len(self.slots), "plane")
        for handle in handles:
            plane = self.at(handle)
            keys.append(plane.key)
            losses.append(plane.loss)
            counts.append(plane.index.size())
            indices += plane.index
            values += plane.value
        return {
            "key": keys,
            "loss": np.array(losses, dtype=np.float64),
            "n_entries": np.array(counts, dtype=np.int64),
            "index": np.array(indices, dtype=np.int32),
            "value": np.array(values, dtype=np.float64),
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
        handles : ndarray of shape (n,), int32
            Of the planes here.
        """
        cdef Py_ssize_t p
        cdef int32_t handle
        check_indices(blocks, len(self.known), "block")
        for name in ("key", "n_entries", "loss"):
            check_equal(len(planes[name]), len(blocks), f"the length of {name}")
        check_indices(planes["index"], self.n_weights, "feature")
        if np.min(planes["n_entries"], initial=0) < 0:
            raise ValueError("numbers of entries must not be negative")
        for name in ("index", "value"):
            check_equal(len(planes[name]), np.sum(planes["n_entries"]), f"the length of {name}")
        handles = np.empty(len(blocks), dtype=np.int32)
        stops = np.cumsum(planes["n_entries"])
        for p, (key, stop) in enumerate(zip(planes["key"], stops)):
            handle = TRUTH
            if key is not None:
                start = stop - planes["n_entries"][p]
                handle = self.add(
                    blocks[p], key, planes["index"][start:stop], planes["value"][start:stop],
                    planes["loss"][p]
                )
                self.keep_handle(handle)
                self.release(handle)
            handles[p] = handle
        return handles


cdef class PythonProblem(WeightSpaceProblem):
    """A structure written in Python, bound to data.

    A plane has one word, its handle in a store that all forks
    share; 0 is the truth. What argmax found is held by the block's pending place of this object
    until the block is asked again through the same object, or while the plane is kept.

    Where labellings have hidden parts the truth of a block is a completion. Planes are stored
    relative to the first one, handle 0, and read relative to the present one, so that a handle
    means the same labelling whichever is the truth. Completions stay as long as the store.

    Parameters
    ----------
    answers : Answers
        The structure and its samples.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the samples, summing to one.
    exact : bool, default=True
        Whether the structure's argmax truly maximises.
    costly : bool, default=True
        Whether its argmax is slow compared with a step of the solver.
    parallel : {"threads", "processes"}, default="threads"
        What should ask argmax of many samples, if there are several workers.
    other : PythonProblem, default=None
        That of which this is a fork: the planes are shared.
    """

    cdef readonly object answers         # checks what the structure says
    cdef readonly HandleStore planes
    cdef list truths                     # (n_blocks,) of (index, value), phi of the truth
    cdef int32_t[::1] pending            # (n_blocks,) handles; 0 holds nothing
    cdef int32_t[::1] truth_of           # (n_blocks,) handles of the present truths
    cdef list completions                # (n_blocks,) of lists of handles of those met
    cdef readonly str parallel           # "threads" or "processes", as the structure prefers
    cdef object ahead                    # OraclePool, or None
    cdef bint is_whole                   # has it been made without an error?

    def __cinit__(self, answers, block_weight, bint exact=True, bint costly=True,
                  str parallel="threads", PythonProblem other=None):
        self.answers = answers
        self.block_weight = block_weight
        self.exact = exact
        self.costly = costly
        self.parallel = parallel
        self.n_blocks = len(answers.X)
        self.n_weights = answers.n_weights
        self.max_statistics = self.n_weights
        self.max_code_length = 1
        self.max_support = self.n_weights
        check_equal(len(block_weight), self.n_blocks, "the number of block weights")
        self.pending = np.zeros(self.n_blocks, dtype=np.int32)
        self.truth_of = np.zeros(self.n_blocks, dtype=np.int32)
        if other is not None:
            self.match(other)
            self.truths, self.is_whole = other.truths, True
            self.truth_of, self.completions = other.truth_of, other.completions
            self.plane_store = self.planes = other.planes
            return
        truths = [answers.truth(i) for i in range(self.n_blocks)]
        self.truths = [(index, value) for index, value, _ in truths]
        self.completions = [[TRUTH] for _ in truths]
        self.plane_store = self.planes = HandleStore(
            [key for _, _, key in truths], self.n_weights
        )
        self.is_whole = True

    def __del__(self):
        # after an error in the making nothing else can be asked
        if self.is_whole:
            for handle in self.pending:
                self.planes.release(handle)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        if code[0] == TRUTH:
            return True
        with gil:
            return self.planes.has(i, code[0])

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        code[0] = self.truth_of[i]
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        with gil:
            code[0] = self.ask(i, theta, loss_weight)
            loss[0] = self.planes.at(code[0]).loss
        return 0

    cdef int32_t ask(self, Py_ssize_t i, const double* theta, double loss_weight) except? -1:
        cdef int32_t found, handle
        cdef Py_ssize_t j
        weights = np.empty(self.n_weights)  # a copy: the structure may keep or change it
        cdef double[::1] w = weights
        memcpy(&w[0], theta, self.n_weights * sizeof(double))
        if loss_weight != 0.0 and loss_weight != 1.0:
            # the same maximiser, and the structure knows whole losses only
            for j in range(self.n_weights):
                w[j] /= loss_weight
        known = None
        if self.ahead is not None and loss_weight == 1.0:
            known = self.ahead.pop(i)
        if known is None:
            y = self.answers.argmax(i, weights, loss_weight != 0.0)
        else:
            y = known[0]
        found = self.find(i, y, known)
        try:
            handle = self.judge(i, found, theta, loss_weight)
        except Exception:
            self.planes.release(found)
            raise
        self.planes.release(self.pending[i])
        self.pending[i] = handle
        return handle

    cdef int32_t find(self, Py_ssize_t i, object y, object known) except? -1:
        """Return the handle of a labelling, held once more; known: it, its phi and its loss."""
        cdef const int32_t[::1] true_index, index
        cdef const double[::1] true_value, value
        cdef Py_ssize_t n = 0
        key = self.answers.key(i, y)
        cdef int32_t handle = self.planes.find(i, key)
        if handle != UNKNOWN:
            return handle
        true_index, true_value = self.truths[i]
        index, value = self.answers.joint_feature(i, y) if known is None else known[1]
        cdef int32_t[::1] psi_index = np.empty(len(true_index) + len(index), dtype=np.int32)
        cdef double[::1] psi_value = np.empty(len(true_index) + len(index))
        cdef Py_ssize_t n_true = true_index.shape[0], n_found = index.shape[0]
        if n_true or n_found:
            n = subtract(
                &true_index[0] if n_true else NULL, &true_value[0] if n_true else NULL, n_true,
                &index[0] if n_found else NULL, &value[0] if n_found else NULL, n_found,
                &psi_index[0], &psi_value[0]
            )
        loss = self.answers.loss(i, y) if known is None else known[2]
        if n == 0 and loss == 0.0:
            return TRUTH  # written in another way
        return self.planes.add(i, key, psi_index[:n], psi_value[:n], loss)

    cdef int32_t judge(
        self, Py_ssize_t i, int32_t handle, const double* theta, double loss_weight
    ) except? -1:
        """Return the handle to go on with: that of the answer, unless a known one is better.

        An exact structure must not do worse than the truth and the planes that are known; the
        answer of another is replaced by the best of them, as if it had found that one.
        """
        cdef double size, other_size, value, other_value
        cdef int32_t best = handle, other
        cdef list others = self.planes.kept(i)
        if self.exact:
            others.append(self.pending[i])
        others.append(TRUTH)
        if self.truth_of[i] != TRUTH:
            others.append(self.truth_of[i])
        value = bound(self.planes.at(handle), theta, loss_weight, &size)
        for other in others:
            other_value = bound(self.planes.at(other), theta, loss_weight, &other_size)
            if other_value <= value or other == best:
                continue
            if not self.exact:
                best, value = other, other_value
                continue
            if other_value - value > ROUNDING * (size + other_size + self.truth_size(i, theta)):
                raise ValueError(
                    f"argmax of sample {i} returned a labelling that is worse than "
                    + ("the truth" if other in (TRUTH, self.truth_of[i])
                       else "one that it returned before")
                    + f": its loss and score are lower by {other_value - value:.3g}. Where y_true "
                    "is given, argmax must add the loss to the scores; if it does not truly "
                    "maximise, set exact = False on the model"
                )
        if best != handle:
            self.planes.hold(best)
            self.planes.release(handle)
        return best

    cdef double truth_size(self, Py_ssize_t i, const double* theta) except? -1:
        """Return the sum of the sizes of the terms of the first truth's score."""
        cdef const int32_t[::1] index
        cdef const double[::1] value
        cdef Py_ssize_t e
        cdef double size = 0.0
        index, value = self.truths[i]
        for e in range(index.shape[0]):
            size += fabs(value[e] * theta[index[e]])
        return size

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        with gil:
            return self.write_plane(i, code[0], index, value)

    cdef Py_ssize_t write_plane(
        self, Py_ssize_t i, int32_t handle, int32_t* index, double* value
    ) except -1:
        cdef Plane plane = self.planes.at(handle), truth = self.planes.at(self.truth_of[i])
        if handle == self.truth_of[i]:
            return 0
        # the first truth, or one with its joint feature
        if truth.index.empty() and not plane.index.empty():
            memcpy(index, plane.index.data(), plane.index.size() * sizeof(int32_t))
            memcpy(value, plane.value.data(), plane.value.size() * sizeof(double))
            return plane.index.size()
        # phi(truth) - phi(y) from what both differ by from the first truth
        return subtract(
            plane.index.data(), plane.value.data(), plane.index.size(), truth.index.data(),
            truth.value.data(), truth.index.size(), index, value
        )

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return 1

    cpdef Problem fork(self):
        return PythonProblem(
            self.answers, self.block_weight, self.exact, self.costly, self.parallel, self
        )

    def completed(self, labellings, w=None):
        """Return completions as truths, which `with_truth` takes.

        Parameters
        ----------
        labellings : list of length n_blocks
            Full labellings.
        w : ndarray of shape (n_weights,), default=None
            The weights that they are best under. An exact structure must then not do worse than
            with completions that were met before; that of another is replaced by the best of them.

        Returns
        -------
        truths : ndarray of shape (n_blocks,), int32
            Handles, the same for equal labellings.

        Raises
        ------
        ValueError
            If one does not agree with what is known, or is worse than another.
        """
        cdef Py_ssize_t i
        cdef int32_t handle
        check_equal(len(labellings), self.n_blocks, "the number of labellings")
        if w is not None:
            check_equal(len(w), self.n_weights, "the number of weights")
        truths = np.zeros(self.n_blocks, dtype=np.int32)
        for i in range(self.n_blocks):
            handle = self.find(i, labellings[i], None)
            if handle in self.completions[i]:
                self.planes.release(handle)
            else:
                try:
                    self.answers.agrees(i, labellings[i])
                except Exception:
                    self.planes.release(handle)
                    raise
                self.completions[i].append(handle)  # held from now on
            if w is not None:
                handle = self.best_completion(i, handle, w)
            truths[i] = handle
        return truths

    cdef int32_t best_completion(
        self, Py_ssize_t i, int32_t handle, const double[::1] w
    ) except? -1:
        cdef double size, other_size, other_value
        cdef double value = bound(self.planes.at(handle), &w[0], 0.0, &size)
        cdef int32_t best = handle, other
        for other in self.completions[i]:
            other_value = bound(self.planes.at(other), &w[0], 0.0, &other_size)
            if other_value <= value:
                continue
            if other_value - value <= ROUNDING * (
                size + other_size + self.truth_size(i, &w[0])
            ):
                continue
            if self.exact:
                raise ValueError(
                    f"complete of sample {i} returned a labelling that is worse than one that it "
                    f"returned before: its score is lower by {other_value - value:.3g}. If it "
                    "does not truly maximise, set exact = False on the model"
                )
            best, value, size = other, other_value, other_size
        return best

    def with_truth(self, truths):
        """Return the same problem with other completions as the truth.

        Parameters
        ----------
        truths : ndarray of shape (n_blocks,), int32
            From `completed`.

        Returns
        -------
        problem : PythonProblem
            Shares all else with this one.

        Raises
        ------
        ValueError
            If one is no completion that was met.
        """
        cdef Py_ssize_t i
        check_equal(len(truths), self.n_blocks, "the number of truths")
        for i in range(self.n_blocks):
            if truths[i] not in self.completions[i]:
                raise ValueError(f"the truth {truths[i]} of block {i} is no completion")
        cdef PythonProblem other = self.fork()
        other.truth_of = np.array(truths, dtype=np.int32)
        return other

    def oracle_pool(self, n_jobs):
        """Return processes that find answers ahead, or None if threads do."""
        self.ahead = OraclePool(self.answers, n_jobs) if uses_processes(self.parallel) else None
        return self.ahead

    def fingerprint(self):
        """Return by what the same structure, inputs and labellings are known again."""
        return Fingerprint(
            {
                "the model object": model_digest(self.answers.model),
                "the number of weights": self.n_weights,
            },
            {
                "X": sample_digests(self.answers.X, "X"),
                "y": sample_digests(self.answers.Y, "y"),
            },
        )


cdef Py_ssize_t subtract(
    const int32_t* index, const double* value, Py_ssize_t n, const int32_t* other_index,
    const double* other_value, Py_ssize_t m, int32_t* out_index, double* out_value
) noexcept nogil:
    """Write the difference of two sparse vectors whose indices rise; return its entries."""
    cdef Py_ssize_t a = 0, b = 0, found = 0
    while a < n or b < m:
        if b == m or (a < n and index[a] < other_index[b]):
            out_index[found], out_value[found] = index[a], value[a]
            a += 1
        elif a == n or other_index[b] < index[a]:
            out_index[found], out_value[found] = other_index[b], -other_value[b]
            b += 1
        else:
            out_index[found], out_value[found] = index[a], value[a] - other_value[b]
            a += 1
            b += 1
        found += out_value[found] != 0.0
    return found


cdef double bound(Plane plane, const double* theta, double loss_weight, double* size) noexcept:
    """Return loss_weight * loss - <psi, theta>, and in `size` the sum of the terms' sizes."""
    cdef double total = loss_weight * plane.loss, term
    cdef Py_ssize_t e
    size[0] = fabs(total)
    for e in range(<Py_ssize_t>plane.index.size()):
        term = plane.value[e] * theta[plane.index[e]]
        total -= term
        size[0] += fabs(term)
    return total
