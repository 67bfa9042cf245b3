"""Graphs with pairs of any sign: contract, oracles and their bounds, losses, what is forbidden."""

import itertools

import numpy as np
import pytest
from helpers.graphs import graph_feature, grid_edges, small_graphs

from sskit.core.problem import block_weights
from sskit.inputs.graphs import check_graphs
from sskit.models.graph.data import node_costs
from sskit.models.graph.model import GraphModel
from sskit.testing.probe import ProblemProbe


def signed_graphs(rng, n, p, q, n_states, max_nodes=4):
    """Small graphs whose edge features have any sign."""
    graphs, y = small_graphs(rng, n, p, q, n_states, max_nodes)
    return [(x, edges, rng.normal(size=(len(edges), q))) for x, edges, _ in graphs], y


def bound(graphs, y, n_states, losses=None, labelled=None, allowed=None, **options):
    """The model and the problem of graphs, with the fraction of wrong nodes as loss."""
    batch, labels = check_graphs(graphs), np.concatenate(y)
    labelled = np.ones(len(labels), dtype=bool) if labelled is None else labelled
    model = GraphModel(batch.n_features, batch.n_edge_features, n_states, **options)
    cost, known = np.ones(len(labels)), {"table": losses, "by_node": True}
    if losses is None:
        cost = node_costs("hamming", labels, labelled, n_states, None, batch.n_nodes)
        known = {}
    weight = block_weights(len(graphs))
    return model, model.bind(batch, labels, cost, labelled, weight, allowed=allowed, **known)


def flat(layout, w):
    """Weights block by block, by rows, as graph_feature has them."""
    return np.concatenate([block.ravel() for block in layout.split(w).values()])


def test_auto_gives_each_graph_its_own_oracle():
    path = np.array([[0, 1], [1, 2]])
    ring = np.array([[0, 1], [1, 2], [2, 0]])
    grid = grid_edges(12, 12)
    graphs = [
        (np.ones((n, 1)), edges, None) for n, edges in ((3, path), (3, ring), (144, grid), (1, []))
    ]
    batch = check_graphs(graphs)
    assert GraphModel(1, 1, 3).choose(batch) == ["tree", "elimination", "trws", "tree"]
    assert GraphModel(1, 1, 2).choose(batch) == ["tree", "elimination", "qpbo", "tree"]
    pairs = np.ones((2, 2), dtype=bool)
    assert GraphModel(1, 1, 2, allowed_pairs=pairs).choose(batch)[2] == "trws"
    y = [np.zeros(len(x), dtype=int) for x, _, _ in graphs]
    problem = bound(graphs, y, 3)[1]
    assert problem.bounds and not problem.exact and problem.lock_free
    assert not bound(graphs, y, 2)[1].lock_free
    assert bound(graphs[:2], y[:2], 3)[1].exact


def test_losses_of_labels_are_added_and_reported():
    rng = np.random.default_rng(0)
    graphs, y = signed_graphs(rng, 5, 2, 1, 3, max_nodes=4)
    labels = np.concatenate(y)
    losses = rng.exponential(size=(len(labels), 3))
    losses[np.arange(len(labels)), labels] = 0.0
    model, problem = bound(graphs, y, 3, losses=losses, inference="elimination")
    probe, start = ProblemProbe(problem), 0
    w = rng.normal(size=model.layout.n_weights)
    for i, (graph, truth) in enumerate(zip(graphs, y, strict=True)):
        rows = losses[start : start + len(truth)]
        values = {
            labelling: rows[np.arange(len(truth)), labelling].sum()
            + graph_feature(graph, labelling, 3, "directed") @ flat(model.layout, w)
            for labelling in itertools.product(range(3), repeat=len(truth))
        }
        code, loss = probe.argmax(i, probe.scores(i, w))
        assert values[tuple(code.tolist())] == pytest.approx(max(values.values()))
        assert loss == pytest.approx(rows[np.arange(len(truth)), code].sum())
        start += len(truth)


