"""The models of sets of labels: contract, optima, relaxation, prediction, fingerprints."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.multilabel import ONE, all_sets, enumerate_sets
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import MultilabelToy, bind_sets, multilabel_toy

from sskit.core.problem import block_weights
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel, choose_inference
from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem

TREE = np.array([[0, 2], [1, 2], [2, 3]], dtype=np.int32)
NONE = np.empty((0, 2), dtype=np.int32)
FULL = np.stack(np.triu_indices(4, 1), axis=1).astype(np.int32)
EDGES = {"independent": NONE, "tree": TREE, "exhaustive": FULL, "graphcut": FULL, "lp": FULL}
HIERARCHIES = {
    "tree": [-1, 0, 0, 1],
    "dag": [[1, 0], [2, 0], [3, 1], [3, 2]],
    "flat": None,
}


def random_rows(seed, n=5, p=3, n_labels=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(2, size=(n, n_labels)).astype(np.uint8)


def bound(inference, seed=0, form="dense", intercept=True):
    X, truths = random_rows(seed)
    name = "auto" if inference == "independent" else inference
    model = PairwiseModel(3, 4, EDGES[inference], intercept, name)
    assert model.inference == inference
    data = sp.csr_array(X) if form == "csr" else X
    cost = np.array([1.0, 0.5, 0.0, 2.0])
    return model, model.bind(data, truths, cost, block_weights(5)), X, truths, cost


@every_pair(
    inference=[name for name in EDGES if name != "graphcut"],
    form=["dense", "csr"],
    intercept=[False, True],
)
def test_contract(inference, form, intercept):
    _, problem, *_ = bound(inference, 0, form, intercept)
    assert problem.exact
    assert problem.costly == (inference in ("exhaustive", "lp"))
    check_problem(problem, 0)


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_contract_of_hierarchies(hierarchy):
    X, truths = random_rows(1)
    model = HierarchyModel(3, 4, HIERARCHIES[hierarchy], True)
    truths = model.hierarchy.closed(truths)
    problem = model.bind(X, truths, np.ones(4), block_weights(5))
    assert problem.exact
    check_problem(problem, 0)


@pytest.mark.parametrize("n_labels", [1, 2, 8, 9, 17])
def test_contract_of_few_and_many_labels(n_labels):
    X, truths = random_rows(2, n_labels=n_labels)
    ends = np.stack([np.arange(n_labels - 1), np.arange(1, n_labels)], axis=1).astype(np.int32)
    model = PairwiseModel(3, n_labels, ends, True)
    check_problem(model.bind(X, truths, np.ones(n_labels), block_weights(5)), 0)


def test_layout():
    assert PairwiseModel(3, 4, TREE, True).layout.shapes == {
        "coef": (4, 3), "intercept": (4,), "pairwise": (3,),
    }  # fmt: skip
    assert PairwiseModel(3, 4, NONE, False).layout.shapes == {"coef": (4, 3)}
    model = PairwiseModel(3, 4, FULL, True, "graphcut")
    lower = model.layout.split(model.layout.bounds(None)[0])
    assert (lower["pairwise"] == 0).all() and (lower["coef"] == -np.inf).all()


def value(pairs, i, w):
    return (pairs.loss[i] - pairs.psi[i] @ w).max()


@pytest.mark.parametrize("inference", EDGES)
def test_the_oracle_finds_the_best_of_all_sets(inference):
    model, problem, X, truths, cost = bound(inference)
    pairs = enumerate_sets(
        X, truths.astype(int), block_weights(5), model.ends, cost, True, relaxed=inference == "lp"
    )
    toy = MultilabelToy(problem, model.layout, pairs, list(X), 4)
    probe, rng = ProblemProbe(problem), np.random.default_rng(3)
    box = model.layout.bounds(None)
    n_fractional = 0
    for scale, i in itertools.product((0.0, 1e-3, 1.0, 1e6), range(5)):
        w = rng.normal(scale=scale, size=problem.n_weights)
        w[problem.n_weights - len(model.ends) :] *= 5.0
        w = w if box is None else np.clip(w, *box)
        theta = probe.scores(i, w)
        code, loss = probe.argmax(i, theta, 1.0)
        found = loss - probe.plane(i, code) @ theta
        assert found == pytest.approx(value(pairs, i, toy.flat(w)), rel=1e-9, abs=1e-9)
        n_fractional += np.any(np.array(code) % ONE)
    assert (n_fractional > 0) == (inference == "lp")


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_optimum_of_the_relaxed_problem(form):
    toy = multilabel_toy(4, n=5, form=form, inference="lp")
    _, optimum = solve_primal(toy.pairs, 0.2)
    solution = BCFW().solve(toy.problem, toy.regularizer(0.2), tol=1e-4, random_state=0)
    assert solution.certified
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert solution.gap <= 1e-4 * solution.unit
    # never below the objective that it relaxes
    whole = multilabel_toy(4, n=5, form=form)
    assert solve_primal(whole.pairs, 0.2)[1] <= optimum + 1e-8


def test_bounds_of_cuts_bind():
    toy = multilabel_toy(5, n=6, inference="graphcut")
    box = toy.layout.bounds(None)
    flat_box = tuple(toy.flat(bound) for bound in box)
    w, optimum = solve_primal(toy.pairs, 0.1, flat_box)
    solution = BCFW().solve(
        toy.problem, toy.regularizer(0.1, flat_box), tol=1e-4, max_iter=5000, random_state=0
    )
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert solution.gap <= 1e-4 * solution.unit
    free = solve_primal(toy.pairs, 0.1)[0]
    assert free[-3:].min() < 0 <= w[-3:].min() + 1e-9


@pytest.mark.parametrize("hierarchy", ["tree", "dag"])
def test_the_optimum_of_a_hierarchy(hierarchy):
    X, truths = random_rows(6)
    model = HierarchyModel(3, 4, HIERARCHIES[hierarchy], True)
    truths, cost = model.hierarchy.closed(truths), np.array([1.0, 0.5, 1.0, 2.0])
    edges = model.hierarchy.edges

    def closed(y):
        return all(y[child] <= y[parent] for child, parent in edges)

    c = block_weights(5)
    pairs = enumerate_sets(X, truths.astype(int), c, NONE, cost, True, allowed=closed)
    toy = MultilabelToy(model.bind(X, truths, cost, c), model.layout, pairs, list(X), 4)
    _, optimum = solve_primal(pairs, 0.2)
    solution = BCFW().solve(toy.problem, toy.regularizer(0.2), tol=1e-4, random_state=0)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert solution.gap <= 1e-4 * solution.unit


def test_fractions_are_planes():
    toy = multilabel_toy(0, inference="lp")
    probe = ProblemProbe(toy.problem)
    truth = np.array(probe.truth(0))
    labels = truth[:3] // ONE
    code = np.array([ONE // 2] * 3 + [0, ONE // 2, 0], dtype=np.int32)
    psi = probe.plane(0, code)
    np.testing.assert_array_equal(psi[8:11], labels - 0.5)
    np.testing.assert_array_equal(psi[:3], truth[3:] / ONE - [0.0, 0.5, 0.0])
    assert np.count_nonzero(psi) <= 6


def score(y, scores, ends, pairs):
    return y @ scores + pairs @ (y[ends[:, 0]] * y[ends[:, 1]])


@pytest.mark.parametrize("inference", EDGES)
def test_prediction(inference):
    rng = np.random.default_rng(8)
    model = bound(inference)[0]
    scores, pairs = rng.normal(size=(50, 4)), rng.normal(size=len(model.ends))
    if inference == "graphcut":
        pairs = np.abs(pairs)
    sets = model.best_sets(scores, pairs)
    gains = model.gains(scores, sets, pairs)
    np.testing.assert_array_equal(sets, gains > 0)
    for y, row, gain in zip(sets, scores, gains, strict=True):
        value = score(y, row, model.ends, pairs)
        for j in range(4):
            other = y.copy()
            other[j] = 1 - y[j]
            difference = (value - score(other, row, model.ends, pairs)) * (2 * y[j] - 1.0)
            assert gain[j] == pytest.approx(difference, abs=1e-12)
        if inference != "lp":
            best = max(score(other, row, model.ends, pairs) for other in all_sets(4))
            assert value == pytest.approx(best, abs=1e-12)


def test_rounding_climbs_and_drops_what_gains_nothing():
    # a triangle that repels: the relaxation has all labels by half
    ends = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    model = PairwiseModel(1, 3, ends, True, "lp")
    sets = model.best_sets(np.ones((1, 3)), np.full(3, -5.0))
    assert sets.sum() == 1
    assert not model.best_sets(np.zeros((1, 3)), np.zeros(3)).any()
    assert not PairwiseModel(1, 3, NONE, True).best_sets(np.zeros((1, 3)), np.empty(0)).any()


@pytest.mark.parametrize("inference", EDGES)
def test_prediction_with_known_labels(inference):
    rng = np.random.default_rng(10)
    model = bound(inference)[0]
    scores, pairs = rng.normal(size=(80, 4)), 3.0 * rng.normal(size=len(model.ends))
    if inference == "graphcut":
        pairs = np.abs(pairs)
    known = rng.choice(np.array([-1, -1, 0, 1], dtype=np.int8), size=(80, 4))
    known[:4] = [[-1] * 4, [0] * 4, [1] * 4, [1, 0, 1, 0]]
    fixed = model.implied(known)
    sets = model.best_sets(scores, pairs, fixed)
    np.testing.assert_array_equal(sets[:1], model.best_sets(scores[:1], pairs))
    np.testing.assert_array_equal(sets[known >= 0], known[known >= 0])
    gains = model.gains(scores, sets, pairs)
    # no label that is free gains by being otherwise
    assert (np.where(sets == 1, gains, -gains)[known < 0] >= -1e-12).all()
    for y, row, given in zip(sets, scores, known, strict=True):
        possible = all_sets(4)
        possible = possible[((possible == given) | (given < 0)).all(axis=1)]
        best = max(score(other, row, model.ends, pairs) for other in possible)
        assert score(y, row, model.ends, pairs) == pytest.approx(best, abs=1e-12) or (
            inference == "lp"
        )
    assert (sets != model.best_sets(scores, pairs))[known < 0].any() == (inference != "independent")


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_prediction_of_hierarchies_with_known_labels(hierarchy):
    rng = np.random.default_rng(11)
    model = HierarchyModel(1, 4, HIERARCHIES[hierarchy], True)
    possible = np.unique(model.hierarchy.closed(all_sets(4)), axis=0)
    scores = rng.normal(size=(200, 4))
    known = rng.choice(np.array([-1, -1, 0, 1], dtype=np.int8), size=(200, 4))
    agree = ((possible == known[:, None]) | (known[:, None] < 0)).all(axis=2)
    refused = 0
    for row, given, allowed in zip(scores, known, agree, strict=True):
        if not allowed.any():
            refused += 1
            with pytest.raises(ValueError, match=r"^known\[0\] has label \d, but not label \d, an"):
                model.implied(given[None])
            continue
        fixed = model.implied(given[None])
        same = (possible[allowed] == possible[allowed][0]).all(axis=0)
        np.testing.assert_array_equal(fixed[0] >= 0, same)
        y = model.best_sets(row[None], np.empty(0), fixed)[0]
        assert (possible[allowed] == y).all(axis=1).any()
        assert y @ row == pytest.approx((possible[allowed] @ row).max(), abs=1e-12)
    assert (refused > 0) == (hierarchy != "flat")


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_prediction_of_hierarchies(hierarchy):
    rng = np.random.default_rng(9)
    model = HierarchyModel(1, 4, HIERARCHIES[hierarchy], True)
    scores = rng.normal(size=(60, 4))
    sets = model.best_sets(scores, np.empty(0))
    gains = model.gains(scores, sets, np.empty(0))
    possible = np.unique(model.hierarchy.closed(all_sets(4)), axis=0)
    assert (gains[sets == 1] >= -1e-12).all() and (gains[sets == 0] <= 1e-12).all()
    for y, row, gain in zip(sets, scores, gains, strict=True):
        assert y @ row == pytest.approx((possible @ row).max(), abs=1e-12)
        for j in range(4):
            # the nearest sets with and without the label
            ancestors = model.hierarchy.ancestors.toarray()
            other = y * (1 - ancestors[:, j]) if y[j] else np.maximum(y, ancestors[j])
            difference = (y @ row - other @ row) * (2 * y[j] - 1.0)
            assert gain[j] == pytest.approx(difference, abs=1e-12)


def test_choice_of_inference():
    assert choose_inference("auto", NONE, 4) == "independent"
    assert choose_inference("lp", NONE, 4) == "independent"
    assert choose_inference("auto", TREE, 4) == "tree"
    assert choose_inference("auto", FULL, 4) == "exhaustive"
    many = np.stack(np.triu_indices(21, 1), axis=1).astype(np.int32)
    assert choose_inference("auto", many, 21) == "lp"
    with pytest.raises(ValueError, match="^inference='exhaustive' .* at most 20 .* y has 21"):
        choose_inference("exhaustive", many, 21)
    with pytest.raises(ValueError, match="^inference='tree' needs edges without a cycle"):
        choose_inference("tree", FULL, 4)


def changed(**options):
    X, truths = random_rows(0)
    options = {"ends": TREE, "intercept": True, "inference": "auto", "cost": 1.0, **options}
    truths[1, 2] = options.get("truth", truths[1, 2])
    X[3, 1] = options.get("x", X[3, 1])
    model = PairwiseModel(3, 4, options["ends"], options["intercept"], options["inference"])
    data = sp.csr_array(X) if "csr" in options else X
    cost = np.full(4, options["cost"])
    weight = block_weights(5, options.get("weight"))
    return model.bind(data, truths, cost, weight).fingerprint()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, None),
        ({"csr": True}, None),
        ({"weight": [1, 2, 3, 4, 5]}, None),
        ({"inference": "exhaustive"}, None),
        ({"inference": "lp"}, "the planes changed from sets of labels to relaxed"),
        ({"ends": TREE[:2]}, "the edges changed"),
        ({"intercept": False}, "fit_intercept changed from True to False"),
        ({"cost": 0.5}, "the loss changed"),
        ({"truth": 1 - random_rows(0)[1][1, 2]}, "y[1] changed"),
        ({"x": 9.0}, "X[3] changed"),
    ],
)
def test_fingerprints(options, sentence):
    assert changed(**options).difference(changed()) == sentence


def test_fingerprints_of_hierarchies():
    X, truths = random_rows(0)
    truths[:] = 1
    one, two, three = (
        HierarchyModel(3, 4, hierarchy, True)
        .bind(X, truths, np.ones(4), block_weights(5))
        .fingerprint()
        for hierarchy in ([-1, 0, 0, 1], [[1, 0], [2, 0], [3, 1]], None)
    )
    assert two.difference(one) is None
    assert three.difference(one) == "the hierarchy changed"


def test_nothing_given_is_written_to():
    X, truths = random_rows(0)
    for array in (X, truths):
        array.setflags(write=False)
    problem = bind_sets(X, truths, 4).problem
    check_problem(problem, 0, n_trials=1)
