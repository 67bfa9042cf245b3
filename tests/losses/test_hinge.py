"""Batches: padding, ragged lists, types of numbers, threads, and what is refused."""

import itertools
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from helpers.graphs import grid_edges
from helpers.potentials import (
    CHAIN,
    LENGTHS,
    LOOP,
    MASK,
    STAR,
    K,
    as_forms,
    every_labelling,
    padded,
    ragged_chains,
    random_batch,
)

from sskit.losses import StructuredHinge
from sskit.oracles import graphcut, qpbo


@pytest.mark.parametrize(("shared", "with_mask"), [(True, True), (False, True), (False, False)])
def test_padded_is_ragged(shared, with_mask):
    unary, tables, labels = ragged_chains()
    hinge = StructuredHinge(loss="hamming")
    table = np.random.default_rng(1).standard_normal((K, K))
    ragged = hinge.evaluate(unary, table if shared else tables, labels)
    given = {"mask": MASK} if with_mask else {}
    # what stands at padding is not looked at
    wide, pairwise = padded(unary, np.nan), table if shared else padded(tables, np.nan, 6)
    again = hinge.evaluate(wide, pairwise, padded(labels, 77 if with_mask else -100), **given)
    np.testing.assert_array_equal(again.losses, ragged.losses)
    assert again.losses[4] == 0.0
    a, b = ragged.gradients(np.arange(6.0)), again.gradients(np.arange(6.0))
    np.testing.assert_array_equal(b[0], padded(a[0], 0.0))
    np.testing.assert_array_equal(b[1], a[1] if shared else padded(a[1], 0.0, 6))
    np.testing.assert_array_equal(again.labels, padded(ragged.labels, -100))
    np.testing.assert_array_equal(again.completed, padded(ragged.completed, -100))
    for method, fill in (("decode", -100), ("max_marginals", 0.0), ("marginals", 0.0)):
        found = getattr(hinge, method)(unary, table if shared else tables)
        assert [len(x) for x in found] == list(LENGTHS)
        if with_mask:
            again = getattr(hinge, method)(wide, pairwise, mask=MASK)
            np.testing.assert_array_equal(again, padded(found, fill))


@pytest.mark.parametrize("structure", ["tree", "graph"])
def test_padded_graphs_are_ragged(structure):
    rng, sizes = np.random.default_rng(0), (3, 2, 2)
    edges = [np.array([[0, 1], [2, 1]]), np.zeros((0, 2), dtype=int), np.array([[1, 0]])]
    if structure == "graph":
        edges[0] = np.array([[0, 1], [2, 1], [2, 0]])
    unary = [rng.standard_normal((t, K)) for t in sizes]
    tables = [rng.standard_normal((len(e), K, K)) for e in edges]
    labels = [np.array([0, -100, 2]), np.array([1, -100]), np.array([0, 0])]
    hinge = StructuredHinge(structure)
    ragged = hinge.evaluate(unary, tables, labels, edges=edges)
    given = {"edges": padded(edges, -1, 4), "mask": np.arange(7) < np.array(sizes)[:, np.newaxis]}
    wide = padded(unary, np.nan), padded(tables, np.nan, 4)
    again = hinge.evaluate(*wide, padded(labels, -100), **given)
    np.testing.assert_array_equal(again.losses, ragged.losses)
    assert ragged.completed[1][1] == unary[1][1].argmax()
    a, b = ragged.gradients(), again.gradients()
    np.testing.assert_array_equal(b[0], padded(a[0], 0.0))
    np.testing.assert_array_equal(b[1], padded(a[1], 0.0, 4))
    # one table for each sample
    own = [rng.standard_normal((K, K)) for _ in sizes]
    each = [np.repeat(t[np.newaxis], len(e), axis=0) for t, e in zip(own, edges, strict=True)]
    one, all_ = (hinge.evaluate(unary, t, labels, edges=edges) for t in (own, each))
    np.testing.assert_array_equal(one.losses, all_.losses)
    for x, y in zip(one.gradients()[1], all_.gradients()[1], strict=True):
        np.testing.assert_allclose(x, y.sum(axis=0))
    for method in ("max_marginals", "marginals") if structure == "tree" else ():
        found = getattr(hinge, method)(unary, tables, edges=edges)
        np.testing.assert_array_equal(getattr(hinge, method)(*wide, **given), padded(found, 0.0))


