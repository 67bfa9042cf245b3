# Turns at the interpreter's lock (see turnstile.hpp); there is nothing to import at run time.


cdef extern from "turnstile.hpp" namespace "sskit" nogil:
    cdef cppclass Turnstile:
        void enter()
        void leave()
