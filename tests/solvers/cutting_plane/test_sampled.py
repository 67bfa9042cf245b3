"""Cutting planes from samples: laws of the cuts, of their runs, and where they lead."""

import functools

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.kernels import KernelToy, linear_weights
from helpers.laws import LAM, binding_box, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, TOYS, chain_toy, multiclass_toy
from sklearn.metrics.pairwise import rbf_kernel

from sskit import SequenceTagger, StructSVMClassifier
from sskit.models.kernel.functions import Kernel
from sskit.solvers import CuttingPlane
from sskit.solvers.common.solution import Status, Tolerance
from sskit.solvers.cutting_plane.one_slack import exact_cut, linear_cut
from sskit.solvers.oracle_calls.pool import Answers, Pool

KINDS = ["linear", "constant"]
SPACES = {"chain": chain_toy, "multiclass": multiclass_toy}
WEIGHTS = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 3.0])


def solve(toy, cuts, lam=0.1, box=None, *, cut_size=None, tol=1e-2, max_iter=2000, **options):
    solver = CuttingPlane(cuts=cuts, **({} if cut_size is None else {"cut_size": cut_size}))
    return solve_toy(solver, toy, lam, box, tol=tol, max_iter=max_iter, **options)


def cut_at(problem, padded):
    answers = Answers(Pool(problem), planes=True)
    return exact_cut(answers, padded, problem.block_weight)


def sampled_cut(problem, padded, level, size, random_state):
    weight = np.asarray(problem.block_weight)
    answers = Answers(Pool(problem), planes=True)
    return linear_cut(answers, padded, weight, level, size, random_state)


def run_of(space, n_passes, **options):
    """A run by constant cuts, after some passes."""
    return start_run(CuttingPlane(cuts="constant", **options), space, LAM, n_passes=n_passes)


@pytest.fixture
def exact_programs(monkeypatch):
    """Programs that are solved as well as rounding allows, so that it decides nothing else."""
    monkeypatch.setattr("sskit.solvers.cutting_plane.one_slack.ACCURACY", 1e-10)
    monkeypatch.setattr("sskit.solvers.cutting_plane.sampled.ACCURACY", 1e-10)


# ---- cuts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TOYS)
def test_a_linear_cut_has_the_exact_loss_and_on_average_the_exact_gradient(name):
    toy, rng = TOYS[name](73, n=6, weights=WEIGHTS), np.random.default_rng(0)
    random_state = np.random.RandomState(0)
    for scale in (0.0, 0.1, 1.0):
        w = toy.unflat(rng.normal(scale=scale, size=toy.pairs.d))
        padded = toy.regularizer(LAM).padded(w)
        exact = cut_at(toy.problem, padded).cut
        found = [sampled_cut(toy.problem, padded, -np.inf, 40, random_state) for _ in range(100)]
        for hinge, cut, excess in found:
            assert excess == 0.0
            assert hinge == pytest.approx(exact.bound(w), abs=1e-12)
            assert cut.loss == pytest.approx(exact.loss, abs=1e-12)
        vectors = np.array([cut.vector for _, cut, _ in found])
        deviation = vectors.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(vectors.mean(axis=0) - exact.vector) <= 5 * deviation + 1e-9).all()


def test_a_linear_cut_is_drawn_until_it_stands_out():
    toy = chain_toy(73, n=6)
    w = toy.unflat(np.random.default_rng(0).normal(scale=0.3, size=toy.pairs.d))
    padded = toy.regularizer(LAM).padded(w)
    hinge = cut_at(toy.problem, padded).cut.bound(w)
    low = high = 0
    for seed in range(30):
        draws = 3, np.random.RandomState(seed)
        low += sampled_cut(toy.problem, padded, -np.inf, *draws).cut.bound(w) <= hinge
        # at most one draw in two is needed, so that 100 are plenty
        found = sampled_cut(toy.problem, padded, hinge - 1e-9, *draws)
        assert found.cut.bound(w) > hinge - 1e-9
        # the exact one is not that high: any sample will do
        high += sampled_cut(toy.problem, padded, hinge + 1e-9, *draws).cut.bound(w) > hinge
    assert 0 < low < 30 and 0 < high < 30


