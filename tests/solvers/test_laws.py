"""Laws that hold for every solver, model, form of features, box and weighting."""

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import TOYS, bind_rows, rebind, with_columns

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.probe import ProblemProbe

LAM = 0.2
SOLVERS = {
    "bcfw": BCFW(steps="fw", averaging=False),
    "bcfw-uniform": BCFW(steps="fw", averaging=False, sampling="uniform"),
    "bcfw-averaging": BCFW(steps="fw", averaging=True),
    "bcfw-pairwise": BCFW(),
    "bcfw-two stored": BCFW(stored_passes=2),
    "mpbcfw": MultiPlane(averaging=False),
    "mpbcfw-averaging": MultiPlane(),
    "fw": FrankWolfe(),
    "ssg": Subgradient(),
    "ssg-last": Subgradient(averaging=False),
    "one-slack": CuttingPlane(),
    "one-slack-undamped": CuttingPlane(damping=0.0, cut_life=5),
}


def make(name, form="dense", weighted=False, seed=41, n=6):
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=n) if weighted else None
    return TOYS[name](seed, n=n, form=form, weights=weights)


def binding_box(d):
    """A box that binds on the toys, open on some sides."""
    lower, upper = np.full(d, -0.15), np.full(d, 0.2)
    lower[::4], upper[1::4] = -np.inf, np.inf
    return lower, upper


@every_pair(
    solver=SOLVERS,
    name=TOYS,
    form=["dense", "csr"],
    bounded=[False, True],
    weighted=[False, True],
)
def test_the_optimum_is_bracketed(solver, name, form, bounded, weighted):
    bounded = bounded and not solver.startswith("ssg")
    toy = make(name, form, weighted)
    box = binding_box(toy.pairs.d) if bounded else None
    _, optimum = solve_primal(toy.pairs, LAM, box)
    inside = []

    def on_pass(n_iter, weights):
        w = toy.flat(weights())
        inside.append(box is None or bool(((w >= box[0]) & (w <= box[1])).all()))

    solution = SOLVERS[solver].solve(
        toy.problem, toy.regularizer(LAM, box), tol=5e-3, max_iter=500, random_state=0,
        on_pass=on_pass,
    )  # fmt: skip
    assert all(inside)
    w, history = toy.flat(solution.w), solution.history
    assert solution.certified
    assert solution.unit == pytest.approx(toy.pairs.primal(np.zeros(toy.pairs.d), LAM), abs=1e-12)
    assert solution.primal == pytest.approx(toy.pairs.primal(w, LAM), abs=1e-10)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    assert (history["gap"] >= -1e-12).all()
    assert (history["dual"] <= optimum + 1e-8).all()
    assert (history["primal"] >= optimum - 1e-8).all()
    assert solution.primal - optimum <= solution.gap + 1e-8
    assert box is None or ((w >= box[0]) & (w <= box[1])).all()
    # slow ones may need more passes than they got, but all come near
    assert solution.gap <= (0.3 if solver == "ssg-last" else 0.1) * solution.unit
    if hasattr(solution.fit.run, "dual") and "averaging" not in solver:
        dual = toy.dual(solution.fit.run.dual, LAM, box)
        assert solution.gap == pytest.approx(toy.pairs.primal(w, LAM) - dual, abs=1e-10)


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("bounded", [False, True])
def test_the_optimum_is_that_of_the_quadratic_program(name, bounded):
    toy = make(name, seed=42, n=4)
    box = binding_box(toy.pairs.d) if bounded else None
    w, optimum = solve_primal(toy.pairs, LAM, box)
    solution = BCFW(averaging=True, gap_every=1000).solve(
        toy.problem, toy.regularizer(LAM, box), tol=0, max_iter=3_000, random_state=0
    )
    assert solution.primal == pytest.approx(optimum, abs=1e-4)
    assert solution.dual == pytest.approx(optimum, abs=1e-3)
    # strong convexity: lam / 2 ||w - w*||^2 <= P(w) - P*
    distance = LAM / 2 * np.sum((toy.flat(solution.w) - w) ** 2)
    assert distance <= solution.primal - optimum + 1e-9


