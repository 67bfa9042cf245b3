"""The graph model: contract, oracles, bounds, features where they lie, unlabelled nodes."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.graphs import (
    enumerate_graphs,
    graph_feature,
    grid_edges,
    labelling_score,
    small_graphs,
)
from helpers.qp import solve_primal

from sskit.core.problem import block_weights
from sskit.core.regularizer import BoxRegularizer
from sskit.inputs.graphs import check_graphs
from sskit.models.graph.data import default_lam, node_costs, node_scale
from sskit.models.graph.model import AttractiveModel, GraphModel
from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def bound(graphs, y, n_states, labelled=None, **options):
    """The model and the problem of graphs, with the fraction of wrong nodes as loss."""
    batch, labels = check_graphs(graphs), np.concatenate(y)
    labelled = np.ones(len(labels), dtype=bool) if labelled is None else labelled
    model = AttractiveModel(batch.n_features, batch.n_edge_features, n_states, **options)
    cost = node_costs("hamming", labels, labelled, n_states, None, batch.n_nodes)
    problem = model.bind(batch, labels, cost, labelled, block_weights(len(graphs)))
    return model, problem


def flat(layout, w):
    """Weights block by block, by rows, as graph_feature has them."""
    return np.concatenate([block.ravel() for block in layout.split(w).values()])


def feasible(rng, layout, scale=1.0):
    """Random weights within the bounds of the model."""
    w = rng.normal(scale=scale, size=layout.n_weights)
    box = layout.bounds(None)
    return w if box is None else np.clip(w, *box)


@pytest.mark.parametrize("pairwise", ["potts", "full"])
def test_bounds_of_cuts_bind(pairwise):
    # neighbours that differ, so that the weights of pairs would like to be negative
    rng = np.random.default_rng(3)
    path = np.array([[0, 1], [1, 2], [2, 3]])
    graphs = [(rng.normal(size=(4, 2)), path, rng.exponential(size=(3, 2))) for _ in range(6)]
    y = [(np.arange(4) + i) % 2 for i in range(6)]
    model, problem = bound(graphs, y, 2, pairwise_form=pairwise)
    box = model.layout.bounds(None)
    solution = BCFW().solve(
        problem, BoxRegularizer(0.05, *box), tol=1e-3, max_iter=3000, random_state=0
    )
    pairs = enumerate_graphs(graphs, y, 2, block_weights(6), pairwise)
    flat_box = [flat(model.layout, side) for side in box]
    _, optimum = solve_primal(pairs, 0.05, flat_box)
    assert solution.certified and solution.gap <= 1e-3 * solution.unit
    assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
    assert ((solution.w >= box[0]) & (solution.w <= box[1])).all()
    # the bounds bind: without them the optimum is another one
    assert solve_primal(pairs, 0.05)[1] < optimum - 1e-4


@pytest.mark.parametrize("pairwise", ["potts", "full"])
def test_inexact_answers_are_never_worse_than_truth_and_last_answer(pairwise):
    rng = np.random.default_rng(4)
    graphs, y = small_graphs(rng, 5, 3, 2, 4, max_nodes=6)
    model, problem = bound(graphs, y, 4, pairwise_form=pairwise)
    assert not problem.exact
    probe, fork = ProblemProbe(problem), ProblemProbe(problem.fork())
    for i in range(5):
        before = None
        for scale in (0.1, 0.5, 2.0, 8.0):
            theta = probe.scores(i, feasible(rng, model.layout, scale))
            code, loss = probe.argmax(i, theta)
            value = loss - probe.plane(i, code) @ theta
            assert value >= -1e-12
            if before is not None:
                other, other_loss = before
                assert value >= other_loss - probe.plane(i, other) @ theta - 1e-12
            assert np.array_equal(probe.argmax(i, theta)[0], code)
            assert np.array_equal(fork.argmax(i, theta)[0], code)
            before = code, loss


def test_tables_have_a_bound():
    """Labels that hate to meet: the answer may miss the best one, by no more than it says."""
    rng = np.random.default_rng(7)
    graphs, y = small_graphs(rng, 40, 3, 1, 4, max_nodes=7)
    model, problem = bound(graphs, y, 4, pairwise_form="full")
    exact = bound(graphs, y, 4, pairwise_form="full", inference="elimination")[1]
    assert problem.bounds and not problem.exact and exact.exact
    probe, sure, n_best = ProblemProbe(problem), ProblemProbe(exact), 0
    for i in range(40):
        w = feasible(rng, model.layout)
        tables = model.layout.split(w)["pairwise"]  # a view
        tables *= rng.choice([0.0, 6.0], size=tables.shape)
        theta = probe.scores(i, w)
        nodes = graphs[i][0] @ model.layout.split(w)["coef"].T
        pairs = graphs[i][2][:, :, None] * model.form.tables(model.layout.split(w)["pairwise"])[0]
        found = labelling_score(probe.argmax(i, theta, 0.0)[0], nodes, graphs[i][1], pairs)
        best = labelling_score(sure.argmax(i, theta, 0.0)[0], nodes, graphs[i][1], pairs)
        assert found - 1e-9 <= best <= found + problem.excess + 1e-9
        n_best += found >= best - 1e-9
    assert n_best >= 39


def test_expansion_trains_to_nearly_the_optimum_and_says_that_it_is_not_exact():
    rng = np.random.default_rng(5)
    graphs, y = small_graphs(rng, 6, 3, 1, 3, max_nodes=4)
    model, problem = bound(graphs, y, 3)
    box = model.layout.bounds(None)
    solution = BCFW().solve(
        problem, BoxRegularizer(0.1, *box), tol=1e-2, max_iter=2000, random_state=0
    )
    pairs = enumerate_graphs(graphs, y, 3, block_weights(6))
    _, optimum = solve_primal(pairs, 0.1, [flat(model.layout, side) for side in box])
    assert not solution.certified
    assert pairs.primal(flat(model.layout, solution.w), 0.1) <= optimum + 2e-2


def test_unlabelled_nodes_are_left_out():
    rng = np.random.default_rng(6)
    graphs, y = small_graphs(rng, 6, 3, 2, 3, max_nodes=4)
    labels = np.concatenate(y)
    labelled = rng.random(len(labels)) < 0.6
    problem = bound(graphs, y, 3, labelled, inference="elimination")[1]
    check_problem(problem, 0)
    # the same without these nodes
    offsets = np.cumsum([0, *map(len, y)])
    small, small_y = [], []
    for i, (x, ends, z) in enumerate(graphs):
        kept = labelled[offsets[i] : offsets[i + 1]]
        if not kept.any():
            continue
        inside = kept[ends].all(axis=1)
        small.append((x[kept], (np.cumsum(kept) - 1)[ends[inside]], z[inside]))
        small_y.append(y[i][kept])
    assert len(small) >= 5
    other = bound(small, small_y, 3, inference="elimination")[1]
    weight = np.array([labelled[a:b].any() for a, b in zip(offsets, offsets[1:], strict=False)])
    w = rng.normal(size=problem.n_weights)
    probe, small_probe = ProblemProbe(problem), ProblemProbe(other)
    for j, i in enumerate(np.flatnonzero(weight)):
        theta, small_theta = probe.scores(i, w), small_probe.scores(j, w)
        code, loss = probe.argmax(i, theta)
        small_words, small_loss = small_probe.argmax(j, small_theta)
        assert loss == pytest.approx(small_loss)
        assert code[labelled[offsets[i] : offsets[i + 1]]].tolist() == small_words.tolist()
        psi, small_psi = probe.plane(i, code), small_probe.plane(j, small_words)
        np.testing.assert_allclose(probe.scatter(i, psi), small_probe.scatter(j, small_psi))


@pytest.mark.parametrize("n_states", [2, 3])
def test_float32_features_are_read_where_they_lie(n_states, tmp_path):
    rng = np.random.default_rng(7)
    graphs, y = small_graphs(rng, 4, 11, 3, n_states, max_nodes=5)
    graphs = [(x.astype(np.float32), ends, z.astype(np.float32)) for x, ends, z in graphs]
    mapped = []
    for i, (x, ends, z) in enumerate(graphs):
        np.save(tmp_path / f"{i}.npy", x)
        mapped.append((np.load(tmp_path / f"{i}.npy", mmap_mode="r"), ends, z))
    batch = check_graphs(mapped)
    for kept, (x, _, z) in zip(batch.features, mapped, strict=True):
        assert np.shares_memory(kept, x) and kept.dtype == np.float32
        assert np.shares_memory(batch.edge_features[0], mapped[0][2])
        assert z.dtype == np.float32
    double = [(x.astype(np.float64), ends, z.astype(np.float64)) for x, ends, z in graphs]
    forms = {
        "float32": mapped,
        "float64": double,
        "csr": [(sp.csr_array(x), ends, sp.csr_array(z)) for x, ends, z in double],
    }
    problems = {
        name: bound(form, y, n_states, inference="elimination")[1] for name, form in forms.items()
    }
    check_problem(problems["float32"], 0)
    w = rng.normal(size=problems["float32"].n_weights)
    for i in range(4):
        found = {}
        for name, problem in problems.items():
            probe = ProblemProbe(problem)
            theta = probe.scores(i, w)
            code, loss = probe.argmax(i, theta)
            psi = probe.plane(i, code)
            numbers = [loss, probe.sqnorm(i, psi), psi @ theta]
            found[name] = probe.scatter(i, psi), numbers
        for name in ("float64", "csr"):
            for a, b in zip(found["float32"], found[name], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_curvature_with_and_without_gram_matrices():
    """Graphs of many nodes and few features go through the features: one number."""
    rng = np.random.default_rng(8)
    x, ends = rng.normal(size=(40, 3)), np.stack([np.arange(39), np.arange(1, 40)], axis=1)
    y = [rng.integers(2, size=40)]
    narrow = bound([(x, ends, None)], y, 2)[1]
    wide = bound([(np.hstack([x, np.zeros((40, 60))]), ends, None)], y, 2)[1]
    assert narrow.n_weights == 7 and wide.n_weights == 127
    for seed in range(5):
        psi = np.zeros(narrow.max_statistics)
        psi[: 40 * 8].reshape(40, 8)[:, :2] = np.random.default_rng(seed).normal(size=(40, 2))
        psi[40 * 8 :] = np.random.default_rng(seed).normal(size=39)
        one, two = (ProblemProbe(problem).sqnorm(0, psi) for problem in (narrow, wide))
        assert one == pytest.approx(two, rel=1e-12)


def test_own_bounds_meet_those_of_the_user():
    potts, full = AttractiveModel(2, 2, 3), AttractiveModel(2, 1, 3, pairwise_form="full")
    lower, upper = potts.layout.bounds({"pairwise": (-1, [2, 3])})
    assert lower.tolist() == [-np.inf] * 6 + [0, 0] and upper.tolist() == [np.inf] * 6 + [2, 3]
    lower, upper = full.layout.bounds(None)
    diagonal = [True, False, False, True, False, True]
    assert (lower[6:] == np.where(diagonal, 0, -np.inf)).all()
    assert (upper[6:] == np.where(diagonal, np.inf, 0)).all()
    with pytest.raises(ValueError, match=r"bounds leave nothing .* at weight 6: .* 'pairwise'"):
        potts.layout.bounds({"pairwise": (None, -0.5)})
    assert AttractiveModel(2, 2, 3, inference="elimination").layout.bounds(None) is None


def test_negative_edge_features_are_named():
    x, ends = np.ones((2, 1)), [[0, 1]]
    graphs = [(x, ends, [[0.5, 1]]), (x, [[0, 1], [1, 0]], [[0, 1], [2, -0.5]])]
    message = r"X\[1\] has -0.5 at edge 1, feature 1"
    for form in (graphs, [(a, b, sp.csr_array(c)) for a, b, c in graphs]):
        with pytest.raises(ValueError, match=message):
            bound(form, [[0, 1]] * 2, 2)
    bound(graphs, [[0, 1]] * 2, 2, inference="elimination")


def test_cuts_are_for_two_states():
    with pytest.raises(ValueError, match="'graphcut' finds the best of two labels, but y has 3"):
        AttractiveModel(1, 1, 3, inference="graphcut")
    with pytest.raises(ValueError, match="'expansion' is for pairwise_form='potts', or for two"):
        AttractiveModel(1, 1, 3, "full", "expansion")


def test_costs():
    labels, labelled = np.array([0, 0, 0, 1, 1, 0]), np.array([1, 1, 1, 1, 0, 1], dtype=bool)
    n_nodes, areas = np.array([4, 2]), np.array([1.0, 1, 2, 4, 9, 2])
    arguments = labels, labelled, 2
    np.testing.assert_allclose(
        node_costs("hamming", *arguments, None, n_nodes), [0.25] * 4 + [0, 1]
    )
    np.testing.assert_allclose(
        node_costs("hamming", *arguments, areas, n_nodes), [1 / 8, 1 / 8, 1 / 4, 1 / 2, 0, 1]
    )
    assert node_costs("hamming_sum", *arguments, None, n_nodes).tolist() == [1, 1, 1, 1, 0, 1]
    np.testing.assert_allclose(
        node_costs("hamming_sum", *arguments, areas, n_nodes), np.array([1, 1, 2, 4, 0, 2]) / 2
    )
    balanced = node_costs("balanced", *arguments, None, n_nodes)
    np.testing.assert_allclose(balanced, [5 / 32, 5 / 32, 5 / 32, 5 / 8, 0, 5 / 8])
    with pytest.raises(ValueError, match="weight 0"):
        node_costs("hamming", *arguments, np.zeros(6), n_nodes)


def lam_of(features, weight, loss):
    return default_lam(node_scale(features, weight, [x.shape[0] for x in features]), loss)


def test_default_lam():
    features = [np.full((2, 2), 3.0, dtype=np.float32), sp.csr_array(np.eye(4))]
    assert lam_of(features, None, "hamming_sum") == pytest.approx(4 * (36 + 4) / 6 / 2)
    assert lam_of(features, None, "hamming") == pytest.approx(4 * (36 + 4) / 2 / 2)
    weight = np.array([3.0, 1.0])
    assert lam_of(features, weight, "hamming_sum") == pytest.approx(4 * (108 + 4) / 10 / 4)
    assert lam_of(features, weight, "balanced") == pytest.approx(4 * (108 + 4) / 4 / 4)
    assert lam_of([np.zeros((2, 2))] * 3, None, "hamming_sum") == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="overflow"):
        lam_of([np.full((1, 1), 1e200)], None, "hamming")


# ---- graphs with pairs of any sign --------------------------------------------------------------


def signed_graphs(rng, n, p, q, n_states, max_nodes=4):
    """Small graphs whose edge features have any sign."""
    graphs, y = small_graphs(rng, n, p, q, n_states, max_nodes)
    return [(x, edges, rng.normal(size=(len(edges), q))) for x, edges, _ in graphs], y


def bound_any(graphs, y, n_states, losses=None, labelled=None, allowed=None, **options):
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
    problem = bound_any(graphs, y, 3)[1]
    assert problem.bounds and not problem.exact and problem.lock_free
    assert not bound_any(graphs, y, 2)[1].lock_free
    assert bound_any(graphs[:2], y[:2], 3)[1].exact


def test_losses_of_labels_are_added_and_reported():
    rng = np.random.default_rng(0)
    graphs, y = signed_graphs(rng, 5, 2, 1, 3, max_nodes=4)
    labels = np.concatenate(y)
    losses = rng.exponential(size=(len(labels), 3))
    losses[np.arange(len(labels)), labels] = 0.0
    model, problem = bound_any(graphs, y, 3, losses=losses, inference="elimination")
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
    model, problem = bound_any(graphs, y, 4)
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
            bound_any(graphs, y, 3, inference=name)
