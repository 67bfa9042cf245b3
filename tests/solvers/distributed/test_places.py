"""Places that change one dual point: certificates are true, whatever lies where."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.pairwise import every_pair
from helpers.parts import CASES
from helpers.places import ManyPlaces, make_fit, tasks_of
from helpers.solvers import SOLVERS
from sskit_probes.unreliable import BoundingProblem

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.solvers import BCFW
from sskit.solvers.common.solution import Proof, Status
from sskit.solvers.distributed.local import LocalDual
from sskit.solvers.distributed.run import PartsLost
from sskit.solvers.oracle_calls.pool import Answers, Pool

LAM = 0.2
PLAIN = BCFW(averaging=False)


def regularizer_of(task, half_width=None):
    """A regularizer, with the box of the layout or one around zero."""
    box, n_weights = task.layout.bounds(None), task.layout.n_weights
    if half_width is not None:
        box = np.full(n_weights, -half_width), np.full(n_weights, half_width)
    return Regularizer(LAM, n_weights) if box is None else BoxRegularizer(LAM, *box)


def make_run(tasks, owners, solver=PLAIN, half_width=None, keeps=True):
    """A fit to parts that belong to places by number."""
    problems = [task.problem for task in tasks]
    make_regularizer = partial(regularizer_of, tasks[0], half_width)
    return make_fit(ManyPlaces(problems, owners, solver, make_regularizer, keeps))


def assert_true(solution, task, half_width=None):
    """The certificate is what a slow pass over all data finds."""
    regularizer, answers = regularizer_of(task, half_width), Answers(Pool(task.problem))
    answers.evaluate(regularizer.padded(solution.w))
    mean, missed = (task.problem.block_weight @ n for n in (answers.hinges(), answers.excesses()))
    primal = regularizer.primal(solution.w, float(mean))
    if solution.inexactness:  # what the oracle finds is a lower bound, what is said an upper one
        assert primal - 1e-9 <= solution.primal * (1 + 1e-9)
        assert solution.primal - solution.inexactness <= primal + missed + 1e-9
    else:
        assert solution.primal == pytest.approx(primal, rel=1e-9)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, rel=1e-6, abs=1e-12)
    best = BCFW().solve(task.problem, regularizer_of(task, half_width), tol=1e-4, max_iter=20000)
    assert solution.dual <= best.primal * (1 + 1e-9)
    assert best.dual <= solution.primal * (1 + 1e-9)


def check_fit(driver, whole, half_width=None, tol=0.05):
    """A fit ends with a true certificate; return its solution."""
    status = driver.reach(tol, max_iter=3000)
    assert status is Status.CONVERGED
    solution = driver.solution(status)
    assert_true(solution, whole, half_width)
    return solution


OWNERS = {"one": (0,) * 5, "two": (0, 1, 1, 0, 1), "each": (0, 1, 2, 3, 4)}
NAMES = ("plain", "pairwise", "cache", "fw", "mpbcfw", "pairwise, batches")
SOLVERS = {name: SOLVERS[name] for name in NAMES} | {
    "away": BCFW(steps="away", averaging=False, stored_passes=10)
}


@pytest.mark.parametrize(
    ("name", "owners"), in_turn([name for name in CASES if name != "tiny weights"], OWNERS)
)
def test_certificates_of_all_models(name, owners):
    tasks, whole = tasks_of(name, 5)
    check_fit(make_run(tasks, OWNERS[owners]), whole, tol=0.02)


@every_pair(name=SOLVERS, owners=OWNERS, half_width=[None, 0.2])
def test_certificates_of_all_solvers(name, owners, half_width):
    """The dual sum is that of the dual variables after every round."""
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS[owners], SOLVERS[name], half_width)
    for _ in range(6):
        driver.run.run_pass()
        by_rounds, value = driver.run.weights(), driver.run.dual_value
        certificate = driver.run.certify(None)
        np.testing.assert_allclose(driver.run.weights(), by_rounds, rtol=1e-9, atol=1e-12)
        assert certificate.dual == pytest.approx(value, rel=1e-9, abs=1e-12)
        assert certificate.gap >= 0.0
    check_fit(driver, whole, half_width)


class Watched(LocalDual):
    """Counts how many of its parts are in memory, or are being loaded."""

    most = 0

    def in_turn(self, groups):
        for parts in super().in_turn(groups):
            held = [part for part in self.parts.values() if part.fit or part.coming]
            self.most = max(self.most, len(held))
            yield parts


def test_of_parts_that_pass_four_are_visited_while_four_are_loaded():
    problems = [task.problem for task in tasks_of("sequences", 5)[0]] * 4
    make_regularizer = partial(Regularizer, LAM, problems[0].n_weights)
    places = ManyPlaces(problems, [0] * 20, PLAIN, make_regularizer, False, Watched)
    driver = make_fit(places)
    (place,) = places.places
    assert place.most == 2  # the beginning reads one at a time
    n_calls = driver.run.n_calls
    driver.run.run_pass()
    assert place.most == 8
    assert driver.run.n_calls - n_calls == sum(problem.n_blocks for problem in problems)


def test_extrapolation_begins_anew_where_the_dual_objective_falls():
    run, fell = make_run(tasks_of("rows", 5)[0], OWNERS["each"]).run, 0
    for _ in range(200):
        before = run.dual_value
        run.run_pass()
        if run.dual_value < before:
            fell += 1
            assert run.extrapolation == 0.0 and run.momentum == 1.0
    assert fell


@pytest.mark.parametrize("keeps", [True, False])
def test_parts_go_on_from_dual_points(keeps):
    """Those that pass keep planes with weight only."""
    tasks, whole = tasks_of("sequences", 5)
    driver = make_run(tasks, OWNERS["one"], keeps=keeps)
    driver.reach(0.05, max_iter=3000)
    points = driver.run.places.save()
    assert sorted(points) == list(range(5))
    for point in points.values() if not keeps else ():
        merged = np.cumsum(point.blocks["n_planes"]) - point.blocks["n_planes"]
        assert (np.delete(point.blocks["weight"], merged) > 0.0).all()
    again = make_run(tasks, OWNERS["two"])
    for place in again.run.places.places:
        for number, part in place.parts.items():
            part.fit, part.point = None, points[number]
    again.run.begin()
    certificate = again.certify()
    assert certificate.dual == pytest.approx(driver.certificate.dual, rel=1e-9)
    assert_true(again.solution(Status.CONVERGED), whole)


def bounding(task, bounds=True):
    """A task whose oracle misses the maximum and bounds it."""
    problem = BoundingProblem(task.problem, extra=0.01, bounds=bounds)
    return SimpleNamespace(layout=task.layout, problem=problem)


@pytest.mark.parametrize(
    ("owners", "keeps", "half_width"),
    [("one", False, None), ("one", True, 0.2), ("two", True, None), ("each", True, 0.2)],
)
def test_what_the_oracles_of_all_parts_may_have_missed_is_added_up(owners, keeps, half_width):
    tasks, whole = tasks_of("sequences", 5)
    # together they prove what the weakest proves
    some = [*tasks[:3], bounding(tasks[3]), bounding(tasks[4], bounds=False)]
    for n, proof in ((3, Proof.MAXIMUM), (4, Proof.BOUND), (5, Proof.NOTHING)):
        assert make_run(some[:n], OWNERS[owners][:n]).proof is proof
    driver = make_run([*map(bounding, tasks)], OWNERS[owners], PLAIN, half_width, keeps)
    assert driver.proof is Proof.BOUND
    solution = check_fit(driver, whole, half_width)
    assert solution.certified and solution.inexactness >= 0.005
    assert solution.history["inexactness"][-1] == solution.inexactness


# ---- parts that are lost ------------------------------------------------------------------------


class Mortal(LocalDual):
    """It may be lost whenever something is asked of it."""

    clock = None

    def __getattribute__(self, name):
        if name in ("visit", "evaluate", "follow", "begin", "sum"):
            object.__getattribute__(self, "clock").tick(self)
        return super().__getattribute__(name)


class MortalPlaces(ManyPlaces):
    """Places of which one is lost at some moments; its parts go to another, or to a new one."""

    def __init__(self, tasks, owners, joins):
        self.joins, self.fatal, self.moment, self.lost = joins, (), 0, None
        problems = [task.problem for task in tasks]
        make_regularizer = partial(regularizer_of, tasks[0])
        super().__init__(problems, owners, PLAIN, make_regularizer, kind=Mortal)

    def tick(self, place):
        """Count what is asked of all places."""
        self.moment += 1
        if self.moment in self.fatal:
            self.lost = place
            raise PartsLost(f"at moment {self.moment}")

    def make_place(self, numbers):
        place = super().make_place(numbers)
        place.clock = self
        return place

    def begin(self):
        """As on a cluster: parts that were put somewhere stay there if that is interrupted."""
        lost = self.lost
        if lost in self.places:
            numbers, at = list(lost.parts), self.places.index(lost)
            self.n_lost += len(numbers)
            self.places.remove(lost)
            if self.joins and self.places:
                first = self.places[0]
                first.parts |= self.make_parts(numbers, first.regularizer)
            else:
                self.places.insert(at, self.make_place(numbers))
        return super().begin()


def mortal_fit(tasks, owners, fatal=(), joins=True):
    """A fit that loses places at some moments; its solution, run, and moments."""
    places = MortalPlaces(tasks, owners, joins)
    driver = make_fit(places, gap_every=5)
    places.fatal, places.moment = fatal, 0
    assert driver.reach(0.05, max_iter=5000) is Status.CONVERGED
    return driver.solution(Status.CONVERGED), driver.run, places.moment


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("owners", [[0, 1, 0, 1], [0, 1, 2, 2], [0, 0, 0, 0]])
def test_a_place_is_lost_at_any_moment(owners, joins):
    """The fit goes on, and its certificate is true."""
    parts, whole = tasks_of("rows with weights", 4)
    _, _, n_moments = mortal_fit(parts, owners, joins=joins)
    # the first rounds and the last ones, and some of those between
    first, last = range(1, min(11, n_moments + 1)), range(max(n_moments - 5, 1), n_moments + 1)
    for moment in sorted({*first, *range(11, n_moments, 29), *last}):
        # in turn alone, and with a second one that is lost while the first one is replaced
        fatal = {moment} if moment % 2 == joins else {moment, moment + 1 + moment % 5}
        solution, run, _ = mortal_fit(parts, owners, fatal, joins)
        assert_true(solution, whole)
        assert solution.certified and run.places.n_lost > 0
        # what is lost after the last round is in no row
        assert run.record.history()["n_lost"].sum() in (run.places.n_lost, run.record.n_lost)
        assert np.all(np.diff(solution.history["n_oracle_calls"]) >= 0)
