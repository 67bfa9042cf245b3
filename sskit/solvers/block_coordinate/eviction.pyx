"""Which stored planes stay: their life, their number and the memory that they take."""

from libc.stdint cimport int32_t

from sskit.core.dual cimport Block, DualState


def tidy(
    DualState dual, int32_t clock, int32_t life, Py_ssize_t max_planes, double max_bytes,
    double light=0.0
):
    """Evict stored planes into the aggregate planes of their blocks; the mixes stay as they are.

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
    """Evict all planes that were last used before `oldest`; those with weight stay if asked.

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
    cdef Block* block
    with nogil:
        for i in range(dual.n_blocks):
            block = &dual.blocks[i]
            for p in range(block.n_planes - 1, -1, -1):
                if block.last_used[p] < oldest and not (keep_weighted and block.weight[p] > light):
                    dual.evict(i, p)


cdef void cap_all(DualState dual, Py_ssize_t max_planes) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(dual.n_blocks):
        while dual.blocks[i].n_planes > max_planes:
            dual.evict(i, stalest(&dual.blocks[i]))


cdef Py_ssize_t stalest(const Block* block) noexcept nogil:
    # of planes without weight, if there is one
    cdef Py_ssize_t p, found = 0
    for p in range(1, block.n_planes):
        if (block.weight[p] > 0.0) != (block.weight[found] > 0.0):
            if block.weight[found] > 0.0:
                found = p
        elif block.last_used[p] < block.last_used[found]:
            found = p
    return found


cdef double size_of(DualState dual, Py_ssize_t i, double room) noexcept nogil:
    cdef double row = (dual.code_length[i] + 1) * sizeof(int32_t) + 2 * sizeof(double)
    return room * (row + room * sizeof(double))


cdef double own_bytes(DualState dual, Py_ssize_t i, Py_ssize_t p) noexcept nogil:
    return dual.problem.plane_store.plane_bytes(i, dual.blocks[i].code + p * dual.code_length[i])


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
    cdef Py_ssize_t i, p
    cdef double total = 0.0
    for i in range(dual.n_blocks):
        total += size_of(dual, i, dual.blocks[i].plane_capacity)
        for p in range(dual.blocks[i].n_planes):
            total += own_bytes(dual, i, p)
    return total


cdef int shrink_all(DualState dual) except -1:
    cdef Py_ssize_t i
    for i in range(dual.n_blocks):
        if dual.blocks[i].plane_capacity > dual.blocks[i].n_planes:
            dual.resize_planes(i, dual.blocks[i].n_planes)
    return 0
