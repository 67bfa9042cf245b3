"""Steps between atoms, asked from Python: for tests of their end points and line searches."""

import numpy as np

cimport cython
from sskit.core.checks cimport check_indices
from sskit.solvers.simplex_qp.program cimport Step, WorkingSet


cdef class StepProbe(WorkingSet):
    """Maximise c <alpha, loss> - c^2 / (2 lam) <alpha, K alpha> over the simplex.

    Parameters
    ----------
    score : ndarray of shape (n_atoms,)
        Gradient of the objective at `weight`, divided by c: loss - c / lam K weight.
    weight : ndarray of shape (n_atoms,)
        Where to start, summing to one.
    gram : ndarray of shape (n_atoms, n_atoms)
        Inner products K.
    block_weight : float
        c.
    lam : float
        Regularisation strength.
    """

    cdef double[:, ::1] table        # the inner products

    @cython.boundscheck(True)
    @cython.wraparound(True)
    def __cinit__(self, score, weight, gram, double block_weight, double lam):
        cdef Py_ssize_t a, n = len(score)
        self.table = np.array(gram, dtype=np.float64, order="C")
        self.reserve(n)
        self.n_atoms = self.gram_stride = n
        self.gram = &self.table[0, 0]
        self.block_weight = block_weight
        self.scale = block_weight / lam
        self.with_image = True
        for a in range(n):
            self.score[a] = score[a]
            self.weight[a] = weight[a]
        self.sum_up()

    def choose(self, Step step):
        """Return the end points (target, source) that a step chooses; -1 is the mix."""
        step.choose(self)
        return self.target, self.source

    def search(self, Py_ssize_t target, Py_ssize_t source):
        """Take the best step between two end points; return its gain and the weights after it."""
        check_indices([target + 1], self.n_atoms + 1, "one and target")
        check_indices([source + 1], self.n_atoms + 1, "one and source")
        self.target, self.source = target, source
        gain = self.take_step(0.0)
        return gain, np.array([self.weight[a] for a in range(self.n_atoms)])
