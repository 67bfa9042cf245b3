"""Steps between atoms, asked from Python: for tests of their end points and line searches."""

from sskit.core.checks cimport check_index
from sskit.solvers.simplex_qp.program cimport LineSearch, SimplexProgram, Step


cdef class StepProbe(SimplexProgram):
    """A working set with given atoms."""

    def choose(self, Step step):
        """Return the end points (target, source) that a step chooses; -1 is the mix."""
        step.choose(self.atoms)
        return self.atoms.target, self.atoms.source

    def search(self, Py_ssize_t target, Py_ssize_t source):
        """Return (gamma, gain, limit) of the best step between two end points."""
        check_index(target + 1, self.atoms.n_atoms + 1, "one and target")
        check_index(source + 1, self.atoms.n_atoms + 1, "one and source")
        cdef LineSearch line = self.atoms.search(target, source)
        return line.gamma, line.gain, line.limit
