"""Negative log-likelihoods of potentials, against enumerations and finite differences."""

import pickle

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.potentials import (
    CHAIN,
    LENGTHS,
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

from sskit.losses import StructuredLogLoss


def by_enumeration(unary, tables, edges, labels):
    """-log p of the known labels of a sample."""
    labellings, scores = every_labelling(unary, tables, edges)
    agree = ((labels < 0) | (labellings == labels)).all(axis=1)
    return logsumexp(scores) - logsumexp(scores[agree])


@every_pair(structure={"chain": CHAIN, "tree": STAR}, form=[0, 1, 2], hidden=[0.0, 0.4, 1.0])
def test_losses_and_gradients(structure, form, hidden):
    rng, edges = np.random.default_rng(5), {"chain": CHAIN, "tree": STAR}[structure]
    unary, _, labels = random_batch(rng, n=3, hidden=hidden)
    given = {"mask": np.ones(labels.shape, dtype=bool)}
    given |= {} if structure == "chain" else {"edges": edges}
    pairwise, tables = list(as_forms(structure, rng, 3, edges))[form]
    layer, weights, eps = StructuredLogLoss(structure), rng.standard_normal(3), 1e-6
    found = layer.evaluate(unary, pairwise, labels, **given)
    for i in range(3):
        value = by_enumeration(unary[i], tables[i], edges, labels[i])
        assert found.losses[i] == pytest.approx(value, abs=1e-12)
    for which, gradient in enumerate(found.gradients(weights)):
        potentials = [unary, pairwise]
        assert gradient.shape == potentials[which].shape
        for place in range(gradient.size):
            step, sides = np.zeros(gradient.shape), []
            step.flat[place] = eps
            for sign in (1, -1):
                changed = list(potentials)
                changed[which] = potentials[which] + sign * step
                sides.append(layer.evaluate(*changed, labels, **given).losses)
            slope = weights @ (sides[0] - sides[1]) / (2 * eps)
            assert gradient.flat[place] == pytest.approx(slope, abs=1e-7)
    if hidden == 1.0:
        assert not found.losses.any() and not any(g.any() for g in found.gradients())
    elif not hidden:
        by_nodes = layer.marginals(unary, pairwise, **given) - np.eye(K)[labels]
        np.testing.assert_allclose(found.gradients()[0], by_nodes, atol=1e-12)


def test_potts_numbers_are_tables_with_a_diagonal():
    rng = np.random.default_rng(0)
    unary, _, labels = random_batch(rng, hidden=0.3)
    full, potts = (StructuredLogLoss("tree", pairwise_form=form) for form in ("full", "potts"))
    for shape in ((), (len(STAR),), (6, len(STAR))):
        numbers = rng.standard_normal(shape)
        tables = numbers[..., np.newaxis, np.newaxis] * np.eye(K)
        expected = full.evaluate(unary, tables, labels, edges=STAR)
        found = potts.evaluate(unary, numbers, labels, edges=STAR)
        np.testing.assert_allclose(found.losses, expected.losses, atol=1e-12)
        (by_nodes, by_numbers), (nodes, of_tables) = found.gradients(), expected.gradients()
        np.testing.assert_allclose(by_nodes, nodes, atol=1e-12)
        assert by_numbers.shape == shape
        np.testing.assert_allclose(by_numbers, np.trace(of_tables, axis1=-2, axis2=-1))


@pytest.mark.parametrize("form", ["shared", "by sequence", "by token"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_padded_is_ragged(form, n_jobs):
    unary, tables, labels = ragged_chains()
    rng, layer = np.random.default_rng(1), StructuredLogLoss(n_jobs=n_jobs)
    if form != "by token":
        tables = list(rng.standard_normal((len(LENGTHS), K, K)))
    pairwise = tables[0] if form == "shared" else tables
    ragged = layer.evaluate(unary, pairwise, labels)
    wide = pairwise
    if form != "shared":
        wide = padded(tables, np.nan, 6) if form == "by token" else np.array(tables)
    again = layer.evaluate(padded(unary, np.nan), wide, padded(labels, 77), mask=MASK)
    np.testing.assert_array_equal(again.losses, ragged.losses)
    assert again.losses[4] == 0.0
    for i, length in enumerate(LENGTHS):
        own = tables[i] if form == "by token" else [tables[i * (form != "shared")]] * 6
        edges = [(t, t + 1) for t in range(length - 1)]
        if length:
            value = by_enumeration(unary[i], own[: length - 1], edges, labels[i])
            assert ragged.losses[i] == pytest.approx(value, abs=1e-12)
    a, b = ragged.gradients(np.arange(6.0)), again.gradients(np.arange(6.0))
    np.testing.assert_array_equal(b[0], padded(a[0], 0.0))
    if form == "by token":
        np.testing.assert_array_equal(b[1], padded(a[1], 0.0, 6))
    else:
        np.testing.assert_array_equal(b[1], a[1])
    alone = StructuredLogLoss().evaluate(unary, pairwise, labels)
    np.testing.assert_array_equal(alone.losses, ragged.losses)


def test_types_and_empty_batches():
    unary, tables, labels = ragged_chains(dtype=np.float32)
    wide = [x.astype(np.float64) for x in unary], tables[2][0].astype(np.float64)
    small = StructuredLogLoss().evaluate(unary, tables[2][0], labels)
    large = StructuredLogLoss().evaluate(*wide, labels)
    assert (small.losses.dtype, large.losses.dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(small.losses, large.losses.astype(np.float32))
    a, b = small.gradients(), large.gradients()
    assert {x.dtype for x in (*a[0], a[1])} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(a[1], b[1].astype(np.float32))
    for unary, labels in ((np.zeros((0, 5, K)), np.zeros((0, 5), dtype=int)), ([], [])):
        found = StructuredLogLoss().evaluate(unary, np.zeros((K, K)), labels)
        assert found.losses.shape == (0,) and len(found.gradients()[0]) == 0
        np.testing.assert_array_equal(found.gradients()[1], np.zeros((K, K)))
    found = StructuredLogLoss("tree").evaluate(
        np.zeros((2, 1, K)), np.zeros((K, K)), [[0], [2]], edges=[]
    )
    np.testing.assert_allclose(found.losses, np.log(K))
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.gradients()[0], found.gradients()[0])


def test_large_scores_and_forbidden_transitions():
    rng, table = np.random.default_rng(0), np.zeros((3, 3))
    table[0, 2] = -np.inf
    unary = 1e3 * rng.standard_normal((20, 8, 3)) + [0, 0, 1]
    layer = StructuredLogLoss()
    labels = layer.decode(unary, table)
    labels[:, 3] = -100
    found = layer.evaluate(unary, table, labels)
    by_unary, by_table = found.gradients()
    assert np.isfinite(found.losses).all() and np.isfinite(by_unary).all()
    assert by_table[0, 2] == 0.0 and np.isfinite(by_table).all()
    labels[3, 5:7] = 0, 2
    none = unary.copy()
    none[1, 2] = -np.inf
    for given, y in ((unary, labels), (unary, np.where(labels < 0, 2, labels)), (none, labels)):
        i = 1 if given is none else 3
        with pytest.raises(ValueError, match=f"sequence {i}: no labelling that agrees with labels"):
            layer.evaluate(given, table, y)


@pytest.mark.parametrize(
    ("params", "given", "message"),
    [
        ({"structure": "graph"}, {}, "structure"),
        ({"pairwise_form": "potts"}, {}, "pairwise_form='potts' is for trees and graphs"),
        ({}, {"labels": None}, "labels must hold the true labels, got None"),
        ({}, {"labels": [[3, 0]]}, "sequence 0, token 0: labels has 3"),
        ({}, {"edges": [(0, 1)]}, "edges are for trees and graphs"),
        ({"structure": "tree"}, {"edges": [(0, 1), (1, 0)]}, r"tree 0: edges\[1\].*closes a cycle"),
        ({}, {"unary": [[[0.0, np.nan, 0], [0, 0, 0]]]}, "sequence 0, token 0: unary has nan"),
    ],
)
def test_what_is_refused(params, given, message):
    given = {"unary": np.zeros((1, 2, 3)), "pairwise": np.zeros((3, 3)), "labels": [[0, 1]]} | given
    with pytest.raises(ValueError, match=message):
        StructuredLogLoss(**params).evaluate(**given)
