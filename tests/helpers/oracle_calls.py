"""A valid call of every oracle, by name."""

import numpy as np

CHAIN = {"nodes": np.eye(3), "transitions": np.eye(3)}
TRIPLES = CHAIN | {"triples": np.zeros((3, 3, 3))}
TRUTH = {"truth": [0, 1, 0], "cost": [1.0, 0.5, 2.0]}
EDGES = {"edges": [[0, 1], [2, 1]]}
CUT = EDGES | {"nodes": np.eye(3)[:, :2], "pairwise": [np.eye(2), np.ones((2, 2))]}
GRAPH = EDGES | {"nodes": np.eye(3), "pairwise": [np.eye(3), np.ones((3, 3))]}
PARTS = {"scores": np.zeros((2, 3, 3)), "parents": [-1, 0]}
PARTS |= {"springs": np.ones((2, 1, 2, 3)), "bias": np.zeros((2, 1))}
SEGMENTS = dict.fromkeys(("tokens", "transitions", "first", "last"), np.eye(3))
SEGMENTS |= {"lengths": np.zeros((3, 2)), "whole": np.zeros((3, 2, 3))}
SEGMENTS |= {"start": [0.0, 1.0, 2.0], "end": [0.0, 1.0, 2.0]}
CALLS = {
    "viterbi": TRIPLES | TRUTH,
    "viterbi_by_loss": CHAIN | {"truth": [0, 1, 0], "cost": 1.0},
    "viterbi_top_k": TRIPLES | {"k": 2},
    "beam_search": CHAIN | {"beam_size": 2},
    "chain_max_marginals": TRIPLES,
    "chain_marginals": TRIPLES,
    "expansion": GRAPH | TRUTH | {"moves": "swap", "start": [0, 0, 0]},
    "graphcut": CUT | TRUTH,
    "graph_max_marginals": CUT,
    "trws": GRAPH | TRUTH | {"start": [0, 0, 0], "max_sweeps": 2, "tol": 0.1, "n_moves": 1},
    "qpbo": CUT | TRUTH,
    "elimination": GRAPH | TRUTH | {"max_entries": 100},
    "segment_max_sum": SEGMENTS,
    "segment_top_k": SEGMENTS | {"k": 2},
    "segment_max_marginals": SEGMENTS,
    "segment_marginals": SEGMENTS,
    "tree_max_sum": GRAPH | TRUTH,
    "tree_max_marginals": GRAPH,
    "tree_marginals": GRAPH,
    "tree_top_k": GRAPH | {"k": 2},
    "closure": {"gains": [1.0, 2.0], "hierarchy": [-1, 0]},
    "lp_relaxation": {"gains": [1.0, 2.0], "edges": [[0, 1]], "pairwise": [1.0]},
    "distance_transform": {"scores": [1.0, 2.0], "square": 1.0, "linear": 0.0, "mean": 0.0},
    "parts_max_sum": PARTS,
    "parts_max_marginals": PARTS,
    "worst_ranking": {"scores": [1.0, 2.0], "relevance": [0, 1], "loss_weight": 1.0},
}
