"""The mean log-loss and its gradient with the enumeration of all labellings."""

import numpy as np
import pytest
from helpers.draws import BOTH
from helpers.objectives import log_losses
from helpers.pairwise import every_pair
from helpers.toys import FORMS, chain_toy, multiclass_toy, second_chain_toy, segment_toy

from sskit.core.stop import CutShort, Stop
from sskit.models.likelihood.log_loss import LogLoss, likelihood_of

ALLOWED = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
NINE = {"n_states": 9, "p": 2, "lengths": (1, 2, 3)}
MANY = {"n_states": 19, "p": 2, "lengths": (1, 2)}  # more than two vectors
TOYS = {
    "chain": chain_toy,
    "two labels": lambda *given, **more: chain_toy(*given, n_states=2, **more),
    "nine labels": lambda *given, **more: chain_toy(*given, **NINE, **more),
    "many labels": lambda *given, **more: chain_toy(*given, **MANY, **more),
    "rules": lambda *given, **more: chain_toy(*given, allowed=ALLOWED, **more),
    "second chain": second_chain_toy,
    "multiclass": multiclass_toy,
    "segments": segment_toy,
}


def evaluate(loss, problem, w, **options):
    """Value and gradient at weights of the package."""
    gradient = np.zeros(problem.n_weights + 8)
    value = loss.evaluate(np.append(w, np.zeros(8)), gradient, **options)
    return value, gradient[: problem.n_weights]


@every_pair(name=TOYS, form=FORMS, weighted=BOTH, n_jobs=[1, 2, 3], room=[1, 2**16])
def test_loss_and_gradient_are_those_of_the_enumeration(name, form, weighted, n_jobs, room):
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=6) if weighted else None
    toy = TOYS[name](3, n=6, form=form, weights=weights)
    problem = likelihood_of(toy.problem)
    loss = LogLoss(problem, n_jobs, Stop(), room)
    for scale in (0.0, 1.0, 30.0):
        u = scale * np.random.default_rng(0).normal(size=toy.pairs.d)
        value, gradient = evaluate(loss, problem, toy.unflat(u))
        expected, slope = log_losses(toy.pairs, u)
        assert value == pytest.approx(float(toy.pairs.c @ expected), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(loss.losses(), expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(toy.flat(gradient), slope, atol=1e-11)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_number_of_workers_changes_no_bit(form):
    toy = chain_toy(5, n=40, n_states=5, p=70, form=form)
    problem, rng = likelihood_of(toy.problem), np.random.default_rng(1)
    w = rng.normal(size=problem.n_weights)
    value, gradient = evaluate(problem.log_loss(1), problem, w)
    for n_jobs, room in ((2, 2**16), (3, 200), (4, 1)):
        other, slope = evaluate(LogLoss(problem, n_jobs, Stop(), room), problem, w)
        assert other == value and (slope == gradient).all()


def test_a_pass_is_cut_short():
    toy, stop = chain_toy(n=5), Stop()
    problem = likelihood_of(toy.problem)
    for n_jobs in (1, 2):
        loss = problem.log_loss(n_jobs, stop)
        stop.begin_pass()
        evaluate(loss, problem, np.zeros(problem.n_weights))
        stop.request(1)
        with pytest.raises(CutShort, match="cut short after 0 blocks"):
            evaluate(loss, problem, np.zeros(problem.n_weights))
        stop.request(0)


def test_vectors_that_are_too_short_are_refused():
    problem = likelihood_of(chain_toy().problem)
    full, short = np.zeros(problem.n_weights + 8), np.zeros(problem.n_weights)
    for w, gradient, name in ((short, full, "w"), (full, short, "gradient")):
        with pytest.raises(ValueError, match=f"the length of {name}"):
            problem.log_loss().evaluate(w, gradient)


def test_the_surrogate_is_part_of_the_fingerprint():
    problem = chain_toy().problem
    own = likelihood_of(problem).fingerprint()
    assert "the surrogate" in own.difference(problem.fingerprint())
    assert problem.log_loss() is None
