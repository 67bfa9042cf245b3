"""Requests: sums over labellings, scores and draws of chains and trees, against enumeration."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sskit.models.chain.structure import ChainStructure
from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows, no_features, with_spare
from sskit.models.graph.given import given_graphs
from sskit.models.request import Decoder, Given
from sskit.oracles.graph.potentials import PairForm

K = 3
OFFSETS = np.array([0, 4, 5, 8])
RNG = np.random.default_rng(0)
NODES, TABLE = RNG.normal(size=(8, K)), RNG.normal(size=(K, K))
TABLE[0, 2] = NODES[1, 1] = -np.inf
WEIGHT = np.array([0.5, 2.0, 1.0])


def trees():
    """A decoder of three trees of one kind of edges, the last of which is a star."""
    ends = np.array([[0, 1], [1, 2], [2, 3], [0, 1], [0, 2]], dtype=np.int32)
    feature_map = FeatureMap(no_features(8), OFFSETS, K, head=(1, K * K))
    edges = np.array([0, 3, 3]), np.array([3, 3, 5])
    kinds = np.zeros(5, dtype=np.int32)
    structure = given_graphs(feature_map, PairForm(K, "full"), ends, edges, kinds)
    given = {"nodes": NODES.ravel(), "first": OFFSETS[:-1]}
    return Decoder(Given(feature_map, structure, with_spare(TABLE.ravel()), **given)), ends


def enumerate_block(i, edges, tables):
    """All labellings of a block and their scores."""
    nodes = NODES[OFFSETS[i] : OFFSETS[i + 1]]
    labels = np.array(list(itertools.product(range(K), repeat=len(nodes))))
    scores = nodes[np.arange(len(nodes)), labels].sum(axis=1)
    for (a, b), table in zip(edges, tables, strict=True):
        scores += table[labels[:, a], labels[:, b]]
    return labels, scores


@pytest.mark.parametrize("kind", ["chains", "edges", "trees"])
def test_sums_over_labellings(kind):
    """The marginals, scores and draws of chains are those of test_models too, but for pairs."""
    tables, ends = np.tile(TABLE, (5, 1, 1)), [(0, 1), (1, 2), (2, 3), (0, 1), (1, 2)]
    if kind == "trees":
        decoder, ends = trees()
    else:
        weights, parts = [TABLE.ravel()], {}
        if kind == "edges":
            # the second edge has no features: its table is that of all
            features, coef = RNG.normal(size=(5, 2)), RNG.normal(size=(2, K, K))
            features[1] = 0.0
            tables = tables + np.tensordot(features, coef, 1)
            parts = {"edges": FeatureRows(csr_array(features))}
            parts["edge_offsets"] = OFFSETS - np.arange(4)
            weights.append(coef.ravel())
        feature_map = FeatureMap(no_features(8), OFFSETS, K, head=(K, K), **parts)
        weights = with_spare(np.concatenate(weights))
        given = {"nodes": NODES.ravel(), "first": OFFSETS[:-1]}
        decoder = Decoder(Given(feature_map, ChainStructure(feature_map), weights, **given))
    log_sums, marginals, pairs, expected = decoder.marginals(weight=WEIGHT)
    counts, beyond, best, at_best = np.zeros((K, K)), 0.0, [], []
    for i, part in enumerate([slice(0, 3), slice(3, 3), slice(3, 5)]):
        labels, scores = enumerate_block(i, ends[part], tables[part])
        p = np.exp(scores - logsumexp(scores))
        np.testing.assert_allclose(log_sums[i], logsumexp(scores))
        wanted = [np.bincount(row, p, minlength=K) for row in labels.T]
        found = marginals[OFFSETS[i] : OFFSETS[i + 1]]
        np.testing.assert_allclose(found, wanted, atol=1e-12)
        for (a, b), table in zip(ends[part], tables[part], strict=True):
            q = np.zeros((K, K))
            np.add.at(q, (labels[:, a], labels[:, b]), p)
            counts += WEIGHT[i] * q
            beyond += WEIGHT[i] * q[q > 0] @ (table[q > 0] - TABLE[q > 0])
        best.append(labels[scores.argmax()])
        at_best.append(scores.max())
    np.testing.assert_allclose(pairs.reshape(K, K), counts, atol=1e-12)
    np.testing.assert_allclose(expected, beyond, atol=1e-12)
    np.testing.assert_array_equal(decoder.best(), np.concatenate(best))
    np.testing.assert_allclose(decoder.scores(np.concatenate(best)), at_best)
    drawn = decoder.sample(np.random.default_rng(1).uniform(size=(20_000, 8)))
    fraction = (drawn[:, :, np.newaxis] == np.arange(K)).mean(axis=0)
    np.testing.assert_allclose(fraction, marginals, atol=0.02)
