"""Steps between atoms, asked from Python: for tests of their end points and line searches."""

from sskit.core.checks cimport check_indices
from sskit.solvers.simplex_qp.program cimport SimplexProgram, Step


cdef class StepProbe(SimplexProgram):
    """Maximise c <alpha, loss> - c^2 / (2 lam) <alpha, K alpha> over the simplex, step by step."""

    def __cinit__(self, *program):
        self.with_image = True
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
        return self.take_step(0.0), self.weights
