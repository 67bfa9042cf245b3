"""Sparse dual variables and messages of factors (see the .pxd for invariants).

They hold a handful of states, so that going through all of them is the fastest search.
"""

from sskit.core.memory cimport grown


cdef Py_ssize_t place(Mix* mix, int32_t state) except -1 nogil:
    cdef Py_ssize_t k = find(mix.state, mix.n, state), room = 2 * mix.room + 1
    if k >= 0:
        return k
    if mix.n == mix.room:
        mix.state = <int32_t*>grown(mix.state, room * sizeof(int32_t))
        mix.weight = <double*>grown(mix.weight, room * sizeof(double))
        mix.room = room
    mix.state[mix.n] = state
    mix.weight[mix.n] = 0.0
    mix.n += 1
    return mix.n - 1


cdef void compress(Mix* mix) noexcept nogil:
    cdef Py_ssize_t k, n = 0
    for k in range(mix.n):
        if mix.weight[k] > 0.0:
            mix.state[n] = mix.state[k]
            mix.weight[n] = mix.weight[k]
            n += 1
    mix.n = n


cdef int disagree(Message* message, int32_t label, double change) except -1 nogil:
    cdef Py_ssize_t k = find(message.label, message.n, label)
    if k < 0:
        return add_label(message, label, change, 0.0)
    message.residual[k] += change
    return 0


cdef int add_label(
    Message* message, int32_t label, double residual, double multiplier
) except -1 nogil:
    cdef Py_ssize_t k = message.n, room = 2 * message.room + 2
    if k == message.room:
        message.label = <int32_t*>grown(message.label, room * sizeof(int32_t))
        message.residual = <double*>grown(message.residual, room * sizeof(double))
        message.multiplier = <double*>grown(message.multiplier, room * sizeof(double))
        message.room = room
    message.label[k] = label
    message.residual[k] = residual
    message.multiplier[k] = multiplier
    message.n += 1
    return 0
