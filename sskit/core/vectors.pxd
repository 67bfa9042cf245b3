# Containers of C++ that grow: what libcpp declares of them ends the process where memory ends.
# There is nothing to import at run time.
from libcpp.vector cimport vector


cdef extern from "vectors.hpp" namespace "sskit" nogil:
    # v = n times x
    void refill[T](vector[T]& v, Py_ssize_t n, const T& x) except +
    # x comes after the last of v
    void append[T](vector[T]& v, const T& x) except +

    # plain numbers; what workers fill grows here, for it raises MemoryError in any thread
    cdef cppclass Scratch[T]:
        Py_ssize_t size()
        T* data()
        T& operator[](Py_ssize_t)
        # so many of them: the first ones are as before, others hold any numbers
        int resize(Py_ssize_t n) except -1
        # n times x
        int refill(Py_ssize_t n, T x) except -1
        int push(T x) except -1
        T pop()


cdef extern from "<queue>" namespace "std" nogil:
    cdef cppclass priority_queue[T]:
        priority_queue() except +
        void push(T&) except +
        void pop()
        T& top()
        bint empty()
