"""Searches for the labelling that maximises loss times margin, against enumeration."""

import itertools
import sys

import numpy as np
import pytest
from helpers.slack import points, random_points
from sskit_probes.slack_probe import choose, search

from sskit.models.slack.problem import SEARCHES, rescaled

KINDS = ("any", "counts", "flat")
NO_LIMIT = sys.maxsize


def trials(name, n_trials, tol=0.0, limit=NO_LIMIT, seed=0):
    """Yield (products of all labels, label, Phi, bound, queries) of searches on random points."""
    rng = np.random.default_rng(seed)
    for trial in range(n_trials):
        g, theta = random_points(rng, KINDS[trial % 3])
        problem, known = points(g), int(rng.integers(len(g))) if trial % 2 else 0
        phi = g * np.maximum(1.0 + theta, 0.0)
        yield phi, *search(rescaled(problem, name, tol, limit), theta, 1.0, known)


def check_searches(name, n_trials):
    """What holds for every search; returns the fraction of maxima found and the mean of queries."""
    found, queries = [], []
    for phi, label, best, bound, n_queries in trials(name, n_trials):
        assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-12)
        assert best <= phi.max() * (1 + 1e-9) <= bound * (1 + 1e-8)
        found.append(best >= phi.max() * (1 - 1e-9))
        queries.append(n_queries)
    return np.mean(found), np.mean(queries)


def test_searches_find_what_they_promise_and_keep_their_bounds():
    for name in ("exact", "angular"):
        found, queries = check_searches(name, 1500)
        assert found == 1.0
        assert queries < 6
    found, queries = check_searches("bisecting", 600)
    assert 0.6 < found < 1.0
    assert queries < 40
    # no label counts
    problem = points(np.array([0.0, 1.0, 2.0]))
    for name, theta in itertools.product(SEARCHES, ([0.0, -1.0, -2.0], [0.0, -5.0, -1.0])):
        label, best, _, _ = search(rescaled(problem, name, 0.0, NO_LIMIT), theta)
        assert (label, best) == (0, 0.0)


