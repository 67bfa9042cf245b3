"""End points of steps within a block: the kinds of Frank-Wolfe steps."""

from sskit.solvers._working_set cimport MIX, Step, WorkingSet


cdef class PlainStep(Step):
    """From the mix to the best atom (Frank-Wolfe)."""

    def __cinit__(self):
        self.uses_mix = True

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        atoms.target = atoms.highest()
        atoms.source = MIX


cdef class PairwiseStep(Step):
    """From the worst atom with weight to the best one (Osokin et al. 2016, algorithm 3)."""

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        atoms.target = atoms.highest()
        atoms.source = atoms.lowest()


cdef class AwayStep(Step):
    """To the best atom or away from the worst, whichever is steeper (algorithm 4)."""

    def __cinit__(self):
        self.uses_mix = True

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        cdef Py_ssize_t best = atoms.highest(), worst = atoms.lowest()
        if (
            atoms.score[best] - atoms.mix_score >= atoms.mix_score - atoms.score[worst]
            or atoms.weight[worst] >= 1.0
        ):
            atoms.target = best
            atoms.source = MIX
        else:
            atoms.target = MIX
            atoms.source = worst
