"""Every model against the enumeration of all labellings: contract, oracle, planes, training."""

import numpy as np
import pytest
from helpers.laws import solve_toy
from helpers.models import MODELS, chains, trees
from helpers.multilabel import ONE
from helpers.qp import solve_primal
from scipy.special import logsumexp
from sskit_probes.unreliable import WrappedProblem

from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def box_of(toy):
    """Own bounds of the model, in the order of the package."""
    return toy.layout.bounds(None)


def feasible(rng, toy, scale):
    """Random weights within the bounds of the model."""
    w, box = rng.normal(scale=scale, size=toy.problem.n_weights), box_of(toy)
    if "pairwise" in toy.layout.shapes:  # a view; relaxations are whole where pairs count little
        toy.layout.split(w)["pairwise"][...] *= 5.0
    return w if box is None else np.clip(w, *box)


# of weights, and what losses count
SCALES = [(0.0, 1.0), (0.1, 0.3), (1.0, 1.0), (1.0, 0.0), (30.0, 1e3), (1e-300, 1.0), (1e150, 1.0)]


@pytest.mark.parametrize("name", MODELS)
def test_contract_answers_and_optimum_are_those_of_the_enumeration(name):
    toy, rng = MODELS[name](), np.random.default_rng(0)
    problem = toy.problem
    assert problem.exact != problem.bounds
    if "graphcut" not in name:  # which cuts within its bounds only
        checked = problem
        if "any graph" in name:
            checked = MODELS[name](max_nodes=2 if "trws" in name else 3).problem
            checked.structure.remember(0)  # else the oracle finds more when it is asked again
        check_problem(checked, 0)
    assert MODELS[name]().problem.fingerprint().difference(problem.fingerprint()) is None
    w = np.arange(float(problem.n_weights))
    np.testing.assert_array_equal(toy.layout.join(toy.layout.split(w)), w)
    probe, fork, n_fractions = ProblemProbe(problem), ProblemProbe(problem.fork()), 0
    numbers = [{np.ravel(y).tobytes(): k for k, y in enumerate(found)} for found in all_codes(toy)]
    for i, found in enumerate(numbers):
        row = found[codes([probe.truth(i)])[0].tobytes()]
        assert not toy.pairs.psi[i][row].any() and toy.pairs.loss[i][row] == 0.0
    for scale, loss_weight in SCALES:
        w = feasible(rng, toy, scale)
        flat = toy.flat(w)
        for i in range(toy.pairs.n):
            theta = probe.scores(i, w)
            code, loss = probe.argmax(i, theta, loss_weight)
            values = loss_weight * toy.pairs.loss[i] - toy.pairs.psi[i] @ flat
            best, excess, row = values.max(), problem.excess, numbers[i][codes([code])[0].tobytes()]
            rounding = 1e-10 * (1 + np.abs(values).max())
            assert values[row] <= best <= values[row] + excess + rounding
            assert not problem.exact or (excess == 0.0 and best - values[row] <= rounding)
            assert loss == pytest.approx(toy.pairs.loss[i][row], abs=1e-12)
            psi = probe.plane(i, code)
            used = np.flatnonzero(psi)
            assert psi[used] @ theta[used] == pytest.approx(
                toy.pairs.psi[i][row] @ flat, abs=rounding
            )
            moved = toy.flat(probe.scatter(i, psi))
            np.testing.assert_allclose(moved, toy.pairs.psi[i][row], atol=1e-12)
            assert probe.sqnorm(i, psi) == pytest.approx(moved @ moved, abs=1e-10)
            growth = 2 * (moved @ flat) + moved @ moved
            for v in (None, np.zeros_like(w)):
                grown, found = probe.grow(i, psi, w, v)
                assert found == pytest.approx(growth, abs=1e-10 * (1 + np.abs(flat).max()))
                np.testing.assert_allclose(
                    toy.flat(grown),
                    moved + (flat if v is None else 0.0),
                    atol=1e-12 * (1 + np.abs(flat).max()),
                )
            again, _ = fork.argmax(i, theta, loss_weight)  # with messages of the first call, if any
            found = values[numbers[i][codes([again])[0].tobytes()]]
            n_fractions += np.any(np.array(code) % ONE)
            assert best <= found + fork.problem.excess + rounding
    for i in range(toy.pairs.n):
        for y, row in list(zip(all_codes(toy)[i], toy.pairs.psi[i], strict=True))[:40]:
            moved = toy.flat(probe.scatter(i, probe.plane(i, np.ravel(y))))
            np.testing.assert_allclose(moved, row, atol=1e-12)
    assert (n_fractions > 0) == ("lp" in name) or not name.startswith("sets")
    if toy.pairs.d <= 100:  # the program takes long for more weights
        check_training(toy)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_problem_without_growth_of_its_own_has_that_of_scores_and_norms(form):
    toy, rng = chains(form=form), np.random.default_rng(0)
    own, plain = ProblemProbe(toy.problem), ProblemProbe(WrappedProblem(toy.problem))
    for i in range(toy.pairs.n):
        w, v = rng.normal(size=(2, toy.problem.n_weights))
        psi = own.plane(i, own.argmax(i, own.scores(i, w))[0])
        for given in (None, v):
            (moved, growth), (expected, found) = (
                probe.grow(i, psi, w, given) for probe in (own, plain)
            )
            np.testing.assert_allclose(moved, expected, atol=1e-12)
            assert growth == pytest.approx(found, abs=1e-10)


