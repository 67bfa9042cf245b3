# Containers of C++ that grow, and raise MemoryError if memory is exhausted, as the declarations of
# libcpp do not in all methods. There is nothing to import at run time.


cdef extern from "<vector>" namespace "std" nogil:
    cdef cppclass Scratch "std::vector"[T]:
        Py_ssize_t size()
        T* data()
        T& operator[](Py_ssize_t)
        # so many of them: the first ones are as before, others are zero
        void resize(Py_ssize_t n) except +
        # n times x
        void refill "assign"(Py_ssize_t n, const T& x) except +
cdef extern from "<queue>" namespace "std" nogil:
    cdef cppclass priority_queue[T]:
        priority_queue() except +
        void push(T&) except +
        void pop()
        T& top()
        bint empty()
