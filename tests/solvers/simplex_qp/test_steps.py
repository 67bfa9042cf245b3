"""End points of steps and their line searches, against the small quadratic program written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.step_probe import StepProbe

from sskit.solvers.block_coordinate.runs import STEPS
from sskit.solvers.simplex_qp.program import SimplexProgram

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

    def program(self, kind=SimplexProgram):
        return kind(self.score, self.alpha, self.psi @ self.psi.T, self.lam, self.c)

    def probe(self):
        return self.program(StepProbe)

    def scores(self, alpha):
        """Gradient at weights, over c."""
        return self.score - self.c / self.lam * self.psi @ ((alpha - self.alpha) @ self.psi)

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


@settings(max_examples=300, deadline=None, derandomize=True)
@given(seeds, st.sampled_from([None, 2, 12, 40]), st.sampled_from([1e-3, 1e-9, 0.0]))
def test_the_maximum_is_reached_whatever_depends_on_what(seed, n, tolerance):
    """With more atoms than dimensions, most of them are affinely dependent, or equal."""
    block = Block(seed, n)
    tolerance *= block.c * np.abs(block.score).max()
    alpha = block.program().maximise(tolerance)
    assert (alpha >= 0.0).all() and alpha.sum() == pytest.approx(1.0, abs=1e-12)
    scores = block.scores(alpha)
    slope = block.c * (scores.max() - alpha @ scores)
    # of a concave function the slope bounds what is missing
    assert slope <= tolerance + block.size
    assert block.value(alpha) >= block.value(block.alpha) - block.size


def test_sizes_of_a_program_are_checked():
    score, weight, gram = np.zeros(3), np.array([1.0, 0.0, 0.0]), np.eye(3)
    for wrong in ((score[:2], weight, gram), (score, weight[:2], gram), (score, weight, gram[:2])):
        with pytest.raises(ValueError, match="number of"):
            SimplexProgram(*wrong, 1.0)
