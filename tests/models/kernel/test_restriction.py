"""Parts of problems in a kernel space: the same functions, seen from some blocks."""

import numpy as np
import pytest
from helpers.kernels import in_kernel_space
from helpers.toys import chain_toy, multiclass_toy

from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.slack.model import SlackRescaling
from sskit.solvers.oracle_calls.vertices import Vertices
from sskit.testing.problem_checks import check_problem

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
RBF = Kernel("rbf", gamma=0.3)
SOME = np.array([1, 4, 5])


def whole(name, *, form="dense", intercept=True):
    toy = TOYS[name](3, n=7)
    return toy, *in_kernel_space(name, toy, RBF, form=form, intercept=intercept)


def rows_of(toy, blocks):
    lengths = np.array([np.atleast_2d(x).shape[0] for x in toy.X])
    starts = np.cumsum(lengths) - lengths
    return np.concatenate([np.arange(starts[i], starts[i] + lengths[i]) for i in blocks])


def random_weights(problem, layout, toy, rng):
    """Weights of functions, with values that belong to the coefficients."""
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    w = rng.normal(size=problem.n_weights)
    blocks = layout.split(w)
    blocks["values"][:] = blocks["dual_coef"] @ RBF(X, X)
    return w


def padded(problem, w):
    return Regularizer(1.0, problem.n_weights).padded(w)


def found(problem, w, blocks=None):
    """Losses, hinges and the sum of the planes of some blocks, at equal weights."""
    vertices = Vertices(problem, problem.n_blocks, DualState(problem))
    blocks = np.arange(problem.n_blocks) if blocks is None else blocks
    vertices.ask(blocks)
    vertices.look(padded(problem, w))
    out = np.zeros_like(padded(problem, w))
    share = np.full(len(blocks), 1.0 / len(blocks))
    vertices.add(np.arange(len(blocks)), share, problem, blocks, out)
    return vertices.losses().copy(), vertices.hinges().copy(), out[: problem.n_weights]


@pytest.mark.parametrize("rescaling", [None, SlackRescaling(search="bisecting")])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("name", TOYS)
def test_a_part_finds_what_the_whole_finds_there(name, form, rescaling):
    toy, problem, layout = whole(name, form=form)
    w = random_weights(problem, layout, toy, np.random.default_rng(0))
    one = problem if rescaling is None else rescaling.wrap(problem)
    losses, hinges, sums = found(one, w, SOME)
    part = one.restrict(SOME, np.full(3, 1 / 3))
    # the weights of the whole, by those of a part that is all of it
    everyone = np.arange(7)
    other = one.restrict(everyone, np.full(7, 1 / 7))
    view = part.space.support.evaluate([other.space.support], [w])[0]
    losses_there, hinges_there, sums_there = found(part, view)
    np.testing.assert_array_equal(losses, losses_there)
    np.testing.assert_allclose(hinges, hinges_there, atol=1e-12)
    # and their sum, brought back
    back = np.zeros(problem.n_weights)
    one.space.support.add_expansion(part.space.support, 2.0, sums_there, back)
    values = one.space.value_slice
    assert not back[values].any()
    back[values] = 2.0 * one.space.support.evaluate([part.space.support], [sums_there])[0, values]
    np.testing.assert_allclose(back, 2.0 * sums, atol=1e-12)


@pytest.mark.parametrize("name", TOYS)
def test_parts_keep_the_contract(name):
    _, problem, _ = whole(name)
    part = problem.restrict(SOME, np.full(3, 1 / 3))
    assert part.n_blocks == 3
    assert part.space.is_kernel_space
    check_problem(part, 0)


@pytest.mark.parametrize("name", TOYS)
def test_views_are_sums_of_kernels(name):
    toy, problem, layout = whole(name)
    rng = np.random.default_rng(1)
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    parts = [
        problem.restrict(np.array(blocks), np.ones(len(blocks))) for blocks in ([0, 2], [6], [3])
    ]
    vectors = [rng.normal(size=part.n_weights) for part in parts]
    vectors[2][:] = 0.0
    views = problem.space.support.evaluate([part.space.support for part in parts], vectors)
    assert views.shape == (3, problem.n_weights)
    for view, part, vector in zip(views, parts, vectors, strict=True):
        row = np.zeros(problem.n_weights)
        problem.space.support.add_expansion(part.space.support, 1.0, vector, row)
        coefficients = layout.split(row)["dual_coef"]
        values = layout.split(view)["values"]
        np.testing.assert_allclose(values, coefficients @ RBF(X, X), atol=1e-12)
        assert not layout.split(view)["dual_coef"].any()
        linear = slice(0, problem.space.value_slice.start)
        np.testing.assert_array_equal(view[linear], vector[linear])
    assert problem.space.support.evaluate([], []).shape == (0, problem.n_weights)
    np.testing.assert_array_equal(
        np.flatnonzero(layout.split(problem_row(problem, parts[0]))["dual_coef"][0]),
        rows_of(toy, [0, 2]),
    )


def problem_row(problem, part):
    row = np.zeros(problem.n_weights)
    problem.space.support.add_expansion(part.space.support, 1.0, np.ones(part.n_weights), row)
    return row


def test_precomputed_parts():
    toy, problem, _ = whole("multiclass", intercept=False)
    K = RBF(np.array(toy.X), np.array(toy.X))
    toy.X = list(K)
    other = in_kernel_space("multiclass", toy, PrecomputedKernel(), intercept=False)[0]
    one, two = (p.restrict(SOME, np.full(3, 1 / 3)) for p in (problem, other))
    rest = [p.restrict(np.array([0, 2]), np.full(2, 0.5)) for p in (problem, other)]
    vector = np.random.default_rng(0).normal(size=rest[0].n_weights)
    views = [
        p.space.support.evaluate([q.space.support], [vector])
        for p, q in zip((one, two), rest, strict=True)
    ]
    np.testing.assert_allclose(views[0], views[1], atol=1e-12)


def test_there_are_no_parts_elsewhere():
    problem = multiclass_toy(0, n=4).problem
    assert problem.space.value_slice == slice(0, 0)
    assert problem.space.support is None
    with pytest.raises(NotImplementedError, match="MulticlassProblem is in no kernel space"):
        problem.restrict(SOME, np.ones(3))
