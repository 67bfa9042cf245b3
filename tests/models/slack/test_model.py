"""Problems under slack rescaling have the hinges of the enumeration."""

import itertools

import numpy as np
import pytest
from helpers.models import MODELS
from helpers.slack import slack_pairs
from helpers.structures import Chains, Classes, bind
from helpers.toys import SEARCHABLE, TOYS, chain_toy, graph_toy, multiclass_toy
from sklearn.base import clone
from sskit_probes.core_probe import planes_of

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.models.integer_losses import integer_losses
from sskit.models.slack.model import SlackRescaling
from sskit.models.slack.problem import SEARCHES
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem
from sskit.utils import RaggedArray

NAMES = [f"{name}, dense" for name in TOYS] + [
    "chain of rules", "chain of sets", "chain of edges", "chain of edges and rules",
    "chain of triples and edges", "tree of kinds", "parts", "segments, spans, True, True, 0",
    "sets, independent", "sets, tree", "sets, graphcut", "sets, exhaustive", "hierarchy, tree",
    "hierarchy, dag",
]  # fmt: skip
BISECTED = ("chain of sets", "chain of triples and edges")
SEARCHED = (*(f"{name}, dense" for name in SEARCHABLE), "sets", "hierarchy, tree", "chain of")


@pytest.mark.parametrize("name", NAMES)
def test_contract_and_hinges_are_those_of_the_enumeration(name):
    """Exact hinges at random w; maximal losses at w = 0; products without losses, as a path asks.

    What bisecting finds is not above, and not far below.
    """
    toy = MODELS[name]()
    pairs, searches = slack_pairs(toy.pairs), ["bisecting"]
    if name.startswith(SEARCHED) and name not in BISECTED:
        searches += ["exact", "angular"]
    for search in searches:
        problem, exact = SlackRescaling(search).wrap(toy.problem), search != "bisecting"
        assert (problem.exact, problem.bounds) == (exact, not exact)
        if exact and name != "sets, graphcut":
            check_problem(problem, random_state=0)
        evaluator, rng = make_pool(problem), np.random.default_rng(0)
        margin, own = make_pool(problem.margin()), make_pool(toy.problem)
        for scale in (0.0, 0.1, 1.0, 10.0):
            w = scale * rng.normal(size=pairs.d)
            if name == "sets, graphcut":
                w[-6:] = np.abs(w[-6:])
            padded = np.concatenate([toy.unflat(w), np.zeros(16)])
            expected = np.array([pairs.hinge(i, w) for i in range(pairs.n)])
            found = evaluator.hinges(padded)
            if toy.problem.exact and "graph" not in name:  # the same problem, margins rescaled
                np.testing.assert_array_equal(margin.hinges(padded), own.hinges(padded))
            if exact:
                np.testing.assert_allclose(found, expected, atol=1e-9)
                expected = [np.max(-psi @ w, initial=0.0) for psi in pairs.psi]
                found = evaluator.hinges(padded, loss_weight=0.0)
                np.testing.assert_allclose(found, expected, atol=1e-9)
                continue
            assert (found >= 0).all() and (found <= expected + 1e-9).all()
            assert found.sum() >= 0.7 * expected.sum() or scale == 10.0
            if scale == 0.0:  # one query finds the largest loss
                np.testing.assert_allclose(found, expected)


