"""Requests: sums over labellings, scores and draws against enumeration; no blocks, no answers."""

import numpy as np
import pytest
from helpers.potentials import every_labelling
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sskit import SegmentTagger, SequenceTagger
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import make_request
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
        nodes = NODES[OFFSETS[i] : OFFSETS[i + 1]]
        labels, scores = every_labelling(nodes, tables[part], ends[part])
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


# ---- without blocks --------------------------------------------------------------------------


P = 4
X = [RNG.normal(size=(n, P)) for n in (3, 2, 4)]
Y = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"]]
FAST = {"max_iter": 3, "random_state": 0}


def test_chains_without_blocks():
    for further, rows in [
        ({}, np.empty((0, P))),
        ({}, csr_array((0, P))),
        ({"beam_size": 2}, np.empty((0, P))),
        ({"triples": np.zeros((K, K, K))}, np.empty((0, P))),
        ({"edges": np.empty((0, 2)), "edge_coef": np.zeros((2, K, K))}, np.empty((0, P))),
        ({"possible": np.ones((0, K), dtype=bool)}, np.empty((0, P))),
    ]:
        check_chains(further, rows)


def check_chains(further, rows):
    stacked = RaggedArray(rows, np.zeros(1, dtype=np.int64))
    shapes = {"coef": (K, P), "transitions": (K, K), "start": K, "end": K}
    weights = {name: np.zeros(shape) for name, shape in shapes.items()}
    weights |= {name: further.pop(name) for name in ("triples", "edge_coef") if name in further}
    request = make_request(stacked, weights, **further)
    assert request.n_blocks == 0 and request.is_modest()
    decoder = Decoder(request, 2)
    assert decoder.best().shape == decoder.scores([]).shape == decoder.excesses().shape == (0,)
    assert [found.shape for found in decoder.top_k(2)] == [(0,), (0,)]
    assert decoder.max_marginals().shape == decoder.node_scores().shape == (0, K)
    assert decoder.sample(np.zeros((2, 0))).shape == (2, 0)
    log_sums, marginals, pairs, _ = decoder.marginals(weight=np.empty(0))
    assert log_sums.shape == (0,) and marginals.shape == (0, K)
    assert not pairs.any()


@pytest.mark.parametrize(
    "tagger",
    [
        SequenceTagger(**FAST),
        SequenceTagger(**FAST, order=2),
        SequenceTagger(**FAST, kernel="rbf"),
        SequenceTagger(**FAST, allowed_transitions=~np.eye(3, dtype=bool), on_violation="repair"),
        SegmentTagger(**FAST),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_taggers_without_tokens(tagger):
    y = Y if isinstance(tagger, SequenceTagger) else [[(0, len(x), "a")] for x in X]
    tagger.fit(X, y)
    n_states = tagger.decision_function(X)[0].shape[1]
    for n in (1, 2):
        empty = [np.empty((0, P))] * n
        assert [len(labels) for labels in tagger.predict(empty)] == [0] * n
        assert [len(some) for some in tagger.predict_topk(empty, 2)] == [1] * n
        assert [x.shape for x in tagger.decision_function(empty)] == [(0, n_states)] * n
