"""What is minimised: bounds on the weights, costs of pairs of labels, slack rescaling.

Bounds are kept and bind; the objective of costs is that of enumeration, for taggers in
tests/estimators/test_enumeration.py; slack rescaling reaches its optimum by any search.
"""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.fits import BOX, FITS, PAIRS, SOLVERS, Matching, graphs, matchings, rows, sets, trees
from helpers.labellings import losses_of, objective
from helpers.objectives import bracket, primal_of_rows
from helpers.qp import solve_primal
from helpers.refusals import refused
from helpers.slack import slack_pairs
from helpers.toys import SEARCHABLE, TOYS
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import sskit
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW, FrankWolfe

BOUNDED = {name: (fit.estimator, fit.data) for name, fit in FITS.items() if fit.bounded} | {
    "graphs, narrow": (sskit.SegmentationModel(**BOX), graphs(2)),
    "trees": (sskit.TreeTagger(**BOX), trees),
    "sets": (sskit.MultilabelPairwise(**BOX), sets),
    "hierarchy": (sskit.HierarchicalMultilabel([-1, 0, 0, 1], **BOX), sets),
    "structure": (sskit.StructuredSVM(Matching(), bounds=(-0.1, 0.2)), matchings),
    "structure, slack": (sskit.StructSVMClassifier(rescaling="slack", **BOX), FITS["rows"].data),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_batch_steps_find_the_optimum_that_steps_of_blocks_prove(name):
    estimator, data = BOUNDED[name]
    best, slow = (
        clone(estimator).set_params(solver=solver, lam=0.1, tol=tol, random_state=0).fit(*data())
        for solver, tol in ((BCFW(steps="pairwise"), 1e-6), (FrankWolfe(), 0.05))
    )
    assert slow.certified_ == best.certified_
    if best.certified_:
        bracket(best, slow)
    if estimator.bounds is not None:
        lower, upper = estimator.bounds
        assert ((slow.coef_ >= lower) & (slow.coef_ <= upper)).all()
        # and they bind: without them the optimum is another one
        assert np.isin(best.coef_, (lower, upper)).any()


INF = np.inf
LOW = -np.arange(9.0).reshape(3, 3) / 40
OF_BLOCKS = [
    ("rows", {"coef": (0, INF)}),
    ("rows", {"coef": (-INF, 0.1), "intercept": (-0.1, 0.2)}),
    ("rows, scaled", {"coef": (LOW, 0.3)}),
    ("chains", {"coef": (0, INF)}),
    ("chains", {"transitions": (np.full((3, 3), -0.1), 0.05), "end": (-INF, 0)}),
    ("chains, edges", {"edge_coef": (-0.05, 0.1)}),
    ("chains, edges", {"edge_coef": (np.where(np.eye(3), -INF, [np.full((3, 3), 0.1)] * 2), INF)}),
    ("chains, second order", {"triples": (-0.01, 0.02)}),
    ("graphs", {"pairwise": (0.25, 0.25)}),
    ("trees, kinds", {"transitions": (None, np.stack([np.full((3, 3), INF), np.zeros((3, 3))]))}),
    ("trees, kinds", {"leaf": (0.0, 0.0)}),
    ("parts", {"coef": (0.0, 0.05)}),
]


@pytest.mark.parametrize(("name", "bounds"), OF_BLOCKS)
def test_bounds_by_block(name, bounds):
    estimator, data = FITS[name].estimator, FITS[name].data()
    free = clone(estimator).set_params(lam=0.05, tol=1e-3, random_state=0).fit(*data)
    model = clone(free).set_params(bounds=bounds).fit(*data)
    for block, (lower, upper) in bounds.items():
        weights, lower = getattr(model, f"{block}_"), -INF if lower is None else lower
        assert (weights >= lower).all() and (weights <= upper).all()
        assert ((weights == lower) | (weights == upper)).any()
    assert model.primal_objective_ > free.dual_objective_
    wrong = {
        block: (np.zeros((7, *np.shape(getattr(model, f"{block}_")))), None) for block in bounds
    }
    with pytest.raises(ValueError, match=r"array of shape \("):
        model.set_params(bounds=wrong).fit(*data)


# ---- losses by costs of pairs of labels ---------------------------------------------------------


TABLE = PAIRS["loss"]
ONES = 1.0 - np.eye(3)
RAW = {"standardize": False}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("n_labels", [2, 3])
def test_expansions_and_cuts_take_costs_too(n_labels):
    X, y = graphs(n_labels)()
    table = TABLE[:n_labels, :n_labels]
    model = sskit.SegmentationModel(loss=table, lam=0.05, tol=0.01, random_state=0).fit(X, y)
    known = [losses_of(labels, range(n_labels), table) for labels in y]
    found = objective(model, X, *zip(*known, strict=True))
    assert model.primal_objective_ == pytest.approx(found, rel=1e-9 if n_labels == 2 else 0.02)
    if n_labels == 3:
        exact = clone(model).set_params(inference="elimination", bounds={"pairwise": (0, None)})
        exact.fit(X, y)
        assert exact.primal_objective_ == pytest.approx(model.primal_objective_, rel=0.03)


@pytest.mark.parametrize("steps", ["projection", "pairwise", "fw"])
def test_objective_of_rows(steps):
    X, y = rows()
    given = {"loss": TABLE, "lam": 0.05, "tol": 1e-3, "random_state": 0, **RAW}
    given["surrogate"] = "crammer_singer"
    for weight in (None, np.arange(len(y)) % 3 + 0.5):
        model, other = (
            sskit.StructSVMClassifier(**how, **given).fit(X, y, sample_weight=weight)
            for how in ({"steps": steps}, {"solver": "cutting_plane"})
        )
        expected = primal_of_rows(model, X, y, TABLE, weight)
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        assert other.primal_objective_ == pytest.approx(model.primal_objective_, rel=3e-3)
    slack = sskit.StructSVMClassifier(rescaling="slack", **given).fit(X, y)
    expected = primal_of_rows(slack, X, y, TABLE, slack=True)
    assert slack.certified_ and slack.primal_objective_ == pytest.approx(expected, rel=1e-9)


LIKE_ONES = ["chains", "trees", "any graphs", "graphs, inexact", "rows", "rows, kernel"]


@pytest.mark.parametrize("name", [*LIKE_ONES, "chains, kernel"])
def test_ones_are_the_default(name):
    X, y = FITS[name].data()
    one = clone(FITS[name].estimator).set_params(random_state=0, tol=0.1).fit(X, y)
    for loss in (ONES, {}):
        other = clone(one).set_params(loss=loss).fit(X, y)
        assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=1e-9)
        assert other.lam_ == one.lam_
        for a, b in zip(one.decision_function(X), other.decision_function(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)
    a, b = one.classes_.tolist()[:2]
    with pytest.raises(ValueError, match=rf"loss\[{a!r}\]\[{b!r}\] is -1, expected a finite"):
        one.set_params(loss={a: {b: -1}}).fit(X, y)


@pytest.mark.parametrize("name", ["chains", "trees", "any graphs", "rows"])
def test_costs_that_are_given_stay_as_they_are(name):
    X, y = FITS[name].data()
    a, b, c = np.unique(np.concatenate(y) if name != "rows" else y).tolist()
    costs = {a: {b: 3.0}, c: {a: 0.5}}
    model = clone(FITS[name].estimator).set_params(random_state=0, tol=0.1)
    search = GridSearchCV(model, {"loss": [costs]}, cv=2, error_score="raise")
    found = search.fit(X, y).best_estimator_  # though a fold may lack a label
    assert found.loss == costs == {a: {b: 3.0}, c: {a: 0.5}}
    # a fit that goes on knows them
    model.set_params(warm_start=True, solver="bcfw", loss=TABLE).fit(X, y)
    with pytest.raises(ValueError, match="the costs of pairs|the loss of y"):
        model.set_params(loss=TABLE + 0.5 * np.eye(3)[::-1] * ONES).fit(X, y)
    if name == "rows":
        with pytest.warns(UserWarning, match=r"^loss has keys that are no labels in y, 'A', 'B'"):
            found.set_params(loss={"A": {"b": 3.0}, "c": {"B": 2.0}}).fit(X, y)


# ---- slack rescaling ----------------------------------------------------------------------------


NAMES = ["bcfw, plain", "bcfw, cache", "bcfw, batches", "fw", "mpbcfw", "ssg"]
LAM = 0.1


TURNS = [
    (name, search)
    for name in sorted(TOYS)
    for search in ("exact", "angular", "bisecting")[0 if name in SEARCHABLE else 2 :]
]


@pytest.mark.parametrize(("turn", "solver"), in_turn(TURNS, NAMES, 3))
def test_solvers_reach_the_optimum(turn, solver):
    name, search = turn
    size = {"multiclass": 12, "components": 12, "multilabel": 6, "ranking": 6}.get(name, 5)
    toy = TOYS[name](weights=np.random.default_rng(0).uniform(0.5, 2.0, size=size))
    pairs, problem = slack_pairs(toy.pairs), sskit.SlackRescaling(search).wrap(toy.problem)
    _, optimum = solve_primal(pairs, LAM)
    options = {"tol": 0.02, "max_iter": 1000, "random_state": 0}
    solution = SOLVERS[solver].solve(problem, toy.regularizer(LAM), **options)
    primal = pairs.primal(toy.flat(solution.w), LAM)
    assert solution.unit == pytest.approx(pairs.primal(np.zeros(pairs.d), LAM))
    assert solution.certified
    assert solution.dual <= optimum + 1e-9
    if search == "bisecting":  # what it misses stays violated, but it bounds that
        assert solution.primal >= primal - 1e-9
        assert solution.gap >= primal - solution.dual - 1e-9
        assert solution.primal - solution.inexactness <= primal + 1e-9
        assert primal - optimum <= 0.2 * solution.unit
    else:
        assert solution.gap <= 0.02 * (solution.primal + 1e-3 * solution.unit)
        assert solution.primal == pytest.approx(primal)
        assert primal - optimum <= solution.gap + 1e-9


X, Y = make_digit_strings(60, random_state=0)


def test_wrong_searches_leave_the_estimator_alone():
    tagger = sskit.SequenceTagger(max_iter=2, tol=1.0, class_weight="balanced").fit(X, Y)
    for bad, told in (
        (sskit.SlackRescaling("best"), "'search' parameter"),
        (sskit.SlackRescaling("exact"), "search='exact' needs an exact oracle"),
    ):
        tagger.set_params(rescaling=bad)
        with refused(tagger, ValueError, told):
            tagger.fit(X, Y)


def test_structure_of_your_own():
    X, y = matchings(20)
    options = {"rescaling": "slack", "lam": 0.01, "random_state": 0, "max_iter": 50}
    model = sskit.StructuredSVM(Matching(), warm_start=True, **options).fit(X, y)
    assert model.certified_
    assert model.dual_gap_ >= model.history_["inexactness"][-1]
    assert model.score(X, y) > 0.6 and model.n_oracle_calls_ > 20
    first = model.dual_objective_
    assert model.fit(X, y).dual_objective_ >= first - 1e-9
