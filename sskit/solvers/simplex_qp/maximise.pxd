from sskit.solvers.simplex_qp.program cimport WorkingSet


cdef class SimplexProgram:
    """A small concave quadratic program over the weights of some atoms, on the simplex."""

    cdef WorkingSet atoms
    cdef double[:, ::1] gram        # what `atoms` points to
    cdef double block_weight
    cdef double lam
