"""Steps to the best mix of a block, against quadratic programs and against pairwise steps."""

import functools
import itertools

import numpy as np
import pytest
from helpers.draws import BOTH
from helpers.laws import check_solution, follow, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, TOYS, bind_rows, bind_set_model, ranking_toy, thinned
from sklearn.datasets import make_classification
from sskit_probes.core_probe import DualProbe

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    SequenceTagger,
    StructSVMClassifier,
)
from sskit.core.dual import DualState
from sskit.datasets import make_chains
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate.updates import ProjectionUpdate
from sskit.solvers.common.averaging import Averager
from sskit.testing.probe import ProblemProbe

PROJECTION = BCFW(steps="projection")
# with sets of one row, which have no pair
PAIRS = functools.partial(ranking_toy, sizes=(2, 1, 2))
# parents of labels: none; a chain; two trees, one of which has two branches
PARENTS = {"flat": [-1] * 4, "chain": [-1, 0, 1, 2], "trees": [2, -1, -1, 2, 0]}


def closed_toy(kind, seed=0, n=6, *, form="dense", weights=None, p=3):
    """Random rows and sets of labels that hold all ancestors."""
    parents = np.array(PARENTS[kind])
    model = HierarchyModel(p, len(parents), parents, True)
    rng = np.random.default_rng(seed)
    X = thinned(rng, rng.normal(size=(n, p)), form)
    truths = model.learnt(rng.integers(2, size=(n, len(parents))).astype(np.uint8))
    child, parent = model.hierarchy.edges.T
    cost = 1.0 + 0.25 * np.arange(len(parents))
    allowed = lambda y: (y[child] <= y[parent]).all()  # noqa: E731
    return bind_set_model(model, X, truths, cost, form, weights, allowed)


def sets_toy(seed=0, n=6, *, form="dense", weights=None):
    """Random rows and any sets of labels, without pairs."""
    rng = np.random.default_rng(seed)
    X, truths = thinned(rng, rng.normal(size=(n, 3)), form), rng.integers(2, size=(n, 3))
    model = PairwiseModel(3, 3, np.empty((0, 2), dtype=np.int32), True)
    return bind_set_model(model, X, truths, np.array([1.0, 0.0, 2.0]), form, weights)


CLOSED = {kind: functools.partial(closed_toy, kind) for kind in PARENTS} | {"sets": sets_toy}
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
    name=["multiclass", "components", "pairs", *CLOSED],
    form=FORMS,
    weighted=BOTH,
    bounded=BOTH,
    n_jobs=[1, 2],
)
def test_the_optimum_is_bracketed_and_bits_are_those_of_the_seed(
    solver, name, form, weighted, bounded, n_jobs
):
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=12) if weighted else None
    toy = (TOYS | {"pairs": PAIRS} | CLOSED)[name](41, n=12, form=form, weights=weights)
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


@pytest.mark.parametrize("kind", CLOSED)
def test_a_visit_solves_its_set_of_labels(kind):
    """As above; mixes have no child of more weight than its parent."""
    parents = np.array(PARENTS.get(kind, PARENTS["flat"][:3]))
    for seed, lam in itertools.product(range(8), [1e-9, 1e-3, 0.1, 1.0, 1e6]):
        toy = CLOSED[kind](seed, n=1)
        run = start_run(PROJECTION, toy, lam)
        run.run_pass()
        primal = toy.pairs.primal(toy.flat(run.regularizer.coef()), lam)
        assert run.increase == pytest.approx(solve_primal(toy.pairs, lam)[1], rel=1e-6, abs=1e-9)
        assert primal - run.increase <= 1e-5 * max(1.0, primal)
        truth = ProblemProbe(toy.problem).truth(0) / 2**30
        mix = truth - DualProbe(toy.problem, run.dual).mix(0)[: len(parents)]
        above = np.where(parents >= 0, mix[parents], 1.0)
        assert (mix >= -1e-15).all() and (mix <= above + 1e-15).all()


def test_rows_without_features_take_their_best_sets():
    """Without a curvature, where every label alone decides."""
    model = HierarchicalMultilabel([-1, 0], fit_intercept=False, random_state=0)
    X, sets = np.repeat([[0.0], [1.0]], 4, axis=0), np.repeat([[0, 0], [1, 1]], 4, axis=0)
    model.fit(X, sets)
    assert model.certified_ and model.solver_.steps == "projection"
    # hinges of empty rows: the loss of both labels, which no weights change
    assert model.dual_objective_ >= 1.0 - 1e-12


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("make", [TOYS["multiclass"], PAIRS, *CLOSED.values()])
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


@pytest.mark.parametrize("options", [{}, {"bounds": (-0.5, 0.5)}, {"n_jobs": 2}])
def test_warm_starts_of_sets_cross_kinds_of_steps(options):
    rng = np.random.default_rng(0)
    sets = rng.integers(2, size=(len(X), 5))
    for kind in (
        functools.partial(HierarchicalMultilabel, PARENTS["trees"]),
        functools.partial(MultilabelPairwise, edges=None),
    ):
        given = {"lam": 0.02, "tol": 1e-4, "random_state": 0, "warm_start": True} | options
        model = kind(**given).fit(X, sets)
        assert model.solver_.steps == "projection" and model.certified_
        for steps in ("pairwise", "projection", "away", "projection"):
            dual = model.dual_objective_
            model.set_params(solver=BCFW(steps=steps)).fit(X, sets)
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
    # but any number of labels of sets, without pairs and where a label has one parent at most
    many = np.arange(len(X))[:, None] % np.arange(2, 42) == 0
    for model, steps in (
        (HierarchicalMultilabel(np.arange(-1, 39)), "projection"),
        (HierarchicalMultilabel([[1, 0], [2, 0], [3, 1], [3, 2]]), "pairwise"),
        (MultilabelPairwise(edges=None), "projection"),
        (MultilabelPairwise(edges=None, cache=True), "pairwise"),
        (MultilabelPairwise(edges=None, rescaling="slack"), "pairwise"),
        (MultilabelPairwise(edges=[[0, 1]], solver="bcfw"), "pairwise"),
    ):
        sets = many[:, :4] if steps == "pairwise" else many
        model = model.set_params(random_state=0, tol=0.1).fit(X, sets)
        assert model.solver_.steps == steps, model


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
        (ValueError, "sets of labels without pairs, under margin rescaling, which Chain",
         lambda: SequenceTagger(solver=PROJECTION).fit(*chains)),
        (ValueError, "one label each, or sets of labels without pairs",
         lambda: MultilabelPairwise(solver=PROJECTION).fit(X, np.eye(2, dtype=int)[Y % 2])),
        (ValueError, "'projection' needs a problem", lambda: fitted(rescaling="slack")),
        (ValueError, "'steps' parameter of SequenceTagger",
         lambda: SequenceTagger(steps="projection").fit(*chains)),
        (TypeError, "no blocks of one state", lambda: ProjectionUpdate(*state, *np.zeros((2, 4)))),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            call()
