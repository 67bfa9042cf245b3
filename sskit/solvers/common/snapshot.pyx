"""Saving and restoring dual points."""

import numpy as np

from sskit.solvers.oracle_calls.pool import make_pool

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp
from libcpp.vector cimport vector

from sskit.core.capabilities cimport PlaneStore
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualBlock, DualState
from sskit.core.problem cimport Problem
from sskit.solvers.oracle_calls.pool cimport OracleCall


def save(DualState dual):
    """Return a dual point as flat arrays.

    Inner products of planes are not saved: solvers compute them again when they first need
    them. Nor is when a plane was last of use, which a new run counts anew.

    Parameters
    ----------
    dual : DualState
        The dual point.

    Returns
    -------
    saved : dict
        What `restore` takes; can be pickled.
    """
    cdef vector[int64_t] n_entries, n_planes
    cdef vector[int32_t] index, code
    cdef vector[double] value, weight, plane_loss
    cdef Py_ssize_t i, n
    cdef DualBlock* block
    for i in range(dual.n_blocks):
        block, n = &dual.blocks[i], dual.code_length[i]
        n_entries.push_back(block.n)
        n_planes.push_back(block.n_planes)
        index.insert(index.end(), block.index, block.index + block.n)
        value.insert(value.end(), block.value, block.value + block.n)
        weight.insert(weight.end(), block.weight, block.weight + block.n_planes)
        plane_loss.insert(plane_loss.end(), block.plane_loss, block.plane_loss + block.n_planes)
        code.insert(code.end(), block.code + n, block.code + block.n_planes * n)
    codes = array_of(code.data(), code.size(), np.int32)
    return {
        "n_entries": array_of(n_entries.data(), n_entries.size(), np.int64),
        "index": array_of(index.data(), index.size(), np.int32),
        "value": array_of(value.data(), value.size(), np.float64),
        "n_planes": array_of(n_planes.data(), n_planes.size(), np.int64),
        "code_length": np.array(dual.code_length, dtype=np.int64),
        "planes": dual.problem.plane_store.export_planes(codes, weight.size() - dual.n_blocks),
        "weight": array_of(weight.data(), weight.size(), np.float64),
        "plane_loss": array_of(plane_loss.data(), plane_loss.size(), np.float64),
    }


cdef array_of(const void* numbers, size_t n, dtype):
    cdef size_t n_bytes = n * np.dtype(dtype).itemsize
    return np.frombuffer((<const char*>numbers)[:n_bytes], dtype=dtype).copy()


def restore(DualState dual, saved):
    """Take over a dual point that `save` returned; v must then be rebuilt.

    Parameters
    ----------
    dual : DualState
        Of a problem that begins with the same blocks; replaced. Further blocks stay as they
        are.
    saved : dict
        From `save`.

    Raises
    ------
    ValueError
        If the saved point is none of the problem; nothing is changed then.
    """
    cdef Py_ssize_t i, p, k, m, slot, n = len(saved["n_planes"])
    counts = {
        name: np.asarray(saved[name]) for name in ("n_entries", "n_planes", "code_length")
    }
    if not is_whole(dual, saved, counts):
        raise ValueError("the saved dual point is none of this problem")
    cdef const int32_t[::1] index = saved["index"]
    cdef const double[::1] value = saved["value"]
    cdef const double[::1] weight = saved["weight"], plane_loss = saved["plane_loss"]
    cdef const int64_t[::1] entry = starts(counts["n_entries"]), plane = starts(counts["n_planes"])
    blocks = np.repeat(np.arange(n), counts["n_planes"] - 1)
    cdef const int32_t[::1] code = dual.problem.plane_store.import_planes(blocks, saved["planes"])
    cdef const int64_t[::1] first = starts(counts["code_length"][blocks])
    if code.shape[0] != first[len(blocks)]:
        raise ValueError("the saved dual point has other planes than the problem")
    for k, i in enumerate(blocks):
        if not dual.problem.knows(i, &code[first[k]]):
            raise ValueError(f"the saved dual point has a plane that block {i} does not have")
    cdef Direction merged = Direction(dual.max_statistics)
    k = 0
    for i in range(n):
        dual.clear(i)
        m = entry[i + 1] - entry[i]
        if m:
            merged.add(&index[entry[i]], &value[entry[i]], m, 1.0)
        dual.assign(i, merged, plane_loss[plane[i]])
        merged.clear()
        dual.blocks[i].weight[0] = weight[plane[i]]
        for p in range(plane[i] + 1, plane[i + 1]):
            slot = dual.insert(i, &code[first[k]], plane_loss[p])
            dual.blocks[i].weight[slot] += weight[p]
            dual.problem.plane_store.forget(i, &code[first[k]])  # import_planes kept it for us
            k += 1


