"""Oracles of pairs of labels: the bounded one finds what the plain one does."""

import itertools

import numpy as np
import pytest
from helpers.toys import multilabel_toy

from sskit.solvers._pair_search import BoundedSearch, PairSearch, doubtful_labels, find_pair
from sskit.solvers._pair_step import pair_step
from sskit.solvers._pair_table import PairTable


def random_pairs(rng, n_labels):
    """Weights of all pairs: of either sign, many zero, some equal."""
    n_edges = n_labels * (n_labels - 1) // 2
    weight = rng.normal(size=n_edges) * rng.choice([0.1, 1.0, 5.0])
    weight[rng.random(n_edges) < rng.choice([0.0, 0.5, 0.95, 1.0])] = 0.0
    return np.round(weight, 1) if rng.random() < 0.3 else weight


def random_labels(rng, n_labels):
    """Hopes and levels."""
    hope = -rng.exponential(size=n_labels) * rng.choice([0.0, 0.3, 2.0])
    hope[rng.random(n_labels) < rng.choice([0.0, 0.3, 1.0])] = -np.inf
    return hope, rng.integers(3, size=n_labels).astype(np.uint8)


def by_definition(ends, weight, hope, level, least):
    """The largest gain above `least` by trying all pairs."""
    best = least
    for (k, m), w in zip(ends, weight, strict=True):
        if w > 0 and level[k] + level[m] <= 2:
            best = max(best, w + hope[k] + hope[m])
    return best


@pytest.mark.parametrize("n_labels", [2, 3, 8, 20])
def test_same_gain_on_random_states(n_labels):
    """2,500 states for each number of labels, 10^4 in all."""
    rng = np.random.default_rng(n_labels)
    factors = multilabel_toy(0, n=1, n_states=n_labels, inference="lp_only").problem.factors() \
        if False else labels(n_labels)
    ends = list(itertools.combinations(range(n_labels), 2))
    table = PairTable(factors)
    plain, bounded = PairSearch(table), BoundedSearch(table)
    for n in range(2500):
        if n % 25 == 0:
            weight = random_pairs(rng, n_labels)
            table.renew(weight)
        hope, level = random_labels(rng, n_labels)
        least = -np.inf if n % 2 else 0.0
        pair, gain = find_pair(plain, hope, level, least)
        other, same = find_pair(bounded, hope, level, least)
        assert gain == pytest.approx(same, abs=1e-13), (pair, other)
        if n % 10 == 0:
            assert gain == pytest.approx(by_definition(ends, weight, hope, level, least), abs=1e-13)
        assert (pair is None) == (other is None)
        if pair is not None:
            k, m = sorted(pair)
            assert gain == pytest.approx(weight[ends.index((k, m))] + hope[k] + hope[m], abs=1e-13)
            assert level[k] + level[m] <= 2
