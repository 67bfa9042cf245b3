from sskit.models.chain.request cimport ChainRequest


cdef class SecondChainRequest(ChainRequest):
    """Sequences that a model of the second order is to label, and its weights."""

    cdef const double[::1] triples           # table of oracles/chain/second_order.pxd
    cdef object weights                      # (n_states, n_states, n_states) of triples
