"""Structures written in Python: equal to the compiled ones, dense or sparse, exact or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.structures import FORMS, Chains, Classes, Numbers, Signs, bind
from helpers.toys import chain_toy, multiclass_toy
from sskit_probes.core_probe import DualProbe

from sskit.core.dual import DualState
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def pair(name, form="dense"):
    """The same data, compiled and in Python."""
    toy = chain_toy(0, n=7) if name == "chain" else multiclass_toy(0, n=15, intercept=False)
    model = Chains(3, form) if name == "chain" else Classes(3, form == "csr")
    return toy.problem, bind(model, toy.X, list(toy.truths()))


@pytest.mark.skipif(not hasattr(sp.coo_array([[1]]), "coords"), reason="SciPy < 1.13")
def test_one_dimensional_sparse_arrays():
    model = Signs({"joint_feature": lambda x, y: sp.coo_array(y * x)})
    probe = ProblemProbe(bind(model, [np.array([0.0, 2.0])], [1]))
    assert probe.argmax(0, probe.scores(0, np.zeros(2))) == ([1], 1.0)


CASES = [*(("chain", form) for form in FORMS), ("classes", "dense"), ("classes", "csr")]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_answers_and_planes_are_those_of_the_compiled_model(name, form):
    """So that the same solver takes the same steps; the form is that of joint features."""
    compiled, python = pair(name, form)
    structure = python.structure
    for exact in (True, False):
        check_problem(bind(structure.binding.model, structure.X, structure.Y, exact=exact), 0)
    ours, theirs = ProblemProbe(python), ProblemProbe(compiled)
    rng = np.random.default_rng(0)
    for loss_weight in (0.0, 0.3, 1.0, 2.0):
        w = rng.normal(size=python.n_weights)
        for i in range(python.n_blocks):
            (one, lost), (other, expected) = (
                probe.argmax(i, probe.scores(i, w), loss_weight) for probe in (ours, theirs)
            )
            assert lost == pytest.approx(expected)
            moved = theirs.scatter(i, theirs.plane(i, other))
            np.testing.assert_allclose(ours.scatter(i, ours.plane(i, one)), moved, atol=1e-12)


# ---- bounds and oracles that are not exact -----------------------------------------------


def test_an_inexact_answer_is_replaced_by_a_kept_plane_or_the_truth():
    problem = bind(Numbers(), [0], [0], exact=False)
    probe = DualProbe(problem, DualState(problem))

    def best(w):
        return probe.argmax(0, probe.scores(0, np.array(w)))

    two, loss = best([2.0, 0.0])
    assert best([3.0, -5.0]) == ([0], 0.0)  # the truth is better
    two, loss = best([2.0, 0.0])
    probe.insert(0, two, loss)
    assert best([1.0, 5.0]) == (two, 1.0)
    three, _ = best([3.0, 5.0])
    assert probe.plane(0, three)[1] == -3
    probe.evict(0, 1)
    one, _ = best([1.0, 5.0])
    assert probe.plane(0, one)[1] == -1
    assert problem.plane_store.n_planes == 1