# ---- where they lead -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cuts", "bounded"),
    [(*case, False) for case in in_turn(TOYS, KINDS)] + [("chain", cuts, True) for cuts in KINDS],
)
def test_large_samples_come_near_the_optimum(name, cuts, bounded):
    toy = TOYS[name](71, n=6, weights=WEIGHTS)
    box = binding_box(toy.pairs.d) if bounded else None
    _, optimum = solve_primal(toy.pairs, 0.3, box)
    solution = solve(toy, cuts, 0.3, box, cut_size=20_000, tol=5e-3)
    assert solution.status is Status.CONVERGED
    assert not solution.certified
    w = toy.flat(solution.w)
    primal = toy.pairs.primal(w, 0.3)
    assert box is None or ((w >= box[0]) & (w <= box[1])).all()
    assert optimum - 1e-9 <= primal <= optimum + 0.04 * solution.unit
    assert solution.dual == pytest.approx(optimum, abs=0.04 * solution.unit)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-12)
    assert solution.gap <= 5e-3 * solution.unit
    close = 1e-10 if cuts == "linear" else 0.02 * solution.unit
    assert solution.primal == pytest.approx(primal, abs=close)


@pytest.mark.parametrize("cuts", KINDS)
def test_mistakes_that_cost_nothing(cuts):
    """Pairs without any loss have a hinge as soon as w prefers another answer to the truth."""
    rng = np.random.default_rng(0)
    y = [np.zeros(2, dtype=int) if i % 2 else rng.integers(1, 3, size=2) for i in range(20)]
    X = [0.5 * np.eye(3)[labels] + rng.normal(size=(2, 3)) for labels in y]
    params = {"lam": 0.1, "class_weight": {0: 0.0, 1: 1.0, 2: 1.0}, "random_state": 0}
    exact = SequenceTagger(tol=1e-3, **params).fit(X, y)
    solver = CuttingPlane(cuts=cuts, cut_size=5000)
    model = SequenceTagger(solver=solver, tol=1e-2, **params).fit(X, y)
    assert model.primal_objective_ == pytest.approx(exact.primal_objective_, rel=0.05)
    assert model.dual_objective_ == pytest.approx(exact.dual_objective_, rel=0.05)


# ---- kernel spaces ---------------------------------------------------------------------------


RBF, LINEAR = Kernel("rbf", gamma=0.3), Kernel("linear")


def space_of(name, n=8, kernel=RBF, **options):
    """Functions of a kernel space, or vectors."""
    toy = SPACES.get(name, multiclass_toy)(5, n=n, **options)
    return toy if name == "vectors" else KernelToy(name, toy, kernel)


def completed(space, w):
    """The weights, with the values that their coefficients say if they have some."""
    return space.completed(w) if isinstance(space, KernelToy) else w


@every_pair(name=SPACES, form=FORMS, cuts=KINDS)
@pytest.mark.usefixtures("exact_programs")
def test_the_linear_kernel_is_the_linear_model(name, form, cuts):
    toy = SPACES[name](5, n=8, weights=np.arange(1.0, 9.0))
    space = KernelToy(name, toy, LINEAR, form=form)
    options = {"cut_size": 30, "tol": 0.0, "max_iter": 12, "random_state": 1}
    plain, found = (solve(t, cuts, **options) for t in (toy, space))
    close = functools.partial(pytest.approx, abs=1e-8)
    assert (plain.primal, plain.dual, plain.gap) == close((found.primal, found.dual, found.gap))
    assert plain.n_oracle_calls == found.n_oracle_calls
    w = linear_weights(space.layout, space.problem, found.w, toy)
    np.testing.assert_allclose(w, toy.flat(plain.w), atol=1e-6)


def test_nobody_else_is_looked_at():
    """Neither the oracles nor, in constant time, the kernels of those that are not drawn."""
    shapes = []

    def rbf(A, B):
        shapes.append((A.shape[0], B.shape[0]))
        return rbf_kernel(A, B, gamma=0.3)

    def fit(n, cuts, size, max_iter):
        space = KernelToy("multiclass", multiclass_toy(0, n=n), Kernel(rbf), n_bytes=4 * 8 * n)
        shapes.clear()
        return solve(space, cuts, cut_size=size, max_iter=max_iter, tol=0)

    solution = fit(400, "constant", 10, 5)
    assert solution.n_iter == 5
    # at w and at the average
    assert solution.n_oracle_calls <= 2 * 50
    assert max(min(shape) for shape in shapes) <= 10
    assert max(max(shape) for shape in shapes) <= 40
    # the coefficients are those of the draws
    assert np.count_nonzero(solution.w) <= 2 * 50 + 3
    fit(100, "linear", 7, 6)
    assert sum(a * b for a, b in shapes) <= 6 * (7 * 100 + 7 * 7)