@pytest.mark.parametrize(
    ("name", "n_states"),
    [("auto", 2), ("tree", 3), ("elimination", 2), ("qpbo", 2), ("trws", 3), ("trws", 2)],
)
def test_what_is_forbidden_is_never_found(name, n_states):
    rng = np.random.default_rng(5)
    path = np.array([[0, 1], [1, 2], [2, 3]])
    graphs = [(rng.normal(size=(4, 2)), path, rng.normal(size=(3, 2))) for _ in range(20)]
    batch = check_graphs(graphs)
    allowed = rng.random((80, n_states)) < 0.6
    allowed[np.arange(80), rng.integers(n_states, size=80)] = True
    pairs = None
    if name != "qpbo" and n_states == 3:
        pairs = ~np.eye(n_states, dtype=bool)
        allowed[:, :] |= True
        allowed[::4, 1:] = False
    model = GraphModel(2, 2, n_states, inference=name, allowed_pairs=pairs)
    w = 3.0 * rng.normal(size=model.layout.n_weights)
    given = model.layout.split(w)["coef"], [model.layout.split(w)["pairwise"]]
    decoder = model.decoder(batch, *given, allowed=allowed)
    found, excess = decoder.best().reshape(20, 4), decoder.excesses()
    scores = decoder.max_marginals()
    assert (np.isneginf(scores) == ~allowed).all() or pairs is not None
    np.testing.assert_array_equal(scores.argmax(axis=1), found.ravel())
    for i, graph in enumerate(graphs):
        values = {}
        for labelling in itertools.product(range(n_states), repeat=4):
            possible = allowed[4 * i + np.arange(4), labelling].all()
            if pairs is not None:
                possible &= all(pairs[labelling[a], labelling[b]] for a, b in path)
            if possible:
                values[labelling] = graph_feature(graph, labelling, n_states, "directed") @ flat(
                    model.layout, w
                )
        best, own = max(values.values()), values[tuple(found[i].tolist())]
        assert own <= best + 1e-9 <= own + excess[i] + 2e-9 * (1 + abs(best))


def test_messages_are_kept_within_bounds_and_make_later_calls_better():
    rng = np.random.default_rng(2)
    edges = grid_edges(12, 12)
    graphs = [(rng.normal(size=(144, 3)), edges, rng.normal(size=(len(edges), 2)))]
    y = [rng.integers(4, size=144)]
    model, problem = bound(graphs, y, 4)
    w = rng.normal(size=model.layout.n_weights)
    probe = ProblemProbe(problem)
    theta = probe.scores(0, w)
    excess = []
    for _ in range(3):
        probe.argmax(0, theta)
        excess.append(problem.excess)
    assert excess[2] < excess[0]
    problem.structure.remember(10)  # of no graph
    for _ in range(2):  # the last labelling is kept
        probe.argmax(0, theta)
    first = problem.excess
    for _ in range(2):
        probe.argmax(0, theta)
    assert problem.excess == pytest.approx(first) and first > excess[2]


def test_what_an_oracle_cannot_do_is_refused():
    with pytest.raises(ValueError, match="'qpbo' is for two labels of one state, but here are 3"):
        GraphModel(2, 1, 3, inference="qpbo")
    with pytest.raises(ValueError, match="allowed_pairs needs tables of all pairs of labels"):
        GraphModel(2, 1, 3, allowed_pairs=np.ones((3, 3), bool), pairwise_form="potts")
    graphs = [(np.ones((2, 1)), [[0, 1]], None), (np.ones((900, 1)), grid_edges(30, 30), None)]
    y = [np.zeros(len(x[0]), dtype=int) for x in graphs]
    for name, message in (
        ("elimination", r"X\[1\]: the induced width of 900 nodes .* use inference='trws'"),
        ("tree", r"X\[1\]: edge .* closes a cycle; .* use inference='trws'"),
    ):
        with pytest.raises(ValueError, match=message):
            bound(graphs, y, 3, inference=name)
