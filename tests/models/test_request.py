"""Requests: sums over labellings of given trees by enumeration; no blocks, no answers.

Sums over the labellings of chains are in test_models.
"""

import numpy as np
import pytest
from helpers.potentials import every_labelling
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sskit import SegmentTagger, SequenceTagger
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import make_request
from sskit.models.feature_map import FeatureMap
from sskit.models.features import no_features, with_spare
from sskit.models.graph.adaptive import adaptive_graphs
from sskit.models.request import Decoder, PotentialsRequest
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
    form, tables = PairForm(K, "full"), kinds.astype(np.int32)
    structure = adaptive_graphs(feature_map, form, ENDS, edges, tables)
    given = {"nodes": nodes.ravel(), "first": OFFSETS[:-1]}
    decoder = Decoder(PotentialsRequest(feature_map, structure, with_spare(table.ravel()), **given))
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


# ---- without blocks --------------------------------------------------------------------------


P = 4
X = [np.random.default_rng(0).normal(size=(n, P)) for n in (3, 2, 4)]
Y = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"]]
FAST = {"max_iter": 3, "random_state": 0}


@pytest.mark.parametrize(
    "further",
    [
        {},
        {"beam_size": 2},
        {"triples": np.zeros((K, K, K))},
        {"edges": np.empty((0, 2)), "edge_coef": np.zeros((2, K, K))},
        {"possible": np.ones((0, K), dtype=bool)},
    ],
)
@pytest.mark.parametrize("form", [np.empty, csr_array])
def test_chains_without_blocks(further, form):
    shapes = {"coef": (K, P), "transitions": (K, K), "start": K, "end": K}
    weights = {name: np.zeros(shape) for name, shape in shapes.items()}
    weights |= {name: further[name] for name in ("triples", "edge_coef") if name in further}
    options = {name: given for name, given in further.items() if name not in weights}
    request = make_request(RaggedArray(form((0, P)), np.zeros(1, dtype=int)), weights, **options)
    assert request.n_blocks == 0 and request.is_modest()
    decoder = Decoder(request, 2)
    assert decoder.best().shape == decoder.scores([]).shape == decoder.excesses().shape == (0,)
    assert [found.shape for found in decoder.top_k(2)] == [(0,), (0,)]
    assert decoder.max_marginals().shape == decoder.node_scores().shape == (0, K)
    assert decoder.sample(np.zeros((2, 0))).shape == (2, 0)
    log_sums, marginals, pairs, _ = decoder.marginals(weight=np.empty(0))
    assert log_sums.shape == (0,) and marginals.shape == (0, K) and not pairs.any()


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
