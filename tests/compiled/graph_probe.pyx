"""Oracles of graphs asked directly, from a labelling and with messages of their own."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.oracles.graph.potentials cimport (
    GraphOracle, GraphPotentials, Potentials, Topologies, labelling_score
)

from sskit.inputs.edges import check_edges
from sskit.oracles.validation import check_truth


def improve_labelling(
    GraphOracle oracle, nodes, edges, pairwise, labels, messages=None, bint forbids=False,
    Topologies topologies=None
):
    """Let an oracle improve a labelling of a graph.

    Parameters
    ----------
    oracle : GraphOracle
        Any oracle of graphs.
    nodes, edges, pairwise : array-like
        Potentials, as `GraphPotentials` takes them.
    labels : array-like of int of shape (n_nodes,)
        The labelling to begin with.
    messages : ndarray of float32, default=None
        What an earlier call has left here, or zeros; this call leaves its own. None: no messages.
    forbids : bool, default=False
        Whether potentials may be ``-inf``, which not every oracle takes.
    topologies : Topologies, default=None
        That of this graph, made for this oracle.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A labelling that is no worse.
    score : float
        Its score.
    bound : float
        An upper bound of all scores, or infinity if the oracle knows none.
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, forbids=forbids)
    cdef Potentials* p = &potentials.struct_
    labels, _ = check_truth(labels, 1.0, p.n_nodes, p.n_states, "labels")
    cdef int32_t[::1] out = labels
    cdef float[::1] memory = messages
    if topologies is not None:
        p.topology = topologies.at(0)
    with nogil:
        if memory is not None and memory.shape[0]:
            oracle.improve(p, &out[0], &memory[0])
        else:
            oracle.improve(p, &out[0], NULL)
    return labels, labelling_score(p, &out[0]), oracle.bound if oracle.bounds else INFINITY


def induced_width(n_nodes, edges):
    """Return the largest number of neighbours that a node has when it is eliminated."""
    cdef Topologies graph = topologies_of(n_nodes, edges)
    graph.at(0).takes_elimination(2, 2.0**62)
    return graph.at(0).width


def topologies_of(n_nodes, edges):
    """Return the `Topologies` of one graph."""
    edges = check_edges(edges, n_nodes)
    return Topologies([n_nodes], edges, [0, len(edges)])


def takes_elimination(Topologies topologies, Py_ssize_t n_states, double max_entries=2.0**24):
    """Return whether elimination of the first graph makes no more entries of tables than that."""
    return topologies.at(0).takes_elimination(n_states, max_entries)
