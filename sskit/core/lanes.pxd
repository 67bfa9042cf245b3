# What any module may need of vectors (see lanes.hpp); there is nothing to import at
# run time.
cdef extern from "lanes.hpp" namespace "sskit":
    const Py_ssize_t LANES
    # n rounded up to a multiple of LANES
    Py_ssize_t padded(Py_ssize_t n) noexcept nogil
    # hint: this memory will be read soon
    void prefetch_memory(const void* memory, Py_ssize_t n_bytes) noexcept nogil
