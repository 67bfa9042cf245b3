from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector


# The entries of the tokens of sentences as a CSR matrix in canonical format, without its arrays:
# these take longer to make than a short sentence to label. `columns` is a TokenColumns. Returns the
# number of features; values and indices have room to spare. Errors are those of read_rows.
cdef Py_ssize_t read_sentence(
    columns, list sentences, vector[double]* values, vector[int32_t]* indices,
    vector[int64_t]* pointers
) except -1
