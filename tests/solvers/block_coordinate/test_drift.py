"""Weights are sums of millions of small steps: how far they drift from their dual point."""

import numpy as np
import pytest
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
    ("steps", "cache"), [("fw", False), ("pairwise", True), ("away", False), ("away", True)]
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

EVICTING = {
    "plain": BCFW(steps="fw", block_steps=3, stored_passes=1),
    "pairwise": BCFW(steps="pairwise", stored_passes=1, batch_size=4),
    "pairwise, cache": BCFW(steps="pairwise", stored_passes=2, cache=True),
    "away": BCFW(steps="away", block_steps=1, stored_passes=1),
    "away, cache": BCFW(steps="away", stored_passes=2, cache=True),
    "multi-plane": MultiPlane(max_stored_passes=3),
    "multi-plane, away": MultiPlane(steps="away", max_stored_passes=3),
}


class Evictions:
    """A run on rows whose blocks lose planes of all weights, from next to none to nearly one."""

    n_blocks, lam = 30, 1e-3

    def __init__(self, solver):
        self.rng, self.toy = np.random.default_rng(1), noisy_rows(self.n_blocks, 4, 6, 0.4)
        options, kind = solver.get_params() | {"averaging": False}, keeping(10**6)
        if "plane_life" in options:  # planes go by evict() only
            options["plane_life"], kind = 10**6, type(solver)
        regularizer = self.toy.regularizer(self.lam)
        self.run = kind(**options).start(self.toy.problem, regularizer, np.random.RandomState(0))
        self.probe = DualProbe(self.toy.problem, self.run.dual)

    def evict(self, n):
        """Shift all but a little of a plane's weight to another one, and evict it; n times."""
        for _ in range(n):
            i = int(self.rng.integers(self.n_blocks))
            code, weights, _, _ = planes_of(self.run.dual, i)
            little = 10.0 ** self.rng.uniform(-12, -1)
            if len(weights) < 2 or weights.max() <= little:
                continue
            source = int(weights.argmax())
            target = (source + int(self.rng.integers(1, len(weights)))) % len(weights)
            amount = weights[source] - little
            delta = self.probe.plane(i, code[target]) - self.probe.plane(i, code[source])
            self.probe.shift(i, 1 + source, 1 + target, amount)
            scale = self.toy.pairs.c[i] / self.lam
            self.probe.add(self.run.regularizer, i, delta, amount * scale)
            self.probe.evict(i, 1 + source)

    def from_scratch(self):
        """(v, D) of the mixes, made convex, and by how much one is no mix or has not its loss."""
        pairs, v, total, errors = self.toy.pairs, 0.0, 0.0, []
        for i in range(self.n_blocks):
            # the statistics of a class are the weight with which it takes part, negative; the
            # true class comes first
            alpha = -self.probe.mix(i)[pairs.labels[i]]
            alpha[0] = 0.0
            loss = alpha @ pairs.loss[i]
            errors += [abs(loss - mix_of(self.run.dual, i)[2]), -alpha.min(), alpha.sum() - 1.0]
            alpha = np.maximum(alpha, 0.0)
            alpha /= max(alpha.sum(), 1.0)
            v = v + pairs.c[i] / self.lam * (alpha @ pairs.psi[i])
            total += pairs.c[i] * (alpha @ pairs.loss[i])
        return v, dual_value(v, total, self.lam), max(errors)


@pytest.mark.parametrize("n_steps", [12_000, pytest.param(300_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EVICTING)
def test_gaps_hold_where_planes_with_weight_are_evicted(name, n_steps):
    """They are those of a mix of planes: not of rounding, enlarged by a small weight."""
    work = Evictions(EVICTING[name])
    for n in range(n_steps // work.n_blocks):
        work.run.run_pass()
        if n + 10 < n_steps // work.n_blocks:
            work.evict(4)
    v, dual, error = work.from_scratch()
    assert error < 1e-9
    w = work.toy.flat(work.run.weights())
    # as if each dual weight were wrong by 1e-9
    np.testing.assert_allclose(w, v, rtol=0, atol=1e-9 / work.lam)
    certificate = work.run.certify(make_pool(work.toy.problem))
    primal = work.toy.pairs.primal(work.toy.flat(certificate.w), work.lam)
    assert certificate.gap == pytest.approx(primal - dual, abs=1e-9)
