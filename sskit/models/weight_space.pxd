from sskit.core.problem cimport Problem


cdef class WeightSpaceProblem(Problem):
    """Base of problems whose statistics are the joint features themselves: B = I, theta = w.

    It is for structures whose labellings are too many, or whose weights are too few, for any other
    statistics. A subclass sets the sizes, with max_statistics = n_weights, and implements the
    methods that this one leaves out: argmax, plane, truth, knows, fork and fingerprint.
    """
