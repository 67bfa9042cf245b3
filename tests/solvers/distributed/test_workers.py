"""Workers that move one dual point: certificates are true, whatever lies where."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.pairwise import every_pair
from helpers.parts import CASES, split
from helpers.workers import LocalWorkers, make_fit
from sklearn.base import clone
from sskit_probes.unreliable import BoundingProblem

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.solvers import BCFW, FrankWolfe
from sskit.solvers.common.solution import Proof, Status
from sskit.solvers.distributed.worker import Worker
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.2
PLAIN = BCFW(averaging=False)


def tasks_of(name, n_parts):
    """Training tasks of the parts of a case, and that of all data."""
    estimator, *data = CASES[name]
    estimator = clone(estimator)
    checked = [estimator._read_data(*part, part=True) for part in split(data, n_parts)]
    agreed = estimator._agree([estimator._summarize(part) for part in checked])
    summary = estimator._summarize_again(
        agreed, lambda f: [estimator._count(part, f) for part in checked]
    )
    summary = estimator._with_columns(summary)
    tasks = [estimator._bind_scaled(part, summary) for part in checked]
    return tasks, estimator._make_task(*data)


def regularizer_of(task, lam=LAM, half_width=None):
    """A regularizer, with the box of the layout or one around zero."""
    box, n_weights = task.layout.bounds(None), task.layout.n_weights
    if half_width is not None:
        box = np.full(n_weights, -half_width), np.full(n_weights, half_width)
    return Regularizer(lam, n_weights) if box is None else BoxRegularizer(lam, *box)


def make_run(tasks, owners, solver=PLAIN, half_width=None, keeps=True):
    """A fit to parts that belong to workers by number."""
    workers = LocalWorkers(
        [task.problem for task in tasks],
        owners,
        solver,
        lambda: regularizer_of(tasks[0], LAM, half_width),
        keeps,
    )
    return make_fit(workers)


def optimum_of(task, half_width=None):
    """A tight solution for all data."""
    return BCFW().solve(
        task.problem, regularizer_of(task, LAM, half_width), tol=1e-4, max_iter=20000
    )


def assert_true(solution, task, half_width=None):
    """The certificate is what a slow look at all data finds."""
    regularizer = regularizer_of(task, LAM, half_width)
    hinges = make_pool(task.problem).hinges(regularizer.padded(solution.w))
    primal = regularizer.primal(solution.w, float(np.dot(task.problem.block_weight, hinges)))
    if solution.inexactness:  # what the oracle finds is a lower bound, what is said an upper one
        assert primal <= solution.primal * (1 + 1e-9)
    else:
        assert solution.primal == pytest.approx(primal, rel=1e-9)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, rel=1e-6, abs=1e-12)
    best = optimum_of(task, half_width)
    assert solution.dual <= best.primal * (1 + 1e-9)
    assert best.dual <= solution.primal * (1 + 1e-9)


OWNERS = {"one": (0,) * 5, "two": (0, 1, 1, 0, 1), "each": (0, 1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("name", "owners"), in_turn([name for name in CASES if name != "tiny weights"], OWNERS)
)
def test_certificates_of_all_models(name, owners):
    tasks, whole = tasks_of(name, 5)
    driver = make_run(tasks, OWNERS[owners])
    status = driver.reach(0.02, max_iter=3000)
    assert status is Status.CONVERGED
    assert_true(driver.solution(status), whole)


class Watched(Worker):
    """Counts how many of its parts are in memory, or are being loaded."""

    most = 0

    def in_turn(self, groups):
        for parts in super().in_turn(groups):
            held = [part for part in self.parts.values() if part.fit or part.coming]
            self.most = max(self.most, len(held))
            yield parts


def test_of_parts_that_pass_four_are_visited_while_four_are_loaded():
    problems = [task.problem for task in tasks_of("sequences", 5)[0]] * 4
    workers = LocalWorkers(
        problems, [0] * 20, PLAIN, lambda: Regularizer(LAM, problems[0].n_weights), False, Watched
    )
    driver = make_fit(workers)
    (worker,) = workers.workers
    assert worker.most == 2  # the beginning looks at one at a time
    n_calls = driver.run.n_calls
    driver.run.run_pass()
    assert worker.most == 8
    assert driver.run.n_calls - n_calls == sum(problem.n_blocks for problem in problems)


SOLVERS = {
    "plain": BCFW(steps="fw", averaging=False),
    "away": BCFW(steps="away", averaging=False, stored_passes=10),
    "gap": BCFW(sampling="gap", cache=True, averaging=False),
    "batch": FrankWolfe(),
}


@every_pair(name=SOLVERS, owners=OWNERS, half_width=[None, 0.2])
def test_certificates_of_all_solvers(name, owners, half_width):
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS[owners], SOLVERS[name], half_width)
    status = driver.reach(0.05, max_iter=3000)
    assert status is Status.CONVERGED
    assert_true(driver.solution(status), whole, half_width)


@pytest.mark.parametrize("half_width", [None, 0.2])
@pytest.mark.parametrize("owners", OWNERS)
def test_the_dual_sum_is_that_of_the_dual_variables_after_every_round(owners, half_width):
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS[owners], PLAIN, half_width)
    for _ in range(6):
        driver.run.run_pass()
        by_rounds, value = driver.run.weights(), driver.run.dual_value
        certificate = driver.run.certify(None)
        np.testing.assert_allclose(driver.run.weights(), by_rounds, rtol=1e-9, atol=1e-12)
        assert certificate.dual == pytest.approx(value, rel=1e-9, abs=1e-12)
        assert certificate.gap >= 0.0


def test_without_extrapolation_the_dual_objective_never_falls():
    tasks, _ = tasks_of("sequences", 5)
    run = make_run(tasks, OWNERS["each"]).run
    values = []
    for _ in range(30):
        run.extrapolation = 0.0
        run.run_pass()
        values.append(run.dual_value)
    assert (np.diff(values) >= -1e-12).all()


def test_extrapolation_begins_anew_where_the_dual_objective_falls():
    tasks, _ = tasks_of("rows", 5)
    run = make_run(tasks, OWNERS["each"]).run
    fell = 0
    for _ in range(200):
        before = run.dual_value
        run.run_pass()
        if run.dual_value < before:
            fell += 1
            assert run.extrapolation == 0.0 and run.momentum == 1.0
    assert fell


@pytest.mark.parametrize("keeps", [True, False])
def test_parts_go_on_from_dual_points(keeps):
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS["one"], keeps=keeps)
    driver.reach(0.05, max_iter=3000)
    points = driver.run.workers.save()
    assert sorted(points) == list(range(5))
    again = make_run(tasks, OWNERS["two"])
    for worker in again.run.workers.workers:
        for number, part in worker.parts.items():
            part.fit, part.point = None, points[number]
    again.run.begin()
    certificate = again.certify()
    assert certificate.dual == pytest.approx(driver.certificate.dual, rel=1e-9)
    assert_true(again.solution(Status.CONVERGED), whole)


def test_a_part_that_passes_keeps_its_planes_with_weight_only():
    tasks, _ = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS["one"], keeps=False)
    for _ in range(3):
        driver.run.run_pass()
    for part in driver.run.workers.workers[0].parts.values():
        assert part.fit is None
        blocks = part.save().blocks
        merged = np.cumsum(blocks["n_planes"]) - blocks["n_planes"]
        assert (np.delete(blocks["weight"], merged) > 0.0).all()


class Bounding:
    """A task whose oracle misses the maximum and bounds it."""

    def __init__(self, task, extra=0.01, bounds=True):
        self.layout = task.layout
        self.problem = BoundingProblem(task.problem, extra=extra, bounds=bounds)


@pytest.mark.parametrize("half_width", [None, 0.2])
@pytest.mark.parametrize(("owners", "keeps"), [("one", False), *((name, True) for name in OWNERS)])
def test_what_the_oracles_of_all_parts_may_have_missed_is_added_up(owners, half_width, keeps):
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run([*map(Bounding, tasks)], OWNERS[owners], PLAIN, half_width, keeps)
    assert driver.proof is Proof.BOUND
    status = driver.reach(0.05, max_iter=3000)
    assert status is Status.CONVERGED
    solution = driver.solution(status)
    assert solution.certified
    regularizer = regularizer_of(whole, LAM, half_width)
    hinges = make_pool(whole.problem).hinges(regularizer.padded(solution.w))
    primal = regularizer.primal(solution.w, float(np.dot(whole.problem.block_weight, hinges)))
    best = optimum_of(whole, half_width)
    assert solution.dual <= best.primal * (1 + 1e-9)
    assert solution.primal >= primal - 1e-9
    assert solution.primal - solution.inexactness <= primal + 1e-9
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-9)
    assert solution.inexactness >= 0.005
    assert solution.history["inexactness"][-1] == solution.inexactness


def test_parts_prove_together_what_the_weakest_proves():
    (first, *tasks), _ = tasks_of("sequences", 4)
    for more, proof in [
        ([], Proof.MAXIMUM),
        ([Bounding(first)], Proof.BOUND),
        ([Bounding(first), Bounding(first, bounds=False)], Proof.NOTHING),
    ]:
        driver = make_run([*tasks, *more], (0,) * (len(tasks) + len(more)))
        (worker,) = driver.run.workers.workers
        assert worker.begin(1)[:2] == (pytest.approx(driver.unit), proof)
