"""Shards of every model that takes no lock: trees, graphs, sets of labels, slack rescaling."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.laws import check_optimum, check_shards, start_run
from helpers.locks import EXACT_SLACK, KERNELS, LOCK_FREE, LOCKING, OTHER_SLACK
from helpers.slack import slack_pairs
from helpers.toys import SEARCHABLE, TOYS

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.block_coordinate import rounds
from sskit.solvers.block_coordinate.runs import shards_for
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.1
# A part of what takes the lock takes it in turns.
TURNS = {"graph-cut": LOCKING["graph-cut"]}
OPTIONS = [
    {},
    {"steps": "fw", "averaging": False},
    {"steps": "pairwise", "sampling": "gap", "cache": True, "stored_passes": 2},
    {"steps": "away", "sampling": "uniform"},
]


def id_of(option):
    return "-".join(map(str, option.values())) or "auto" if isinstance(option, dict) else None


def shards(problem, n_jobs=3):
    return shards_for(problem, make_pool(problem, n_jobs))


def regularizer_of(problem, name=None):
    """Its weights; those of pairs are not negative if these are for cuts."""
    if name not in TURNS:
        return Regularizer(LAM, problem.n_weights)
    lower, upper = np.full((2, problem.n_weights), np.inf)
    lower[:-1], lower[-1] = -np.inf, 0.0
    return BoxRegularizer(LAM, lower, upper)


def test_how_many_workers_visit_and_their_weights(monkeypatch):
    """All where nothing takes the lock, one where something does; of many weights nothing is lost.

    The planes of the angular search are those of the exact one.
    """
    monkeypatch.setattr(rounds, "MOST_COMPARED", 0)
    for name, make in (LOCK_FREE | EXACT_SLACK | OTHER_SLACK).items():
        assert shards(problem := make()) == 3, name
        if "angular" not in name:
            check_shards(problem)
    for name in (LOCKING.keys() - TURNS.keys()) | KERNELS.keys():
        assert shards((LOCKING | KERNELS)[name]()) == 1, name


@pytest.mark.parametrize("name", ["tree", "sets-tree", "hierarchy-tree-exact", "chain-bisecting"])
def test_bits_depend_on_seed_and_number_of_jobs_only(name):
    one, other = (
        BCFW().solve(
            problem, Regularizer(LAM, problem.n_weights), tol=1e-3, max_iter=20, n_jobs=3,
            random_state=3,
        )
        for problem in ((LOCK_FREE | EXACT_SLACK | OTHER_SLACK)[name]() for _ in range(2))
    )  # fmt: skip
    np.testing.assert_array_equal(one.w, other.w)


@pytest.mark.parametrize("name", TURNS)
def test_few_workers_visit_what_takes_the_lock_in_turns(name):
    problem = TURNS[name]()
    assert [shards(problem, n_jobs) for n_jobs in (1, 2, 3, 8)] == [1, 2, 3, 3]

    def solve(n_jobs):
        return BCFW().solve(
            problem, regularizer_of(problem, name), tol=1e-4, max_iter=500, n_jobs=n_jobs,
            random_state=0,
        )  # fmt: skip

    two = solve(2)
    np.testing.assert_array_equal(two.w, solve(2).w)
    assert two.w.tolist() != solve(1).w.tolist()


@pytest.mark.parametrize(
    ("name", "options"), in_turn(LOCK_FREE | EXACT_SLACK | TURNS, OPTIONS), ids=id_of
)
def test_same_optimum_as_one_worker(name, options):
    tol = 0.05 if options.get("steps") == "fw" else 1e-5
    problem = (LOCK_FREE | EXACT_SLACK | TURNS)[name]()
    one, many = (
        BCFW(**options).solve(
            problem, regularizer_of(problem, name), tol=tol, max_iter=3000, n_jobs=n_jobs,
            random_state=0,
        )
        for n_jobs in (1, 3)
    )  # fmt: skip
    for solution in (one, many):
        assert solution.gap <= tol * (solution.primal + solution.unit / 1000)
        assert solution.certified
    # each is a bound of the same optimum
    assert many.primal >= one.dual - 1e-12
    assert one.primal >= many.dual - 1e-12


@pytest.mark.parametrize("name", OTHER_SLACK)
def test_inexact_searches_come_as_far(name):
    problem = OTHER_SLACK[name]()
    for solver in (BCFW(), MultiPlane()):
        solution = solver.solve(
            problem, Regularizer(LAM, problem.n_weights), tol=0.01, max_iter=300, n_jobs=3,
            random_state=0,
        )  # fmt: skip
        # what they miss they bound
        assert solution.gap >= solution.inexactness - 1e-12 and solution.certified
        assert solution.dual > 0.0


@pytest.mark.parametrize("search", ["exact", "angular"])
@pytest.mark.parametrize("name", SEARCHABLE)
def test_slack_rescaling_ends_at_the_optimum_of_the_quadratic_program(name, search):
    toy = TOYS[name](2, n=20)
    toy = toy.bound_to(SlackRescaling(search).wrap(toy.problem))
    toy.pairs = pairs = slack_pairs(toy.pairs)
    run, evaluator = start_run(BCFW(), toy, n_jobs=4), make_pool(toy.problem)
    assert len(run.updates) == 4
    for _ in range(400):
        run.run_pass()
        certificate = run.certify(evaluator)
        if certificate.gap <= 1e-7:
            break
    assert certificate.primal == pytest.approx(pairs.primal(toy.flat(certificate.w), LAM))
    # products of sets of labels come near it slowly, with one worker as well
    assert certificate.gap <= 1e-3 * certificate.primal
    check_optimum(toy, certificate, lam=LAM, tolerance=certificate.gap + 1e-7)
