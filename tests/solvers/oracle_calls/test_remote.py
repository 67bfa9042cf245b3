"""Oracles of other processes have the answers of one process, to the last bit."""

import time

import numpy as np
import pytest
from helpers.others import Others
from helpers.parts import CASES
from helpers.places import tasks_of
from helpers.structures import Signs, bind, late_errors
from helpers.toys import chain_toy
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.core.stop import CutShort, Stop
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.solvers.block_coordinate.runs import RunsInTurn, make_pass
from sskit.solvers.oracle_calls.pool import Pool, RemotePool

SOLVERS = {
    "pairwise": BCFW(batch_size=6, averaging=False),
    "plain": BCFW(steps="fw", batch_size=7, averaging=False),
    "averaged": BCFW(steps="fw", batch_size=7),
    "multi_plane": MultiPlane(batch_size=20),
    "all at once": FrankWolfe(),
}


def problem_of(name):
    """The problem of a case, made anew."""
    ((task,), _) = tasks_of(name, 1)
    return task.problem, task.layout.bounds(None)


def asking(problem, others, n_jobs=None):
    """A pool that always asks others."""
    pool = RemotePool(problem, 1, others, n_jobs)
    pool.least_pause = 0
    return pool


def passes(name, solver, others=None, n_passes=4, n_jobs=None):
    """Weights after some passes, and what an exact pass then finds."""
    problem, box = problem_of(name)
    regularizer = Regularizer(0.1, problem.n_weights) if box is None else BoxRegularizer(0.1, *box)
    pool = Pool(problem) if others is None else asking(problem, others, n_jobs)
    gaps = np.asarray(problem.block_weight) * pool.hinges(
        regularizer.padded(np.zeros(problem.n_weights))
    )
    run = solver.start(problem, regularizer, np.random.RandomState(0), gaps, pool)
    for _ in range(n_passes):
        run.run_pass()
    answers = pool.evaluate(regularizer.w, run.dual)
    numbers = [answers.hinges(), answers.gaps(), answers.excesses()]
    return regularizer.coef(), *map(np.array, numbers), pool.n_queries(run.n_oracle_calls)


def assert_same(name, found, expected):
    """All numbers are the same, or where searches end at a tolerance, hinges as far as known.

    A search under slack rescaling begins with the last answer of the block, which another process
    may have found.
    """
    if CASES[name][0].get_params().get("rescaling") != "slack":
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        return
    problem, _ = problem_of(name)
    w = Regularizer(0.1, problem.n_weights).padded(expected[0])
    pools = Pool(problem), asking(problem, Others([problem_of(name)[0]]))
    (low, high), (least, most) = (
        (answers.hinges(), answers.hinges() + answers.excesses())
        for answers in (pool.evaluate(w) for pool in pools)
    )
    assert (low <= most + 1e-9).all() and (least <= high + 1e-9).all()


@pytest.mark.parametrize("name", [name for name in CASES if name != "tiny weights"])
def test_models(name):
    others = Others([problem_of(name)[0] for _ in range(2)])
    solver = SOLVERS["pairwise"]
    assert_same(name, passes(name, solver, others), passes(name, solver))
    assert others.n_asked


@pytest.mark.parametrize("lost", [(), (1,), (0, 1, 2)])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["sequences", "object", "sparse rows", "graphs"])
def test_solvers_and_losses(name, solver, lost):
    others = Others([problem_of(name)[0] for _ in range(3)], lost)
    found = passes(name, SOLVERS[solver], others, n_jobs=2)
    assert_same(name, found, passes(name, SOLVERS[solver]))


def test_batches_are_whole_where_parts_take_turns():
    """Those of the largest of some parts; one with few pairs does not make them shorter."""

    class Counting(Others):
        def ask(self, k, blocks, *question):
            n_asked.append(len(blocks))
            return super().ask(k, blocks, *question)

    n_asked = []
    toys, copies = ([chain_toy(k, n=n) for k, n in enumerate((48, 48, 3))] for _ in range(2))
    solver = BCFW(batch_size=8, averaging=False, sampling="permutation", stored_passes=0)
    regularizer, runs = Regularizer(0.1, toys[0].problem.n_weights), []
    for toy, copy in zip(toys, copies, strict=True):
        pool = asking(toy.problem, Counting([copy.problem]))
        given = np.random.RandomState(0), None, pool
        runs.append(solver.start(toy.problem, regularizer, *given))
    turns = RunsInTurn(runs, 64)
    assert turns.n_turns == 6
    make_pass(turns)
    # half of eight pairs each, of twelve batches; three single pairs are not divided
    assert n_asked == [4] * 12
    alone = [BCFW(averaging=False).start(toy.problem, regularizer, given[0]) for toy in toys]
    assert RunsInTurn(alone, 64).n_turns == 64


