"""Models in a kernel space: contract, optima, values of their coefficients, batches, parts."""

import itertools
from functools import partial

import numpy as np
import pytest
from helpers.interruption import PressedStop
from helpers.kernels import KernelToy, in_kernel_space, linear_weights
from helpers.laws import solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, chain_toy, multiclass_toy

import sskit.models.kernel.space
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.kernel.space import KernelSupport, diagonal, runs_within
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status
from sskit.solvers.oracle_calls.pool import Answers, Pool, make_pool
from sskit.testing.problem_checks import check_problem

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
# Solvers whose steps rounding does not decide.
STEADY = {
    "plain": BCFW(steps="fw", averaging=False, batch_size=1),
    "averaging": BCFW(steps="fw", batch_size=1),
    "pairwise": BCFW(block_steps=1, stored_passes=0, batch_size=1),
    "fw": FrankWolfe(),
    "ssg": Subgradient(),
}
FREE = {
    "batch": BCFW(batch_size=3),
    "batch of half": BCFW(batch_size=7),
    "corrective": BCFW(),
    "away-gap-cache": BCFW(steps="away", sampling="gap", cache=True),
    "mpbcfw": MultiPlane(),
    "cuts": CuttingPlane(),
}
SOLVERS = STEADY | FREE
# memory for few rows of either toy's kernel matrix, which are then kept in single precision
FEW = 4 * 4 * 16
PRECISION = {FEW: 2e-6, 1e9: 1e-10}
KEPT = {1e9: 1e-12, 1000: 1e-6}  # precision of values by the memory for rows
RBF, LINEAR = Kernel("rbf", gamma=0.3), Kernel("linear")


def make(name, n=8, seed=5, kernel=LINEAR, **options):
    return KernelToy(name, TOYS[name](seed, n=n), kernel, **options)


@every_pair(name=TOYS, form=FORMS, n_bytes=[FEW, 1e9])
def test_models_keep_the_contract(name, form, n_bytes):
    for kernel in (RBF, Kernel("poly", gamma=0.5, degree=2, coef0=1.0)):
        check_problem(make(name, 5, 3, kernel, form=form, n_bytes=n_bytes).problem, 0)
    for n_states in (2, 9):
        toy = TOYS[name](1, n=3, n_states=n_states)
        check_problem(in_kernel_space(name, toy, RBF)[0], 1)


# slack rescaling where rounding decides no search
SLACK = [("chain", "plain"), ("multiclass", "pairwise"), ("chain", "fw")]
MARGIN = itertools.product(TOYS, STEADY, (FEW, 1e9), (False,))


@pytest.mark.parametrize(
    ("name", "solver", "n_bytes", "slack"), [*MARGIN, *((*case, 1e9, True) for case in SLACK)]
)
def test_the_linear_kernel_is_the_linear_model(name, solver, n_bytes, slack):
    """Not only the same optimum: the same steps, but for rounding."""
    space, precision = make(name, n_bytes=n_bytes), PRECISION[n_bytes]
    options = {"tol": 0.0, "max_iter": 8 if slack else 12}
    for toy in (space.toy, space) if slack else ():
        # the same search for both: chains have an exact one outside kernel spaces only
        toy.problem = SlackRescaling(search="bisecting").wrap(toy.problem)
    plain, found = (solve_toy(STEADY[solver], toy, 0.1, **options) for toy in (space.toy, space))
    close = partial(pytest.approx, abs=precision, rel=precision)
    assert (plain.primal, plain.dual, plain.gap) == close((found.primal, found.dual, found.gap))
    w = linear_weights(space.layout, space.problem, found.w, space.toy)
    np.testing.assert_allclose(w, space.toy.flat(plain.w), atol=10 * precision)
    space.check_values(found.w, 10 * precision)


@every_pair(name=TOYS, solver=FREE, n_bytes=[FEW, 1e9], few=[False, True])
def test_the_optimum_of_a_quadratic_program(name, solver, n_bytes, few, request):
    if few:
        request.getfixturevalue("few_rows")
    space = make(name, 6, 6, n_bytes=n_bytes)
    _, optimum = solve_primal(space.pairs, 0.2)
    solution = solve_toy(FREE[solver], space, 0.2, tol=1e-3)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    assert solution.dual <= optimum + 1e-8
    assert optimum - 1e-8 <= solution.primal <= optimum + 2e-3


