from libcpp.atomic cimport atomic

cdef extern from * nogil:
    """
    #include <chrono>

    // of a clock that never goes back
    static inline double seconds() {
        using namespace std::chrono;
        return duration<double>(steady_clock::now().time_since_epoch()).count();
    }
    """
    double seconds()


cdef class Stop:
    """Tells whether a fit is to end early: on Ctrl-C, or because its time is over.

    A fit is in one of three phases. Before its first pass there is nothing to keep: it never ends
    early, and Ctrl-C raises KeyboardInterrupt. A pass ends after the first Ctrl-C, or when the time
    is over. An exact pass ends after the second Ctrl-C, or if it goes on for too long after the
    first one. The third raises KeyboardInterrupt.

    Loops without the GIL call due() after every visit. It costs a subtraction and a load; now and
    then it reads the clock, and every tenth of a second it lets Python run signal handlers. Worker
    threads read over() only.
    """

    cdef int activity
    cdef readonly int n_presses          # of Ctrl-C since it was entered
    cdef readonly double interval        # seconds between two calls of attend()
    cdef double deadline
    cdef bint late
    cdef double pressed                  # when Ctrl-C was pressed first
    cdef bint attentive                  # in the main thread, where signals are delivered?
    cdef Py_ssize_t left                 # visits until the clock is read next
    cdef double checked                  # when it was read last
    cdef double attended
    cdef atomic[int] fired
    cdef object before                   # handler of Ctrl-C that was there; None if ours is not

    cdef int begin(self, int activity) except -1
    # compute anew whether it fires
    cdef void review(self) noexcept nogil
    # is the first Ctrl-C so long ago that an exact pass ends?
    cdef bint is_impatient(self) noexcept nogil

    # after a visit: is this to end? May run handlers of signals, which may raise
    cdef bint due(self) except -1 nogil
    # the clock now, not only when it is time
    cdef int check(self) except -1 nogil
    # the same without reading the clock, from any thread
    cdef bint over(self) noexcept nogil
