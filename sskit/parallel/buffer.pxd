# Memory that grows in any thread, those included in which nothing may be thrown.
# There is nothing to import at run time.

cdef extern from "buffer.hpp" namespace "sskit" nogil:
    cdef cppclass Buffer[T]:
        Py_ssize_t n
        T* data()
        # false where memory ends, and then nothing has changed
        bint reserve(Py_ssize_t wanted)
        bint push(const T& item)
        bint push_all "push"(const T* more, Py_ssize_t count)
        void clear()


# MemoryError unless there was memory
cdef inline int need(bint there) except -1 nogil:
    if not there:
        with gil:
            raise MemoryError("no memory for what a worker keeps")
    return 0
