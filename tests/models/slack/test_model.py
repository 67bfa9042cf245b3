"""Problems under slack rescaling, against enumeration."""

import numpy as np
import pytest
from helpers.slack import slack_pairs
from helpers.structures import Chains, Classes, bind
from helpers.toys import SEARCHABLE, TOYS, chain_toy, graph_toy, multiclass_toy
from sklearn.base import clone
from sskit_probes.core_probe import planes_of

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import ChainModel
from sskit.models.counts import counted
from sskit.models.slack.model import SEARCHES, SlackRescaling
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem
from sskit.utils import RaggedArray


def padded(toy, w, pairs):
    """Weights in the order of the package, with spare room."""
    return np.concatenate([toy.unflat(w), np.zeros(16)])


@pytest.mark.parametrize("name", SEARCHABLE)
@pytest.mark.parametrize("search", ["exact", "angular"])
def test_the_contract(name, search):
    check_problem(SlackRescaling(search).wrap(TOYS[name]().problem), random_state=0)


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("search", ["exact", "angular"])
def test_hinges_of_chains(search, mean, allowed):
    mask = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool) if allowed else None
    toy = chain_toy(mean=mean, allowed=mask)
    hinges_agree(toy, search)


@pytest.mark.parametrize("search", ["exact", "angular"])
def test_hinges_of_classes(search):
    hinges_agree(multiclass_toy(), search)


def hinges_agree(toy, search):
    """Exact hinges at random w are those of the enumeration; the maximal losses, at w = 0."""
    pairs, problem = slack_pairs(toy.pairs), SlackRescaling(search).wrap(toy.problem)
    assert problem.exact
    evaluator, rng = make_pool(problem), np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0, 10.0):
        w = scale * rng.normal(size=pairs.d)
        expected = [pairs.hinge(i, w) for i in range(pairs.n)]
        np.testing.assert_allclose(evaluator.hinges(padded(toy, w, pairs)), expected, atol=1e-9)
        # a path asks for the largest products without the losses
        expected = [np.max(-psi @ w, initial=0.0) for psi in pairs.psi]
        found = evaluator.hinges(padded(toy, w, pairs), loss_weight=0.0)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", sorted(TOYS))
def test_bisecting_stays_below(name):
    toy = TOYS[name]()
    pairs, problem = slack_pairs(toy.pairs), SlackRescaling("bisecting").wrap(toy.problem)
    assert not problem.exact
    evaluator, rng = make_pool(problem), np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0):
        w = scale * rng.normal(size=pairs.d)
        expected = np.array([pairs.hinge(i, w) for i in range(pairs.n)])
        found = evaluator.hinges(padded(toy, w, pairs))
        assert (found >= 0).all()
        assert (found <= expected + 1e-9).all()
        assert found.sum() >= 0.7 * expected.sum()
        if scale == 0.0:  # one query finds the largest loss
            np.testing.assert_allclose(found, expected)


def test_planes_carry_their_losses():
    toy = chain_toy()
    problem = SlackRescaling().wrap(toy.problem)
    probe, inner = ProblemProbe(problem), ProblemProbe(toy.problem)
    theta = np.random.default_rng(0).normal(size=problem.max_statistics)
    for i in range(problem.n_blocks):
        code, loss = probe.argmax(i, theta)
        assert loss > 0
        psi = inner.plane(i, code[:-2])
        np.testing.assert_allclose(probe.plane(i, code), loss * psi)
        assert code[-2:].view(np.float64)[0] == loss


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_queries_are_counted(n_jobs):
    toy = chain_toy(n=40)
    for search in SEARCHES:
        problem = SlackRescaling(search).wrap(toy.problem)
        evaluator = make_pool(problem, n_jobs)
        evaluator.hinges(np.zeros(problem.n_weights + 16))
        evaluator.hinges(np.random.default_rng(0).normal(size=problem.n_weights + 16))
        if search == "exact":
            assert problem.n_queries(80) == 80
        else:
            assert problem.n_queries(80) > 80