@every_pair(solver=SOLVERS, name=TOYS, n_jobs=[(1, None), (2, 2)])
def test_seed_and_number_of_jobs_fix_every_bit(solver, name, n_jobs):
    toy = make(name, n=9)
    solutions = [
        SOLVERS[solver].solve(
            toy.problem, toy.regularizer(LAM), tol=0, max_iter=12, random_state=7, n_jobs=number
        )
        for number in n_jobs
    ]
    for other in solutions[1:]:
        np.testing.assert_array_equal(other.w, solutions[0].w)
        for column in ("n_passes", "n_oracle_calls", "primal", "dual", "gap"):
            np.testing.assert_array_equal(other.history[column], solutions[0].history[column])
        assert other.gap == solutions[0].gap


@pytest.mark.parametrize("name", TOYS)
def test_a_weight_of_k_is_k_copies_and_none_is_removal(name):
    weights = np.array([2, 0, 1, 3, 0, 1])
    toy = TOYS[name](43, n=6, weights=weights)
    copies = np.repeat(np.arange(6), weights)
    truths = [ProblemProbe(toy.problem).truth(i) for i in copies]
    X = [toy.X[i] for i in copies]
    other = rebind(name, X, truths, 3)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0):
        regularizer = Regularizer(LAM, toy.pairs.d)
        w = regularizer.padded(rng.normal(scale=scale, size=toy.pairs.d))
        hinges = [
            np.dot(t.problem.block_weight, make_pool(t.problem).hinges(w)) for t in (toy, other)
        ]
        assert hinges[0] == pytest.approx(hinges[1], rel=1e-13)
    _, optimum = solve_primal(other.pairs, LAM)
    for t in (toy, other):
        solution = BCFW().solve(t.problem, t.regularizer(LAM), tol=5e-3, random_state=0)
        assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
        assert solution.gap <= 5e-3 * max(solution.unit, 1.0)


@pytest.mark.parametrize("solver", ["bcfw", "fw", "ssg"])
def test_scaled_weights_change_nothing(solver):
    base = np.array([1.0, 2.0, 4.0, 1.0, 0.5, 8.0])
    weights = [base, 4.0 * base]
    solutions = [
        SOLVERS[solver]
        .solve(toy.problem, toy.regularizer(LAM), tol=0, max_iter=10, random_state=0)
        .w
        for toy in (TOYS["chain"](44, n=6, weights=weight) for weight in weights)
    ]
    np.testing.assert_array_equal(*solutions)


@every_pair(name=TOYS, form=["dense", "csr"], solver=["bcfw", "fw", "ssg"])
def test_reordered_features_give_reordered_weights(name, form, solver):
    toy, order = make(name, form), np.array([2, 0, 1])
    truths = [ProblemProbe(toy.problem).truth(i) for i in range(6)]
    other = rebind(name, [with_columns(x, order) for x in toy.X], truths, 3, form)
    one, two = (
        SOLVERS[solver].solve(t.problem, t.regularizer(LAM), tol=0, max_iter=15, random_state=0)
        for t in (toy, other)
    )
    blocks, others = toy.layout.split(one.w), other.layout.split(two.w)
    for key, block in blocks.items():
        of_features = key.endswith("coef") and block.shape[-1] == len(order)
        expected = block[..., order] if of_features else block
        np.testing.assert_allclose(others[key], expected, atol=1e-10)


def test_relabelled_classes_have_the_same_optimum():
    toy, order = make("multiclass"), np.array([1, 2, 0])
    truths = [order[int(found[0])] for found in toy.pairs.labels]
    other = bind_rows(np.array(toy.X), truths, 3)
    one, two = (
        BCFW().solve(t.problem, t.regularizer(LAM), tol=1e-3, random_state=0) for t in (toy, other)
    )
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-12
    w = toy.layout.split(one.w)
    renamed = {key: block[np.argsort(order)] for key, block in w.items()}
    value = other.pairs.primal(other.flat(other.layout.join(renamed)), LAM)
    assert value == pytest.approx(one.primal, rel=1e-12)


@pytest.mark.parametrize("name", TOYS)
def test_dense_and_csr_take_the_same_steps(name):
    dense, csr = make(name, "csr"), make(name, "csr")
    truths = [ProblemProbe(csr.problem).truth(i) for i in range(6)]
    dense = rebind(name, csr.X, truths, 3)
    for solver in ("bcfw", "fw", "ssg"):
        one, two = (
            SOLVERS[solver].solve(t.problem, t.regularizer(LAM), tol=0, max_iter=20, random_state=0)
            for t in (dense, csr)
        )
        np.testing.assert_allclose(one.w, two.w, atol=1e-11)
