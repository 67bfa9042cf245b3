"""Saving and restoring dual points."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core._dual cimport Block, DualState


def save(DualState dual):
    """Return a dual point as flat arrays.

    Parameters
    ----------
    dual : DualState
        The dual point.

    Returns
    -------
    saved : dict of ndarray
        What `restore` takes; can be pickled.
    """
    mixes = [dual.mix(i) for i in range(dual.n_blocks)]
    planes = [dual.planes(i) for i in range(dual.n_blocks)]
    return {
        "n_entries": np.array([len(index) for index, _, _ in mixes]),
        "index": np.concatenate([index for index, _, _ in mixes]),
        "value": np.concatenate([value for _, value, _ in mixes]),
        "loss": np.array([loss for _, _, loss in mixes]),
        "n_planes": np.array([len(weights) for _, weights, _, _ in planes]),
        "n_words": np.array([words.shape[1] for words, _, _, _ in planes]),
        "words": np.concatenate([words.ravel() for words, _, _, _ in planes]),
        "weight": np.concatenate([weights for _, weights, _, _ in planes]),
        "plane_loss": np.concatenate([losses for _, _, losses, _ in planes]),
        "rest": np.array([rest for _, _, _, rest in planes]),
    }


def restore(DualState dual, saved):
    """Take over a dual point that `save` returned; v must then be rebuilt.

    Parameters
    ----------
    dual : DualState
        Of the same problem; replaced.
    saved : dict of ndarray
        From `save`.

    Raises
    ------
    ValueError
        If the saved point belongs to a problem of another shape; nothing is changed then.
    """
    n_words = np.asarray(dual.n_words)
    if len(saved["loss"]) != dual.n_blocks:
        raise ValueError(
            f"the saved dual point has {len(saved['loss'])} blocks but the problem has "
            f"{dual.n_blocks}"
        )
    index = saved["index"]
    if (saved["n_words"] != n_words).any() or (
        len(index) and not (0 <= index.min() and index.max() < dual.max_statistics)
    ):
        raise ValueError("the saved dual point belongs to a problem of another shape")
    entry = np.concatenate([[0], np.cumsum(saved["n_entries"])])
    plane = np.concatenate([[0], np.cumsum(saved["n_planes"])])
    word = np.concatenate([[0], np.cumsum(saved["n_planes"] * n_words)])
    for i in range(dual.n_blocks):
        mix, planes = slice(entry[i], entry[i + 1]), slice(plane[i], plane[i + 1])
        set_mix(dual, i, index[mix], saved["value"][mix], saved["loss"][i])
        set_planes(
            dual, i, saved["words"][word[i]:word[i + 1]].reshape(-1, n_words[i]),
            saved["weight"][planes], saved["plane_loss"][planes], saved["rest"][i],
        )


cdef set_mix(DualState dual, Py_ssize_t i, const int32_t[::1] index, const double[::1] value,
             double loss):
    cdef Block* block = &dual.blocks[i]
    cdef Py_ssize_t e
    dual.reserve(block, index.shape[0])
    for e in range(index.shape[0]):
        block.index[e] = index[e]
        block.value[e] = value[e]
    block.n = index.shape[0]
    block.loss = loss


cdef set_planes(DualState dual, Py_ssize_t i, const int32_t[:, ::1] words,
                const double[::1] weights, const double[::1] losses, double rest):
    cdef Py_ssize_t p, slot
    # first in, then out: a plane that is there and saved must not be forgotten in between
    saved = {dual.insert(i, &words[p, 0], losses[p]) for p in range(words.shape[0])}
    for slot in range(dual.blocks[i].n_planes - 1, -1, -1):
        if slot not in saved:
            dual.evict(i, slot)
    for p in range(words.shape[0]):
        slot = dual.find(i, &words[p, 0])
        dual.blocks[i].weight[slot] = weights[p]
        dual.blocks[i].plane_loss[slot] = losses[p]
    dual.blocks[i].rest = rest
