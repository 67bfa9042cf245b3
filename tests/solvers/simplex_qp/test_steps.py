"""End points of steps and their line searches, against the small quadratic program written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.step_probe import StepProbe

from sskit.solvers.block_coordinate.runs import STEPS

KINDS = ["fw", "pairwise", "away"]
MIX = -1
seeds = st.integers(0, 10**6)


class Block:
    """A block with n atoms: losses l, planes psi (n, d), weights alpha; c and lam.

    Its dual objective as a function of alpha, up to what other blocks add:
    c <alpha, score> - c^2 / (2 lam) ||(alpha - alpha_0) psi||^2, score belonging to alpha_0.
    """

    def __init__(self, seed, n=None):
        rng = np.random.default_rng(seed)
        n = n or int(rng.integers(1, 7))
        self.psi = rng.normal(size=(n, 5)) * rng.choice([0.0, 0.1, 1.0, 10.0])
        self.score = rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
        alpha = rng.dirichlet(np.full(n, 0.5))
        alpha[rng.random(n) < 0.3] = 0.0
        alpha[rng.integers(n)] += rng.choice([1e-9, 1.0])
        self.alpha = alpha / alpha.sum()
        self.c, self.lam = float(rng.uniform(0.01, 1.0)), float(10 ** rng.uniform(-3, 1))

    def value(self, alpha):
        moved = (alpha - self.alpha) @ self.psi
        squares = (moved**2).sum(axis=-1)
        return self.c * alpha @ self.score - self.c**2 / (2 * self.lam) * squares

    def probe(self):
        gram = self.psi @ self.psi.T
        return StepProbe(self.score, self.alpha, gram, self.c, self.lam)

    def end(self, point):
        return self.alpha if point == MIX else np.eye(len(self.alpha))[point]

    def best_gain(self, target, source):
        """Gain of the best feasible step, on a fine grid of step sizes."""
        direction = self.end(target) - self.end(source)
        falls = direction < 0
        if not falls.any():
            return 0.0
        limit = float(np.min(-self.alpha[falls] / direction[falls]))
        sizes = np.concatenate([np.linspace(0, limit, 60), np.geomspace(1e-9, 1, 60) * limit])
        values = self.value(self.alpha + sizes[:, None] * direction)
        return values.max() - self.value(self.alpha)

    @property
    def size(self):
        """Size of the numbers, for tolerances."""
        return 1e-9 * self.c * (np.abs(self.score).max() + 1.0)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seeds)
def test_line_search_between_any_end_points(seed):
    block = Block(seed)
    n = len(block.alpha)
    pairs = [(t, s) for t in range(MIX, n) for s in range(MIX, n) if t != s]
    for target, source in pairs:
        if source != MIX and block.alpha[source] == 0.0:
            continue
        if target == MIX and block.alpha[source] > 1 - 1e-6:
            continue  # next to nothing is left to step away to
        gain, after = block.probe().search(target, source)
        assert gain >= block.best_gain(target, source) - block.size
        assert gain == pytest.approx(block.value(after) - block.value(block.alpha), abs=block.size)
        assert (after >= -1e-9).all()
        assert after.sum() == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seeds)
def test_end_points(seed):
    block = Block(seed)
    probe, score, alpha = block.probe(), block.score, block.alpha
    best = int(np.argmax(score))
    worst = int(np.argmin(np.where(alpha > 0, score, np.inf)))
    mix = alpha @ score
    assert probe.choose(STEPS["fw"]()) == (best, MIX)
    assert probe.choose(STEPS["pairwise"]()) == (best, worst)
    towards, away = score[best] - mix, mix - score[worst]
    if abs(towards - away) > 1e-9 and alpha[worst] < 1:
        expected = (best, MIX) if towards > away else (MIX, worst)
        assert probe.choose(STEPS["away"]()) == expected
