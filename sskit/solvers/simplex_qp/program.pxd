from libcpp.vector cimport vector


# The exact line search along a direction of Frank-Wolfe.
# The step of at most `most` that maximises a concave quadratic function along a line, gamma = slope
# / curvature: its slope at the start is positive, and falls by `curvature` per unit of step. It is
# exactly `most` if the slope does not become zero before.
cdef inline double best_step(double slope, double curvature, double most) noexcept nogil:
    return slope / curvature if slope < most * curvature else most


cdef enum:
    MIX = -1       # an end point of a step: the block's present mix instead of an atom


cdef class WorkingSet:
    """Atoms of a small concave quadratic program over the weights of a mix.

    Per atom: its score, its weight in the mix, and inner products with all atoms. The score is the
    linear bound at w, loss - <w, B psi>, up to a common constant. Steps between atoms change these
    numbers only, O(n_atoms) each.

    Invariants: weight >= 0, sums to one; mix_score = <weight, score>; image = K weight and
    image_sqnorm = <weight, image> if the step uses them.
    """

    cdef readonly Py_ssize_t n_atoms
    cdef vector[double] score        # of n_atoms or more, as all that follow
    cdef vector[double] weight, image
    cdef const double* gram          # the table of inner products, which belongs to the caller
    cdef Py_ssize_t gram_stride
    cdef double mix_score, image_sqnorm
    cdef bint with_image             # are image and mix_score kept up to date?
    cdef double noise                # of scores: smaller differences are rounding; 0 if unknown
    # of the block: c_i, and c_i / lam
    cdef double block_weight, scale
    # end points that the step has chosen
    cdef Py_ssize_t target, source

    # room for n atoms
    cdef int reserve(self, size_t n) except -1 nogil
    # image = K weight, then mix_score and image_sqnorm
    cdef void sum_up(self) noexcept nogil
    # mix_score and image_sqnorm
    cdef void settle(self) noexcept nogil
    # up to max_steps steps while the slope exceeds min_slope; returns the increase of the dual
    cdef double improve(self, Step step, Py_ssize_t max_steps, double min_slope) noexcept nogil
    # a step between the end points if its slope exceeds min_slope; returns its gain
    cdef double take_step(self, double min_slope) noexcept nogil
    # scores and image when the mix gains `gamma` of an atom (or loses it)
    cdef void shift_scores(self, Py_ssize_t atom, double gamma) noexcept nogil
    cdef double inner(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
    cdef Py_ssize_t lowest(self) noexcept nogil
    cdef Py_ssize_t highest(self) noexcept nogil


cdef class ActiveSet:
    """Newton steps among the atoms of positive weight: another way to the maximum of a working set.

    A step between two atoms costs O(n_atoms), but where many vectors are nearly linearly dependent
    it takes thousands of them to a tight tolerance; a Newton step costs O(n^3 + n n_atoms) for n
    positive weights, and few are needed.
    """

    cdef vector[double] first_score, first_weight    # of all atoms, at the start
    # of the atoms among which a step is taken, the last of which is the largest
    cdef vector[Py_ssize_t] atom
    cdef vector[double] score, weight, change, image, factor

    # the weights of a working set become those of the maximum, up to a tolerance: of the slope to
    # any atom, and of the value; returns the increase
    cdef double maximise(self, WorkingSet atoms, double tolerance) except -1 nogil
    # Newton steps among the positive weights and one more atom, until none meets zero
    cdef double ascend(self, WorkingSet atoms, Py_ssize_t best) except -1 nogil
    # the change after which all scores would be equal; False if rounding prevents it
    cdef bint find_change(self, WorkingSet atoms) except -1 nogil
    # of the change
    cdef double slope(self) noexcept nogil
    # the change of a step from the worst of them to the best
    cdef void change_pair(self) noexcept nogil
    # weights and scores of the working set after the steps
    cdef void write(self, WorkingSet atoms) noexcept nogil


cdef class SimplexProgram(WorkingSet):
    cdef const double[:, ::1] table  # the inner products


cdef class Step:
    """Chooses the end points (source, target) of a step between the atoms of a working set."""

    cdef readonly bint uses_mix      # may an end point be MIX?
    cdef void choose(self, WorkingSet atoms) noexcept nogil
