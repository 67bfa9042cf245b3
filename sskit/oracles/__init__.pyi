from typing import Literal, TypeAlias, overload

import numpy as np

from sskit._types import ArrayLike
from sskit.oracles.label_sets.functions import closure, lp_relaxation

__all__ = [
    "beam_search",
    "closure",
    "distance_transform",
    "elimination",
    "expansion",
    "graphcut",
    "graph_max_marginals",
    "lp_relaxation",
    "chain_marginals",
    "chain_max_marginals",
    "parts_max_marginals",
    "parts_max_sum",
    "qpbo",
    "segment_marginals",
    "segment_max_marginals",
    "segment_max_sum",
    "segment_top_k",
    "tree_marginals",
    "tree_max_marginals",
    "tree_max_sum",
    "tree_top_k",
    "trws",
    "viterbi",
    "viterbi_by_loss",
    "viterbi_top_k",
    "worst_ranking",
]

# the first token, one after the last, and the state
Segment: TypeAlias = tuple[int, int, int]

def beam_search(
    nodes: ArrayLike, transitions: ArrayLike, beam_size: int
) -> tuple[np.ndarray, float]: ...
@overload
def chain_marginals(
    nodes: ArrayLike,
    transitions: ArrayLike,
    triples: ArrayLike | None = None,
    *,
    return_pairs: Literal[False] = False,
    return_triples: Literal[False] = False,
) -> tuple[float, np.ndarray]: ...
@overload
def chain_marginals(
    nodes: ArrayLike,
    transitions: ArrayLike,
    triples: ArrayLike | None = None,
    *,
    return_pairs: Literal[True],
    return_triples: Literal[False] = False,
) -> tuple[float, np.ndarray, np.ndarray]: ...
@overload
def chain_marginals(
    nodes: ArrayLike,
    transitions: ArrayLike,
    triples: ArrayLike | None = None,
    *,
    return_pairs: Literal[False] = False,
    return_triples: Literal[True],
) -> tuple[float, np.ndarray, np.ndarray]: ...
@overload
def chain_marginals(
    nodes: ArrayLike,
    transitions: ArrayLike,
    triples: ArrayLike | None = None,
    *,
    return_pairs: Literal[True],
    return_triples: Literal[True],
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]: ...
def chain_max_marginals(
    nodes: ArrayLike, transitions: ArrayLike, triples: ArrayLike | None = None
) -> np.ndarray: ...
def distance_transform(
    scores: ArrayLike,
    square: float | ArrayLike,
    *,
    linear: float | ArrayLike = 0.0,
    mean: float | ArrayLike = 0.0,
) -> tuple[np.ndarray, np.ndarray]: ...
def elimination(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
    max_entries: int = 16777216,
) -> tuple[np.ndarray, float]: ...
def expansion(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
    start: ArrayLike | None = None,
    moves: Literal["expansion", "swap"] = "expansion",
    persistency: bool = True,
) -> tuple[np.ndarray, float]: ...
def graph_max_marginals(
    nodes: ArrayLike, edges: ArrayLike | None = None, pairwise: ArrayLike | None = None
) -> np.ndarray: ...
def graphcut(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
) -> tuple[np.ndarray, float]: ...
def parts_max_marginals(
    scores: ArrayLike, parents: ArrayLike, springs: ArrayLike, *, bias: ArrayLike | None = None
) -> np.ndarray: ...
def parts_max_sum(
    scores: ArrayLike, parents: ArrayLike, springs: ArrayLike, *, bias: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray, float]: ...
def qpbo(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
) -> tuple[np.ndarray, float]: ...
@overload
def segment_marginals(
    tokens: ArrayLike,
    transitions: ArrayLike,
    lengths: ArrayLike,
    *,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    whole: ArrayLike | None = None,
    return_segments: Literal[False] = False,
) -> tuple[float, np.ndarray]: ...
@overload
def segment_marginals(
    tokens: ArrayLike,
    transitions: ArrayLike,
    lengths: ArrayLike,
    *,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    whole: ArrayLike | None = None,
    return_segments: Literal[True],
) -> tuple[float, np.ndarray, np.ndarray]: ...
def segment_max_marginals(
    tokens: ArrayLike,
    transitions: ArrayLike,
    lengths: ArrayLike,
    *,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    whole: ArrayLike | None = None,
) -> np.ndarray: ...
def segment_max_sum(
    tokens: ArrayLike,
    transitions: ArrayLike,
    lengths: ArrayLike,
    *,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    whole: ArrayLike | None = None,
) -> tuple[list[Segment], float]: ...
def segment_top_k(
    tokens: ArrayLike,
    transitions: ArrayLike,
    lengths: ArrayLike,
    k: int,
    *,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    whole: ArrayLike | None = None,
) -> tuple[list[list[Segment]], np.ndarray]: ...
@overload
def tree_marginals(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    return_pairs: Literal[False] = False,
) -> tuple[float, np.ndarray]: ...
@overload
def tree_marginals(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    return_pairs: Literal[True],
) -> tuple[float, np.ndarray, np.ndarray]: ...
def tree_max_marginals(
    nodes: ArrayLike, edges: ArrayLike | None = None, pairwise: ArrayLike | None = None
) -> np.ndarray: ...
def tree_max_sum(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
) -> tuple[np.ndarray, float]: ...
def tree_top_k(
    nodes: ArrayLike, edges: ArrayLike | None = None, pairwise: ArrayLike | None = None, *, k: int
) -> tuple[np.ndarray, np.ndarray]: ...
def trws(
    nodes: ArrayLike,
    edges: ArrayLike | None = None,
    pairwise: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
    start: ArrayLike | None = None,
    max_sweeps: int = 100,
    tol: float = 1e-3,
    n_moves: int = 20,
) -> tuple[np.ndarray, float, float]: ...
def viterbi(
    nodes: ArrayLike,
    transitions: ArrayLike,
    triples: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    cost: float | ArrayLike = 1.0,
) -> tuple[np.ndarray, float]: ...
def viterbi_by_loss(
    nodes: ArrayLike, transitions: ArrayLike, truth: ArrayLike, *, cost: float | ArrayLike = 1.0
) -> tuple[np.ndarray, np.ndarray]: ...
def viterbi_top_k(
    nodes: ArrayLike, transitions: ArrayLike, k: int, *, triples: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]: ...
def worst_ranking(
    scores: ArrayLike, relevance: ArrayLike, *, loss_weight: float = 1.0
) -> tuple[np.ndarray, float, float]: ...
