from libcpp.vector cimport vector

from sskit.losses.batch cimport BatchTask


cdef class GraphTask(BatchTask):
    """Graphs, and a worker of its own for each thread."""

    cdef list workers
    cdef vector[void*] worker_of     # GraphWorker by its number
