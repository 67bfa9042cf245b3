"""Requests of trees with given potentials: sums over labellings, scores and draws by enumeration.

Those of chains are in test_models, and sequences without tokens in tests/estimators/chain.
"""

import numpy as np
from helpers.potentials import every_labelling
from scipy.special import logsumexp

from sskit.models.feature_map import FeatureMap
from sskit.models.features import no_features, with_spare
from sskit.models.graph.given import given_graphs
from sskit.models.request import Decoder, Given
from sskit.oracles.graph.potentials import PairForm

K = 3
OFFSETS, EDGE_OFFSETS = np.array([0, 4, 5, 8]), np.array([0, 3, 3, 5])
# three trees of one kind of edges, the last of which is a star
ENDS = np.array([[0, 1], [1, 2], [2, 3], [0, 1], [0, 2]], dtype=np.int32)


def test_sums_over_labellings():
    rng, weight = np.random.default_rng(0), np.array([0.5, 2.0, 1.0])
    nodes, table = rng.normal(size=(8, K)), rng.normal(size=(K, K))
    table[0, 2] = nodes[1, 1] = -np.inf
    feature_map, kinds = FeatureMap(no_features(8), OFFSETS, K, head=(1, K * K)), np.zeros(5)
    edges = EDGE_OFFSETS[:-1], EDGE_OFFSETS[1:]
    structure = given_graphs(feature_map, PairForm(K, "full"), ENDS, edges, kinds.astype(np.int32))
    given = {"nodes": nodes.ravel(), "first": OFFSETS[:-1]}
    decoder = Decoder(Given(feature_map, structure, with_spare(table.ravel()), **given))
    log_sums, marginals, pairs, _ = decoder.marginals(weight=weight)
    counts, best = np.zeros((K, K)), decoder.best()
    drawn = decoder.sample(np.random.default_rng(1).uniform(size=(20_000, 8)))
    for i, (first, stop) in enumerate(zip(*edges, strict=True)):
        rows, ends = slice(OFFSETS[i], OFFSETS[i + 1]), ENDS[first:stop]
        labels, scores = every_labelling(nodes[rows], [table] * len(ends), ends)
        p = np.exp(scores - logsumexp(scores))
        np.testing.assert_allclose(log_sums[i], logsumexp(scores))
        wanted = [np.bincount(column, p, minlength=K) for column in labels.T]
        np.testing.assert_allclose(marginals[rows], wanted, atol=1e-12)
        for a, b in ends:
            np.add.at(counts, (labels[:, a], labels[:, b]), weight[i] * p)
        np.testing.assert_array_equal(best[rows], labels[scores.argmax()])
        np.testing.assert_allclose(decoder.scores(best)[i], scores.max())
        fraction = (drawn[:, rows] == labels[:, None]).all(axis=2).mean(axis=1)
        np.testing.assert_allclose(fraction, p, atol=0.02)
    np.testing.assert_allclose(pairs.reshape(K, K), counts, atol=1e-12)