@pytest.mark.parametrize("search", ["auto", "bisecting"])
def test_structures_written_in_python(search):
    """Answers of a search stay known, though the structure was asked others after them."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(6)]
    Y = [rng.integers(3, size=3) for _ in X]
    problem = SlackRescaling(search).wrap(bind(Chains(3), X, Y))
    assert not problem.exact
    check_fields(problem)
    solution = BCFW(stored_passes=3).solve(
        problem, Regularizer(0.1, problem.n_weights), tol=0.05, max_iter=60
    )
    assert solution.certified
    assert solution.gap >= solution.inexactness >= 0
    assert solution.dual <= solution.primal


def test_planes_of_structures_are_saved_with_their_losses():
    """Handles mean nothing elsewhere; what stands behind them in a code, the loss, does."""
    toy = chain_toy(n=6)
    pairs = zip(toy.pairs.labels, toy.pairs.loss, strict=True)
    Y = [np.array(labels[int(np.argmin(loss))]) for labels, loss in pairs]
    one, other = (
        SlackRescaling("bisecting").wrap(bind(Chains(toy.n_states), toy.X, Y)) for _ in range(2)
    )
    regularizer = Regularizer(0.1, one.n_weights)
    found = BCFW(steps="pairwise").solve(one, regularizer, tol=0.1, max_iter=20, random_state=0)
    dual = DualState(other)
    ProblemProbe(other).argmax(0, np.ones(other.max_statistics))  # takes a handle that was free
    restore(dual, save(found.fit.run.dual))
    probes, n_planes = (ProblemProbe(one), ProblemProbe(other)), 0
    for i in range(one.n_blocks):
        codes, *rest = planes_of(found.fit.run.dual, i)
        again, *rest_again = planes_of(dual, i)
        for code, same in zip(codes, again, strict=True):
            np.testing.assert_array_equal(code[1:], same[1:])
            np.testing.assert_array_equal(probes[0].plane(i, code), probes[1].plane(i, same))
            n_planes += code[0] > 0
        for value, same in zip(rest, rest_again, strict=True):
            np.testing.assert_array_equal(value, same)
    assert n_planes > 6
    assert other.plane_store.n_planes >= n_planes


def check_fields(problem):
    """A search hands its answer over to the block; nothing else stays in the store."""
    probe, rng = ProblemProbe(problem), np.random.default_rng(1)
    for _ in range(20):
        theta = rng.normal(size=problem.max_statistics)
        for i in range(problem.n_blocks):
            code, loss = probe.argmax(i, theta)
            psi = probe.plane(i, code)
            assert loss == 0.0 or psi.any()


def test_python_classes_agree_with_compiled_ones():
    """With zero-one losses the lambda-oracle with a large lam is exact."""
    toy = multiclass_toy(intercept=False)
    labels = [pair[0] for pair in toy.pairs.labels]
    problem = SlackRescaling("bisecting").wrap(bind(Classes(3), toy.X, [int(k) for k in labels]))
    pairs, rng = slack_pairs(toy.pairs), np.random.default_rng(0)
    w = rng.normal(size=pairs.d)
    found = make_pool(problem).hinges(np.concatenate([toy.unflat(w), np.zeros(16)]))
    np.testing.assert_allclose(found, [pairs.hinge(i, w) for i in range(pairs.n)], atol=1e-9)


def test_which_search_is_chosen():
    graph = graph_toy().problem
    weighted = weighted_chain()
    for problem, search, exact in [
        (chain_toy().problem, "exact", True),
        (multiclass_toy().problem, "exact", True),
        (graph, "bisecting", False),
        (weighted, "bisecting", False),
    ]:
        wrapped = SlackRescaling().wrap(problem)
        assert wrapped.settings[0] == search
        assert wrapped.exact == exact
    with pytest.raises(ValueError, match="search='exact' needs an exact oracle"):
        SlackRescaling("exact").wrap(weighted)
    with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
        SlackRescaling("angular").wrap(graph)


@pytest.mark.parametrize(
    ("cost", "lengths", "n_states", "expected"),
    [
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
    ],
)
def test_which_losses_count(cost, lengths, n_states, expected):
    found = counted(cost, np.concatenate([[0], np.cumsum(lengths)]), n_states)
    assert (found is not None) == expected


def weighted_chain():
    """A chain whose losses do not count."""
    toy = chain_toy(lengths=(3,))
    stacked = RaggedArray(np.concatenate(toy.X), np.arange(0, 16, 3))
    cost = np.random.default_rng(0).uniform(1.0, 2.0, size=15)
    return ChainModel(3, 3).bind(stacked, np.zeros(15, dtype=int), cost, np.full(5, 0.2))


@pytest.mark.parametrize(
    ("parameters", "pattern"),
    [
        ({"search": "best"}, "'search' parameter.*'best'"),
        ({"search": None}, "'search' parameter"),
        ({"tol": -0.1}, "'tol' parameter.*-0.1"),
        ({"tol": np.nan}, "'tol' parameter.*nan"),
        ({"tol": "0"}, "'tol' parameter.*'0'"),
        ({"max_queries": 0}, "'max_queries' parameter.*0"),
        ({"max_queries": 2.5}, "max_queries.*2.5"),
    ],
)
def test_bad_parameters(parameters, pattern):
    with pytest.raises(ValueError, match=pattern):
        SlackRescaling(**parameters).check()


def test_it_can_be_cloned():
    rescaling = SlackRescaling("angular", tol=0.1, max_queries=7)
    assert clone(rescaling).get_params() == rescaling.get_params()