def test_the_budget_is_kept():
    calls = []

    def rbf(A, B):
        calls.append(A.shape[0])
        return RBF(A, B)

    for n_bytes in (FEW, 1e9):
        space = make("multiclass", 40, 0, Kernel(rbf), n_bytes=n_bytes)
        calls.clear()
        solve_toy(BCFW(), space, 0.1, tol=1e-2)
        # no more than are kept at a time where few fit, none at all where all did
        assert calls == [] if n_bytes > FEW else 1 <= max(calls) <= FEW // (4 * 40) + 1
    # short blocks are worked out together
    X = np.random.default_rng(0).normal(size=(700, 2))
    offsets = np.array([0, 100, 200, 300, 600, 601, 700])
    runs = list(runs_within(LINEAR, X, offsets))
    assert [(first, last) for first, last, _ in runs] == [(0, 2), (2, 3), (3, 4), (4, 6)]
    for first, last, matrix in runs:
        part = X[offsets[first] : offsets[last]]
        np.testing.assert_allclose(matrix, part @ part.T)
    np.testing.assert_allclose(diagonal(LINEAR, X), (X * X).sum(axis=1))


# ---- values that follow their coefficients -----------------------------------------------------


@pytest.fixture
def few_rows(monkeypatch):
    """As with many rows: none is computed before it is needed."""
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 100)


def started(name, solver, n=12, n_bytes=1e9, tol=0.0, max_iter=5):
    """A run after some passes, and its toy."""
    space = make(name, n, 4, RBF, n_bytes=n_bytes)
    solver = solver.resolved(space.problem)
    work = begin(solver, space.problem, space.regularizer(0.05), random_state=0)
    work.reach(tol, max_iter=max_iter)
    return work, space


@every_pair(
    name=TOYS,
    solver=["corrective", "batch", "away-gap-cache", "averaging", "mpbcfw", "fw", "cuts"],
    n_bytes=[1e9, 1000],
)
def test_values_are_those_of_the_coefficients(few_rows, name, solver, n_bytes):
    work, space = started(name, SOLVERS[solver], n_bytes=n_bytes)
    space.check_values(work.run.regularizer.v, KEPT[n_bytes])
    certificate = work.certify()
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, abs=1e-7)


def test_hints_drive_out_no_row_that_is_needed(few_rows):
    """Batches whose blocks have more rows than there is room for, each with some rows there."""
    toy = chain_toy(0, n=8, lengths=(3, 3, 1))
    space = KernelToy("chain", toy, RBF, n_bytes=5 * 4 * sum(map(len, toy.X)))
    assert space.problem.space.rows.n_slots == 5
    run = start_run(BCFW(batch_size=4, steps="fw", sampling="uniform"), space)
    for _ in range(40):
        run.run_pass()
    space.check_values(run.regularizer.coef(), 1e-6)


@pytest.mark.parametrize("name", TOYS)
def test_a_certificate_computes_no_kernels_and_values_are_renewed_in_time(few_rows, name):
    work, _ = started(name, BCFW(), n_bytes=300)
    rows = work.run.problem.space.rows
    before = rows.n_computed
    assert before > 0 and not rows.complete
    gap = work.certify().gap
    assert work.certify().gap == pytest.approx(gap, abs=1e-14)
    assert rows.n_computed == before
    work, space = started(name, BCFW(), n=20)
    blocks, dual = space.blocks(work.run.regularizer.v), work.run.dual
    blocks["values"] += 1.0  # as if rounding had added up to that
    expected = blocks["dual_coef"] @ space.K
    for most_added, error in ((None, 1.0), (1, 0.0)):
        if most_added is not None:
            work.run.problem.space.most_added = most_added
        dual.rebuild(work.run.regularizer)
        np.testing.assert_allclose(blocks["values"], expected + error, atol=1e-10)


def test_rows_of_blocks_without_gap_are_not_computed(monkeypatch):
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 600)
    toy = multiclass_toy(0, n=60, n_states=2)
    labels = np.array([int(found[0]) for found in toy.pairs.labels])  # the truths come first
    noise = np.random.default_rng(0).normal(scale=0.3, size=(60, 1))
    toy.X = list(4.0 * np.array([[1.0], [-1.0]])[labels] + noise)
    space = KernelToy("multiclass", toy, RBF)
    solution = solve_toy(BCFW(), space, 0.02, tol=0.0, max_iter=1)
    # two far clusters: after the first of six batches the others have nothing to gain
    assert solution.gap < 0.1
    assert 2 <= space.problem.space.rows.n_computed <= 30


