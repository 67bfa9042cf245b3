"""Cutting planes: against quadratic programs, enumeration and the other solvers."""

import itertools

import numpy as np
import pytest
from helpers.draws import BOTH, draw
from helpers.laws import LAM, binding_box, check_optimum, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, TOYS
from hypothesis import example, given
from hypothesis import strategies as st

from sskit import SequenceTagger
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.datasets import make_digit_strings
from sskit.solvers import CuttingPlane
from sskit.solvers.cutting_plane import master_program
from sskit.solvers.cutting_plane.cuts import CutVectors, HingeCut
from sskit.solvers.cutting_plane.master_program import CutProgram


def start(toy, box=None, lam=LAM, **options):
    return start_run(CuttingPlane(**options), toy, lam, box)


def solve(toy, box=None, lam=LAM, tol=1e-8, max_iter=1000, **options):
    return solve_toy(CuttingPlane(**options), toy, lam, box, tol=tol, max_iter=max_iter)


@every_pair(
    name=TOYS,
    form=FORMS,
    lam=[0.3, 0.01],
    damping=[0.0, 0.8],
    bounded=BOTH,
    weighted=BOTH,
    most_dense=[0, 10**6],
)
def test_laws_of_a_run(name, form, lam, damping, bounded, weighted, most_dense, monkeypatch):
    """The estimate is the gap of the best w asked about; it and the bounds only get better."""
    monkeypatch.setattr(master_program, "LARGEST_DENSE", most_dense)
    toy, box = draw(name, 72, form=form, weighted=weighted, bounded=bounded)
    _, optimum = solve_primal(toy.pairs, lam, box)
    run = start(toy, box, lam, damping=damping, cut_life=4)
    last = run.run_pass(), run.primal, run.bound
    for n_iter in range(2, 40):
        gap = run.run_pass()
        w = toy.flat(run.weights())
        assert run.n_oracle_calls == 6 * n_iter
        assert run.primal == pytest.approx(toy.pairs.primal(w, lam), abs=1e-10)
        assert box is None or ((w >= box[0]) & (w <= box[1])).all()
        assert gap == run.primal - run.bound
        # at the optimum all three are rounding
        assert gap <= last[0] + 1e-14
        assert run.primal <= last[1] + 1e-14
        assert run.bound >= last[2] - 1e-14
        assert run.bound <= optimum + 1e-8
        last = gap, run.primal, run.bound
        program = run.program
        assert (program.weight >= 0).all()
        assert program.weight.sum() == pytest.approx(1.0, abs=1e-12)
        # those with weight, those that had some lately, and that of the truth
        assert program.n_cuts <= (program.weight > 0).sum() + 4 * n_iter
        assert (program.idle[1:] < 4).all()


def test_damping_saves_passes():
    X, y = make_digit_strings(60, random_state=0)
    undamped, damped = (
        SequenceTagger(lam=0.01, solver=CuttingPlane(damping=damping), tol=0.1).fit(X, y)
        for damping in (0.0, 0.8)
    )
    assert damped.n_iter_ < 0.75 * undamped.n_iter_


def test_at_rounding_level_it_goes_on_without_harm():
    toy = TOYS["multiclass"](2, n=8)
    for box, damping in itertools.product((None, binding_box(toy.pairs.d)), (0.0, 0.5)):
        solution = solve(toy, box, 0.02, tol=0, max_iter=150, damping=damping)
        assert 0.0 <= solution.gap < 1e-9 or solution.gap == pytest.approx(0.0, abs=1e-14)
        check_optimum(toy, solution, box, 0.02, tolerance=2e-8)
        assert (np.diff(solution.history["gap"]) <= 0).all()


# ---- the program over the cuts ---------------------------------------------------------------


@pytest.mark.parametrize("bounded", [False, True])
@given(seed=st.integers(0, 10**6), lam=st.sampled_from([1.0, 0.03, 0.001]))
@example(seed=637542, lam=1.0)  # no weight is free
def test_programs_are_solved_whatever_the_cuts(bounded, seed, lam):
    """No gap is left between the dual value and the largest cut at w."""
    rng = np.random.default_rng(seed)
    d, n_cuts = int(rng.integers(1, 8)), int(rng.integers(1, 12))
    regularizer = BoxRegularizer(lam, *binding_box(d, seed)) if bounded else Regularizer(lam, d)
    basis = rng.normal(size=(int(rng.integers(1, d + 1)), d))
    vectors = rng.normal(size=(n_cuts, len(basis))) @ basis
    cuts = [HingeCut(float(rng.uniform()), vector) for vector in vectors]
    program, known = CutProgram(regularizer), []
    for cut in [*cuts, cuts[0]]:
        known.append(cut)
        program.add(cut)
        value, w = program.solve(1e-10), regularizer.coef()
        largest = max([0.0, *(cut.bound(w) for cut in known)])
        assert program.bounds(w).max() == pytest.approx(largest, abs=1e-12)
        assert -1e-9 <= regularizer.primal(w, largest) - value <= 1e-8
    program.drop_idle(1)
    assert program.n_cuts == (program.weight[1:] > 0).sum() + 1
    # sums of fewer terms are rounded otherwise
    assert program.value() == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_cuts_are_the_rows_of_a_matrix(kind):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(40, 30)) * (rng.random((40, 30)) < 0.3)
    vectors = CutVectors(dense=kind == "dense")
    for row in matrix:
        vectors.append(row)
    covector, columns = rng.normal(size=30), np.array([0, 3, 29])
    for _ in range(2):
        weight = rng.dirichlet(np.ones(len(matrix))) * (rng.random(len(matrix)) < 0.5)
        np.testing.assert_allclose(vectors.dot(covector), matrix @ covector, atol=1e-13)
        np.testing.assert_allclose(vectors.combine(weight), weight @ matrix, atol=1e-13)
        gram = matrix[:, columns] @ matrix[:, columns].T
        np.testing.assert_allclose(vectors.gram_at(columns), gram, atol=1e-13)
        stay = np.arange(1, len(matrix), 3)
        vectors.keep(stay)
        matrix = matrix[stay]
