"""Oracles and steps of pairs of labels, against all pairs and against a small program."""

import itertools

import numpy as np
import pytest
from sskit_probes.factor_probe import PairProbe, pair_step


def random_pairs(rng, n_labels):
    """Weights of all pairs: of either sign, many zero, some equal."""
    n_edges = n_labels * (n_labels - 1) // 2
    weight = rng.normal(size=n_edges) * rng.choice([0.1, 1.0, 5.0])
    weight[rng.random(n_edges) < rng.choice([0.0, 0.5, 0.95, 1.0])] = 0.0
    return np.round(weight, 1) if rng.random() < 0.3 else weight


def random_labels(rng, n_labels):
    """What labels gain by themselves, -inf for some."""
    reduced_cost = -rng.exponential(size=n_labels) * rng.choice([0.0, 0.3, 2.0])
    reduced_cost[rng.random(n_labels) < rng.choice([0.0, 0.3, 1.0])] = -np.inf
    return reduced_cost


def may_rise(weight, reduced, ends):
    """Labels that all others may raise together, after many rounds."""
    k, m = ends.T
    left = np.isfinite(reduced)
    for _ in range(len(reduced)):
        sums, use = reduced.copy(), (weight > 0) & left[k] & left[m]
        np.add.at(sums, k[use], weight[use])
        np.add.at(sums, m[use], weight[use])
        left &= sums > 0
    return left


@pytest.mark.parametrize("n_labels", [2, 3, 8, 20])
def test_best_pair_of_labels_that_may_rise(n_labels):
    """1,500 states for each number of labels."""
    rng = np.random.default_rng(n_labels)
    ends = np.array(list(itertools.combinations(range(n_labels), 2)), dtype=np.int32)
    probe = PairProbe(n_labels, ends)
    k, m = ends.T
    for n in range(1500):
        if n % 25 == 0:
            weight = random_pairs(rng, n_labels)
            probe.renew(weight)
        reduced = random_labels(rng, n_labels)
        pair, rest = probe.find(reduced)
        alone = np.where(weight > 0, weight + reduced[k] + reduced[m], -np.inf)
        if alone.max() > 0:  # the best pair gains by itself
            best = alone.max()
        else:
            left = may_rise(weight, reduced, ends)
            np.testing.assert_array_equal(rest > -np.inf, left)
            best = alone[left[k] & left[m]].max(initial=-np.inf)
        assert (pair is None) == (best == -np.inf)
        if pair is not None:
            place = np.flatnonzero((ends == sorted(pair)).all(axis=1))[0]
            assert alone[place] == pytest.approx(best, abs=1e-13)


def test_step_of_a_pair_is_the_best():
    """No point of a fine grid is better, nor is the point infeasible."""
    rng = np.random.default_rng(1)
    steps = np.linspace(0.0, 1.0, 21)
    grid = np.array([
        (z, z + s, z + t) for z in steps for s in steps for t in steps if z + s + t <= 1 + 1e-12
    ])  # fmt: skip
    for _ in range(300):
        start, gain = rng.choice([0.0, rng.random(), 1.0]), rng.normal() * rng.choice([0.1, 3.0])
        tie, (a, b) = rng.choice([0.1, 2.0, 50.0]), rng.normal(0.5, 0.7, size=2)

        def cost(q, start=start, gain=gain, tie=tie, a=a, b=b):
            z, first, second = q.T
            apart = (first - a) ** 2 + (second - b) ** 2
            return 0.5 * (z - start) ** 2 - gain * (z - start) + 0.5 * tie * apart

        z, first, second = found = np.array(pair_step(start, gain, tie, a, b))
        assert -1e-12 <= z <= min(first, second) + 1e-12
        assert first + second - z <= 1 + 1e-12
        assert cost(found) <= cost(grid).min() + 1e-10
