"""The models of sets of labels: contract, optima, relaxation, prediction, fingerprints."""

import numpy as np
import pytest
from helpers.label_sets import random_forest, random_model, set_scores
from helpers.models import EDGES, FULL, HIERARCHIES, NONE, TREE, bind_sets
from helpers.multilabel import all_sets
from helpers.slack import slack_pairs
from helpers.toys import multilabel_toy
from sskit_probes.factor_probe import FactorProbe

from sskit.core.problem import block_weights
from sskit.models.label_sets.label_graph import choose_inference
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.slack.model import SlackRescaling
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.problem_checks import check_problem


def test_contract_of_few_and_many_labels():
    rng = np.random.default_rng(2)
    for n_labels in (1, 2, 8, 9, 17):
        X, truths = rng.normal(size=(5, 3)), rng.integers(2, size=(5, n_labels)).astype(np.uint8)
        for array in (X, truths):  # nothing that is given is written to
            array.setflags(write=False)
        ends = np.stack([np.arange(n_labels - 1), np.arange(1, n_labels)], axis=1)
        model = PairwiseModel(3, n_labels, ends.astype(np.int32), True)
        check_problem(model.bind(X, truths, np.ones(n_labels), block_weights(5)), 0)


def test_rounding_climbs_and_drops_what_gains_nothing():
    # a triangle that repels: the relaxation has all labels by half
    ends = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    model = PairwiseModel(1, 3, ends, True, "lp")
    sets = model.best_sets(np.ones((1, 3)), np.full(3, -5.0))
    assert sets.sum() == 1
    assert not model.best_sets(np.zeros((1, 3)), np.zeros(3)).any()
    assert not PairwiseModel(1, 3, NONE, True).best_sets(np.zeros((1, 3)), np.empty(0)).any()


def known_labels(rng, n):
    """Rows of which some labels are known, the first of which has none."""
    known = rng.choice(np.array([-1, -1, 0, 1], dtype=np.int8), size=(n, 4))
    known[:4] = [[-1] * 4, [0] * 4, [1] * 4, [1, 0, 1, 0]]
    return known


def turned(model, y, j):
    """The nearest set that says otherwise of label j."""
    if isinstance(model, PairwiseModel):
        return y ^ (np.arange(len(y)) == j)
    ancestors = model.hierarchy.ancestors.toarray().astype(int)
    return y * (1 - ancestors[:, j]) if y[j] else np.maximum(y, ancestors[j])


@pytest.mark.parametrize("kind", [*EDGES, *(f"hierarchy, {name}" for name in HIERARCHIES)])
def test_prediction_with_known_labels(kind):
    name = kind.removeprefix("hierarchy, ")
    by_pairs = name == kind
    rng, possible, pairs = np.random.default_rng(10), all_sets(4), np.empty(0)
    if by_pairs:
        model = PairwiseModel(3, 4, EDGES[name], True, name.replace("independent", "auto"))
        assert model.inference == name
        pairs = 3.0 * rng.normal(size=len(model.ends))
        pairs = np.abs(pairs) if name == "graphcut" else pairs
    else:
        model = HierarchyModel(1, 4, HIERARCHIES[name], True)
        possible = np.unique(model.hierarchy.closed(possible), axis=0)
    scores, known = rng.normal(size=(160, 4)), known_labels(rng, 160)
    known[80:] = -1
    agree = ((possible == known[:, None]) | (known[:, None] < 0)).all(axis=2)
    found = []
    for row, given, allowed in zip(scores, known, agree, strict=True):
        if not allowed.any():
            with pytest.raises(ValueError, match=r"^known\[0\] has label \d, but not label \d, an"):
                model.implied(given[None])
            continue
        fixed = model.implied(given[None])
        same = (possible[allowed] == possible[allowed][0]).all(axis=0)
        np.testing.assert_array_equal(fixed[0] >= 0, same)
        (y,) = model.best_sets(row[None], pairs, fixed)
        assert (possible[allowed] == y).all(axis=1).any()
        value, *values = set_scores(np.vstack([y, possible[allowed]]), row, model.ends, pairs)
        assert value == pytest.approx(max(values), abs=1e-12) or name == "lp"
        for j, gain in enumerate(model.gains(row[None], y[None], pairs)[0]):
            other = set_scores(turned(model, y.astype(int), j)[None], row, model.ends, pairs)[0]
            assert gain == pytest.approx((value - other) * (2 * y[j] - 1.0), abs=1e-12)
            # no label that is free gains by being otherwise
            held = given[j] >= 0 if by_pairs else (given >= 0).any()
            assert held or gain * (2 * y[j] - 1.0) >= -1e-12
        found.append(y)
    whole = agree.any(axis=1)
    assert whole.all() == (by_pairs or name == "flat")
    sets = model.best_sets(scores[whole], pairs, model.implied(known[whole]))
    np.testing.assert_array_equal(sets, found)
    free = model.best_sets(scores[whole], pairs)
    assert (sets != free)[known[whole] < 0].any() == (name not in ("independent", "flat"))


