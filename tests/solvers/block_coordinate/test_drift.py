"""Weights are sums of millions of small steps: how far they drift from their dual point."""

import numpy as np
import pytest
from helpers.laws import start_run
from helpers.paper import dual_value
from helpers.toys import bind_rows, keeping
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

# Gap of a block, as a fraction of P(0) = 1, below which its step changes next to nothing.
NEGLIGIBLE = 1e-11


def noisy_rows(n_rows, n_features, n_classes, fraction):
    """Rows of which some have another class: it takes long until no step changes anything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = (X @ rng.normal(size=(n_features, n_classes))).argmax(axis=1)
    wrong = rng.random(n_rows) < fraction
    y[wrong] = rng.integers(n_classes, size=wrong.sum())
    return bind_rows(X, y, n_classes)


@pytest.mark.parametrize(
    ("steps", "cache"),
    [("fw", False), ("pairwise", True), ("away", False), ("away", True), ("projection", False)],
)
@pytest.mark.parametrize("many", [300_000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_drift_after_many_steps(steps, cache, many):
    toy, lam, n_visits, n_steps = noisy_rows(1000, 8, 5, 0.2), 1e-5, 0, 0
    solver = BCFW(steps=steps, cache=cache, block_steps=1, stored_passes=0, averaging=False)
    regularizer = toy.regularizer(lam)
    gaps = toy.pairs.c * make_pool(toy.problem).hinges(regularizer.w)
    run = solver.start(toy.problem, regularizer, np.random.RandomState(0), gaps)
    while n_steps < many:
        run.run_pass()
        # where there was a gap at the last oracle call, the dual point changes
        n_steps += int(np.count_nonzero(run.gaps > NEGLIGIBLE))
        n_visits += 1000
        assert n_visits < 10**7
    assert (run.n_oracle_calls < n_visits) == cache
    v, _ = toy.dual_sum(run.dual, lam)
    np.testing.assert_allclose(toy.flat(run.weights()), v, rtol=0, atol=1e-9 * np.abs(v).max())
    for i in range(1000):
        _, weights, _, rest = planes_of(run.dual, i)
        assert weights.sum() + rest == pytest.approx(1.0, abs=1e-10)


# ---- evicted planes with weight --------------------------------------------------------------

N_BLOCKS, LAM = 30, 1e-3
EVICTING = {
    "plain": BCFW(steps="fw", block_steps=3, stored_passes=1),
    "pairwise": BCFW(steps="pairwise", stored_passes=1, batch_size=4),
    "pairwise, cache": BCFW(steps="pairwise", stored_passes=2, cache=True),
    "away": BCFW(steps="away", block_steps=1, stored_passes=1),
    "away, cache": BCFW(steps="away", stored_passes=2, cache=True),
    "multi-plane": MultiPlane(max_stored_passes=3),
    "multi-plane, away": MultiPlane(steps="away", max_stored_passes=3),
}


def evict(rng, toy, run, probe):
    """Shift all but a little of the weight of a plane to another one, and evict it."""
    i, little = int(rng.integers(N_BLOCKS)), 10.0 ** rng.uniform(-12, -1)
    code, weights, _, _ = planes_of(run.dual, i)
    if len(weights) < 2 or weights.max() <= little:
        return
    source = int(weights.argmax())
    target = (source + int(rng.integers(1, len(weights)))) % len(weights)
    amount = weights[source] - little
    delta = probe.plane(i, code[target]) - probe.plane(i, code[source])
    probe.shift(i, 1 + source, 1 + target, amount)
    probe.add(run.regularizer, i, delta, amount * toy.pairs.c[i] / LAM)
    probe.evict(i, 1 + source)


def from_scratch(toy, run, probe):
    """(v, D) of the mixes, made convex, and by how much one is no mix or has not its loss."""
    pairs, v, total, errors = toy.pairs, 0.0, 0.0, []
    for i in range(N_BLOCKS):
        # the statistics of a class are the weight with which it takes part, negative; the
        # true class comes first
        alpha = -probe.mix(i)[pairs.labels[i]]
        alpha[0] = 0.0
        loss = alpha @ pairs.loss[i]
        errors += [abs(loss - mix_of(run.dual, i)[2]), -alpha.min(), alpha.sum() - 1.0]
        alpha = np.maximum(alpha, 0.0)
        alpha /= max(alpha.sum(), 1.0)
        v = v + pairs.c[i] / LAM * (alpha @ pairs.psi[i])
        total += pairs.c[i] * (alpha @ pairs.loss[i])
    return v, dual_value(v, total, LAM), max(errors)


@pytest.mark.parametrize("n_steps", [12_000, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EVICTING)
def test_gaps_hold_where_planes_with_weight_are_evicted(name, n_steps):
    """They are those of a mix of planes: not of rounding, enlarged by a small weight."""
    options, kind = EVICTING[name].get_params() | {"averaging": False}, keeping(10**6)
    if "plane_life" in options:  # planes go by evict() only
        options["plane_life"], kind = 10**6, MultiPlane
    rng, toy, n_passes = np.random.default_rng(1), noisy_rows(N_BLOCKS, 4, 6, 0.4), n_steps // 30
    run = start_run(kind(**options), toy, LAM)
    probe = DualProbe(toy.problem, run.dual)
    for n in range(n_passes):
        run.run_pass()
        for _ in range(4 if n + 10 < n_passes else 0):
            evict(rng, toy, run, probe)
    v, dual, error = from_scratch(toy, run, probe)
    assert error < 1e-9
    # as if each dual weight were wrong by 1e-9
    np.testing.assert_allclose(toy.flat(run.weights()), v, rtol=0, atol=1e-9 / LAM)
    certificate = run.certify(make_pool(toy.problem))
    primal = toy.pairs.primal(toy.flat(certificate.w), LAM)
    assert certificate.gap == pytest.approx(primal - dual, abs=1e-9)
