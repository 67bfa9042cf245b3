"""End points of steps within a block: the kinds of Frank-Wolfe steps."""

from sskit.solvers.simplex_qp.program cimport MIX, Step, WorkingSet


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
        elif atoms.frail and worst < atoms.n_planes:
            # away from `worst` would be towards the aggregate plane too: all goes to the best
            atoms.target = best
            atoms.source = worst
        else:
            atoms.target = MIX
            atoms.source = worst


cdef class SafeguardedStep(Step):
    """The choice of another step, or a plain one if that promises a larger increase.

    A pairwise step is cut short by the weight of the plane that it leaves (a swap), which may be
    tiny however steep the step is; a plain step never is.

    Parameters
    ----------
    step : Step
        Makes the first choice.
    """

    cdef Step step

    def __cinit__(self, Step step):
        self.step = step
        self.uses_mix = True

    cdef void choose(self, WorkingSet atoms) noexcept nogil:
        cdef Py_ssize_t best = atoms.highest()
        self.step.choose(atoms)
        if atoms.search(best, MIX).gain > atoms.search(atoms.target, atoms.source).gain:
            atoms.target = best
            atoms.source = MIX
