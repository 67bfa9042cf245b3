"""Which stored planes stay: their life, their number and the memory that they take."""

from bisect import bisect_left

from libc.stdint cimport INT32_MAX, int32_t

from sskit.core.dual cimport Block, DualState


cdef class PlaneKeeper:
    """Evicts stored planes into the aggregate planes of their blocks; the mixes stay as they are.

    Parameters
    ----------
    life : int
        A plane goes when its last use is longer ago than this.
    max_planes : int
        Largest number of planes of a block; beyond it the least recently used go.
    max_bytes : float
        Memory of all stored planes. Beyond it the least recently used go, first those without
        weight, then the others.
    light : float, default=0.0
        Planes of more weight than this outlive `life`.
    """

    cdef readonly int life
    cdef readonly Py_ssize_t max_planes
    cdef readonly double max_bytes
    cdef readonly double light

    def __cinit__(self, life, max_planes, double max_bytes, double light=0.0):
        # no clock gets further, and no block has more
        self.life = min(life, INT32_MAX)
        self.max_planes = min(max_planes, INT32_MAX)
        self.max_bytes = max_bytes
        self.light = light

    def tidy(self, DualState dual, int32_t clock):
        """Evict what must go.

        Parameters
        ----------
        dual : DualState
            The dual point.
        clock : int
            Present time, in the unit of `life`.
        """
        retire_all(dual, clock - self.life, True, self.light)
        cap_all(dual, self.max_planes)
        if plane_bytes(dual) <= self.max_bytes:
            return
        shrink_all(dual)
        for keep_weighted in (True, False):
            # the least age limit that fits the memory, clock + 1 (all planes) if none does
            oldest = bisect_left(
                range(clock + 1), True,
                key=lambda age: bytes_after(dual, age, keep_weighted) <= self.max_bytes,
            )
            retire_all(dual, oldest, keep_weighted)
            shrink_all(dual)
            if oldest <= clock:
                return


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
    with nogil:
        for i in range(dual.n_blocks):
            for p in range(dual.blocks[i].n_planes - 1, -1, -1):
                if goes(&dual.blocks[i], p, oldest, keep_weighted, light):
                    dual.evict(i, p)


cdef bint goes(
    const Block* block, Py_ssize_t p, int32_t oldest, bint keep_weighted, double light
) noexcept nogil:
    return block.last_used[p] < oldest and not (keep_weighted and block.weight[p] > light)


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


cdef double bytes_after(DualState dual, int32_t oldest, bint keep_weighted) noexcept nogil:
    # memory, without spare room, if these planes went
    cdef Py_ssize_t i, p, n
    cdef double total = 0.0
    for i in range(dual.n_blocks):
        n = 0
        for p in range(dual.blocks[i].n_planes):
            if not goes(&dual.blocks[i], p, oldest, keep_weighted, 0.0):
                n += 1
                total += own_bytes(dual, i, p)
        total += size_of(dual, i, n)
    return total


cdef int shrink_all(DualState dual) except -1:
    cdef Py_ssize_t i
    for i in range(dual.n_blocks):
        if dual.blocks[i].plane_capacity > dual.blocks[i].n_planes:
            dual.resize_planes(i, dual.blocks[i].n_planes)
    return 0