def test_bisecting_sees_the_upper_hull():
    """Where the maximum is a vertex of the hull with the least bound it is found."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        m = int(rng.integers(2, 20))
        angle = np.sort(rng.uniform(0.0, np.pi / 2, size=m))
        g, h = np.sin(angle), np.cos(angle)  # all of them are vertices
        problem = points(np.concatenate([[0.0], g]))
        asked = rescaled(problem, "bisecting", 0.0, NO_LIMIT)
        _, best, bound, n_queries = search(asked, np.concatenate([[0.0], h - 1.0]))
        assert best <= (g * h).max() * (1 + 1e-9) <= bound * (1 + 1e-8)
        assert best >= 0.8 * (g * h).max()
        assert n_queries <= 20


def test_theorem_1():
    """Three labels, two of which hide the one that is best by far from all lambda-oracles."""
    M = 10.0
    g, h = np.array([0.0, 1 / M, M, 0.499 * M]), np.array([1.0, M, 1 / M, 0.499 * M])
    problem = points(g)
    for name in SEARCHES:
        label, best, bound, _ = search(rescaled(problem, name, 0.0, NO_LIMIT), h - 1.0)
        assert bound >= (0.499 * M) ** 2 * (1 - 1e-9)
        if name in ("exact", "angular"):
            assert label == 3
            assert best == pytest.approx((0.499 * M) ** 2)
        else:
            assert label in (1, 2)
            assert best == pytest.approx(1.0)


@pytest.mark.parametrize("known", [1, 2])
@pytest.mark.parametrize("name", ["exact", "angular"])
def test_a_known_label_next_to_an_axis(name, known):
    """It says where to begin: at a lam that is far off."""
    g = np.array([0.0, 1.0, 1e-18, 2.0, 0.1, 20.0])
    h = np.array([0.0, 1e-18, 1.0, 3.0, 10.0, 0.01])
    problem = points(g)
    asked = rescaled(problem, name, 0.0, NO_LIMIT)
    label, best, bound, n_queries = search(asked, h, 0.0, known)
    assert label == 3
    assert best == pytest.approx(6.0)
    assert bound == pytest.approx(6.0)
    assert n_queries < 20


@pytest.mark.parametrize("name", ["angular", "bisecting"])
def test_tol_ends_a_search_early(name):
    for tol in (0.1, 1.0):
        total = 0
        for phi, _, best, bound, n_queries in trials(name, 300, tol):
            total += n_queries
            if name == "angular":
                assert phi.max() <= (1 + tol) * best * (1 + 1e-9)
                assert bound <= (1 + tol) * best * (1 + 1e-9)
        assert total < sum(n for *_, n in trials(name, 300))


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_the_known_label_counts(name):
    """A search never answers with less than it was given."""
    rng = np.random.default_rng(3)
    for trial in range(200):
        g, theta = random_points(rng, KINDS[trial % 3])
        phi = g * np.maximum(1.0 + theta, 0.0)
        problem, known = points(g), int(phi.argmax())
        _, best, _, _ = search(rescaled(problem, name, 0.0, 1), theta, 1.0, known)
        assert best == pytest.approx(phi.max(), rel=1e-9, abs=1e-12)
    for phi, label, best, bound, n_queries in trials(name, 100, limit=2):
        assert n_queries <= 2
        assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-12)
        assert bound >= phi.max() * (1 - 1e-9)


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_other_offsets(name):
    """The margin of the truth is what the solver multiplies losses with: zero, or many steps."""
    rng = np.random.default_rng(4)
    for offset in [0.0, 3.0, 1e6] * 100:
        g, theta = random_points(rng, "any")
        phi = g * np.maximum(offset + theta, 0.0)
        problem = points(g)
        label, best, bound, n_queries = search(
            rescaled(problem, name, 0.0, NO_LIMIT), theta, offset
        )
        assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-9)
        assert bound >= phi.max() * (1 - 1e-9)
        assert n_queries < 60
        if name in ("exact", "angular"):
            assert best == pytest.approx(phi.max(), rel=1e-9, abs=1e-12)


def test_which_searches_are_exact():
    problem = points(np.array([0.0, 1.0]))
    exact = {name for name in SEARCHES if rescaled(problem, name, 0.0, NO_LIMIT).exact}
    assert exact == {"exact", "angular"}
    assert not rescaled(problem, "angular", 0.1, NO_LIMIT).exact
    assert not rescaled(problem, "angular", 0.0, 10).exact


# ---- choosing among candidates -----------------------------------------------------------------


def enumerated(g, h, cone=None):
    """The first label that is best for the product or within a cone, and whether there is any."""
    value = g * h
    counts = (g > 0) & (h > 0)
    if cone is not None:
        loss_weight, lower, upper = cone
        value = h + loss_weight * g
        with np.errstate(invalid="ignore"):  # 0 * inf of what does not count
            counts &= (lower * h <= g) & (g < upper * h)
    value = np.where(counts, value, -np.inf)
    return (int(value.argmax()), True) if counts.any() else (0, False)


CONES = [(1.0, 0.0, np.inf), (0.3, 0.5, 2.0), (5.0, 1.0, np.inf), (2.0, 0.0, 0.4), (1.0, 2.0, 2.0)]


@pytest.mark.parametrize("cone", [None, *CONES])
def test_the_best_candidate(cone):
    """Against enumeration, where many labels tie, and where some or all do not count."""
    rng, found = np.random.default_rng(5), []
    for trial, offset in enumerate([0.0, 0.0, 1.0, 1.0, 4.0, 4.0] * 200):
        g, theta = random_points(rng, KINDS[trial % 3])
        if trial % 2:  # numbers of few values: many ties, margins and losses of zero
            g, theta = np.round(g), np.round(theta)
        label, counts = enumerated(g, offset + theta, cone)
        assert choose(points(g), theta, offset, cone) == (label, g[label], counts)
        found.append(counts)
    assert any(found) == (cone is None or cone[1] < cone[2])
    assert not all(found)
    # where there is no label with a loss, its margin is -inf
    problem = points(np.array([0.0, 1.0, 2.0]))
    if cone in (None, CONES[0]):
        assert choose(problem, np.array([0.0, -np.inf, 1.0]), 1.0, cone) == (2, 2.0, True)
        assert choose(problem, np.array([0.0, -np.inf, -np.inf]), 1.0, cone) == (0, 0.0, False)