def test_structures_written_in_python():
    """Answers of a search stay known, though the structure was asked others after them."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 3, 2)), rng.integers(3, size=(6, 3))
    problem = SlackRescaling().wrap(bind(Chains(3), list(X), list(Y)))
    assert not problem.exact
    # a search hands its answer over to the block; nothing else stays in the store
    probe = ProblemProbe(problem)
    for _ in range(20):
        theta = rng.normal(size=problem.max_statistics)
        for i in range(problem.n_blocks):
            code, loss = probe.argmax(i, theta)
            assert loss == 0.0 or probe.plane(i, code).any()
    regularizer = Regularizer(0.1, problem.n_weights)
    solution = BCFW(stored_passes=3).solve(problem, regularizer, tol=0.05, max_iter=60)
    assert solution.certified
    assert solution.gap >= solution.inexactness >= 0
    # with zero-one losses the lambda-oracle with a large lam is exact
    toy = multiclass_toy(intercept=False)
    problem = SlackRescaling("bisecting").wrap(bind(Classes(3), toy.X, list(toy.truths())))
    pairs, w = slack_pairs(toy.pairs), rng.normal(size=toy.pairs.d)
    found = make_pool(problem).hinges(np.concatenate([toy.unflat(w), np.zeros(16)]))
    np.testing.assert_allclose(found, [pairs.hinge(i, w) for i in range(pairs.n)], atol=1e-9)


def test_which_losses_count():
    for cost, lengths, n_states, expected in [
        (np.ones(6), [2, 4], 3, True),
        (np.array([0.5, 0.5, 0.25, 0.25, 0.25, 0.25]), [2, 4], 3, True),
        (np.array([1.0, 2.0, 0.0, 3.0]), [2, 2], 3, True),
        (np.zeros(3), [1, 2], 3, True),
        (np.array([1.0, 1.5]), [2], 3, False),
        (np.array([1.0, 1.5]), [1, 1], 3, True),  # units of their own
        (np.array([1.0, 40.0]), [2], 3, False),  # too many of them
        (np.ones(20_000), [20_000], 3, False),  # too large a table
        (np.ones(3000), [3000], 3, True),
        (np.ones(3000), [3000], 20, False),
    ]:
        found = integer_losses(cost, np.concatenate([[0], np.cumsum(lengths)]), n_states)
        assert (found is not None) == expected


def test_parameters():
    for name, value in [
        ("search", "best"), ("search", None), ("tol", -0.1), ("tol", np.nan), ("tol", "0"),
        ("max_queries", 0), ("max_queries", 2.5),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=f"'{name}' parameter.*{value}"):
            SlackRescaling(**{name: value}).check()
    rescaling = SlackRescaling("angular", tol=0.1, max_queries=7)
    assert clone(rescaling).get_params() == rescaling.get_params()


def test_queries_are_counted_and_planes_carry_their_losses():
    toy, rng = chain_toy(n=40), np.random.default_rng(0)
    inner = ProblemProbe(toy.problem)
    for search, n_jobs in itertools.product(SEARCHES, (1, 2)):
        problem = SlackRescaling(search).wrap(toy.problem)
        evaluator = make_pool(problem, n_jobs)
        for scale in (0.0, 1.0):
            evaluator.hinges(scale * rng.normal(size=problem.n_weights + 16))
        assert (problem.n_queries(80) == 80) == (search == "exact")
        assert problem.n_queries(80) >= 80
        probe, theta = ProblemProbe(problem), rng.normal(size=problem.max_statistics)
        code, loss = probe.argmax(3, theta)
        assert loss > 0 and code[-2:].view(np.float64)[0] == loss
        np.testing.assert_allclose(probe.plane(3, code), loss * inner.plane(3, code[:-2]))


def test_planes_of_structures_are_saved_with_their_losses():
    """Handles mean nothing elsewhere; what stands behind them in a code, the loss, does."""
    toy = chain_toy(n=6)
    chains = (bind(Chains(toy.n_states), toy.X, list(toy.truths())) for _ in range(2))
    one, other = map(SlackRescaling("bisecting").wrap, chains)
    regularizer = Regularizer(0.1, one.n_weights)
    found = BCFW(steps="pairwise").solve(one, regularizer, tol=0.1, max_iter=20, random_state=0)
    dual, n_planes = DualState(other), 0
    probe, other_probe = ProblemProbe(one), ProblemProbe(other)
    other_probe.argmax(0, np.ones(other.max_statistics))  # takes a handle that was free
    restore(dual, save(found.fit.run.dual))
    for i in range(one.n_blocks):
        codes, *rest = planes_of(found.fit.run.dual, i)
        again, *rest_again = planes_of(dual, i)
        for code, same in zip(codes, again, strict=True):
            np.testing.assert_array_equal(code[1:], same[1:])
            np.testing.assert_array_equal(probe.plane(i, code), other_probe.plane(i, same))
            n_planes += code[0] > 0
        for value, same in zip(rest, rest_again, strict=True):
            np.testing.assert_array_equal(value, same)
    assert 6 < n_planes <= other.plane_store.n_planes


def test_which_search_is_chosen():
    toy, graph = chain_toy(lengths=(3,)), graph_toy().problem
    stacked = RaggedArray(np.concatenate(toy.X), np.arange(0, 16, 3))
    cost = np.random.default_rng(0).uniform(1.0, 2.0, size=15)  # losses that do not count
    given = np.zeros(15, dtype=int), cost, np.full(5, 0.2)
    weighted = ChainModel(3, 3).bind(stacked, *given)
    for problem, search in [
        (toy.problem, "exact"),
        (multiclass_toy().problem, "exact"),
        (graph, "bisecting"),
        (weighted, "bisecting"),
    ]:
        wrapped = SlackRescaling().wrap(problem)
        assert (wrapped.settings[0], wrapped.exact) == (search, search == "exact")
    with pytest.raises(ValueError, match="search='exact' needs an exact oracle"):
        SlackRescaling("exact").wrap(weighted)
    with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
        SlackRescaling("angular").wrap(graph)
