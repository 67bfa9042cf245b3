"""Rounds: shards that visit blocks at the same time, and the merge of what they found."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.crossing import in_turn
from helpers.laws import LAM, check_dual_point, check_shards, start_run
from helpers.locks import EXACT_SLACK, KERNELS, LOCK_FREE, LOCKING, OTHER_SLACK
from helpers.solvers import SOLVERS
from helpers.toys import TOYS, chain_toy
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.models.multiclass import MulticlassModel
from sskit.parallel import thread_pool
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.block_coordinate import rounds, runs
from sskit.solvers.block_coordinate.runs import RunsInTurn, shards_for
from sskit.solvers.block_coordinate.updates import PlainUpdate
from sskit.solvers.oracle_calls.pool import make_pool

# those whose visits are made by workers
SHARDED = {name: SOLVERS[name] for name in ("plain", "pairwise", "cache")} | {
    "away": BCFW(steps="away", sampling="uniform"),
    "max_gap": BCFW(sampling="max_gap", block_steps=1),
    "auto": BCFW(),
}


def solve(problem, n_jobs, solver=None, regularizer=None, **options):
    """A fit by some workers."""
    regularizer = Regularizer(LAM, problem.n_weights) if regularizer is None else regularizer
    options = {"tol": 1e-3, "max_iter": 30, "random_state": 3} | options
    solver = BCFW() if solver is None else solver
    return solver.solve(problem, regularizer, n_jobs=n_jobs, **options)


def shards(problem, n_jobs=3):
    """How many workers a pool of so many gives; None is no pool."""
    pool = None if n_jobs is None else make_pool(problem, n_jobs)
    return shards_for(problem, pool)


@pytest.fixture
def no_threads(monkeypatch):
    """The system allows no threads: the calling one does all parts."""

    def refuse(**options):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool, "Thread", refuse)


@pytest.mark.parametrize("solver", [*SHARDED, "mpbcfw"])
def test_bits_do_not_depend_on_which_thread_does_a_part(solver, request):
    solver = (SHARDED | SOLVERS)[solver]
    weights = np.random.default_rng(5).uniform(0.2, 2.0, size=40)
    problem = chain_toy(5, n=40, weights=weights).problem
    one, other = solve(problem, 3, solver).w, solve(problem, 2, solver).w
    assert other.tolist() != one.tolist()
    np.testing.assert_array_equal(solve(problem, 1, solver).w, solve(problem, None, solver).w)
    request.getfixturevalue("no_threads")
    np.testing.assert_array_equal(solve(problem, 3, solver).w, one)


def test_every_block_is_visited_once_in_a_pass(no_threads):
    run = start_run(BCFW(), chain_toy(3, n=50), n_jobs=4)
    assert np.isinf(run.gaps).all()
    for _ in range(3):
        before = run.n_oracle_calls
        run.run_pass()
        # as many calls as blocks, and none that was left out
        assert run.n_oracle_calls - before == 50
        assert np.isfinite(run.gaps).all()


def test_a_run_ends_with_its_last_user():
    run = start_run(BCFW(), chain_toy(5, n=24), n_jobs=3)
    run.run_pass()
    threads, gone = run.rounds.thread_pool.threads, weakref.ref(run)
    gc.disable()
    try:
        del run
        assert gone() is None
        for thread in threads:
            thread.join(10)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        gc.enable()


def test_few_blocks_are_for_fewer_workers():
    for n, n_jobs, expected in ((3, 8, 1), (8, 8, 2), (40, 8, 8), (40, None, 1), (40, 1, 1)):
        assert shards(chain_toy(0, n=n).problem, n_jobs) == expected
    rows, many = TOYS["multiclass"](0, n=40), chain_toy(0, n=400, lengths=(1,)).problem
    assert shards(rows.problem, 200) == shards(many, 10**30) == 8
    assert make_pool(many, 10**30).thread_pool.n_workers == 256
    # an average follows one worker
    for solver in (BCFW(steps="fw"), BCFW(averaging=True), MultiPlane()):
        assert len(start_run(solver, rows, n_jobs=3).updates) == 1


@pytest.mark.parametrize("most_compared", [0, 1000])
@pytest.mark.parametrize("boxed", [False, True])
def test_runs_that_take_turns_share_the_weights_of_workers(monkeypatch, boxed, most_compared):
    monkeypatch.setattr(rounds, "MOST_COMPARED", most_compared)
    problems = [chain_toy(seed, n=n).problem for seed, n in ((1, 40), (2, 40), (3, 5))]
    d = problems[0].n_weights
    sides = np.full(d, -0.05), np.full(d, 0.05)
    regularizer = BoxRegularizer(LAM, *sides) if boxed else Regularizer(LAM, d)
    begun = []
    for problem in problems:
        pool, random_state = make_pool(problem, 3), np.random.RandomState(0)
        begun.append(BCFW(averaging=False).start(problem, regularizer, random_state, None, pool))
    first, second, alone = begun
    assert alone.rounds is None

    def shards_of(run):
        return [shard.regularizer for shard in run.rounds.shards]

    for mine, others in zip(shards_of(first), shards_of(second), strict=True):
        assert np.shares_memory(mine.v, others.v)
    for run in (first, alone, second, first, alone, first):
        run.run_pass()
        # the next visits begin with equal weights, whoever has changed them
        run = first if run is not first else second
        run.begin_pass()
        run.visit(1)
        for shard in shards_of(run):
            np.testing.assert_allclose(shard.v, regularizer.v, rtol=0, atol=1e-12)
            np.testing.assert_allclose(shard.w, regularizer.w, rtol=0, atol=1e-12)
    duals = [regularizer.from_prior(np.zeros(len(regularizer.v))) for _ in begun]
    for run, v in zip(begun, duals, strict=True):
        run.dual.add_sum(LAM, v)
    np.testing.assert_allclose(sum(duals)[:d], regularizer.v[:d], atol=1e-12)


def test_workers_share_no_turn_that_is_shorter_than_a_round(monkeypatch):
    monkeypatch.setattr(runs, "LEAST_IN_TURN", 8)
    problems = [chain_toy(seed, n=n).problem for seed, n in ((1, 40), (2, 10))]
    regularizer = Regularizer(LAM, problems[0].n_weights)
    many, few = (
        BCFW(averaging=False).start(
            problem, regularizer, np.random.RandomState(0), None, make_pool(problem, 2)
        )
        for problem in problems
    )
    RunsInTurn([few], 1)
    assert many.rounds is not None and few.rounds is not None
    few.run_pass()
    turns = RunsInTurn([many, few], 4)
    assert many.rounds is not None and few.rounds is None
    assert few.n_oracle_calls == 10
    before = 0.0
    for _ in range(5):
        assert turns.begin_pass() == 50
        turns.visit(50)
        assert turns.increase > before
        before = turns.increase


def alike(n):
    """A problem of blocks that are all alike: of those in flight all take the same step."""
    X, y = sp.csr_array(np.tile([[1.0, 0.5]], (n, 1))), np.ones(n, dtype=np.int32)
    return MulticlassModel(2, 2, False).bind(X, y, np.full(n, 1 / n))


@pytest.mark.parametrize(
    ("most", "enough", "n_rounds"), [(80, 0.0, 5), (1000, 0.0, 4), (80, 0.9, 5)]
)
def test_rounds_keep_their_length_if_merges_may_gain_little(most, enough, n_rounds):
    problem = alike(400)
    pool = make_pool(problem, 4)
    regularizer = Regularizer(0.01, problem.n_weights)
    run = BCFW(stored_passes=0).start(problem, regularizer, np.random.RandomState(0))
    run.rounds = rounds.ShardRounds(
        pool.thread_pool,
        pool.problems,
        run.dual,
        regularizer,
        run.gaps,
        most=most,
        enough=enough,
    )
    run.updates = [
        PlainUpdate(
            shard.problem, run.dual, shard.regularizer, run.averager, run.gaps, run.promises
        )
        for shard in run.rounds.shards
    ]
    for _ in range(20):
        run.run_pass()
    made = run.rounds.n_visits / run.rounds.n_rounds
    assert made == 400 / n_rounds if enough == 0.0 else made < 400 / n_rounds


def test_blocks_that_are_alike_are_not_moved_too_far():
    # of forty of them in flight a twentieth of the step is enough for all
    problem = alike(400)
    regularizer = Regularizer(0.01, problem.n_weights)
    pool = make_pool(problem, 4)
    run = BCFW(averaging=False).start(problem, regularizer, np.random.RandomState(0), None, pool)
    before = 0.0
    for _ in range(20):
        run.run_pass()
        now = np.mean(run.dual.losses()) - 0.005 * np.sum(np.square(run.regularizer.v))
        assert now >= before - 1e-12
        assert run.rounds.increase == pytest.approx(now, abs=1e-10)
        before = now
    # the margin of all is one: ||w||^2 = 1 / ||psi||^2
    assert before == pytest.approx(0.005 / 2.5, rel=1e-3)


@pytest.mark.parametrize(("who", "alone"), [(0, False), (1, False), (2, False), (1, True)])
def test_an_error_of_one_worker_is_raised_and_all_go_on(who, alone, request):
    if alone:
        request.getfixturevalue("no_threads")
    toy = chain_toy(5, n=40)
    problem = UnreliableProblem(toy.problem, 10**9)
    pool = make_pool(problem, 3)

    def start(solver):
        regularizer = toy.regularizer(LAM)
        return solver.start(problem, regularizer, np.random.RandomState(0), None, pool)

    run = start(BCFW(steps="fw", averaging=False))
    run.run_pass()
    pool.problems[who].n_lengths = 2
    with pytest.raises(RuntimeError, match=r"the length of a step of block \d+ is not known"):
        run.run_pass()
    pool.problems[who].n_lengths = -1
    check_dual_point(toy, run.dual, 1e-11)
    # the workers serve the next run
    run = start(BCFW())
    for _ in range(3):
        run.run_pass()
    v, _ = toy.dual_sum(run.dual, LAM)
    np.testing.assert_allclose(toy.flat(np.asarray(run.regularizer.v)[: len(v)]), v, atol=1e-11)
    assert toy.dual(run.dual, LAM) > 0


# ---- every model that takes no lock -------------------------------------------------------------


# A part of what takes the lock takes it in turns.
TURNS = {"graph-cut": LOCKING["graph-cut"]}


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
    # a part of what takes the lock takes it in turns
    for make in TURNS.values():
        assert [shards(make(), n_jobs) for n_jobs in (1, 2, 3, 8)] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("name", "solver"),
    in_turn(LOCK_FREE | EXACT_SLACK | TURNS, ["auto", "plain", "cache", "away"])
    + [(name, "auto") for name in OTHER_SLACK],
)
def test_workers_come_to_the_optimum_and_a_seed_decides(name, solver):
    tol = 0.05 if solver == "plain" else 0.01 if name in OTHER_SLACK else 1e-5
    make = (LOCK_FREE | EXACT_SLACK | OTHER_SLACK | TURNS)[name]
    given = {"tol": tol, "max_iter": 300 if name in OTHER_SLACK else 3000}
    many, again = (
        solve(problem, 3, SHARDED[solver], regularizer_of(problem, name), **given)
        for problem in (make(), make())
    )
    np.testing.assert_array_equal(many.w, again.w)
    assert many.certified and many.dual > 0.0
    if name in OTHER_SLACK:  # what inexact searches miss they bound
        assert many.gap >= many.inexactness - 1e-12
    else:
        assert many.gap <= tol * (many.primal + many.unit / 1000)