def test_more_processes_than_questions():
    others = Others([problem_of("sequences")[0] for _ in range(40)])
    found = passes("sequences", SOLVERS["pairwise"], others)
    assert_same("sequences", found, passes("sequences", SOLVERS["pairwise"]))


class Late(Others):
    def answer(self, asked, stop):
        time.sleep(1e-3)
        return super().answer(asked, stop)


def test_others_are_asked_less_where_that_does_not_pay():
    (problem, _), others = problem_of("sequences"), Late([problem_of("sequences")[0]])
    pool, w = RemotePool(problem, 1, others, None), Regularizer(0.1, problem.n_weights).w
    expected = Pool(problem).hinges(w)
    # pauses of 2, 4, 8, 16, 32 questions
    for _ in range(60):
        np.testing.assert_array_equal(pool.hinges(w), expected)
    assert others.n_asked == 5


def test_others_are_always_asked_if_answers_depend_on_who_gives_them():
    problem, copy = (UnreliableProblem(problem_of("sequences")[0], 0) for _ in range(2))
    others = Late([copy])
    pool = RemotePool(problem, 1, others, None)
    assert not problem.exact
    for _ in range(20):
        pool.hinges(Regularizer(0.1, problem.n_weights).w)
    assert others.n_asked == 20


def test_planes_of_others_are_dropped_with_the_pool():
    problem, _ = problem_of("object")
    pool = asking(problem, Others([problem_of("object")[0]]))
    regularizer = Regularizer(0.1, problem.n_weights)
    run = SOLVERS["pairwise"].start(problem, regularizer, np.random.RandomState(0), None, pool)
    run.run_pass()
    held = problem.plane_store.n_planes
    del run, pool
    assert problem.plane_store.n_planes < held


def test_errors_are_those_of_one_process():
    wrong, regularizer = set(), Regularizer(0.1, 2)
    X, Y = [np.array([1.0, k]) for k in range(20)], [1] * 20
    problem, *copies = [bind(Signs({"argmax": late_errors(wrong)}), X, Y) for _ in range(3)]

    class Failing(Others):
        def answer(self, asked, stop):
            try:
                return super().answer(asked, stop)
            except (ValueError, RuntimeError):
                return None

    pool = asking(problem, Failing(copies))
    w = regularizer.padded(np.zeros(2))
    for i in (0, 9, 19):
        wrong.add(i)
        with pytest.raises((ValueError, RuntimeError)) as caught:
            pool.hinges(w)
        told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
        assert f"raised by argmax of Signs for sample {i}" in told
        wrong.clear()
    np.testing.assert_array_equal(pool.hinges(w), np.ones(20))


def test_answers_that_are_no_labellings():
    problem, _ = problem_of("sequences")

    class Wrong(Others):
        def answer(self, asked, stop):
            *found, codes, n_queries = super().answer(asked, stop)
            return *found, codes + 100, n_queries

    pool = RemotePool(problem, 1, Wrong([problem_of("sequences")[0]]), None)
    regularizer = Regularizer(0.1, problem.n_weights)
    run = SOLVERS["pairwise"].start(problem, regularizer, np.random.RandomState(0), None, pool)
    with pytest.raises(ValueError, match="what is no labelling of block"):
        run.run_pass()


def test_a_stop_ends_the_wait():
    problem, _ = problem_of("sequences")

    class Slow(Others):
        def answer(self, asked, stop):
            stop.request(3)

    stop = Stop()
    with stop:
        pool = RemotePool(problem, 1, Slow([problem_of("sequences")[0]]), None, stop=stop)
        stop.begin_certificate()
        with pytest.raises(CutShort, match="cut short after"):
            pool.hinges(Regularizer(0.1, problem.n_weights).w)
