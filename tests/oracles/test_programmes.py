"""The oracles are the programmes of `helpers.programmes`, a few lines of NumPy each."""

import ast
from pathlib import Path

import numpy as np
import pytest
from helpers import programmes
from helpers.segments import score as score_of

from sskit import oracles

CLOSE = {"rel": 1e-12, "abs": 1e-12}


def draw(rng, *shapes, forbid):
    """Return potentials; of those after the first some are -inf, but not of state 0."""
    tables = [rng.normal(size=shape) for shape in shapes]
    for table in tables[1:] if forbid else ():
        mask = rng.random(table.shape) < 0.3
        mask[..., 0] = False
        table[mask] = -np.inf
    return tables


def chains(rng, T, K, forbid):
    given = draw(rng, (T, K), (K, K), forbid=forbid)
    with np.errstate(divide="ignore"):
        expected = programmes.sum_product(*given)
    for one, other in zip(
        oracles.chain_marginals(*given, return_pairs=True), expected, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    return oracles.viterbi(*given), programmes.viterbi(*given)


def second_chains(rng, T, K, forbid):
    given = draw(rng, (T, K), (K, K), (K, K, K), forbid=forbid)
    return oracles.viterbi(*given), programmes.second_order_viterbi(*given)


def trees(rng, n, K, forbid):
    nodes, tables = draw(rng, (n, K), (n, K, K), forbid=forbid)
    parents = [-1, *(int(rng.integers(v)) for v in range(1, n))]
    edges = np.column_stack([parents, range(n)])[1:]
    found = oracles.tree_max_sum(nodes, edges, tables[1:])
    return found, programmes.tree_max_sum(nodes, parents, tables)


def hierarchies(rng, n, _, forbid):
    parents = [-1, *(int(rng.integers(-1, v)) for v in range(1, n))]
    gains = rng.normal(size=n)
    return oracles.closure(gains, parents), programmes.closure(gains, parents)


SIZES = {
    chains: [(1, 3), (2, 1), (5, 2), (9, 4), (30, 11)],
    second_chains: [(2, 1), (5, 2), (9, 4), (30, 11)],
    trees: [(1, 2), (2, 3), (8, 2), (20, 5)],
    hierarchies: [(1, 1), (3, 1), (12, 1)],
}


@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize(
    ("case", "size"), [(case, size) for case, sizes in SIZES.items() for size in sizes]
)
def test_best_labellings_and_sums(case, size, forbid):
    rng = np.random.default_rng(size[0])
    for _ in range(8):
        (labels, score), (expected, best) = case(rng, *size, forbid)
        assert labels.tolist() == list(expected) and score == pytest.approx(best, **CLOSE)


@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize(("T", "K", "M"), [(1, 1, 1), (4, 2, 2), (7, 3, 4), (12, 2, 20)])
def test_segmentations(T, K, M, forbid):
    rng = np.random.default_rng(T)
    for _ in range(10):
        tokens, transitions, lengths = draw(rng, (T, K), (K, K), (K, M), forbid=forbid)
        segments, score = programmes.semi_markov(tokens, transitions, lengths)
        found = oracles.segment_max_sum(tokens, transitions, lengths)
        assert found[1] == pytest.approx(score, **CLOSE)
        # lengths in another order may score the same: rounding decides which of them is found
        for best in (segments, found[0]):
            assert score_of(best, tokens, transitions, lengths) == pytest.approx(score, **CLOSE)


def test_the_programmes_are_short():
    for function in ast.parse(Path(programmes.__file__).read_text()).body:
        if isinstance(function, ast.FunctionDef):
            assert function.end_lineno - function.lineno < 30
