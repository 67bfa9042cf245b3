"""Quadratic programs over the weights of given atoms (see the .pxd)."""

import numpy as np

from sskit.solvers.simplex_qp.program cimport Step


cdef class SimplexProgram:
    """Maximise c <alpha, loss> - c^2 / (2 lam) <alpha, K alpha> over the simplex.

    The atoms of a block of weight c, but they may be anything that has inner products.

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

    def __cinit__(self, score, weight, gram, double block_weight, double lam):
        cdef Py_ssize_t a, n = len(score)
        gram = np.array(gram, dtype=np.float64, order="C")
        if n == 0 or np.shape(weight) != (n,) or gram.shape != (n, n):
            raise ValueError(
                f"{n} scores do not go with weights of shape {np.shape(weight)} and inner products "
                f"of shape {gram.shape}"
            )
        if not (np.asarray(weight) >= 0).all() or not np.any(weight):
            raise ValueError(f"weight must be weights that sum to one, got {weight}")
        image = np.dot(gram, weight)
        self.gram = gram
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

    def improve(self, Step step, Py_ssize_t max_steps, double min_slope=0.0):
        """Take steps until their slope is at most `min_slope`.

        Returns
        -------
        increase : float
            Of the objective.
        weight : ndarray of shape (n_atoms,)
            The weights after the steps.
        """
        cdef Py_ssize_t a
        cdef double increase
        cdef double scale = self.block_weight / self.lam
        self.atoms.with_image = step.uses_mix
        with nogil:
            increase = self.atoms.improve(step, max_steps, self.block_weight, scale, min_slope)
        return increase, np.array([self.atoms.weight[a] for a in range(self.atoms.n_atoms)])
