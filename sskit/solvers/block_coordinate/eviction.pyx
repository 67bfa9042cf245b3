"""Eviction of stored planes, by age, number and memory (Shah et al. 2015, section 3.2)."""

from libc.stdint cimport int32_t

from sskit.core.dual cimport DualBlock, DualState, plane_memory, resize_block


def tidy(
    DualState dual, int32_t clock, int32_t life, Py_ssize_t max_planes, double max_bytes,
    double light=0.0
):
    """Merge stored planes into planes 0 of their blocks; the mixes stay as they are.

    Parameters
    ----------
    dual : DualState
        The dual point.
    clock : int
        Present time, in the unit of `life`.
    life : int
        A plane goes when its last use is longer ago than this.
    max_planes : int
        Largest number of planes of a block; beyond it the least recently used go.
    max_bytes : float
        Memory of all stored planes. Beyond it life is halved until the rest fits: first that of
        planes without weight, then that of all.
    light : float, default=0.0
        Planes of more weight than this outlive `life`.
    """
    cdef int32_t age
    retire_all(dual, clock - life, True, light)
    cap_all(dual, max_planes)
    if plane_bytes(dual) <= max_bytes:
        return
    shrink_all(dual)
    for keep_weighted in (True, False):
        # halves of the life, then planes of this pass, then all of them
        age = min(life, clock)
        while plane_bytes(dual) > max_bytes and age >= -1:
            retire_all(dual, clock - age, keep_weighted)
            shrink_all(dual)
            age = age // 2 if age > 0 else age - 1


def retire_all(DualState dual, int32_t oldest, bint keep_weighted, double light=0.0):
    """Evict all planes that were last used before `oldest`; those with weight stay on request.

    Parameters
    ----------
    dual : DualState
        The dual point.
    oldest : int
        Time, as the solver stamps it on planes.
    keep_weighted : bool
        Whether planes with weight stay.
    light : float, default=0.0
        So much weight counts as none.
    """
    cdef Py_ssize_t i, p
    cdef DualBlock* block
    with nogil:
        for i in range(dual.n_blocks):
            block = &dual.blocks[i]
            for p in range(block.n_planes - 1, 0, -1):
                if block.last_used[p] < oldest and not (keep_weighted and block.weight[p] > light):
                    dual.evict(i, p)


cdef int cap_all(DualState dual, Py_ssize_t max_planes) except -1:
    cdef Py_ssize_t i, p
    cdef DualBlock* block
    for i in range(dual.n_blocks):
        block = &dual.blocks[i]
        while block.n_planes - 1 > max_planes:
            # the stalest of planes without weight, if there is one
            order = [(block.weight[p] > 0.0, block.last_used[p], p)
                     for p in range(1, block.n_planes)]
            dual.evict(i, min(order)[2])
    return 0


def plane_bytes(DualState dual):
    """Return the memory that the stored planes take, in bytes, that of the problem included.

    Parameters
    ----------
    dual : DualState
        The dual point.

    Returns
    -------
    n_bytes : float
        Room that is held, used or not.
    """
    cdef Py_ssize_t i, p, n
    cdef DualBlock* block
    cdef double total = 0.0
    for i in range(dual.n_blocks):
        block, n = &dual.blocks[i], dual.code_length[i]
        # every block has room for one
        total += plane_memory(n, block.plane_capacity) - plane_memory(n, 1)
        for p in range(1, block.n_planes):
            total += dual.problem.plane_store.plane_bytes(i, block.code + p * n)
    return total


cdef int shrink_all(DualState dual) except -1:
    cdef Py_ssize_t i
    for i in range(dual.n_blocks):
        if dual.blocks[i].plane_capacity > dual.blocks[i].n_planes:
            resize_block(&dual.blocks[i], dual.code_length[i], dual.blocks[i].n_planes)
    return 0
