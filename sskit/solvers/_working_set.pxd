from libc.stdint cimport int32_t

from sskit.core._direction cimport Direction
from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.core._regularizer cimport Regularizer
from sskit.solvers._averager cimport Averager
from sskit.solvers._visit cimport Visit

cdef enum:
    MIX = -1       # an end point of a step: the block's present mix instead of an atom


cdef struct LineSearch:
    double slope         # of the dual objective at the start of the step
    double curvature
    double limit         # largest step size
    double gamma         # best one
    double gain          # increase of the dual objective that it brings


cdef class WorkingSet:
    """The stored planes of one block as the atoms of a small quadratic program.

    load() brings a block in; then, per atom: its linear bound at w, score = loss - <theta, psi>,
    its weight in the mix, and inner products of B psi with all atoms. Steps between atoms change
    these numbers only, O(n_atoms) each; store() turns their sum into one move of w. The rest
    plane of the dual state, if it has weight, is the last atom.

    Invariants between load() and store(): weight >= 0, sums to one; score belongs to the w that
    store() would leave; mix_score = <weight, score>; image = K weight and image_sqnorm =
    <weight, image> if the step uses them.
    """

    cdef readonly Py_ssize_t n_atoms
    # Is the last atom a rest plane with next to no weight? Then it is no target: what is known of
    # it is what the others leave of the mix, divided by its weight, and so is the rounding.
    cdef bint frail
    # Is there a rest plane with so little weight that it is no atom at all? Then it goes with the
    # next step.
    cdef bint leftover
    cdef Py_ssize_t n_planes         # atoms that are stored planes
    cdef Py_ssize_t capacity
    cdef double* score
    cdef double* weight
    cdef double* old_weight
    cdef double* loss
    cdef double* image
    cdef double* rest_row            # inner products of the rest plane with all atoms
    cdef const double* gram          # of the stored planes, in the dual state
    cdef Py_ssize_t gram_stride
    cdef double mix_score
    cdef double image_sqnorm
    cdef bint with_image             # are image and mix_score kept up to date?
    cdef double best_score           # of all targets when they were loaded
    cdef Py_ssize_t best             # the target that has it
    cdef double noise                # of scores: smaller differences are rounding; 0 if unknown
    # psi of the stored planes, sparse, one after the other
    cdef int32_t* index
    cdef double* value
    cdef Py_ssize_t* first           # (n_planes + 1,)
    cdef Py_ssize_t support          # capacity of index and value
    # of the block, set by improve(): c_i, and c_i / lam
    cdef double block_weight
    cdef double scale
    # end points that the step has chosen
    cdef Py_ssize_t target
    cdef Py_ssize_t source

    # psi of the stored planes of a block; must come before load()
    cdef int gather(self, Problem problem, DualState dual, Py_ssize_t i) except -1 nogil
    # delta += scale * psi of a stored plane
    cdef void add_plane(self, Py_ssize_t p, Direction delta, double scale) noexcept nogil
    # atoms at the potentials theta, which need be right only where planes and mix use them
    cdef int load(
        self, Problem problem, DualState dual, Py_ssize_t i, const double* theta, Direction scratch,
        bint with_image
    ) except -1 nogil
    # up to max_steps steps while the slope exceeds min_slope; returns the increase of the dual
    cdef double improve(
        self, Step step, Py_ssize_t max_steps, double block_weight, double scale,
        double min_slope
    ) noexcept nogil
    # move q, v and w by what the steps changed
    cdef int store(
        self, Problem problem, DualState dual, Regularizer regularizer, Averager averager,
        Py_ssize_t i, Direction scratch
    ) except -1 nogil

    cdef void move_scores(self, Py_ssize_t atom, double change, double gamma) noexcept nogil
    cdef int reserve(self, Py_ssize_t n_atoms) except -1 nogil
    cdef int fill_gram(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch
    ) except -1 nogil
    cdef int load_rest(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch, double mix
    ) except -1 nogil
    cdef double inner(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
    cdef LineSearch search(self, Py_ssize_t target, Py_ssize_t source) noexcept nogil
    cdef double take_step(self, double min_slope) noexcept nogil
    cdef Py_ssize_t lowest(self) noexcept nogil
    cdef Py_ssize_t highest(self) noexcept nogil


cdef class Step:
    """Chooses the end points (source, target) of a step between the atoms of a working set.

    No step may give weight to an atom that is no target, be it as its target or by a step away
    from another atom, which makes all others heavier.
    """

    cdef readonly bint uses_mix      # may an end point be MIX?
    cdef void choose(self, WorkingSet atoms) noexcept nogil
