"""Losses of potentials are those of the enumeration, their gradients finite differences.

Every form of a batch is the same batch: padded or ragged, of any type, by any number of threads.
"""

import itertools
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
from helpers.graphs import grid_edges
from helpers.pairwise import every_pair
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
from scipy.special import logsumexp

from sskit.losses import StructuredHinge, StructuredLogLoss
from sskit.oracles import graphcut, qpbo

EDGES = {"chain": CHAIN, "tree": STAR, "graph": LOOP}
COSTS = np.array([[0, 1, 3.0], [2, 0, 1], [0.5, 4, 0]])


def hinge_of(unary, tables, edges, labels, loss="hamming_sum", rescaling="margin", weight=None):
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


def log_loss_of(unary, tables, edges, labels):
    """-log p of the known labels of a sample."""
    labellings, scores = every_labelling(unary, tables, edges)
    agree = ((labels < 0) | (labellings == labels)).all(axis=1)
    return logsumexp(scores) - logsumexp(scores[agree])


# Makers of layers, and their losses by enumeration.
LAYERS = {
    "hinge": (StructuredHinge, lambda *sample: hinge_of(*sample)[0]),
    "mean hinge": (
        partial(StructuredHinge, loss="hamming"),
        lambda *sample: hinge_of(*sample, "hamming")[0],
    ),
    "slack hinge": (
        partial(StructuredHinge, loss="hamming", rescaling="slack"),
        lambda *sample: hinge_of(*sample, "hamming", "slack")[0],
    ),
    "log loss": (StructuredLogLoss, log_loss_of),
}
BASIC = ["hinge", "log loss"]


# ---- one batch in many forms -------------------------------------------------------------------


def check_padded(model, ragged, wide, labels, edges, given, n_edges):
    """Padded potentials give what ragged ones do; what stands at padding is not looked at."""
    found = model.evaluate(*ragged, labels[0], **edges)
    again = model.evaluate(*wide, labels[1], **given)
    np.testing.assert_array_equal(again.losses, found.losses)
    weights = np.arange(len(found.losses), dtype=float)
    a, b = found.gradients(weights), again.gradients(weights)
    np.testing.assert_array_equal(b[0], padded(a[0], 0.0))
    np.testing.assert_array_equal(b[1], padded(a[1], 0.0, n_edges) if n_edges else a[1])
    if isinstance(model, StructuredHinge):
        np.testing.assert_array_equal(again.labels, padded(found.labels, -100))
        np.testing.assert_array_equal(again.completed, padded(found.completed, -100))
    methods = ["decode"] + ["max_marginals", "marginals"] * (model.structure != "graph")
    for method in methods if "mask" in given else ():
        found = getattr(model, method)(*ragged, **edges)
        assert [len(x) for x in found] == [len(x) for x in ragged[0]]
        expected = padded(found, -100 if method == "decode" else 0.0)
        np.testing.assert_array_equal(getattr(model, method)(*wide, **given), expected)


@every_pair(
    layer=["mean hinge", "log loss"],
    form=["shared", "by sequence", "by token"],
    with_mask=[True, False],
    n_jobs=[None, 2],
)
def test_padded_is_ragged(layer, form, with_mask, n_jobs):
    unary, tables, labels = ragged_chains()
    if form != "by token":
        tables = list(np.random.default_rng(1).standard_normal((len(LENGTHS), K, K)))
    make, value_of = LAYERS[layer]
    pairwise = tables[0] if form == "shared" else tables
    losses = make(n_jobs=n_jobs).evaluate(unary, pairwise, labels).losses
    np.testing.assert_array_equal(make().evaluate(unary, pairwise, labels).losses, losses)
    for i, length in enumerate(LENGTHS):
        own = tables[i] if form == "by token" else [tables[i * (form != "shared")]] * 6
        edges = [(t, t + 1) for t in range(length - 1)]
        value = value_of(unary[i], own[: length - 1], edges, labels[i]) if length else 0.0
        assert losses[i] == pytest.approx(value, abs=1e-12)
    wide, n_edges = pairwise, 6 if form == "by token" else None
    if form != "shared":
        wide = padded(tables, np.nan, 6) if n_edges else np.array(tables)
    both = labels, padded(labels, 77 if with_mask else -100)
    given = {"mask": MASK} if with_mask else {}
    wide = padded(unary, np.nan), wide
    check_padded(make(n_jobs=n_jobs), (unary, pairwise), wide, both, {}, given, n_edges)