@pytest.mark.parametrize(("name", "n_bytes"), [("chain", 1e9), ("multiclass", 1000)])
def test_a_sum_that_is_cut_short_leaves_everything_as_it_was(few_rows, own_handler, name, n_bytes):
    work, space = started(name, BCFW(steps="fw"), n=24, n_bytes=n_bytes)
    dual, regularizer = work.run.dual, work.run.regularizer
    # the sum of the half is worked out afresh, from all rows
    regularizer.change_lam(2.0 * regularizer.lam)
    before, w = np.array(regularizer.v), regularizer.coef()
    with PressedStop(2) as stop:
        stop.begin_pass()
        with pytest.raises(CutShort):
            dual.rebuild(regularizer, stop)
        assert stop.n_compared == 2
    np.testing.assert_array_equal(regularizer.v, before)
    np.testing.assert_array_equal(regularizer.coef(), w)
    regularizer.change_lam(0.5 * regularizer.lam)
    dual.rebuild(regularizer)
    space.check_values(regularizer.v, KEPT[n_bytes])


@pytest.mark.parametrize(
    ("name", "solver"), [("chain", "pairwise"), ("multiclass", "fw"), ("chain", "cuts")]
)
def test_at_every_look_there_is_a_model_with_its_gap(few_rows, own_handler, name, solver):
    for moment in range(1, 40, 6):
        space, stop = make(name, 8, 4, RBF, n_bytes=1000), PressedStop(moment)
        with stop:
            solution = solve_toy(SOLVERS[solver], space, 0.05, tol=0, max_iter=9, stop=stop)
        assert solution.status is Status.INTERRUPTED
        assert solution.certified
        assert stop.n_pass_looks == moment
        # another certificate at the same weights, with sums of its own
        fresh = space.regularizer(0.05)
        hinge = make_pool(space.problem, 1).hinges(fresh.padded(solution.w))
        primal = fresh.primal(solution.w, float(np.dot(space.problem.block_weight, hinge)))
        assert solution.primal == pytest.approx(primal, abs=1e-12)
        space.check_values(solution.w, 1e-6)
        assert -1e-9 <= solution.gap == pytest.approx(primal - solution.dual, abs=1e-7)


# ---- steps of some blocks by their own small kernel matrix -------------------------------------


TIGHT = {"n": 14, "tol": 1e-5, "max_iter": 100}


def test_every_order_of_blocks_and_rows_that_are_added_once(few_rows):
    for sampling in ("gap", "max_gap", "uniform", "permutation"):
        solver = BCFW(batch_size=4, sampling=sampling, stored_passes=1)
        work, space = started("multiclass", solver, **TIGHT)
        assert work.certificate.gap <= 1e-5 * work.certificate.primal
        space.check_values(work.run.regularizer.v)
    # an average follows every step
    average = BCFW(steps="fw", batch_size=4, averaging=True)
    assert not started("multiclass", average, n=14, max_iter=2)[0].run.batches.together
    solvers = (BCFW(stored_passes=0, batch_size=size) for size in (1, 14))
    one, many = (started("multiclass", s, **TIGHT)[0].run.problem for s in solvers)
    assert many.space.rows.n_required < 0.5 * one.space.rows.n_required


def test_nothing_changes_without_a_step_and_steps_need_room(few_rows):
    kernel = Kernel("poly", gamma=0.3, degree=2, coef0=1.0)
    problem, _ = in_kernel_space("chain", chain_toy(0, n=6), kernel, n_bytes=1)
    v = np.zeros(problem.n_weights + 8)
    assert not problem.space.begin_steps(np.arange(6), v)
    assert problem.space.begin_steps(np.array([2]), v)
    problem.space.end_steps(v, True)
    assert (v == 0.0).all()
    with pytest.raises(IndexError):
        problem.space.begin_steps(np.array([6]), v)


# ---- parts: the same functions, seen from some blocks ---------------------------------------


SOME = np.array([1, 4, 5])


def whole(name, kernel=RBF, **options):
    toy = TOYS[name](3, n=7)
    if isinstance(kernel, PrecomputedKernel):
        toy.X = list(RBF(np.array(toy.X), np.array(toy.X)))
    return toy, *in_kernel_space(name, toy, kernel, **options)


def random_weights(problem, layout, toy, rng):
    """Weights of functions, with values that belong to the coefficients."""
    X, w = np.concatenate([np.atleast_2d(x) for x in toy.X]), rng.normal(size=problem.n_weights)
    blocks = layout.split(w)
    blocks["values"][:] = blocks["dual_coef"] @ RBF(X, X)
    return w


