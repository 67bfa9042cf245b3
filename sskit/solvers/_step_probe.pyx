"""Steps between atoms, asked from Python: for tests of their end points and line searches."""

import numpy as np

from sskit.solvers._working_set cimport LineSearch, Step, WorkingSet


cdef class StepProbe:
    """A working set with given atoms.

    Parameters
    ----------
    score : ndarray of shape (n_atoms,)
        Their linear bounds loss - <theta, psi>.
    weight : ndarray of shape (n_atoms,)
        Their weights in the mix, summing to one.
    gram : ndarray of shape (n_atoms, n_atoms)
        Inner products of their B psi.
    block_weight : float
        c_i of the block.
    lam : float
        Regularisation strength.
    """

    cdef WorkingSet atoms
    cdef double[:, ::1] gram
    cdef double block_weight
    cdef double lam

    def __init__(self, score, weight, gram, double block_weight, double lam):
        cdef Py_ssize_t a, n = len(score)
        image = np.dot(gram, weight)
        self.gram = np.array(gram, dtype=np.float64, order="C")
        self.block_weight = block_weight
        self.lam = lam
        self.atoms = WorkingSet()
        self.atoms.reserve(n)
        self.atoms.n_atoms = self.atoms.n_planes = n
        self.atoms.gram = &self.gram[0, 0]
        self.atoms.gram_stride = n
        self.atoms.block_weight = block_weight
        self.atoms.scale = block_weight / lam
        self.atoms.with_image = True
        self.atoms.mix_score = np.dot(weight, score)
        self.atoms.image_sqnorm = np.dot(weight, image)
        for a in range(n):
            self.atoms.score[a] = score[a]
            self.atoms.weight[a] = weight[a]
            self.atoms.image[a] = image[a]

    def choose(self, Step step):
        """Return the end points (target, source) that a step chooses; -1 is the mix."""
        step.choose(self.atoms)
        return self.atoms.target, self.atoms.source

    def search(self, Py_ssize_t target, Py_ssize_t source):
        """Return (gamma, gain, limit) of the best step between two end points."""
        cdef LineSearch line = self.atoms.search(target, source)
        return line.gamma, line.gain, line.limit

    def improve(self, Step step, Py_ssize_t max_steps):
        """Take steps; return the increase of the dual objective and the weights after them."""
        cdef Py_ssize_t a
        increase = self.atoms.improve(
            step, max_steps, self.block_weight, self.block_weight / self.lam, 0.0
        )
        return increase, np.array([self.atoms.weight[a] for a in range(self.atoms.n_atoms)])
