# Containers of C++ that grow: what libcpp declares of them ends the process where memory ends.
# There is nothing to import at run time.
from libcpp.vector cimport vector


cdef extern from "vectors.hpp" namespace "sskit" nogil:
    # v = n times x
    void refill[T](vector[T]& v, Py_ssize_t n, const T& x) except +
    # x comes after the last of v
    void append[T](vector[T]& v, const T& x) except +


cdef extern from "<queue>" namespace "std" nogil:
    cdef cppclass priority_queue[T]:
        priority_queue() except +
        void push(T&) except +
        void pop()
        T& top()
        bint empty()