def sums_of(problem, w, blocks):
    """Losses, hinges and the sum of the planes of some blocks, at equal weights."""
    vertices = Answers(Pool(problem), planes=True)
    vertices.choose(blocks)
    vertices.evaluate(Regularizer(1.0, problem.n_weights).padded(w))
    total = vertices.sum(np.arange(len(blocks)), np.full(len(blocks), 1.0 / len(blocks)))
    return vertices.losses().copy(), vertices.hinges().copy(), total


@every_pair(name=TOYS, form=FORMS, rescaling=[None, SlackRescaling(search="bisecting")])
def test_a_part_finds_what_the_whole_finds_there(name, form, rescaling):
    toy, problem, layout = whole(name, form=form)
    w = random_weights(problem, layout, toy, np.random.default_rng(0))
    one = problem if rescaling is None else rescaling.wrap(problem)
    losses, hinges, sums = sums_of(one, w, SOME)
    part = one.restrict(SOME, np.full(3, 1 / 3))
    # the weights of the whole, by those of a part that is all of it
    other = one.restrict(np.arange(7), np.full(7, 1 / 7))
    source, support, space = other.space.support, part.space.support, one.space
    values = slice(space.place, space.place + space.n_states * space.n_rows)
    there = support.gather(source.numbers, source.coefficients(w))
    view = np.concatenate([w[: values.start], there.ravel(), np.zeros(there.size)])
    losses_there, hinges_there, sums_there = sums_of(part, view, np.arange(3))
    np.testing.assert_array_equal(losses, losses_there)
    np.testing.assert_allclose(hinges, hinges_there, atol=1e-12)
    # and their sum, brought back
    back = np.zeros(problem.n_weights)
    back[: values.start] = sums_there[: values.start]
    coefficients = support.coefficients(sums_there)
    one.space.support.coefficients(back)[:, support.numbers] = coefficients
    back[values] = support.spread(coefficients, source.numbers).ravel()
    np.testing.assert_allclose(back, sums, atol=1e-12)


def test_parts_keep_the_contract():
    """Also where the whole or the part has single rows, whose squared norms stand elsewhere."""
    problems = [whole(name)[1] for name in TOYS]
    for lengths in [(1,), (2, 1, 2, 3, 1, 1)]:
        problems.append(in_kernel_space("chain", chain_toy(3, n=6, lengths=lengths), RBF)[0])
    for problem in problems:
        check_problem(problem, 0)
        part = problem.restrict(SOME, np.full(3, 1 / 3))
        assert part.n_blocks == 3
        assert part.space.is_kernel_space
        check_problem(part, 0)
    problem = multiclass_toy(0, n=4).problem
    assert problem.space.support is None
    with pytest.raises(NotImplementedError, match="StructuredProblem is in no kernel space"):
        problem.restrict(SOME, np.ones(3))


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [(RBF, 1.0), (RBF, 1e200), (Kernel("poly", gamma=0.3, degree=2, coef0=1.0), 1.0)],
)
def test_functions_are_sums_of_kernels(kernel, scale, monkeypatch):
    """A block of rows at a time; what overflows is left to scikit-learn."""
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 9)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3))
    X[7] *= scale
    here, there = np.array([2, 3, 11]), np.array([0, 3, 4, 7, 9])
    rows, kernels = KernelSupport(kernel, X, 2, 0, here), kernel(X[here], X[there])
    forward, back = rng.normal(size=(4, 5)), rng.normal(size=(2, 3)) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(rows.gather(there, forward), forward @ kernels.T, atol=1e-12)
    np.testing.assert_allclose(rows.spread(back, there), back @ kernels, atol=1e-12)
    np.testing.assert_allclose(rows.matrix(), kernel(X[here], X[here]), atol=1e-12)
    assert rows.gather(there[:0], np.zeros((4, 0))).shape == (4, 3)
    assert rows.spread(back, there[:0]).shape == (2, 0)
    assert not rows.spread(0.0 * back, there).any()
    # those of a kernel matrix that is given
    problems = (whole("multiclass", k, intercept=False)[1] for k in (RBF, PrecomputedKernel()))
    one, two = (problem.restrict(SOME, np.full(3, 1 / 3)).space.support for problem in problems)
    forward, back = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))
    there = np.array([0, 2, 3, 5, 6])
    np.testing.assert_allclose(one.gather(there, forward), two.gather(there, forward), atol=1e-12)
    np.testing.assert_allclose(one.spread(back, there), two.spread(back, there), atol=1e-12)