@pytest.mark.parametrize(
    ("layer", "structure"), [("hinge", "tree"), ("hinge", "graph"), ("log loss", "tree")]
)
def test_padded_graphs_are_ragged(layer, structure):
    rng, sizes, model = np.random.default_rng(0), (3, 2, 2), LAYERS[layer][0](structure)
    edges = [np.array([[0, 1], [2, 1]]), np.zeros((0, 2), dtype=int), np.array([[1, 0]])]
    if structure == "graph":
        edges[0] = np.array([[0, 1], [2, 1], [2, 0]])
    unary = [rng.standard_normal((t, K)) for t in sizes]
    tables = [rng.standard_normal((len(e), K, K)) for e in edges]
    labels = [np.array([0, -100, 2]), np.array([1, -100]), np.array([0, 0])]
    given = {"edges": padded(edges, -1, 4), "mask": np.arange(7) < np.array(sizes)[:, np.newaxis]}
    wide, both = (padded(unary, np.nan), padded(tables, np.nan, 4)), (labels, padded(labels, -100))
    check_padded(model, (unary, tables), wide, both, {"edges": edges}, given, 4)


def test_a_label_at_the_end_is_hidden_inside_a_mask_and_padding_without_one():
    unary, table, hinge = np.zeros((1, 3, 2)), 10 * np.eye(2) - 10, StructuredHinge()
    unary[0, 2, 1] = 5.0
    labels, inside = [[0, 0, -100]], {"mask": np.ones((1, 3), dtype=bool)}
    for given, completed, loss in (({}, [0, 0, -100], 2.0), (inside, [0, 0, 0], 2.0 + 5.0)):
        found = hinge.evaluate(unary, table, labels, **given)
        assert (found.completed.tolist(), found.losses.tolist()) == ([completed], [loss])
    assert hinge.evaluate(list(unary), table, labels).losses == 7.0
    assert hinge.evaluate(unary, table, [[-100] * 3]).losses == 0.0