def is_whole(DualState dual, saved, counts):
    """Return whether saved arrays fit each other and the problem, and weights sum to one.

    Parameters
    ----------
    dual : DualState
        Of the problem.
    saved : dict
        From `save`.
    counts : dict
        Those of the arrays that hold lengths.
    """
    n_entries, n_planes = counts["n_entries"], counts["n_planes"]
    n = len(n_planes)
    for name, array in counts.items():
        # the bound keeps sums and products of these in range
        low = 1 if name == "n_planes" else 0
        if array.shape != (n,) or n and not (low <= array.min() and array.max() < 2**31):
            return False
    sizes = dict.fromkeys(("index", "value"), n_entries.sum())
    sizes |= dict.fromkeys(("weight", "plane_loss"), n_planes.sum())
    if n > dual.n_blocks or any(np.shape(saved[name]) != (sizes[name],) for name in sizes):
        return False
    index, weight = saved["index"], saved["weight"]
    total = np.bincount(np.repeat(np.arange(n), n_planes), weight, n)
    return bool(
        (counts["code_length"] == np.asarray(dual.code_length)[:n]).all()
        and ((0 <= index) & (index < dual.max_statistics)).all()
        and (weight >= 0).all() and (np.abs(total - 1.0) < 1e-6).all()
    )


def change_truths(saved, Problem problem, Problem earlier):
    """Return a dual point after truths changed: blocks whose truth is another one begin at it.

    Blocks whose truth is as before stay as they are, so that the point is one of the new problem.

    Parameters
    ----------
    saved : dict
        From `save`, of the earlier problem.
    problem : Problem
        With the new truths.
    earlier : Problem
        With the truths until now.

    Returns
    -------
    saved : dict
        What `restore` takes for the new problem.

    Raises
    ------
    ValueError
        If codes are no labellings.
    """
    cdef DualState dual = DualState(problem)
    if type(problem.plane_store) is not PlaneStore and (
        problem.plane_store is not earlier.plane_store
    ):
        raise ValueError(f"codes of {problem.name} are no labellings")
    restore(dual, saved)
    cdef int32_t[::1] old = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
    cdef Py_ssize_t i
    for i in range(dual.n_blocks):
        earlier.truth(i, &old[0])
        if memcmp(&old[0], dual.blocks[i].code, dual.code_length[i] * sizeof(int32_t)):
            dual.clear(i)
            dual.blocks[i].n = 0
            dual.blocks[i].weight[0], dual.blocks[i].plane_loss[0] = 1.0, 0.0
    return save(dual)


def truth_gains(Problem problem, Problem earlier, const double[::1] w):
    """Return by how much the truths of a problem score more than those of an earlier one.

    Parameters
    ----------
    problem, earlier : Problem
        Of one shape; they differ in their truths.
    w : ndarray of shape (n_weights + LANES,)
        Padded weights.

    Returns
    -------
    gains : ndarray of shape (n_blocks,)
        <w, B_i (m(y_i) - m(earlier y_i))>.
    """
    cdef OracleCall call = OracleCall(problem)
    cdef double[::1] gains = np.zeros(problem.n_blocks)
    cdef Py_ssize_t i
    for i in range(problem.n_blocks):
        earlier.truth(i, &call.code[0])
        call.load_plane(problem, i, &call.code[0], 0.0)
        if call.n:
            problem.scores_at(i, &w[0], &call.index[0], call.n, &call.theta[0])
        gains[i] = -call.bound()
    return np.asarray(gains)


def hinge_gains(Problem problem, Problem earlier, const double[::1] w):
    """Return by how much hinges of a problem are smaller than those of an earlier one.

    Parameters
    ----------
    problem, earlier : Problem
        As for `truth_gains`.
    w : ndarray of shape (n_weights + LANES,)
        Padded weights.

    Returns
    -------
    gains : ndarray of shape (n_blocks,)
        Of hinges that an oracle bounds, where it may miss the maximum, by their bounds.
    """
    answers = [make_pool(each).evaluate(w) for each in (earlier, problem)]
    before, after = [answer.hinges() + answer.excesses() for answer in answers]
    return before - after


cdef starts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
