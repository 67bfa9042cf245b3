"""Steps to the best mix of a block, against quadratic programs and against pairwise steps."""

import functools
import itertools

import numpy as np
import pytest
from helpers.draws import BOTH
from helpers.laws import check_solution, follow, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, TOYS, bind_rows, ranking_toy
from sklearn.datasets import make_classification
from sskit_probes.core_probe import DualProbe

from sskit import SequenceTagger, StructSVMClassifier
from sskit.core.dual import DualState
from sskit.datasets import make_chains
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate.updates import ProjectionUpdate
from sskit.solvers.common.averaging import Averager

PROJECTION = BCFW(steps="projection")
# with sets of one row, which have no pair
PAIRS = functools.partial(ranking_toy, sizes=(2, 1, 2))
X, Y = make_classification(
    90, 6, n_informative=5, n_redundant=0, n_classes=4, n_clusters_per_class=1, random_state=0
)


def box_of(toy):
    return np.full(toy.pairs.d, -0.15), np.full(toy.pairs.d, 0.2)


def fitted(solver=PROJECTION, **options):
    given = {"lam": 0.02, "tol": 1e-3, "random_state": 0} | options
    return StructSVMClassifier(solver=solver, **given).fit(X, Y)


SOLVERS = {
    "plain": PROJECTION,
    "no way back": BCFW(steps="projection", stored_passes=0),
    "averaging": BCFW(steps="projection", averaging=True),
    "gap": BCFW(steps="projection", sampling="gap", stored_passes=2),
    "max_gap": BCFW(steps="projection", sampling="max_gap"),
    "batch": BCFW(steps="projection", batch_size=3),
}


@every_pair(
    solver=SOLVERS,
    name=["multiclass", "components", "pairs"],
    form=FORMS,
    weighted=BOTH,
    bounded=BOTH,
    n_jobs=[1, 2],
)
def test_the_optimum_is_bracketed_and_bits_are_those_of_the_seed(
    solver, name, form, weighted, bounded, n_jobs
):
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=12) if weighted else None
    toy = (TOYS | {"pairs": PAIRS})[name](41, n=12, form=form, weights=weights)
    box = box_of(toy) if bounded else None
    solution, again = (
        solve_toy(SOLVERS[solver], toy, 0.1, box, tol=1e-5, max_iter=5_000, n_jobs=n_jobs)
        for _ in range(2)
    )
    np.testing.assert_array_equal(solution.w, again.w)
    check_solution(toy, solution, 0.1, box)
    assert solution.gap <= 1e-5 * (solution.primal + 1e-3)


def test_a_visit_solves_its_block():
    """A problem of one block is solved by one step, whatever its curvature."""
    rows = [np.random.default_rng(seed).standard_normal(4) for seed in range(4)]
    # without curvature all classes tie: any mix of the wrong ones is the best there is
    flat = [(x, 0.1) for x in (np.zeros(3), np.full(3, 1e-160), np.full(3, 1e-9))]
    for x, lam in [*itertools.product(rows, [1e-9, 1e-3, 0.1, 1.0, 1e6]), *flat]:
        toy = bind_rows(x[None], np.array([1]), 5)
        run = start_run(PROJECTION, toy, lam)
        run.run_pass()
        primal = toy.pairs.primal(toy.flat(run.regularizer.coef()), lam)
        assert run.increase == pytest.approx(solve_primal(toy.pairs, lam)[1], rel=1e-6, abs=1e-9)
        assert primal - run.increase <= 1e-6
        alpha = np.eye(5)[1] - DualProbe(toy.problem, run.dual).mix(0)[:5]
        assert alpha.sum() == pytest.approx(1.0, abs=1e-12) and alpha.min() >= -1e-15


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("make", [TOYS["multiclass"], PAIRS])
def test_the_dual_never_falls(make, bounded):
    toy = make(43, n=15)
    box = box_of(toy) if bounded else None
    run = start_run(BCFW(steps="projection", averaging=False), toy, 0.05, box)
    follow(toy, run, 60, lam=0.05, box=box)
    assert run.dual.n_support_planes() <= 15


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_starts_cross_kinds_of_steps(kernel):
    model = fitted(kernel=kernel, warm_start=True, max_iter=3_000)
    for steps in ("pairwise", "projection", "fw", "projection"):
        dual = model.dual_objective_
        model.set_params(solver=BCFW(steps=steps)).fit(X, Y)
        assert model.dual_objective_ >= dual - 1e-9
        assert model.n_iter_ <= 60 and model.certified_


def test_what_auto_is():
    for options, steps in [
        ({"kernel": "rbf"}, "projection"),
        ({"cache": True}, "pairwise"),
        ({"solver": BCFW(block_steps=2)}, "pairwise"),
        ({"solver": BCFW(cache_size=3)}, "pairwise"),
        ({"steps": "away"}, "away"),
        ({"rescaling": "slack"}, "pairwise"),
        ({"n_components": 2}, "projection"),
    ]:
        model = StructSVMClassifier(lam=0.1, random_state=0, **options).fit(X, Y)
        assert (model.solver_.steps, model.solver_.stored_passes) == (steps, "slope"), options
    # no more than 32 classes are scored
    for n_classes, steps in ((32, "projection"), (33, "pairwise")):
        model = StructSVMClassifier(lam=0.1, random_state=0).fit(X, np.arange(len(X)) % n_classes)
        assert model.solver_.steps == steps


def test_working_sets_need_no_way_back():
    rows = np.random.default_rng(0).normal(size=(600, 3))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    given = {"kernel": "rbf", "kernel_cache": 0.1, "random_state": 0}
    model = StructSVMClassifier(**given).fit(rows, labels)
    assert (model.solver_.steps, model.solver_.stored_passes) == ("projection", 0)
    assert model.solver_.batch_size > 1 and model.certified_


def test_refusals():
    chains, toy = make_chains(8, random_state=0), TOYS["chain"](0, n=4)
    state = toy.problem, DualState(toy.problem), toy.regularizer(0.1), Averager(0)
    for error, message, call in [
        (ValueError, "one label each, under margin rescaling, which Chain",
         lambda: SequenceTagger(solver=PROJECTION).fit(*chains)),
        (ValueError, "'projection' needs a problem", lambda: fitted(rescaling="slack")),
        (ValueError, "'steps' parameter of SequenceTagger",
         lambda: SequenceTagger(steps="projection").fit(*chains)),
        (TypeError, "no blocks of one state", lambda: ProjectionUpdate(*state, *np.zeros((2, 4)))),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            call()