def test_choice_of_inference():
    many = np.stack(np.triu_indices(21, 1), axis=1).astype(np.int32)
    for name, edges, n_labels, expected in [
        ("auto", NONE, 4, "independent"),
        ("lp", NONE, 4, "independent"),
        ("auto", TREE, 4, "tree"),
        ("auto", FULL, 4, "exhaustive"),
        ("auto", many, 21, "lp"),
    ]:
        assert choose_inference(name, edges, n_labels) == expected
    with pytest.raises(ValueError, match="^inference='exhaustive' .* at most 20 .* y has 21"):
        choose_inference("exhaustive", many, 21)
    with pytest.raises(ValueError, match="^inference='tree' needs edges without a cycle"):
        choose_inference("tree", FULL, 4)


# ---- slack rescaling ----------------------------------------------------------------------------


def test_without_an_oracle_it_bisects():
    triangle, counts = np.stack(np.triu_indices(15, 1), axis=1), np.array([1.0, 0.5, 0.0, 2.0])
    for model, cost in [
        (HierarchyModel(3, 4, HIERARCHIES["dag"], True), counts),
        (HierarchyModel(3, 4, HIERARCHIES["tree"], True), np.array([1.0, 0.7, 1.3, 2.1])),
        (PairwiseModel(3, 15, triangle.astype(np.int32), True, "graphcut"), np.ones(15)),
        (PairwiseModel(3, 4, FULL, True, "lp"), counts),
        (PairwiseModel(3, 15, NONE, True), np.random.default_rng(0).uniform(1, 2, size=15)),
    ]:
        truths = np.zeros((2, model.n_labels), dtype=np.uint8)
        problem = model.bind(np.ones((2, 3)), truths, cost, block_weights(2))
        assert SlackRescaling().wrap(problem).settings[0] == "bisecting"


@pytest.mark.parametrize("n", range(1, 9))
def test_the_largest_product_of_all_sets(n):
    """By the programme for losses that count on forests, and by trying all sets."""
    for seed in range(3):
        rng = np.random.default_rng([n, seed])
        counts = 0.5 * rng.integers(4, size=n)
        counts[0] = 0.5  # of which all are multiples
        others = rng.choice([0.0, 0.25, 1.0, 3.0], size=n) * rng.exponential(size=n)
        forest, (_, edges, _) = (
            random_forest(rng, n, int(rng.integers(n))),
            random_model(rng, n, 0.7),
        )
        on_forest = PairwiseModel(3, n, forest, False)
        names = rng.permutation(n)
        above = [(names[v], names[rng.integers(v)]) for v in range(1, n) if rng.random() < 0.8]
        for model, cost in [
            (on_forest, counts),
            (on_forest, others),
            (PairwiseModel(3, n, edges, False, "exhaustive" if len(edges) else "auto"), others),
            (HierarchyModel(3, n, np.array(above, dtype=np.int32).reshape(-1, 2), False), counts),
        ]:
            toy = bind_sets(model, cost=cost)
            pairs, offset = slack_pairs(toy.pairs), float(rng.choice([0.2, 1.0, 3.0]))
            w = rng.normal(size=pairs.d) * rng.choice([0.3, 1.0, 5.0])
            expected = [
                np.max(offset * loss - psi @ w)
                for loss, psi in zip(pairs.loss, pairs.psi, strict=True)
            ]
            for name in ("exact", "angular"):
                problem = SlackRescaling(name).wrap(toy.problem)
                for asked in (problem, problem.fork()):
                    padded = np.append(toy.unflat(w), np.zeros(16))
                    found = make_pool(asked).hinges(padded, loss_weight=offset)
                    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_scores_and_norms_of_factors_are_those_of_their_features(form):
    problem = multilabel_toy(1, form=form, inference="lp").problem
    probe = FactorProbe(problem.decomposition())
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    for i in range(problem.n_blocks):
        found = [probe.node(i, j, y, w) for j in probe.nodes(i) for y in range(2)]
        found += [probe.edge(i, e, pair, w) for e, *_ in probe.edges(i) for pair in range(4)]
        for score, sqnorm, phi in found:
            assert score == pytest.approx(phi @ w, abs=1e-12)
            assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
