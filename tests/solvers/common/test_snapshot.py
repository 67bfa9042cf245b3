"""Dual points whose truths change: planes follow, and the point stays one of the new problem."""

import numpy as np
import pytest
from helpers.laws import check_moved
from helpers.structures import Chains, bind
from helpers.toys import component_toy
from sskit_probes.core_probe import DualProbe, mix_of, planes_of

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import change_truths, restore, save, truth_gains

K, P, LAM = 3, 2, 0.1
LENGTHS = np.array([1, 3, 4, 2, 4])
N = LENGTHS.sum()
RNG = np.random.default_rng(0)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
LABELS = RNG.integers(K, size=N)
HIDDEN = np.arange(N) % 2 == 0
ALLOWED = ~np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def chains(allowed=None):
    """A problem whose labels are hidden at every other token, and others there."""
    ends = None if allowed is None else np.ones(K, dtype=bool)
    stacked = RaggedArray(RNG.normal(size=(N, P)), OFFSETS)
    model = ChainModel(P, K, allowed, ends, ends)
    labels = np.where(LABELS == 1, 0, LABELS) if allowed is not None else LABELS
    weight = np.full(len(LENGTHS), 1 / len(LENGTHS))
    problem = model.bind(stacked, labels, np.where(HIDDEN, 0.0, 1.0), weight)
    found = np.where(HIDDEN, (labels + 1 + np.arange(N) % 2) % K, labels)
    return problem, np.where(found == 1, 2, found) if allowed is not None else found


def components():
    """Rows of which some of the second class move from its one component to the other."""
    toy, rows = component_toy(4, n=30), np.arange(30)
    old = np.array([found[0] for found in toy.pairs.labels])
    return toy.problem, np.where((old == 1) & (rows % 2 == 0), 2, old)


def chain_losses(codes, truth, i):
    return ((codes != truth) & ~HIDDEN[OFFSETS[i] : OFFSETS[i + 1]]).sum(axis=1)


def class_losses(codes, truth, i):
    return np.minimum(codes[:, 0], 1) != np.minimum(truth[0], 1)


@pytest.mark.parametrize("steps", ["pairwise", "fw"])
@pytest.mark.parametrize("kind", ["chains", "ruled chains", "components"])
def test_moved_points_are_dual_points_of_the_new_problem(steps, kind):
    problem, truths = components() if kind == "components" else chains()
    if kind == "ruled chains":
        problem, truths = chains(ALLOWED)
    solver, regularizer = BCFW(steps=steps, cache=True), Regularizer(LAM, problem.n_weights)
    point = solver.solve(problem, regularizer, tol=0.05, random_state=0).fit.save()
    new, before = problem.with_truth(truths), DualState(problem)
    blocks, probe = change_truths(point.blocks, new, problem), DualProbe(problem, before)
    restore(before, point.blocks)
    old = [probe.truth(i) for i in range(new.n_blocks)]
    after = [DualProbe(new, DualState(new)).truth(i) for i in range(new.n_blocks)]
    moved = [not np.array_equal(one, other) for one, other in zip(old, after, strict=True)]
    assert any(moved)
    dual, _ = check_moved(new, blocks, LAM, lambda i, aggregate: moved[i])
    losses_of = class_losses if kind == "components" else chain_losses
    for i in range(new.n_blocks):
        codes, _, losses, _ = planes_of(dual, i)
        np.testing.assert_allclose(losses, losses_of(codes, np.array(after[i]), i))
        assert kind != "ruled chains" or ALLOWED[codes[:, :-1], codes[:, 1:]].all()
        for one, other in zip(mix_of(dual, i), mix_of(before, i), strict=True):
            assert moved[i] or np.array_equal(one, other)
    # the same truths leave all as it is
    same = change_truths(point.blocks, problem, problem)
    assert all((same[name] == array).all() for name, array in point.blocks.items())
    # gains are differences of scores
    w, probe = RNG.normal(size=new.n_weights), DualProbe(new, dual)
    padded = Regularizer(LAM, new.n_weights).padded(w)
    gains = truth_gains(new, problem, padded)
    for i in range(new.n_blocks):
        psi = np.asarray(probe.plane(i, old[i]))
        theta = np.where(psi == 0.0, 0.0, probe.scores(i, w))  # -inf is forbidden
        assert gains[i] == pytest.approx(psi @ theta, abs=1e-12)
    assert (truth_gains(new, new, padded) == 0).all()
    assert kind != "components" or "the costs of pairs" in problem.fingerprint().whole


def test_codes_of_other_structures_are_no_labellings():
    structure, another = (bind(Chains(3), [np.ones((2, 2))], [[0, 1]]) for _ in range(2))
    with pytest.raises(ValueError, match="are no labellings"):
        change_truths(save(DualState(structure)), another, structure)
