"""Requests without blocks are answered with nothing, by structures and by taggers."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sskit import SegmentTagger, SequenceTagger
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import make_request
from sskit.models.request import Decoder

K, P = 3, 4
RNG = np.random.default_rng(0)
X = [RNG.normal(size=(n, P)) for n in (3, 2, 4)]
Y = [RNG.choice(["a", "b", "c"], size=len(x)).tolist() for x in X]
Y[0] = ["a", "b", "c"]
FAST = {"max_iter": 3, "random_state": 0}


def test_chains():
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
def test_taggers(tagger):
    y = Y if isinstance(tagger, SequenceTagger) else [[(0, len(x), "a")] for x in X]
    tagger.fit(X, y)
    n_states = tagger.decision_function(X)[0].shape[1]
    for n in (1, 2):
        empty = [np.empty((0, P))] * n
        assert [len(labels) for labels in tagger.predict(empty)] == [0] * n
        assert [len(some) for some in tagger.predict_topk(empty, 2)] == [1] * n
        assert [x.shape for x in tagger.decision_function(empty)] == [(0, n_states)] * n
