"""What oracles refuse names the argument, whatever it is."""

import numpy as np
import pytest

from sskit import oracles

CHAIN = {"nodes": np.eye(3), "transitions": np.eye(3)}
TRIPLES = CHAIN | {"triples": np.zeros((3, 3, 3))}
GRAPH = {"nodes": np.eye(2), "edges": [[0, 1]], "pairwise": [np.eye(2)]}
PARTS = {
    "scores": np.zeros((2, 3, 3)),
    "parents": [-1, 0],
    "springs": np.ones((2, 1, 2, 3)),
    "bias": np.zeros((2, 1)),
}
SEGMENTS = {
    "tokens": np.eye(3),
    "transitions": np.eye(3),
    "lengths": np.zeros((3, 2)),
    "first": np.eye(3),
    "last": np.eye(3),
    "start": [0.0, 1.0, 2.0],
    "end": [0.0, 1.0, 2.0],
    "whole": np.zeros((3, 2, 3)),
}
CALLS = {
    "viterbi": TRIPLES | {"truth": [0, 1, 2], "cost": 1.0},
    "viterbi_by_loss": CHAIN | {"truth": [0, 1, 2], "cost": 1.0},
    "viterbi_top_k": TRIPLES | {"k": 2},
    "beam_search": CHAIN | {"beam_size": 2},
    "chain_max_marginals": TRIPLES,
    "chain_marginals": TRIPLES,
    "expansion": GRAPH | {"truth": [0, 1], "cost": [1.0, 1.0], "moves": "swap", "start": [0, 0]},
    "graphcut": GRAPH | {"truth": [0, 1]},
    "graph_max_marginals": GRAPH,
    "trws": GRAPH | {"truth": [0, 1], "cost": 1.0, "start": [0, 0], "max_sweeps": 2, "tol": 0.1,
                     "n_moves": 1},
    "qpbo": GRAPH | {"truth": [0, 1], "cost": 1.0},
    "elimination": GRAPH | {"truth": [0, 1], "max_entries": 100},
    "segment_max_sum": SEGMENTS,
    "segment_top_k": SEGMENTS | {"k": 2},
    "segment_max_marginals": SEGMENTS,
    "segment_marginals": SEGMENTS,
    "tree_max_sum": GRAPH,
    "tree_max_marginals": GRAPH,
    "tree_marginals": GRAPH,
    "tree_top_k": GRAPH | {"k": 2},
    "closure": {"gains": [1.0, 2.0], "hierarchy": [-1, 0]},
    "lp_relaxation": {"gains": [1.0, 2.0], "edges": [[0, 1]], "pairwise": [1.0]},
    "distance_transform": {
        "scores": [1.0, 2.0], "square": 1.0, "linear": 0.0, "mean": 0.0
    },
    "parts_max_sum": PARTS,
    "parts_max_marginals": PARTS,
    "worst_ranking": {"scores": [1.0, 2.0], "relevance": [0, 1], "loss_weight": 1.0},
}  # fmt: skip
BAD = [["a"], [1j], [[1.0], [1.0, 2.0], 3.0], np.array([object()])]
# the code of a hierarchy for its two forms
OTHER_NAMES = {"hierarchy": "hierarchy|parents|edges"}


@pytest.mark.parametrize("name", CALLS)
def test_bad_arguments_are_named(name):
    oracle = getattr(oracles, name)
    oracle(**CALLS[name])
    for argument in CALLS[name]:
        code = OTHER_NAMES.get(argument, argument)
        for bad in BAD:
            with pytest.raises(ValueError, match=rf"\b({code})\b"):
                oracle(**CALLS[name] | {argument: bad})


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("viterbi_top_k", "k"),
        ("tree_top_k", "k"),
        ("beam_search", "beam_size"),
    ],
)
def test_counts_may_be_larger_than_all_there_is(name, count):
    oracle = getattr(oracles, name)
    found, others = (oracle(**CALLS[name] | {count: n}) for n in (10**6, 10**30))
    for one, other in zip(found, others, strict=True):
        np.testing.assert_array_equal(one, other)
