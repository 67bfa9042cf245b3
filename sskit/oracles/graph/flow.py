"""The one door to PyMaxflow."""


def flow_graph(n_nodes, n_edges):
    """Return an empty flow network.

    Parameters
    ----------
    n_nodes, n_edges : int
        Numbers to reserve memory for.

    Returns
    -------
    graph : maxflow.GraphFloat
        Without nodes.
    """
    # on first use: most users of the package never cut a graph
    from maxflow import GraphFloat

    return GraphFloat(n_nodes, n_edges)
