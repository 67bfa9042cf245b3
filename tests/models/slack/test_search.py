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


def trials(name, n_trials, *, tol=0.0, limit=NO_LIMIT, offset=1.0, known=None, seed=0):
    """Yield (products of all labels, label, Phi, bound, queries) of searches on random points.

    Known is 0, the best label, or now this one and now that.
    """
    rng = np.random.default_rng(seed)
    for trial in range(n_trials):
        g, theta = random_points(rng, KINDS[trial % 3])
        phi = g * np.maximum(offset + theta, 0.0)
        label = int(rng.integers(len(g))) if trial % 2 else 0
        label = {"best": int(phi.argmax()), "truth": 0}.get(known, label)
        yield phi, *search(rescaled(points(g), name, tol, limit), theta, offset, label)


def test_searches_find_what_they_promise_and_keep_their_bounds():
    for name, n_trials, most in (("exact", 900, 6), ("angular", 900, 6), ("bisecting", 600, 40)):
        found, queries = [], []
        for phi, label, best, bound, n_queries in trials(name, n_trials):
            assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-12)
            assert best <= phi.max() * (1 + 1e-9) <= bound * (1 + 1e-8)
            found.append(best >= phi.max() * (1 - 1e-9))
            queries.append(n_queries)
        assert np.mean(queries) < most
        assert all(found) if name != "bisecting" else 0.6 < np.mean(found) < 1.0
        # no label counts
        for theta in ([0.0, -1.0, -2.0], [0.0, -5.0, -1.0]):
            asked = rescaled(points(np.array([0.0, 1.0, 2.0])), name, 0.0, NO_LIMIT)
            assert search(asked, theta)[:2] == (0, 0.0)
    problem = points(np.array([0.0, 1.0]))
    for name, tol, limit, exact in [
        ("exact", 0.0, NO_LIMIT, True), ("angular", 0.0, NO_LIMIT, True),
        ("bisecting", 0.0, NO_LIMIT, False), ("angular", 0.1, NO_LIMIT, False),
        ("angular", 0.0, 10, False),
    ]:  # fmt: skip
        assert rescaled(problem, name, tol, limit).exact == exact


def test_labels_that_hide_the_best_one():
    """Theorem 1: two of three labels hide the one that is best by far from all lambda-oracles.

    And a known label next to an axis, from which a search begins at a lam that is far off.
    """
    g, h = np.array([0.0, 0.1, 10.0, 4.99]), np.array([1.0, 10.0, 0.1, 4.99])
    for name in SEARCHES:
        label, best, bound, _ = search(rescaled(points(g), name, 0.0, NO_LIMIT), h - 1.0)
        hidden = name not in ("exact", "angular")
        assert bound >= 4.99**2 * (1 - 1e-9) and (label in (1, 2) if hidden else label == 3)
        assert best == pytest.approx(1.0 if hidden else 4.99**2)
    g = np.array([0.0, 1.0, 1e-18, 2.0, 0.1, 20.0])
    h = np.array([0.0, 1e-18, 1.0, 3.0, 10.0, 0.01])
    for name, known in itertools.product(("exact", "angular"), (1, 2)):
        asked = rescaled(points(g), name, 0.0, NO_LIMIT)
        label, best, bound, n_queries = search(asked, h, 0.0, known)
        assert label == 3 and n_queries < 20 and (best, bound) == pytest.approx((6.0, 6.0))


@pytest.mark.parametrize("name", ["angular", "bisecting"])
def test_tol_ends_a_search_early(name):
    for tol in (0.1, 1.0):
        total = 0
        for phi, _, best, bound, n_queries in trials(name, 300, tol=tol):
            total += n_queries
            assert name != "angular" or max(phi.max(), bound) <= (1 + tol) * best * (1 + 1e-9)
        assert total < sum(n for *_, n in trials(name, 300))


@pytest.mark.parametrize("name", sorted(SEARCHES))
def test_known_labels_limits_and_other_offsets(name):
    """A search never answers with less than it was given.

    The margin of the truth is what the solver multiplies losses with: zero, or many steps.
    """
    for phi, _, best, *_ in trials(name, 200, limit=1, known="best", seed=3):
        assert best == pytest.approx(phi.max(), rel=1e-9, abs=1e-12)
    for phi, label, best, bound, n_queries in trials(name, 100, limit=2):
        assert n_queries <= 2
        assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-12)
        assert bound >= phi.max() * (1 - 1e-9)
    for offset in (0.0, 3.0, 1e6):
        for phi, label, best, bound, n_queries in trials(
            name, 100, offset=offset, known="truth", seed=4
        ):
            assert best == pytest.approx(phi[label], rel=1e-9, abs=1e-9)
            assert bound >= phi.max() * (1 - 1e-9) and n_queries < 60
            if name != "bisecting":
                assert best == pytest.approx(phi.max(), rel=1e-9, abs=1e-12)


# ---- choosing among candidates -----------------------------------------------------------------


CONES = [(1.0, 0.0, np.inf), (0.3, 0.5, 2.0), (5.0, 1.0, np.inf), (2.0, 0.0, 0.4), (1.0, 2.0, 2.0)]


@pytest.mark.parametrize("cone", [None, *CONES])
def test_the_best_candidate(cone):
    """The first label that is best for the product or within a cone, of those that count.

    Against enumeration, where many labels tie, and where some or all do not count.
    """
    rng, found = np.random.default_rng(5), []
    for trial, offset in enumerate([0.0, 0.0, 1.0, 1.0, 4.0, 4.0] * 200):
        g, theta = random_points(rng, KINDS[trial % 3])
        if trial % 2:  # numbers of few values: many ties, margins and losses of zero
            g, theta = np.round(g), np.round(theta)
        h = offset + theta
        value, counts = g * h, (g > 0) & (h > 0)
        if cone is not None:
            loss_weight, lower, upper = cone
            value = h + loss_weight * g
            with np.errstate(invalid="ignore"):  # 0 * inf of what does not count
                counts &= (lower * h <= g) & (g < upper * h)
        label = int(np.where(counts, value, -np.inf).argmax()) if counts.any() else 0
        assert choose(points(g), theta, offset, cone) == (label, g[label], counts.any())
        found.append(counts.any())
    assert any(found) == (cone is None or cone[1] < cone[2])
    assert not all(found)
    # where there is no label with a loss, its margin is -inf
    problem = points(np.array([0.0, 1.0, 2.0]))
    if cone in (None, CONES[0]):
        assert choose(problem, np.array([0.0, -np.inf, 1.0]), 1.0, cone) == (2, 2.0, True)
        assert choose(problem, np.array([0.0, -np.inf, -np.inf]), 1.0, cone) == (0, 0.0, False)
