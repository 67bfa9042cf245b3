"""Losses and best labellings of batches of graphs and trees."""

from sskit.losses.graph_worker import INFERENCES

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.losses.batch cimport Batch, Found, Truths
from sskit.losses.graph_worker cimport GraphWorker


cdef class GraphTask(BatchTask):
    """Graphs, and a worker of its own for each thread.

    Parameters
    ----------
    batch : Batch
        The graphs.
    n_workers : int
        Number of workers.
    inference : str
        One of INFERENCES.
    """

    def __cinit__(self, Batch batch, Py_ssize_t n_workers, str inference, *args):
        cdef GraphWorker worker
        self.workers = []
        for _ in range(n_workers):
            worker = GraphWorker(batch, INFERENCES.index(inference))
            self.workers.append(worker)
            self.worker_of.push_back(<void*>worker)


cdef class GraphHinge(GraphTask):
    """Hinges of graphs, by margin rescaling.

    Parameters
    ----------
    batch, n_workers, inference : object
        As for `GraphTask`.
    truths : Truths
        Their labels.
    found : Found
        What is written.
    """

    cdef Truths truths
    cdef Found found

    def __cinit__(
        self, Batch batch, Py_ssize_t n_workers, str inference, Truths truths, Found found
    ):
        check_equal(truths.label.shape[0], batch.n_rows, "the number of labels")
        check_equal(truths.n_labels, batch.n_states, "the number of states of labels")
        check_equal(found.label.shape[0], batch.n_rows, "the number of labels found")
        check_equal(found.loss.shape[0], batch.n, "the number of losses")
        self.truths, self.found = truths, found

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        cdef Py_ssize_t first = self.batch.first[i], v, k, n_states = self.batch.n_states
        cdef int32_t* labels = &self.found.label[first]
        cdef int32_t* completed = &self.found.completed[first]
        cdef double* node
        cdef double loss = 0.0
        cdef bint exact
        (<GraphWorker>self.worker_of[worker]).load(i)
        exact = (<GraphWorker>self.worker_of[worker]).complete(self.truths, completed)
        node = (<GraphWorker>self.worker_of[worker]).node.data()
        for v in range(self.batch.length[i]):
            labels[v] = completed[v]
            for k in range(n_states):
                node[v * n_states + k] += self.truths.loss(first + v, <int32_t>k)
        # an oracle that is not exact does no worse than the truth
        exact &= (<GraphWorker>self.worker_of[worker]).improve(
            &(<GraphWorker>self.worker_of[worker]).p, labels
        )
        self.batch.load_nodes(i, n_states, node)
        for v in range(self.batch.length[i]):
            loss += self.truths.loss(first + v, labels[v])
        loss += (<GraphWorker>self.worker_of[worker]).advantage(labels, completed)
        self.found.loss[i] = max(loss, 0.0)
        self.found.exact[i] = exact
        return 0


cdef class GraphDecode(GraphHinge):
    """The best labellings of graphs that agree with what is known; in `found.completed`."""

    cdef int solve(self, Py_ssize_t i, Py_ssize_t worker) except -1 nogil:
        (<GraphWorker>self.worker_of[worker]).load(i)
        self.found.exact[i] = (<GraphWorker>self.worker_of[worker]).complete(
            self.truths, &self.found.completed[self.batch.first[i]]
        )
        return 0
