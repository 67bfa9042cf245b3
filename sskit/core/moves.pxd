# How far weights have moved (see moves.hpp); there is nothing to import at run time.


cdef extern from "moves.hpp" namespace "sskit" nogil:
    double clipped(double value, double lower, double upper)
    cdef cppclass Moves:
        void follow(double* weights, Py_ssize_t n_weights) except +
        # the weights are about to move
        void keep()
        # what was kept becomes how far the weights have come: <v, move> or <clip(v), move>, and
        # ||move||^2, with v from the beginning of the round
        void measure_linear(double* inner, double* sqnorm)
        void measure_clipped(
            const double* lower, const double* upper, double* inner, double* sqnorm
        )
        double dot(const Moves& other)
        void add_to(double* target, double step)
        # a new round begins; this one is then the one before
        void turn()
        void add_before_to(double* target, double step)
        void clear()
