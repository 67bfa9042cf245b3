"""Dual points whose truths change: planes follow, and the point stays one of the new problem."""

import numpy as np
import pytest
from helpers.laws import check_moved
from helpers.structures import Chains, bind
from sskit_probes.core_probe import DualProbe, planes_of

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged_array import RaggedArray
from sskit.models.chain.model import ChainModel
from sskit.solvers import BCFW
from sskit.solvers.common.snapshot import change_truths, save, truth_gains

K, P, LAM = 3, 2, 0.1
LENGTHS = np.array([1, 3, 4, 2, 4])
N = LENGTHS.sum()
RNG = np.random.default_rng(0)
OFFSETS = np.concatenate([[0], np.cumsum(LENGTHS)])
LABELS = RNG.integers(K, size=N)
HIDDEN = np.arange(N) % 2 == 0
ALLOWED = ~np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def make_problem(allowed=None):
    ends = None if allowed is None else np.ones(K, dtype=bool)
    stacked = RaggedArray(RNG.normal(size=(N, P)), OFFSETS)
    model = ChainModel(P, K, allowed, ends, ends)
    labels = np.where(LABELS == 1, 0, LABELS) if allowed is not None else LABELS
    weight = np.full(len(LENGTHS), 1 / len(LENGTHS))
    return model.bind(stacked, labels, np.where(HIDDEN, 0.0, 1.0), weight), labels


def completed(labels, allowed):
    """Other labels where they are hidden."""
    found = np.where(HIDDEN, (labels + 1 + np.arange(N) % 2) % K, labels)
    return np.where(found == 1, 2, found) if allowed is not None else found


def truth_of(problem, i):
    return DualProbe(problem, DualState(problem)).truth(i)


@pytest.mark.parametrize("allowed", [None, ALLOWED], ids=["all", "some"])
@pytest.mark.parametrize("steps", ["pairwise", "fw"])
def test_moved_points_are_dual_points_of_the_new_problem(steps, allowed):
    problem, labels = make_problem(allowed)
    solver, regularizer = BCFW(steps=steps, cache=True), Regularizer(LAM, problem.n_weights)
    point = solver.solve(problem, regularizer, tol=0.05, random_state=0).fit.save()
    new = problem.with_truth(completed(labels, allowed))
    moved = [(truth_of(problem, i) != truth_of(new, i)).any() for i in range(new.n_blocks)]
    blocks = change_truths(point.blocks, new, problem)
    dual, _ = check_moved(new, blocks, LAM, lambda i, aggregate: moved[i])
    for i in range(new.n_blocks):
        codes, _, losses, _ = planes_of(dual, i)
        wrong = (codes != truth_of(new, i)) & ~HIDDEN[OFFSETS[i] : OFFSETS[i + 1]]
        np.testing.assert_allclose(losses, wrong.sum(axis=1))
        assert allowed is None or allowed[codes[:, :-1], codes[:, 1:]].all()
    # the same truths leave all as it is
    same = change_truths(point.blocks, problem, problem)
    for name, array in point.blocks.items():
        np.testing.assert_array_equal(same[name], array)


def test_gains_are_differences_of_scores():
    problem, labels = make_problem()
    new = problem.with_truth(completed(labels, None))
    probe = DualProbe(new, DualState(new))
    w = RNG.normal(size=new.n_weights)
    padded = Regularizer(LAM, new.n_weights).padded(w)
    gains = truth_gains(new, problem, padded)
    for i in range(new.n_blocks):
        plane = probe.plane(i, truth_of(problem, i))
        assert gains[i] == pytest.approx(np.dot(plane, probe.scores(i, w)))
    assert (truth_gains(new, new, padded) == 0).all()


def test_codes_of_other_structures_are_no_labellings():
    structure, another = (bind(Chains(3), [np.ones((2, 2))], [[0, 1]]) for _ in range(2))
    with pytest.raises(ValueError, match="are no labellings"):
        change_truths(save(DualState(structure)), another, structure)