@pytest.mark.parametrize("layer", ["hinge", "slack hinge", "log loss"])
def test_single_precision(layer):
    unary, tables, labels = ragged_chains(dtype=np.float32)
    model, table = LAYERS[layer][0](), tables[2][0]

    def results(dtype, of_table):
        found = model.evaluate([x.astype(dtype) for x in unary], table.astype(of_table), labels)
        return found.losses, *found.gradients()

    losses, nodes, of_table = results(np.float32, np.float32)
    exact, _, of_exact_table = results(np.float64, np.float64)
    assert exact.dtype == np.float64
    assert {x.dtype for x in (losses, *nodes, of_table)} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(losses, exact.astype(np.float32))
    np.testing.assert_array_equal(of_table, of_exact_table.astype(np.float32))
    _, nodes, of_table = results(np.float32, np.float64)
    assert (nodes[0].dtype, of_table.dtype) == (np.float32, np.float64)
    for dtype, expected in ((np.float16, np.float32), (int, np.float64)):
        assert results(dtype, np.float32)[0].dtype == expected
    for method in ("max_marginals", "marginals"):
        small, large = (
            getattr(model, method)([x.astype(dtype) for x in unary], table.astype(dtype))[0]
            for dtype in (np.float32, np.float64)
        )
        assert small.dtype == np.float32
        np.testing.assert_allclose(small, large, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("structure", EDGES)
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


@pytest.mark.parametrize("layer", BASIC)
def test_empty_batches(layer):
    make, table = LAYERS[layer][0], np.zeros((K, K))
    for unary, labels in ((np.zeros((0, 5, K)), np.zeros((0, 5), dtype=int)), ([], [])):
        found = make().evaluate(unary, table, labels)
        assert found.losses.shape == (0,) and len(found.gradients()[0]) == 0
        np.testing.assert_array_equal(found.gradients()[1], table)
        assert len(make().decode(unary, table)) == len(make().marginals(unary, table)) == 0
    found = make().evaluate(np.zeros((2, 0, K)), table, np.zeros((2, 0), int))
    assert found.losses.tolist() == [0, 0]
    # graphs without edges
    unary, labels = np.random.default_rng(0).standard_normal((2, 1, K)), np.array([[0], [2]])
    chain = pickle.loads(pickle.dumps(make().evaluate(unary, table, labels)))
    for structure in ("tree", "graph")[: 1 + (layer == "hinge")]:
        assert make(structure).evaluate([], table, [], edges=[]).losses.shape == (0,)
        for edges in ([], np.zeros((0, 2), dtype=int), [[], []]):
            found = make(structure).evaluate(unary, table, labels, edges=edges)
            np.testing.assert_allclose(found.losses, chain.losses, rtol=1e-15)
            np.testing.assert_allclose(found.gradients()[0], chain.gradients()[0], atol=1e-15)
            np.testing.assert_array_equal(found.gradients()[1], table)


# ---- values and gradients ----------------------------------------------------------------------


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
def test_losses_and_labellings_of_hinges(structure, edges, loss, rescaling):
    rng = np.random.default_rng(3)
    batches = [random_batch(rng, n_edges=len(edges), hidden=hidden) for hidden in (0.0, 0.4, 1.0)]
    unary, tables, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    if rescaling == "slack":
        tables = np.repeat(tables[:, :1], len(edges), axis=1)
    weight = rng.integers(3, size=labels.shape)
    hinge = StructuredHinge(structure, loss=loss, rescaling=rescaling)
    given = {"mask": np.ones(labels.shape, dtype=bool), "token_weight": weight}
    given |= {} if structure == "chain" else {"edges": edges}
    pairwise = tables[:, 0] if rescaling == "slack" else tables
    found = hinge.evaluate(unary, pairwise, labels, **given)
    assert found.exact.all()
    for i in range(len(unary)):
        sample = unary[i], tables[i], edges, labels[i], loss, rescaling, weight[i]
        value, worst, truth = hinge_of(*sample)
        assert found.losses[i] == pytest.approx(value, abs=1e-12)
        assert tuple(found.completed[i]) == truth
        if value > 0:
            assert tuple(found.labels[i]) == worst


CASES = [
    *itertools.product(["log loss"], ["chain", "tree"], range(3), [0.0, 0.4, 1.0]),
    *itertools.product(["mean hinge"], EDGES, range(3), [0.4]),
    *itertools.product(["slack hinge"], ["chain"], [0, 2], [0.4]),
]


@pytest.mark.parametrize(("layer", "structure", "form", "hidden"), CASES)
def test_gradients_are_finite_differences(layer, structure, form, hidden):
    """Of potentials of edges in every form: one table, one for each edge, one for each sample."""
    rng, edges, eps = np.random.default_rng(5), EDGES[structure], 1e-6
    (make, value_of), weights = LAYERS[layer], rng.standard_normal(2)
    unary, _, labels = random_batch(rng, n=2, hidden=hidden)
    given = {"mask": np.ones(labels.shape, dtype=bool)}
    given |= {} if structure == "chain" else {"edges": edges}
    potentials, model = [unary, None], make(structure)
    potentials[1], tables = list(as_forms(structure, rng, 2, edges))[form]
    found = model.evaluate(*potentials, labels, **given)
    best = None if structure == "graph" else model.max_marginals(*potentials, **given)
    for i in range(2):
        value = value_of(unary[i], tables[i], edges, labels[i])
        assert found.losses[i] == pytest.approx(value, abs=1e-12)
        labellings, scores = every_labelling(unary[i], tables[i], edges)
        for v, k in np.ndindex(4, K) if best is not None else ():
            largest = scores[labellings[:, v] == k].max()
            assert best[i, v, k] == pytest.approx(largest, abs=1e-12)
    for which, gradient in enumerate(found.gradients(weights)):
        assert gradient.shape == potentials[which].shape
        for place in range(gradient.size):
            step, sides = np.zeros(gradient.shape), []
            step.flat[place] = eps
            for sign in (1, -1):
                changed = list(potentials)
                changed[which] = potentials[which] + sign * step
                sides.append(model.evaluate(*changed, labels, **given).losses)
            slope = weights @ (sides[0] - sides[1]) / (2 * eps)
            assert gradient.flat[place] == pytest.approx(slope, abs=1e-7)
    if layer == "log loss" and hidden == 1.0:
        assert not found.losses.any() and not any(g.any() for g in found.gradients())
    elif layer == "log loss" and not hidden:
        by_nodes = model.marginals(*potentials, **given) - np.eye(K)[labels]
        np.testing.assert_allclose(found.gradients()[0], by_nodes, atol=1e-12)


@pytest.mark.parametrize(
    ("layer", "structure"), [("hinge", "tree"), ("hinge", "graph"), ("log loss", "tree")]
)
def test_potts_numbers_are_tables_with_a_diagonal(layer, structure):
    rng, edges, make = np.random.default_rng(0), EDGES[structure], LAYERS[layer][0]
    unary, _, labels = random_batch(rng, hidden=0.3)
    full, potts = make(structure), make(structure, pairwise_form="potts")
    for shape in ((), (len(edges),), (6, len(edges))):
        numbers = rng.standard_normal(shape)
        tables = numbers[..., np.newaxis, np.newaxis] * np.eye(K)
        expected = full.evaluate(unary, tables, labels, edges=edges)
        found = potts.evaluate(unary, numbers, labels, edges=edges)
        np.testing.assert_allclose(found.losses, expected.losses, atol=1e-12)
        (by_nodes, by_numbers), (nodes, of_tables) = found.gradients(), expected.gradients()
        np.testing.assert_allclose(by_nodes, nodes, rtol=0, atol=1e-12 * (layer != "hinge"))
        assert by_numbers.shape == shape
        np.testing.assert_allclose(by_numbers, np.trace(of_tables, axis1=-2, axis2=-1))


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


# ---- what is forbidden, and what is refused ----------------------------------------------------


def check_refused(*cases):
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("layer", BASIC)
def test_forbidden_transitions_are_never_taken(layer, scale):
    rng, table, model = np.random.default_rng(0), np.zeros((3, 3)), LAYERS[layer][0]()
    table[0, 2] = -np.inf  # "inside" after "outside"
    unary = scale * rng.standard_normal((20, 8, 3)) + [0, 0, 1]
    decoded = model.decode(unary, table)
    labels = decoded.copy()
    labels[:, 3] = -100
    found = model.evaluate(unary, table, labels)
    by_unary, by_table = found.gradients()
    assert all(np.isfinite(x).all() for x in (found.losses, by_unary, by_table))
    assert by_table[0, 2] == 0.0
    for y in (decoded, found.labels, found.completed) if layer == "hinge" else (decoded,):
        assert not ((y[:, :-1] == 0) & (y[:, 1:] == 2)).any()
    labels[3, 5:7] = 0, 2
    zeros, none = np.zeros((20, 8), dtype=int), unary.copy()
    none[1, 2] = -np.inf
    full, agrees = np.where(labels < 0, decoded, labels), "no labelling that agrees with labels"
    check_refused(
        (lambda: model.evaluate(unary, table, full), f"sequence 3: {agrees}"),
        (lambda: model.evaluate(unary, table, labels), f"sequence 3: {agrees}"),
        (lambda: model.decode(none, table), "sequence 1: no labelling is allowed"),
        (lambda: model.marginals(none, table), "sequence 1: no labelling is allowed"),
        (lambda: model.evaluate(none, table, zeros), f"sequence 1: {agrees}"),
    )


def test_graphs_without_an_allowed_labelling_are_named():
    none, zeros = np.random.default_rng(0).standard_normal((20, 8, 3)), np.zeros((20, 8), dtype=int)
    table, wide, path = np.zeros((3, 3)), np.zeros((1, 225, 3)), [(t, t + 1) for t in range(7)]
    none[1, 2] = wide[0, 7] = table[0, 2] = -np.inf
    cases = [(name, none, edges) for name, edges in (("tree", path), ("graph", [*path, (7, 0)]))]
    cases.append(("graph", wide, grid_edges(15, 15)))  # too wide for elimination
    for structure, unary, edges in cases:
        evaluate = partial(StructuredHinge(structure).evaluate, unary, edges=edges)
        hidden = np.full(unary.shape[:2], -100)
        name, mask = f"{structure} {len(unary) > 1:d}: ", np.ones(unary.shape[:2], dtype=bool)
        with pytest.raises(ValueError, match=f"{name}.*(allowed|forbidden)"):
            evaluate(table if unary is none else np.zeros((3, 3)), hidden, mask=mask)
        if unary is none:
            with pytest.raises(ValueError, match=f"{name}no labelling that agrees with labels"):
                evaluate(table, zeros)


def nan_at(array, *place, value=np.nan):
    """A copy of an array with something odd in it."""
    array = np.array(array, dtype=float)
    array[place] = value
    return array


U, A, Y = np.zeros((2, 3, 2)), np.zeros((2, 2)), np.zeros((2, 3), dtype=int)
PATH, RING = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
HOLES = np.array([[True, False, True], [True, True, True]])
LATE = nan_at(Y, 1, 1, value=1).astype(int)
BAD = [
    ({"unary": nan_at(U, 1, 2, 0)}, "sequence 1, token 2: unary has nan"),
    ({"unary": nan_at(U, 1, 2, 0, value=np.inf)}, "sequence 1, token 2: unary has inf, expected"),
    ({"pairwise": nan_at(A, 0, 1)}, "^pairwise has nan"),
    ({"pairwise": nan_at(np.zeros((2, 2, 2)), 1, 0, 1)}, "sequence 1: pairwise has nan"),
    ({"pairwise": nan_at(np.zeros((2, 2, 2, 2)), 1, 1, 0, 1)}, "sequence 1, edge 1: pairwise has"),
    ({"unary": U[0]}, r"unary must have shape \(n_sequences, n_tokens, n_labels\)"),
    ({"unary": U[..., :0]}, "unary must have shape"),
    ({"unary": U + 1j}, "unary must hold numbers, got dtype complex128"),
    ({"unary": "abc"}, "unary must hold numbers"),
    ({"unary": [U[0], U[0, 0]]}, r"unary\[1\] must have shape \(n_tokens, n_labels\)"),
    ({"unary": [U[0], np.zeros((3, 4))]}, r"unary\[1\] must have shape .*, got \(3, 4\)"),
    ({"unary": list(U), "labels": [Y[0], Y[0, :2]]}, r"sequence 1: labels must .* shape \(3,\)"),
    ({"unary": list(U), "labels": [Y[0]]}, "labels has 1 sequences, but unary 2"),
    ({"unary": list(U), "labels": list(Y), "mask": HOLES}, "a mask goes with padded arrays"),
    ({"pairwise": np.zeros((3, 3))}, r"pairwise must have shape \(2, 2\) or \(2, 2, 2\) or"),
    ({"pairwise": None}, "pairwise must hold the potentials"),
    ({"pairwise": [A, np.zeros((3, 3))]}, r"sequence 1: pairwise must have shape \(2, 2\), got"),
    ({"pairwise": [A]}, "pairwise has 1 sequences, but unary 2"),
    ({"labels": Y[:1]}, r"labels must have shape \(2, 3\)"),
    ({"labels": Y + 0.5}, "labels must be integers, got dtype float64"),
    ({"labels": None}, "labels must hold the true labels, got None"),
    ({"labels": 2 * LATE}, "sequence 1, token 1: labels has 2, expected 0 to 1"),
    ({"labels": -LATE}, "sequence 1, token 1: labels has -1"),
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
    ({"rescaling": "slack", "token_weight": Y + 1e9}, r"adds up to 3e\+09, expected at most"),
    ({"rescaling": "slack", "token_weight": Y + 4000}, "sequence 0: token_weight adds up to 12000"),
    ({"structure": "tree"}, "edges must say which nodes are joined"),
    ({"structure": "tree", "edges": RING}, "tree 0: edges.2. .* nodes 2 and 0 closes a cycle"),
    ({"structure": "tree", "rescaling": "slack", "edges": PATH}, "no exact oracle for .*='tree'"),
    ({"structure": "graph", "edges": [(0, 3)]}, "edges.0, 1. of graph 0 is 3, expected .* <= 2"),
    ({"structure": "graph", "edges": [(1, 1)]}, "edges.0. joins node 1 to itself"),
    ({"structure": "graph", "edges": [[(0, 1)], [(0, -1)]]}, "edges.0, 1. of graph 1 is -1"),
    ({"structure": "graph", "edges": np.array([[[-1, 0], [0, 1]]] * 2)}, "edges.0, 0. .* 0 is -1"),
    ({"structure": "graph", "edges": [PATH]}, "edges"),
]


@pytest.mark.parametrize("layer", BASIC)
def test_what_is_refused(layer):
    make = LAYERS[layer][0]
    known = {"unary", "pairwise", "labels", "edges", "mask", *make().get_params()}
    known |= {"token_weight"} if layer == "hinge" else set()
    for changed, message in BAD:
        if changed.get("structure") == "graph" and layer != "hinge":
            changed, message = {"structure": "graph"}, "'structure' parameter .* Got 'graph'"
        if changed.keys() <= known:
            given = {"unary": U, "pairwise": A, "labels": Y} | changed
            params = {name: given.pop(name) for name in make().get_params() if name in given}
            check_refused((lambda p=params, g=given: make(**p).evaluate(**g), message))


def test_what_is_refused_elsewhere():
    graph, found = StructuredHinge("graph"), StructuredHinge().evaluate(U, A, Y)
    check_refused(
        (lambda: graph.max_marginals(U, A, edges=PATH), "^max_marginals is for chains and trees"),
        (lambda: graph.marginals(U, A, edges=PATH), "^marginals is for chains and trees"),
        (lambda: found.gradients(np.ones(3)), r"weights must have shape \(2,\), got \(3,\)"),
        (lambda: StructuredHinge(n_jobs=2).decode(nan_at(U, 1, 2, 0), A), "1, token 2: unary has"),
    )
