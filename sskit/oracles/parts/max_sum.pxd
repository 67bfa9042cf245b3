from libc.stdint cimport int32_t

cdef extern from "spring_trees.hpp" namespace "sskit":
    # What a displacement t = p - q - mean along one axis costs: linear * t + square * t^2
    struct Spring:
        double linear, square, mean

    # Generalised distance transforms, lower envelopes of parabolas (Felzenszwalb and Huttenlocher
    # 2012): scratch memory for one thread, which grows.
    cdef cppclass DistanceTransform:
        # best[q] = max_p scores[p] - cost of p - q, and that p, for n positions; a score may be
        # -inf, and where all are, the place is -1. Of several p the smallest. O(n), or O(n^2) if
        # spring.square is not positive, or is subnormal
        void line(
            const double* scores, Py_ssize_t n, const Spring& spring, double* best, int32_t* place
        ) except + nogil
        # the same for a grid by rows with a spring for each axis; places count by rows
        void grid(
            const double* scores, Py_ssize_t height, Py_ssize_t width, const Spring& vertical,
            const Spring& horizontal, double* best, int32_t* place
        ) except + nogil

    # Potentials of parts at the cells of a grid, each connected to its parent by a spring; parents
    # form a forest. The score of places p and types t, to be maximised, is
    #     sum_k node[k, p_k] + sum_k bias[k, t_k] - cost of p_k - p_parent(k) under springs[k, t_k]
    # the second sum over parts that have a parent. Cells count by rows.
    struct PartPotentials:
        Py_ssize_t n_parts, n_types, height, width
        const int32_t* parents   # (n_parts,) -1: a root
        const int32_t* types_of  # (n_parts,) number of types, from 1 to n_types
        const double* node       # (n_parts, height * width)
        const double* bias       # (n_parts, n_types)
        const Spring* springs    # (n_parts, n_types, 2) vertical, horizontal

    # The best places of parts on a tree (Felzenszwalb and Huttenlocher 2005, section 3): scratch
    # memory for one thread, which grows.
    cdef cppclass PartsMaxSum:
        # the best places (n_parts,) and types (n_parts,), 0 at roots; returns their score
        double decode(const PartPotentials& p, int32_t* places, int32_t* types) except + nogil
        # (n_parts, height * width) the best score with this part at this cell
        void marginals(const PartPotentials& p, double* out) except + nogil
