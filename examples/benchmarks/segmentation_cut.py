"""The time of a minimum cut: the oracle against PyMaxflow called directly on prepared arrays.

Random graphs of 150 and 500 nodes with three edges a node. "in training" is a whole visit of a
graph: potentials from (few) features, losses, network, cut and plane; "graphcut" is the public
function, which checks its arguments as well.

    python examples/benchmarks/segmentation_cut.py
"""

import time

import numpy as np
from maxflow import GraphFloat

from sskit.core.problem import block_weights
from sskit.inputs.graphs import check_graphs
from sskit.models.graph.model import AttractiveModel
from sskit.oracles import expansion, graph_max_marginals, graphcut
from sskit.solvers.oracle_calls.pool import make_pool


def microseconds(functions, repeats=1000):
    """Return the median time of a call of each function; they take turns, for the same noise."""
    times, order = np.empty((len(functions), repeats)), np.random.default_rng(0)
    for r in range(repeats):
        for k in order.permutation(len(functions)):
            start = time.perf_counter_ns()
            functions[k]()
            times[k, r] = time.perf_counter_ns() - start
    return np.median(times, axis=1) / 1e3


def compare(n_nodes, rng):
    """Print the times for graphs of one size."""
    first = np.repeat(np.arange(n_nodes - 1), 3)
    second = np.minimum(first + rng.integers(1, 15, size=len(first)), n_nodes - 1)
    edges = np.stack([first, second], axis=1)
    nodes, gains = rng.normal(size=(n_nodes, 2)), rng.exponential(0.2, size=len(edges))
    tail, head, ids = (a.astype(np.int32) for a in (first, second, np.arange(n_nodes)))
    capacity, zero = nodes[:, 0] - nodes[:, 1], np.zeros(n_nodes)

    def direct():
        graph = GraphFloat(n_nodes, len(edges))
        graph.add_nodes(n_nodes)
        graph.add_edges(tail, head, gains, gains)
        graph.add_grid_tedges(ids, capacity, zero)
        graph.maxflow()
        return graph.get_grid_segments(ids)

    assert np.array_equal(direct(), graphcut(nodes, edges, gains)[0])
    model = AttractiveModel(2, 1, 2)
    n_graphs = 20
    problem = model.bind(
        check_graphs([(nodes, edges, gains[:, None])] * n_graphs),
        np.zeros(n_graphs * n_nodes),
        np.zeros(n_graphs * n_nodes),
        block_weights(n_graphs),
    )
    evaluator = make_pool(problem)
    w = np.concatenate([model.layout.join({"coef": np.eye(2), "pairwise": [1.0]}), np.zeros(8)])
    many = rng.normal(size=(n_nodes, 9))
    functions = {
        "PyMaxflow": lambda: [direct() for _ in range(n_graphs)],
        "in training": lambda: evaluator.hinges(w),
        "graphcut": lambda: [graphcut(nodes, edges, gains) for _ in range(n_graphs)],
        "all max-marginals": lambda: graph_max_marginals(nodes, edges, gains),
        "expansion, 9 states": lambda: expansion(many, edges, gains, persistency=False),
        "with certain nodes": lambda: expansion(many, edges, gains, persistency=True),
    }
    times = microseconds(list(functions.values()))
    times[:3] /= n_graphs
    for name, value in zip(functions, times, strict=True):
        print(f"{n_nodes} nodes, {name:20s} {value:7.1f} us, {value / times[0]:6.2f}")


if __name__ == "__main__":
    for size in (150, 500):
        compare(size, np.random.default_rng(0))
