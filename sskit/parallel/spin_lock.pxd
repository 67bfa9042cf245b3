# Turns at the interpreter's lock (see spin_lock.hpp); there is nothing to import at run time.


cdef extern from "spin_lock.hpp" namespace "sskit" nogil:
    cdef cppclass SpinLock:
        void enter()
        void leave()
