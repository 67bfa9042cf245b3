"""The graph model: contract, oracles, bounds, features where they lie, unlabelled nodes."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.graphs import grid_edges, small_graphs

from sskit.core.problem import block_weights
from sskit.inputs.graphs import check_graphs
from sskit.models.graph.data import default_lam, node_costs, node_scale
from sskit.models.graph.model import AttractiveModel, GraphModel
from sskit.models.graph.structure import cut_single
from sskit.oracles import graphcut
from sskit.testing.probe import ProblemProbe


def bound(graphs, y, n_states, kind=AttractiveModel, **options):
    """The model and the problem of graphs, with the fraction of wrong nodes as loss."""
    batch, labels = check_graphs(graphs), np.concatenate(y)
    labelled = np.ones(len(labels), dtype=bool)
    model = kind(batch.n_features, batch.n_edge_features, n_states, **options)
    cost = node_costs("hamming", labels, labelled, n_states, None, batch.n_nodes)
    return model, model.bind(batch, labels, cost, block_weights(len(graphs)), labelled=labelled)


def feasible(rng, layout, scale=1.0):
    """Random weights within the bounds of the model."""
    w = rng.normal(scale=scale, size=layout.n_weights)
    box = layout.bounds(None)
    return w if box is None else np.clip(w, *box)


@pytest.mark.parametrize("pairwise", ["potts", "full"])
def test_inexact_answers_are_never_worse_than_truth_and_last_answer(pairwise):
    rng = np.random.default_rng(4)
    graphs, y = small_graphs(rng, 5, 3, 2, 4, max_nodes=6)
    model, problem = bound(graphs, y, 4, pairwise_form=pairwise)
    assert not problem.exact
    probe, fork = ProblemProbe(problem), ProblemProbe(problem.fork())
    for i in range(5):
        before = []  # answers, of which the truth is the first
        for scale in (0.1, 0.5, 2.0, 8.0):
            theta = probe.scores(i, feasible(rng, model.layout, scale))
            code, loss = probe.argmax(i, theta)
            value = loss - probe.plane(i, code) @ theta
            assert value >= -1e-12
            for other, other_loss in before[-1:]:
                assert value >= other_loss - probe.plane(i, other) @ theta - 1e-12
            for again in (probe, fork):
                np.testing.assert_array_equal(again.argmax(i, theta)[0], code)
            before.append((code, loss))


def test_bounds_of_cuts_meet_those_of_the_user():
    potts, full = AttractiveModel(2, 2, 3), AttractiveModel(2, 1, 3, pairwise_form="full")
    lower, upper = potts.layout.bounds({"pairwise": (-1, [2, 3])})
    assert lower.tolist() == [-np.inf] * 6 + [0, 0] and upper.tolist() == [np.inf] * 6 + [2, 3]
    box, diagonal = full.layout.bounds(None), np.array([True, False, False, True, False, True])
    assert box[0][6:].tolist() == np.where(diagonal, 0, -np.inf).tolist()
    assert box[1][6:].tolist() == np.where(diagonal, np.inf, 0).tolist()


def test_what_models_and_oracles_cannot_do_is_refused():
    x, ends, rows = np.ones((2, 1)), [[0, 1]], np.ones((900, 1))
    signed = [(x, ends, [[0.5, 1]]), (x, [[0, 1], [1, 0]], [[0, 1], [2, -0.5]])]
    sparse = [(a, b, sp.csr_array(c)) for a, b, c in signed]
    large = [(x, ends, None), (rows, grid_edges(30, 30), None)]
    potts = AttractiveModel(2, 2, 3).layout
    pairs = np.ones((3, 3), bool)
    zeros = [np.zeros(len(nodes), dtype=int) for nodes, *_ in large]
    for call, message in [
        (lambda: bound(signed, [[0, 1]] * 2, 2), r"X\[1\] has -0.5 at edge 1, feature 1"),
        (lambda: bound(sparse, [[0, 1]] * 2, 2), r"X\[1\] has -0.5 at edge 1, feature 1"),
        (lambda: potts.bounds({"pairwise": (None, -0.5)}),
         r"bounds leave nothing .* at weight 6: .* 'pairwise'"),
        (lambda: AttractiveModel(1, 1, 3, inference="graphcut"),
         "'graphcut' finds the best of two labels, but y has 3"),
        (lambda: AttractiveModel(1, 1, 3, "full", "expansion"),
         "'expansion' is for pairwise_form='potts', or for two"),
        (lambda: GraphModel(2, 1, 3, inference="qpbo"),
         "'qpbo' is for two labels of one state, but here are 3"),
        (lambda: GraphModel(2, 1, 3, allowed_pairs=pairs, pairwise_form="potts"),
         "allowed_pairs needs tables of all pairs of labels"),
        (lambda: bound(large, zeros, 3, GraphModel, inference="elimination"),
         r"X\[1\]: the induced width of 900 nodes .* use inference='trws'"),
        (lambda: bound(large, zeros, 3, GraphModel, inference="tree"),
         r"X\[1\]: edge .* closes a cycle; .* use inference='trws'"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    bound(signed, [[0, 1]] * 2, 2, inference="elimination")


def test_the_default_lam():
    """Costs of nodes are those of the objectives in tests/estimators/test_enumeration."""
    labels, labelled = np.zeros(6, dtype=int), np.ones(6, dtype=bool)
    with pytest.raises(ValueError, match="weight 0"):
        node_costs("hamming", labels, labelled, 2, np.zeros(6), np.array([4, 2]))
    features = [np.full((2, 2), 3.0, dtype=np.float32), sp.csr_array(np.eye(4))]
    weight = np.array([3.0, 1.0])
    for rows, given, loss, lam in [
        (features, None, "hamming_sum", 4 * (36 + 4) / 6 / 2),
        (features, None, "hamming", 4 * (36 + 4) / 2 / 2),
        (features, weight, "hamming_sum", 4 * (108 + 4) / 10 / 4),
        (features, weight, "balanced", 4 * (108 + 4) / 4 / 4),
        ([np.zeros((2, 2))] * 3, None, "hamming_sum", 1 / 3),
    ]:
        scale = node_scale(rows, given, [x.shape[0] for x in rows])
        assert default_lam(scale, loss) == pytest.approx(lam)
    with pytest.raises(ValueError, match="overflow"):
        default_lam(node_scale([np.full((1, 1), 1e200)], None, [1]), "hamming")


# ---- graphs with pairs of any sign --------------------------------------------------------------


def test_auto_gives_each_graph_its_own_oracle():
    path, ring = [[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 0]]
    given = ((3, path), (3, ring), (144, grid_edges(12, 12)), (1, []))
    graphs = [(np.ones((n, 1)), edges, None) for n, edges in given]
    batch = check_graphs(graphs)
    assert GraphModel(1, 1, 3).choose(batch) == ["tree", "elimination", "trws", "tree"]
    y = [np.zeros(len(x), dtype=int) for x, _, _ in graphs]
    problem = bound(graphs, y, 3, GraphModel)[1]
    assert problem.bounds and not problem.exact and problem.lock_free
    assert not bound(graphs, y, 2, GraphModel)[1].lock_free
    assert bound(graphs[:2], y[:2], 3, GraphModel)[1].exact


def test_messages_are_kept_within_bounds_and_make_later_calls_better():
    rng, edges = np.random.default_rng(2), grid_edges(12, 12)
    graphs = [(rng.normal(size=(144, 3)), edges, rng.normal(size=(len(edges), 2)))]
    model, problem = bound(graphs, [rng.integers(4, size=144)], 4, GraphModel)
    probe = ProblemProbe(problem)
    theta = probe.scores(0, rng.normal(size=model.layout.n_weights))

    def excess(n_calls):
        for _ in range(n_calls):
            probe.argmax(0, theta)
        return problem.excess

    cold, warm = excess(1), excess(2)
    assert warm < cold
    problem.structure.remember(10)  # of no graph
    first = excess(2)  # the last labelling is kept
    assert excess(2) == pytest.approx(first) and first > warm


# ---- one graph is cut as a batch of graphs is --------------------------------------------------


def drawn(rng, n_nodes=12, n_features=5, n_edge_features=3, n_edges=20):
    """Return the arguments of a cut, and edges as pairs of different nodes."""
    ends = np.array([rng.choice(n_nodes, 2, replace=False) for _ in range(n_edges)], np.int32)
    return {
        "features": rng.normal(size=(n_nodes, n_features)),
        "ends": ends,
        "edge_features": rng.random((n_edges, n_edge_features)),
        "coef": rng.normal(size=(2, n_features)),
        "pairs": rng.random(n_edge_features),
    }


@pytest.mark.parametrize(
    ("n_features", "n_edge_features"), [(1, 1), (2, 9), (7, 2), (8, 1), (21, 9), (8, 2)]
)
def test_a_single_cut_is_that_of_the_oracle(n_features, n_edge_features):
    """With weights of any layout and kind."""
    for seed in range(10):
        graph = drawn(np.random.default_rng(seed), 12, n_features, n_edge_features)
        wide = np.repeat(graph["coef"], 2, axis=1)[:, ::2]
        whole = np.rint(3 * graph["coef"]).astype(int)
        for coef in (graph["coef"], np.asfortranarray(graph["coef"]), wide, whole):
            given = graph | {"coef": coef}
            if coef is whole:
                given["pairs"] = np.rint(3 * graph["pairs"]).astype(int)
            pairwise = given["edge_features"] @ given["pairs"]
            labels, _ = graphcut(given["features"] @ coef.T, given["ends"], pairwise)
            found = cut_single(**given)
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, labels)


def test_single_cuts_that_are_left_to_others():
    """Numbers whose scores may overflow, and negative features of edges."""
    overflow = itertools.product(("features", "coef"), [(1, 2)], (1e120, -1e120, np.inf, np.nan))
    negative = itertools.product(("edge_features",), [(4, 1)], (-1e-9, np.nan))
    for name, place, wrong in (*overflow, *negative):
        graph = drawn(np.random.default_rng(0))
        graph[name][place] = wrong
        assert cut_single(**graph) is None
