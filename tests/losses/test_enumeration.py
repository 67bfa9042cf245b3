"""Losses, labellings and gradients against all labellings, tried one by one."""

import itertools

import numpy as np
import pytest
from helpers.graphs import grid_edges

from sskit.losses import StructuredHinge
from sskit.oracles import graphcut, qpbo

K = 3
CHAIN = [(t, t + 1) for t in range(3)]
STAR = [(0, 2), (3, 0), (1, 0)]
LOOP = [(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]
COSTS = np.array([[0, 1, 3.0], [2, 0, 1], [0.5, 4, 0]])


def by_enumeration(
    unary, tables, edges, labels, loss="hamming_sum", rescaling="margin", weight=None
):
    """The loss of a sample, and its most violating and completed labellings."""
    labellings, scores = every_labelling(unary, tables, edges)
    known, n_states = labels >= 0, unary.shape[1]
    weight = known * (np.ones(len(unary)) if weight is None else weight)
    costs = 1 - np.eye(n_states) if isinstance(loss, str) else loss
    cost = costs[np.where(known, labels, 0), labellings] @ weight
    if isinstance(loss, str) and loss == "hamming":
        cost = cost / max(known.sum(), 1)
    agree = (~known | (labellings == labels)).all(axis=1)
    truth = np.where(agree, scores, -np.inf).argmax()
    gain = scores - scores[truth]
    violation = cost * (1 + gain) if rescaling == "slack" else cost + gain
    worst = violation.argmax()
    return max(violation[worst], 0.0), tuple(labellings[worst]), tuple(labellings[truth])


def random_batch(rng, n=6, n_nodes=4, n_edges=3, n_states=K, hidden=0.0):
    """Potentials by edge, and labels."""
    unary = rng.standard_normal((n, n_nodes, n_states))
    tables = rng.standard_normal((n, n_edges, n_states, n_states))
    labels = rng.integers(n_states, size=(n, n_nodes))
    labels[rng.random((n, n_nodes)) < hidden] = -100
    return unary, tables, labels


@pytest.mark.parametrize(
    ("structure", "edges", "loss", "rescaling"),
    [
        *(("chain", CHAIN, *how) for how in (
            ("hamming_sum", "margin"), ("hamming", "margin"), (COSTS, "margin"),
            ("hamming_sum", "slack"), ("hamming", "slack"))),
        ("tree", STAR, "hamming", "margin"), ("tree", STAR, COSTS, "margin"),
        ("graph", LOOP, "hamming_sum", "margin"), ("graph", LOOP, COSTS, "margin"),
        ("graph", STAR, "hamming", "margin"),
    ],
)  # fmt: skip
def test_losses_and_labellings(structure, edges, loss, rescaling):
    rng = np.random.default_rng(3)
    batches = [random_batch(rng, n_edges=len(edges), hidden=hidden) for hidden in (0.0, 0.4, 1.0)]
    unary, tables, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    if rescaling == "slack":
        tables = np.repeat(tables[:, :1], len(edges), axis=1)
    weight = rng.integers(3, size=labels.shape)
    hinge = StructuredHinge(structure, loss=loss, rescaling=rescaling)
    given = {"mask": np.ones(labels.shape, dtype=bool), "token_weight": weight}
    if structure != "chain":
        given["edges"] = edges
    pairwise = tables[:, 0] if rescaling == "slack" else tables
    found = hinge.evaluate(unary, pairwise, labels, **given)
    assert found.exact.all()
    for i in range(len(unary)):
        sample = unary[i], tables[i], edges, labels[i], loss, rescaling, weight[i]
        value, worst, truth = by_enumeration(*sample)
        assert found.losses[i] == pytest.approx(value, abs=1e-12)
        assert tuple(found.completed[i]) == truth
        if value > 0:
            assert tuple(found.labels[i]) == worst


def as_forms(structure, rng, n, edges):
    """Potentials of edges in all forms, each with what it says of every edge."""
    m = len(edges)
    shared, each = rng.standard_normal((K, K)), rng.standard_normal((n, m, K, K))
    yield shared, np.broadcast_to(shared, each.shape)
    yield each, each
    if structure == "chain":
        yield each[:, 0], np.repeat(each[:, :1], m, axis=1)
    else:
        yield each[0], np.broadcast_to(each[:1], each.shape)


@pytest.mark.parametrize(
    ("structure", "edges"), [("chain", CHAIN), ("tree", STAR), ("graph", LOOP)]
)
def test_gradients_and_marginals(structure, edges):
    """Gradients are finite differences."""
    rng = np.random.default_rng(5)
    n, n_nodes, eps = 3, 4, 1e-6
    given = {} if structure == "chain" else {"edges": edges}
    unary = rng.standard_normal((n, n_nodes, K))
    labels = rng.integers(K, size=(n, n_nodes))
    labels[1, 2] = labels[2, 0] = -100
    weights = rng.standard_normal(n)
    for rescaling in ("margin", "slack"):
        for pairwise, tables in as_forms(structure, rng, n, edges):
            if rescaling == "slack" and (structure != "chain" or pairwise.ndim == 4):
                continue
            hinge = StructuredHinge(structure, loss="hamming", rescaling=rescaling)
            found = hinge.evaluate(unary, pairwise, labels, **given)
            for i in range(n):
                given_i = unary[i], tables[i], edges, labels[i], "hamming", rescaling
                assert found.losses[i] == pytest.approx(by_enumeration(*given_i)[0], abs=1e-12)
            for which, gradient in enumerate(found.gradients(weights)):
                potentials = [unary, pairwise]
                assert gradient.shape == potentials[which].shape
                for place in rng.choice(gradient.size, size=9, replace=False):
                    step, sides = np.zeros(gradient.shape), []
                    step.flat[place] = eps
                    for sign in (1, -1):
                        moved = list(potentials)
                        moved[which] = potentials[which] + sign * step
                        sides.append(hinge.evaluate(*moved, labels, **given).losses)
                    slope = weights @ (sides[0] - sides[1]) / (2 * eps)
                    assert gradient.flat[place] == pytest.approx(slope, abs=1e-6)
            if structure == "graph" or rescaling == "slack":
                continue
            best = hinge.max_marginals(unary, pairwise, **given)
            likely = hinge.marginals(unary / 0.7, pairwise / 0.7, **given)
            for i in range(n):
                labellings, scores = every_labelling(unary[i], tables[i], edges)
                weight = np.exp(scores / 0.7) / np.exp(scores / 0.7).sum()
                for v, k in itertools.product(range(n_nodes), range(K)):
                    has = labellings[:, v] == k
                    assert best[i, v, k] == pytest.approx(scores[has].max(), abs=1e-12)
                    assert likely[i, v, k] == pytest.approx(weight[has].sum(), abs=1e-12)


@pytest.mark.parametrize("structure", ["tree", "graph"])
def test_potts_numbers_are_tables_with_a_diagonal(structure):
    rng, edges = np.random.default_rng(0), STAR if structure == "tree" else LOOP
    unary, _, labels = random_batch(rng, hidden=0.3)
    full, potts = StructuredHinge(structure), StructuredHinge(structure, pairwise_form="potts")
    for shape in ((), (len(edges),), (6, len(edges))):
        numbers = rng.standard_normal(shape)
        tables = numbers[..., np.newaxis, np.newaxis] * np.eye(K)
        expected = full.evaluate(unary, tables, labels, edges=edges)
        found = potts.evaluate(unary, numbers, labels, edges=edges)
        np.testing.assert_allclose(found.losses, expected.losses, atol=1e-12)
        (by_nodes, by_numbers), (expected, of_tables) = found.gradients(), expected.gradients()
        np.testing.assert_array_equal(by_nodes, expected)
        assert by_numbers.shape == shape
        np.testing.assert_allclose(by_numbers, np.trace(of_tables, axis1=-2, axis2=-1))


@pytest.mark.parametrize(
    ("edges", "n_states", "attract"), [(STAR, 3, False), (LOOP, 2, True), (LOOP, 3, False)]
)
def test_inference_of_graphs(edges, n_states, attract):
    """By max-sum, by a cut, by elimination."""
    rng = np.random.default_rng(1)
    unary, tables, labels = random_batch(
        rng, n=10, n_edges=len(edges), n_states=n_states, hidden=0.3
    )
    if attract:
        tables = np.abs(tables) * (2 * np.eye(2) - 1)
    found = StructuredHinge("graph").evaluate(unary, tables, labels, edges=edges)
    assert found.exact.all()
    for i in range(len(unary)):
        value = by_enumeration(unary[i], tables[i], edges, labels[i])[0]
        assert found.losses[i] == pytest.approx(value, abs=1e-12)


def test_large_graphs_of_two_labels():
    # too wide for elimination: a cut where labels attract each other, else roof duality
    rng = np.random.default_rng(2)
    edges = grid_edges(30, 30)
    unary, labels = rng.standard_normal((1, 900, 2)), rng.integers(2, size=(1, 900))
    truth = unary[0, np.arange(900), labels[0]].sum()
    for table, oracle in ((np.eye(2), graphcut), (-np.eye(2), qpbo)):
        found = StructuredHinge("graph").evaluate(unary, table, labels, edges=edges)
        best, value = oracle(unary[0], edges, table, truth=labels[0])
        assert found.exact.all()
        np.testing.assert_array_equal(found.labels[0], best)
        right = truth + table[labels[0][edges[:, 0]], labels[0][edges[:, 1]]].sum()
        assert found.losses[0] == pytest.approx(value - right)
    unary, tables = rng.standard_normal((1, 900, 4)), rng.standard_normal((len(edges), 4, 4))
    found = StructuredHinge("graph").evaluate(unary, tables, labels, edges=edges)
    assert not found.exact[0]
    assert found.losses[0] > 0


def every_labelling(unary, tables, edges):
    """All labellings of a sample, and their scores."""
    nodes, n_states = unary.shape
    labellings = np.array(list(itertools.product(range(n_states), repeat=nodes)))
    scores = unary[np.arange(nodes), labellings].sum(axis=1)
    for table, (u, v) in zip(tables, edges, strict=True):
        scores += table[labellings[:, u], labellings[:, v]]
    return labellings, scores
