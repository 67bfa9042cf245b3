from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.stop cimport Stop
from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, Structure, StructuredProblem
from sskit.parallel.thread_pool cimport Task, ThreadPool


cdef class LikelihoodProblem(StructuredProblem):
    """A problem whose blocks have the loss -log p(y_i | x_i), p(y | x) = exp score(y) / Z."""


cdef class LogLoss(Task):
    """The mean of -log p(y_i | x_i) and its gradient, by one worker or more.

    Blocks are taken in portions whose statistics fit into a fast cache. In the first of two phases
    workers write the expected statistics of a block minus those of the truth; in the second they
    add these to the gradient, each for features of its own: no two workers write to one number, and
    the result does not depend on the number of workers.
    """

    cdef readonly StructuredProblem problem
    cdef readonly Stop stop
    cdef readonly Py_ssize_t n_workers
    cdef FeatureMap map
    cdef ThreadPool thread_pool              # None: one worker
    cdef list structures                     # of each worker
    cdef vector[void*] structure_of          # the same, borrowed
    cdef double[:, ::1] theta                # (n_workers, max_statistics + LANES)
    cdef int32_t[:, ::1] index               # (n_workers, max_support) statistics of the truth
    cdef double[:, ::1] value
    cdef int64_t[::1] portion                # (n_portions + 1,) where portions of blocks begin
    cdef int64_t[::1] place                  # (n_blocks,) where a block begins in the room
    cdef double[::1] room                    # the statistics of a portion
    cdef vector[double] common               # sums of the statistics of tables
    cdef int64_t[::1] node_bound             # (n_parts + 1,) where the features of a part begin
    cdef int64_t[::1] edge_bound             # likewise, those of edges
    cdef double[::1] loss                    # (n_blocks,) -log p
    cdef readonly bint convex                # is there one right labelling of each block?
    cdef unsigned char[::1] is_open          # (n_blocks,) or not
    cdef double[:, ::1] right                # (n_workers, ...) statistics of right labellings
    # the task at hand
    cdef const double* w
    cdef double* gradient
    cdef Py_ssize_t first, stop_block        # the portion
    cdef bint adds

    cdef int expect(
        self, Py_ssize_t i, Py_ssize_t worker, FeatureMap map, Structure structure
    ) except -1 nogil
    cdef double expect_right(
        self, const Block* b, Py_ssize_t worker, FeatureMap map, Structure structure, double* own
    ) except? -1 nogil
    cdef void gather(self, Py_ssize_t i, Py_ssize_t part, FeatureMap map) noexcept nogil
    cdef int do_phase(self, Py_ssize_t n, Py_ssize_t chunk) except -1