def codes(labels):
    return [np.ravel(y).astype(np.int32) for y in labels]


def all_codes(toy):
    return [codes(found) for found in toy.pairs.labels]


def check_training(toy):
    """Primal and dual bracket the optimum of the quadratic program."""
    box = box_of(toy)
    box = None if box is None else tuple(map(toy.flat, box))
    _, optimum = solve_primal(toy.pairs, 0.2, box)
    found = solve_toy(BCFW(), toy, 0.2, box, tol=1e-3, max_iter=3000)
    assert found.certified
    primal = toy.pairs.primal(toy.flat(found.w), 0.2)
    assert found.dual - 1e-8 <= optimum <= primal + 1e-8
    assert found.primal - found.inexactness - 1e-8 <= primal <= found.primal + 1e-8
    part = found.gap - found.inexactness
    assert part <= 1.1e-3 * (found.primal + found.unit / 1000) or not toy.problem.exact
    assert box is None or ((found.w >= box_of(toy)[0]) & (found.w <= box_of(toy)[1])).all()


DECODED = [name for name, make in MODELS.items() if getattr(make, "func", make) in (chains, trees)]


@pytest.mark.parametrize("name", DECODED)
def test_predictions_are_those_of_the_enumeration(name):
    toy, rng = MODELS[name](), np.random.default_rng(2)
    w, K = rng.normal(size=toy.problem.n_weights), toy.n_states
    decoder, other = toy.decode(w), toy.decode(w, 2)
    best, most, (labels, scores) = decoder.best(), decoder.max_marginals(), decoder.top_k(5)
    np.testing.assert_array_equal(other.best(), best)
    np.testing.assert_array_equal(other.max_marginals(), most)
    at_best = decoder.scores(best)
    if sums := "tree" not in name:
        log_sums, marginals, pairs, further = decoder.marginals(weight=toy.pairs.c)
        drawn = decoder.sample(rng.random((3000, len(best))))
    start, mean = 0, np.zeros(len(w))
    for i in range(toy.pairs.n):
        known, values = np.array(toy.pairs.labels[i]), toy.scores(i, w)
        order, p = np.argsort(-values)[:5], np.exp(values - logsumexp(values))
        rows = slice(start, start := start + known.shape[1])
        np.testing.assert_array_equal(best[rows], known[order[0]])
        np.testing.assert_array_equal(labels[i], known[order])
        np.testing.assert_array_equal(other.top_k(5)[0][i], known[order])
        np.testing.assert_allclose(scores[i], values[order])
        assert at_best[i] == pytest.approx(values.max())
        for t, k in np.ndindex(known.shape[1], K):
            largest = values[known[:, t] == k].max(initial=-np.inf)
            assert most[rows][t, k] == pytest.approx(largest)
        if sums:
            assert log_sums[i] == pytest.approx(logsumexp(values))
            expected = np.array([np.bincount(column, p, minlength=K) for column in known.T])
            np.testing.assert_allclose(marginals[rows], expected, atol=1e-9)
            same = (drawn[:, rows] == known[:, None]).all(axis=2)
            assert same.any(axis=0).all()  # nothing that is not allowed
            np.testing.assert_allclose(same.mean(axis=1), p, atol=0.05)
            mean += toy.pairs.c[i] * (toy.pairs.right[i] - p @ toy.pairs.psi[i])
    if sums:
        features, weights = (toy.layout.split(v) for v in (toy.unflat(mean), w))
        np.testing.assert_allclose(pairs, features["transitions"], atol=1e-12)
        others = features.keys() & {"edge_coef", "triples"}
        expected = sum(features[name].ravel() @ weights[name].ravel() for name in others)
        assert further == pytest.approx(expected, abs=1e-12)
