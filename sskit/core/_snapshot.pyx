"""Saving and restoring dual points."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy

from sskit.core._dual cimport Block, DualState
from sskit.core._problem cimport Problem


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
    cdef Py_ssize_t i, n = dual.n_blocks, at_entry = 0, at_plane = 0, at_word = 0, size
    cdef Block* block
    n_entries, n_planes = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    loss, rest = np.empty(n), np.empty(n)
    cdef int64_t[::1] entries = n_entries, planes = n_planes
    cdef double[::1] losses = loss, rests = rest
    for i in range(n):
        entries[i] = dual.blocks[i].n
        planes[i] = dual.blocks[i].n_planes
        losses[i] = dual.blocks[i].loss
        rests[i] = dual.blocks[i].rest
    n_words = np.array(dual.n_words, dtype=np.int64)
    index, value = np.empty(n_entries.sum(), dtype=np.int32), np.empty(n_entries.sum())
    words = np.empty((n_planes * n_words).sum(), dtype=np.int32)
    weight, plane_loss = np.empty(n_planes.sum()), np.empty(n_planes.sum())
    cdef int32_t[::1] indices = index, codes = words
    cdef double[::1] values = value, weights = weight, plane_losses = plane_loss
    for i in range(n):
        block = &dual.blocks[i]
        if block.n:
            memcpy(&indices[at_entry], block.index, block.n * sizeof(int32_t))
            memcpy(&values[at_entry], block.value, block.n * sizeof(double))
            at_entry += block.n
        if block.n_planes:
            size = block.n_planes * dual.n_words[i]
            memcpy(&codes[at_word], block.words, size * sizeof(int32_t))
            memcpy(&weights[at_plane], block.weight, block.n_planes * sizeof(double))
            memcpy(&plane_losses[at_plane], block.plane_loss, block.n_planes * sizeof(double))
            at_word += size
            at_plane += block.n_planes
    return {
        "n_entries": n_entries,
        "index": index,
        "value": value,
        "loss": loss,
        "n_planes": n_planes,
        "n_words": n_words,
        "planes": dual.problem.export_planes(words),
        "weight": weight,
        "plane_loss": plane_loss,
        "rest": rest,
    }


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
        If the saved point belongs to a problem of another shape; nothing is changed then.
    """
    cdef Py_ssize_t i, n = len(saved["loss"])
    if n > dual.n_blocks:
        raise ValueError(
            f"the saved dual point has {n} blocks but the problem has {dual.n_blocks}"
        )
    check_sizes(saved)
    n_words = np.asarray(dual.n_words)[:n]
    index = saved["index"]
    if (saved["n_words"] != n_words).any() or (
        len(index) and not (0 <= index.min() and index.max() < dual.max_statistics)
    ):
        raise ValueError("the saved dual point belongs to a problem of another shape")
    blocks = np.repeat(np.arange(n), saved["n_planes"])
    n_codes = int((saved["n_planes"] * n_words).sum())
    cdef const int32_t[::1] words = dual.problem.import_planes(blocks, saved["planes"])
    if words.shape[0] != n_codes:
        raise ValueError(
            f"the saved dual point is damaged: its planes must have {n_codes} words, got "
            f"{words.shape[0]}"
        )
    cdef int64_t[::1] entry = starts(saved["n_entries"])
    cdef int64_t[::1] plane = starts(saved["n_planes"])
    cdef int64_t[::1] word = starts(saved["n_planes"] * n_words)
    cdef const int32_t[::1] indices = index
    cdef const double[::1] value = saved["value"], loss = saved["loss"], rest = saved["rest"]
    cdef const double[::1] weight = saved["weight"], plane_loss = saved["plane_loss"]
    for i in range(n):
        set_mix(dual, i, indices[entry[i]:entry[i + 1]], value[entry[i]:entry[i + 1]], loss[i])
        set_planes(
            dual, i, words[word[i]:word[i + 1]], weight[plane[i]:plane[i + 1]],
            plane_loss[plane[i]:plane[i + 1]], rest[i]
        )


def check_sizes(saved):
    """Raise ValueError, naming it, for an array of a saved dual point that does not fit the others.

    Parameters
    ----------
    saved : dict
        From `save`, or from a file that says so.

    Raises
    ------
    ValueError
        If what `restore` would read beyond the end of an array is missing.
    """
    n = len(saved["loss"])
    for name in ("n_entries", "n_planes", "n_words"):
        counts = saved[name]
        if counts.shape != (n,) or counts.dtype != np.int64 or (counts < 0).any():
            raise ValueError(f"the saved dual point is damaged: {name} must count for {n} blocks")
    n_entries, n_planes = saved["n_entries"].sum(), saved["n_planes"].sum()
    for name, size in (
        ("index", n_entries), ("value", n_entries), ("weight", n_planes),
        ("plane_loss", n_planes), ("rest", n), ("loss", n),
    ):
        if saved[name].shape != (size,):
            raise ValueError(
                f"the saved dual point is damaged: {name} must have {size} entries, got shape "
                f"{saved[name].shape}"
            )


cdef starts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


cdef int set_mix(DualState dual, Py_ssize_t i, const int32_t[::1] index, const double[::1] value,
                 double loss) except -1:
    cdef Block* block = &dual.blocks[i]
    cdef Py_ssize_t n = index.shape[0]
    dual.reserve(block, n)
    if n:
        memcpy(block.index, &index[0], n * sizeof(int32_t))
        memcpy(block.value, &value[0], n * sizeof(double))
    block.n = n
    block.loss = loss
    return 0


cdef int set_planes(DualState dual, Py_ssize_t i, const int32_t[::1] words,
                    const double[::1] weights, const double[::1] losses, double rest) except -1:
    cdef Block* block = &dual.blocks[i]
    cdef Problem problem = dual.problem
    cdef Py_ssize_t p, slot, n = dual.n_words[i], n_planes = weights.shape[0]
    # first in, then out: a plane that is there and saved must not be forgotten in between
    for p in range(n_planes):
        dual.insert(i, &words[p * n], losses[p])
    for slot in range(block.n_planes - 1, -1, -1):
        for p in range(n_planes):
            if memcmp(block.words + slot * n, &words[p * n], n * sizeof(int32_t)) == 0:
                break
        else:
            dual.evict(i, slot)
    for p in range(n_planes):
        slot = dual.find(i, &words[p * n])
        block.weight[slot] = weights[p]
        block.plane_loss[slot] = losses[p]
        problem.forget(i, &words[p * n])        # import_planes kept it for us
    block.rest = rest
    return 0
