"""Max-sum over parts on springs finds the best of all poses."""

import numpy as np
import pytest
from helpers.trees import enumerate_parts, random_parents, spring_costs

from sskit.inputs.edges import check_parents, parents_first
from sskit.oracles import parts_max_marginals, parts_max_sum


def random_instance(rng, most=3000):
    n_parts = int(rng.integers(1, 5))
    while True:
        shape = tuple(rng.integers(1, 6, size=2))
        if (shape[0] * shape[1]) ** n_parts <= most:
            break
    parents = random_parents(rng, n_parts, int(rng.integers(1, n_parts + 1)))
    n_types = int(rng.integers(1, 4))
    springs = rng.normal(size=(n_parts, n_types, 2, 3))
    springs[..., 1] = 10 ** rng.uniform(-2, 1, size=springs.shape[:3])
    scores = rng.normal(size=(n_parts, *shape)) * 10 ** rng.uniform(-1, 1)
    return scores, parents, springs, rng.normal(size=(n_parts, n_types))


def score_of(places, types, scores, parents, springs, bias):
    total = 0.0
    for k, parent in enumerate(parents):
        total += scores[k][tuple(places[k])]
        if parent >= 0:
            cost = spring_costs(scores[0].shape, springs[k, types[k]])
            cells = np.ravel_multi_index(places[[k, parent]].T, scores[0].shape)
            total += bias[k, types[k]] - cost[tuple(cells)]
    return total


@pytest.mark.parametrize(("seed", "n"), [(0, 300), pytest.param(1, 10_000, marks=pytest.mark.slow)])
def test_equals_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    for trial in range(n):
        scores, parents, springs, bias = instance = random_instance(rng)
        options = {"bias": bias}
        if trial % 10 == 0:  # no bias is none, and roots need no springs
            options, bias[:] = {}, 0.0
            springs[parents < 0] = 0.0
        total = enumerate_parts(*instance)
        places, types, score = parts_max_sum(scores, parents, springs, **options)
        size = 1e-10 * (1 + np.abs(total).max())
        assert score == pytest.approx(total.max(), abs=size)
        assert score_of(places, types, *instance) == pytest.approx(score, abs=size)
        assert (types[parents < 0] == 0).all()
        best = parts_max_marginals(scores, parents, springs, **options)
        for k in range(len(scores)):
            others = tuple(axis for axis in range(len(scores)) if axis != k)
            expected = total.max(axis=others).reshape(scores[k].shape)
            np.testing.assert_allclose(best[k], expected, atol=size)


def test_parents_come_first():
    for n_nodes, n_roots in [(1, 1), (2, 1), (2, 2), (3, 1), (8, 8), (9, 2), (100, 1), (100, 2)]:
        rng = np.random.default_rng(n_nodes)
        parents = random_parents(rng, n_nodes, n_roots)
        order = parents_first(check_parents(parents, "parents"))
        assert sorted(order) == list(range(n_nodes))
        place = np.argsort(order)
        below = parents >= 0
        assert (place[below] > place[parents[below]]).all()
    chain = np.arange(-1, 99)
    np.testing.assert_array_equal(parents_first(check_parents(chain, "parents")), chain + 1)


def test_cycles_are_found():
    for length in (1, 2, 3, 7, 8):
        parents = np.concatenate([np.roll(np.arange(length), 1), [0, -1, length + 1]])
        with pytest.raises(ValueError, match="has a cycle") as error:
            check_parents(parents, "parents")
        assert int(str(error.value).split("node ")[1].split(" ")[0]) < length