# ---- runs ------------------------------------------------------------------------------------


def test_patience():
    """The objective is a mean over so many samples; of the first ones the largest loss is taken."""
    solver = CuttingPlane(cuts="constant", cut_size=60, patience=3)
    run = start_run(solver, multiclass_toy(3, n=30), 0.3)
    run.tolerance, seen = Tolerance(0.1), [run.unit] * 3
    for _ in range(10):
        goal, n_cuts = run.goal, run.program.n_cuts
        assert goal == pytest.approx(run.lower_bound() / 9)
        # cuts that are not violated stay out
        violated = run.run_pass() > goal
        assert run.program.n_cuts == n_cuts + violated
        seen.append(run.primals[-1][0])
        certificate = run.certify(None)
        assert certificate.primal == pytest.approx(np.mean(seen[-3:]), abs=1e-12)
        assert certificate.gap == certificate.primal - run.bound


@pytest.mark.parametrize("name", [*SPACES, "vectors"])
def test_the_average_weighs_solutions_by_their_number(name):
    space = space_of(name)
    run, points = run_of(space, 0, cut_size=6), []
    for _ in range(15):
        run.run_pass()
        average, run.program.average = run.program.average, run.program.weight
        points.append(run.weights())
        run.program.average = average
    weight, average = np.arange(1.0, 16.0), run.weights()
    np.testing.assert_allclose(average, weight @ points / weight.sum(), atol=1e-12)
    completed(space, average)
    square = average @ space.problem.space.covector(average)
    assert run.program.sqnorm(run.program.average) == pytest.approx(square, abs=1e-12)


@pytest.mark.parametrize("name", [*SPACES, "vectors"])
def test_a_sample_of_everything_is_exact(name):
    """Cut, hinge, and the objective at the average are those of all training pairs."""
    space = space_of(name, weights=np.arange(1.0, 9.0))
    run, problem = run_of(space, 6, cut_size=5), space.problem
    finding, primal, _ = run.at(np.arange(8), np.asarray(problem.block_weight))
    points = [completed(space, run.weights())]
    run.program.average = run.program.weight
    points.append(completed(space, run.weights()))
    regularizer = space.regularizer(0.1)
    other, exact = (cut_at(problem, regularizer.padded(w)) for w in points)
    assert finding.hinge == pytest.approx(exact.hinge, abs=1e-12)
    assert finding.cut.loss == pytest.approx(exact.cut.loss, abs=1e-12)
    assert primal == pytest.approx(regularizer.primal(points[0], other.hinge), abs=1e-12)
    vector = finding.cut.vector
    if name != "vectors":
        run.add(finding.cut)
        vector = run.expand(np.eye(run.program.n_cuts)[-1])
    np.testing.assert_allclose(completed(space, vector), exact.cut.vector, atol=1e-12)


@pytest.mark.parametrize("cuts", KINDS)
def test_nothing_to_learn_and_separable_data(cuts):
    """Labels that follow from the truth alone: no loss, no cut, w = 0."""
    # a level that no hinge can pass comes last
    for lam, tol in ((1e6, 1e-3), (1.0, 1.0)):
        solution = solve(multiclass_toy(3, n=5), cuts, lam, cut_size=7, tol=tol)
        assert solution.status is Status.CONVERGED
        assert tol == 1.0 or np.abs(solution.w).max() < 1e-4
    if cuts == "linear":  # no pair is left with a loss
        X, y = np.array([[5.0], [6.0], [-5.0], [-6.0]]), [0, 0, 1, 1]
        solver = CuttingPlane(cuts=cuts, cut_size=2)
        model = StructSVMClassifier(lam=1e-6, tol=1e-7, random_state=0, solver=solver).fit(X, y)
        assert model.score(X, y) == 1.0 and model.primal_objective_ <= 1e-6
