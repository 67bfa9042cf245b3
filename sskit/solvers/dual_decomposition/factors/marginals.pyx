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
    cdef Py_ssize_t k = find(message.label, message.n, label), room = 2 * message.room + 2
    if k < 0:
        if message.n == message.room:
            message.label = <int32_t*>grown(message.label, room * sizeof(int32_t))
            message.residual = <double*>grown(message.residual, room * sizeof(double))
            message.multiplier = <double*>grown(message.multiplier, room * sizeof(double))
            message.room = room
        k = message.n
        message.n += 1
        message.label[k] = label
        message.residual[k] = 0.0
        message.multiplier[k] = 0.0
    message.residual[k] += change
    return 0


cdef double message_at(const Message* message, int32_t label) noexcept nogil:
    cdef Py_ssize_t k = find(message.label, message.n, label)
    return message.residual[k] + message.multiplier[k] if k >= 0 else 0.0