def test_a_label_at_the_end_is_hidden_inside_a_mask_and_padding_without_one():
    unary = np.zeros((1, 3, 2))
    unary[0, 2, 1] = 5.0
    table = np.array([[0.0, -10.0], [-10.0, 0.0]])
    labels = [[0, 0, -100]]
    hinge = StructuredHinge()
    padding = hinge.evaluate(unary, table, labels)
    assert padding.completed.tolist() == [[0, 0, -100]]
    assert padding.losses == 2.0
    hidden = hinge.evaluate(unary, table, labels, mask=np.ones((1, 3), dtype=bool))
    assert hidden.completed.tolist() == [[0, 0, 0]]
    assert hidden.losses == 2.0 + 5.0
    assert hinge.evaluate(list(unary), table, [[0, 0, -100]]).losses == hidden.losses
    assert hinge.evaluate(unary, table, [[-100] * 3]).losses == 0.0


def test_single_precision():
    unary, tables, labels = ragged_chains(dtype=np.float32)
    wide = [x.astype(np.float64) for x in unary], [x.astype(np.float64) for x in tables]
    for rescaling in ("margin", "slack"):
        hinge, table = StructuredHinge(rescaling=rescaling), tables[2][0]
        small = hinge.evaluate(unary, table, labels)
        large = hinge.evaluate(wide[0], table.astype(np.float64), labels)
        assert (small.losses.dtype, large.losses.dtype) == (np.float32, np.float64)
        np.testing.assert_array_equal(small.losses, large.losses.astype(np.float32))
        a, b = small.gradients(), large.gradients()
        assert {x.dtype for x in (*a[0], a[1])} == {np.dtype(np.float32)}
        np.testing.assert_array_equal(a[1], b[1].astype(np.float32))
        mixed = hinge.evaluate(unary, table.astype(np.float64), labels).gradients()
        assert (mixed[0][0].dtype, mixed[1].dtype) == (np.float32, np.float64)
    half, whole = [x.astype(np.float16) for x in unary], [x.round().astype(int) for x in unary]
    assert StructuredHinge().evaluate(half, tables, labels).losses.dtype == np.float32
    assert StructuredHinge().evaluate(whole, tables, labels).losses.dtype == np.float64
    for method in ("max_marginals", "marginals"):
        found = getattr(StructuredHinge(), method)(unary, tables)[0]
        np.testing.assert_allclose(found, getattr(StructuredHinge(), method)(*wide)[0], rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("structure", ["chain", "tree", "graph"])
def test_threads_and_orders_of_arrays_change_no_bit(structure):
    rng, n, m, given = np.random.default_rng(0), 60, 12, {}
    unary, labels = rng.standard_normal((n, m, K)), rng.integers(K, size=(n, m))
    labels[rng.random((n, m)) < 0.2] = -100
    edges = np.array([(u, v) for u in range(m) for v in range(u) if rng.random() < 0.5])
    if structure == "tree":
        edges = np.array([[rng.integers(v), v] for v in range(1, m)])
    tables = rng.standard_normal((len(edges), K, K))
    if structure == "chain":
        tables = rng.standard_normal((n, m - 1, K, K))
    else:
        given = {"edges": edges}

    def results(n_jobs, *arguments):
        hinge = StructuredHinge(structure, n_jobs=n_jobs)
        found = hinge.evaluate(*arguments, **given)
        parts = [found.losses, found.labels, found.completed, *found.gradients()]
        methods = ["decode"] + ["max_marginals", "marginals"] * (structure != "graph")
        parts += [getattr(hinge, method)(*arguments[:2], **given) for method in methods]
        return joblib.hash(list(map(np.ascontiguousarray, parts)))

    arguments = unary, tables, labels
    before, expected = joblib.hash(arguments), results(None, *arguments)
    for x in arguments:
        x.flags.writeable = False
    with ThreadPoolExecutor(4) as pool:  # with one layer
        assert set(pool.map(lambda _: results(2, *arguments), range(20))) == {expected}
    assert results(-1, *map(np.asfortranarray, arguments)) == expected
    assert joblib.hash(arguments) == before
    if hasattr(os, "fork") and structure == "chain":  # a forked process has threads of its own
        child = os.fork()
        if child == 0:  # pragma: no cover
            os._exit(0 if results(2, *arguments) == expected else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_empty_batches():
    hinge = StructuredHinge()
    for unary, labels in ((np.zeros((0, 5, K)), np.zeros((0, 5), dtype=int)), ([], [])):
        found = hinge.evaluate(unary, np.zeros((K, K)), labels)
        assert found.losses.shape == (0,)
        assert len(found.gradients()[0]) == 0
        np.testing.assert_array_equal(found.gradients()[1], np.zeros((K, K)))
        assert len(hinge.decode(unary, np.zeros((K, K)))) == 0
        assert len(hinge.marginals(unary, np.zeros((K, K)))) == 0
    found = hinge.evaluate(np.zeros((2, 0, K)), np.zeros((K, K)), np.zeros((2, 0), int))
    assert found.losses.tolist() == [0, 0]
    graph = StructuredHinge("graph")
    assert graph.evaluate([], np.zeros((K, K)), [], edges=[]).losses.shape == (0,)
    # graphs without edges
    unary, labels = np.random.default_rng(0).standard_normal((2, 1, 3)), np.array([[0], [2]])
    chain = StructuredHinge().evaluate(unary, np.zeros((3, 3)), labels)
    for structure, edges in itertools.product(
        ("tree", "graph"), ([], np.zeros((0, 2), dtype=int), [[], []])
    ):
        found = StructuredHinge(structure).evaluate(unary, np.zeros((3, 3)), labels, edges=edges)
        np.testing.assert_array_equal(found.losses, chain.losses)
        np.testing.assert_array_equal(found.gradients()[1], np.zeros((3, 3)))


def test_forbidden_transitions_are_never_taken():
    rng, table, hinge = np.random.default_rng(0), np.zeros((3, 3)), StructuredHinge()
    table[0, 2] = -np.inf  # "inside" after "outside"
    unary = rng.standard_normal((20, 8, 3)) + [0, 0, 1]
    decoded = hinge.decode(unary, table)
    labels = decoded.copy()
    labels[:, 3] = -100
    found = hinge.evaluate(unary, table, labels)
    assert np.isfinite(found.losses).all() and np.isfinite(found.gradients()[1]).all()
    for y in (decoded, found.labels, found.completed):
        assert not ((y[:, :-1] == 0) & (y[:, 1:] == 2)).any()
    labels[3, 5:7] = 0, 2
    zeros, none = np.zeros((20, 8), dtype=int), unary.copy()
    none[1, 2] = -np.inf
    full, agrees = np.where(labels < 0, decoded, labels), "no labelling that agrees with labels"
    for call, message in (
        (lambda: hinge.evaluate(unary, table, full), f"sequence 3: {agrees}"),
        (lambda: hinge.evaluate(unary, table, labels), f"sequence 3: {agrees}"),
        (lambda: hinge.decode(none, table), "sequence 1: no labelling is allowed"),
        (lambda: hinge.marginals(none, table), "sequence 1: no labelling is allowed"),
        (lambda: hinge.evaluate(none, table, zeros), f"sequence 1: {agrees}"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    edges, wide = [(t, t + 1) for t in range(7)], np.zeros((1, 225, 3))
    for structure, pairs in (("tree", edges), ("graph", [*edges, (7, 0)])):
        for y, message in ((zeros - 100, ".*(allowed|forbidden)"), (zeros, agrees)):
            with pytest.raises(ValueError, match=f"{structure} 1: {message}"):
                StructuredHinge(structure).evaluate(none, table, y, edges=pairs)
    wide[0, 7] = -np.inf  # too wide for elimination
    given = {"edges": grid_edges(15, 15), "mask": np.ones((1, 225), dtype=bool)}
    with pytest.raises(ValueError, match="graph 0: .*(allowed|forbidden)"):
        StructuredHinge("graph").evaluate(wide, np.zeros((3, 3)), np.full((1, 225), -100), **given)


def nan_at(array, *place, value=np.nan):
    """A copy of an array with something odd in it."""
    array = np.array(array, dtype=float)
    array[place] = value
    return array


U, A, Y = np.zeros((2, 3, 2)), np.zeros((2, 2)), np.zeros((2, 3), dtype=int)
PATH, RING = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
HOLES = np.array([[True, False, True], [True, True, True]])
BAD = [
    ({"unary": nan_at(U, 1, 2, 0)}, "sequence 1, token 2: unary has nan"),
    ({"unary": nan_at(U, 1, 2, 0, value=np.inf)}, "sequence 1, token 2: unary has inf, expected"),
    ({"pairwise": nan_at(A, 0, 1)}, "^pairwise has nan"),
    ({"pairwise": nan_at(np.zeros((2, 2, 2)), 1, 0, 1)}, "sequence 1: pairwise has nan"),
    ({"pairwise": nan_at(np.zeros((2, 2, 2, 2)), 1, 1, 0, 1)},
     "sequence 1, edge 1: pairwise has nan"),
    ({"unary": U[0]}, r"unary must have shape \(n_sequences, n_tokens, n_labels\)"),
    ({"unary": U[..., :0]}, "unary must have shape"),
    ({"unary": U + 1j}, "unary must hold numbers, got dtype complex128"),
    ({"unary": "abc"}, "unary must hold numbers"),
    ({"unary": [U[0], U[0, 0]]}, r"unary\[1\] must have shape \(n_tokens, n_labels\)"),
    ({"unary": [U[0], np.zeros((3, 4))]}, r"unary\[1\] must have shape .*, got \(3, 4\)"),
    ({"unary": [U[0], U[1]], "labels": [Y[0], Y[0, :2]]},
     r"sequence 1: labels must have shape \(3,\)"),
    ({"unary": [U[0], U[1]], "labels": [Y[0]]}, "labels has 1 sequences, but unary 2"),
    ({"unary": list(U), "labels": list(Y), "mask": HOLES}, "a mask goes with padded arrays"),
    ({"pairwise": np.zeros((3, 3))}, r"pairwise must have shape \(2, 2\) or \(2, 2, 2\) or"),
    ({"pairwise": None}, "pairwise must hold the potentials"),
    ({"pairwise": [A, np.zeros((3, 3))]}, r"sequence 1: pairwise must have shape \(2, 2\), got"),
    ({"pairwise": [A]}, "pairwise has 1 sequences, but unary 2"),
    ({"labels": Y[:1]}, r"labels must have shape \(2, 3\)"),
    ({"labels": Y + 0.5}, "labels must be integers, got dtype float64"),
    ({"labels": None}, "labels must hold the true labels"),
    ({"labels": nan_at(Y, 1, 1, value=2).astype(int)},
     "sequence 1, token 1: labels has 2, expected 0 to 1"),
    ({"labels": nan_at(Y, 1, 1, value=-1).astype(int)}, "sequence 1, token 1: labels has -1"),
    ({"mask": HOLES}, "sequence 0: the mask leaves out token 1, but not all that follow"),
    ({"mask": HOLES[:1]}, r"mask must have shape \(2, 3\)"),
    ({"mask": HOLES + 0.5}, "mask must hold booleans"),
    ({"edges": PATH}, "edges are for trees"),
    ({"token_weight": nan_at(Y, 0, 1, value=-1)}, "sequence 0, token 1: token_weight is -1.0"),
    ({"token_weight": [1.0, 2.0, 3.0]}, r"token_weight must have shape \(2, 3\)"),
    ({"loss": "zero_one"}, "'loss' parameter .* must be a str among"),
    ({"loss": np.ones((2, 2))}, r"loss\[0\]\[0\] is 1, expected 0"),
    ({"loss": np.zeros((3, 3))}, r"loss must have shape \(2, 2\)"),
    ({"loss": [[0, -1], [1, 0]]}, r"loss\[0\]\[1\] is -1, expected a finite"),
    ({"structure": "ring"}, "'structure' parameter .* a str among .* Got 'ring'"),
    ({"rescaling": 3}, "'rescaling' parameter .* a str among .* Got 3"),
    ({"pairwise_form": "potts"}, "pairwise_form='potts' is for trees and graphs"),
    ({"n_jobs": 0}, "'n_jobs' parameter .* Got 0"),
    ({"n_jobs": 1.5}, "'n_jobs' parameter .* Got 1.5"),
    ({"rescaling": "slack", "pairwise": np.zeros((2, 2, 2, 2))}, "slack rescaling takes one table"),
    ({"rescaling": "slack", "loss": 1 - np.eye(2)}, "rescaling='slack' takes loss="),
    ({"rescaling": "slack", "token_weight": Y + 0.5}, "token_weight holds 0.5, expected whole"),
    ({"rescaling": "slack", "token_weight": Y + 1e9},
     "token_weight adds up to 3e\\+09, expected at most"),
    ({"rescaling": "slack", "token_weight": Y + 4000}, "sequence 0: token_weight adds up to 12000"),
    ({"structure": "tree"}, "edges must say which nodes are joined"),
    ({"structure": "tree", "edges": RING},
     "tree 0: edges.2. between the nodes 2 and 0 closes a cycle"),
    ({"structure": "tree", "rescaling": "slack", "edges": PATH},
     "rescaling='slack' has no exact oracle for structure='tree'"),
    ({"structure": "graph", "edges": [(0, 3)]},
     "edges.0, 1. of graph 0 is 3, expected integers >= 0 and <= 2"),
    ({"structure": "graph", "edges": [(1, 1)]}, "edges.0. joins node 1 to itself"),
    ({"structure": "graph", "edges": [[(0, 1)], [(0, -1)]]}, "edges.0, 1. of graph 1 is -1"),
    ({"structure": "graph", "edges": np.array([[[-1, 0], [0, 1]]] * 2)},
     "edges.0, 0. of graph 0 is -1"),
    ({"structure": "graph", "edges": [PATH]}, "edges"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "message"), BAD)
def test_what_is_refused(changed, message):
    given = {"unary": U, "pairwise": A, "labels": Y} | changed
    parameters = {name: given.pop(name) for name in StructuredHinge().get_params() if name in given}
    with pytest.raises(ValueError, match=message):
        StructuredHinge(**parameters).evaluate(**given)


def test_what_is_refused_elsewhere():
    found = pickle.loads(pickle.dumps(StructuredHinge().evaluate(U, A, Y)))
    assert found.gradients()[0].shape == U.shape
    graph = StructuredHinge("graph")
    for call, message in (
        (lambda: graph.max_marginals(U, A, edges=PATH), "^max_marginals is for chains and trees"),
        (lambda: graph.marginals(U, A, edges=PATH), "^marginals is for chains and trees"),
        (lambda: found.gradients(np.ones(3)), r"weights must have shape \(2,\), got \(3,\)"),
        (lambda: StructuredHinge().evaluate(U, A, Y + 5), "sequence 0, token 0: labels has 5"),
        (lambda: StructuredHinge(n_jobs=2).decode(nan_at(U, 1, 2, 0), A),
         "sequence 1, token 2: unary has nan"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()


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
