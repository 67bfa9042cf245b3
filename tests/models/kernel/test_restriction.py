"""Parts of problems in a kernel space: the same functions, seen from some blocks."""

import numpy as np
import pytest
from helpers.kernels import in_kernel_space
from helpers.pairwise import every_pair
from helpers.toys import chain_toy, multiclass_toy

import sskit.models.kernel.space
from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.kernel.space import KernelSupport
from sskit.models.slack.model import SlackRescaling
from sskit.solvers.oracle_calls.pool import Answers, Pool
from sskit.testing.problem_checks import check_problem

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
RBF = Kernel("rbf", gamma=0.3)
SOME = np.array([1, 4, 5])


def whole(name, *, form="dense", intercept=True):
    toy = TOYS[name](3, n=7)
    return toy, *in_kernel_space(name, toy, RBF, form=form, intercept=intercept)


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
    vertices = Answers(Pool(problem), planes=True)
    blocks = np.arange(problem.n_blocks) if blocks is None else blocks
    vertices.choose(blocks)
    vertices.evaluate(padded(problem, w))
    total = vertices.sum(np.arange(len(blocks)), np.full(len(blocks), 1.0 / len(blocks)))
    return vertices.losses().copy(), vertices.hinges().copy(), total


@every_pair(name=TOYS, form=["dense", "csr"], rescaling=[None, SlackRescaling(search="bisecting")])
def test_a_part_finds_what_the_whole_finds_there(name, form, rescaling):
    toy, problem, layout = whole(name, form=form)
    w = random_weights(problem, layout, toy, np.random.default_rng(0))
    one = problem if rescaling is None else rescaling.wrap(problem)
    losses, hinges, sums = found(one, w, SOME)
    part = one.restrict(SOME, np.full(3, 1 / 3))
    # the weights of the whole, by those of a part that is all of it
    blocks = np.arange(7)
    other = one.restrict(blocks, np.full(7, 1 / 7))
    source, support, values = other.space.support, part.space.support, one.space.value_slice
    coefficients = source.coefficients(w)
    there = support.gather(source.numbers, coefficients)
    view = np.concatenate([w[: values.start], there.ravel(), np.zeros(there.size)])
    losses_there, hinges_there, sums_there = found(part, view)
    np.testing.assert_array_equal(losses, losses_there)
    np.testing.assert_allclose(hinges, hinges_there, atol=1e-12)
    # and their sum, brought back
    back = np.zeros(problem.n_weights)
    back[: values.start] = sums_there[: values.start]
    coefficients = support.coefficients(sums_there)
    one.space.support.coefficients(back)[:, support.numbers] = coefficients
    back[values] = support.spread(coefficients, source.numbers).ravel()
    np.testing.assert_allclose(back, sums, atol=1e-12)


def test_parts_keep_the_contract():
    """Also where the whole or the part has single rows, whose squared norms stand elsewhere."""
    problems = [whole(name)[1] for name in TOYS]
    for lengths in [(1,), (2, 1, 2, 3, 1, 1)]:
        toy = chain_toy(3, n=6, lengths=lengths)
        problems.append(in_kernel_space("chain", toy, RBF)[0])
        check_problem(problems[-1], 0)
    for problem in problems:
        part = problem.restrict(SOME, np.full(3, 1 / 3))
        assert part.n_blocks == 3
        assert part.space.is_kernel_space
        check_problem(part, 0)


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [(RBF, 1.0), (RBF, 1e200), (Kernel("poly", gamma=0.3, degree=2, coef0=1.0), 1.0)],
)
def test_functions_are_sums_of_kernels(kernel, scale, monkeypatch):
    """A block of rows at a time; what overflows is left to scikit-learn."""
    monkeypatch.setattr(sskit.models.kernel.space, "BLOCK_ENTRIES", 9)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3))
    X[7] *= scale
    here, there = np.array([2, 3, 11]), np.array([0, 3, 4, 7, 9])
    rows, kernels = KernelSupport(kernel, X, 2, 0, here), kernel(X[here], X[there])
    coefficients = rng.normal(size=(4, 5))
    np.testing.assert_allclose(
        rows.gather(there, coefficients), coefficients @ kernels.T, atol=1e-12
    )
    coefficients = rng.normal(size=(2, 3)) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(rows.spread(coefficients, there), coefficients @ kernels, atol=1e-12)
    np.testing.assert_allclose(rows.matrix(), kernel(X[here], X[here]), atol=1e-12)
    assert rows.gather(there[:0], np.zeros((4, 0))).shape == (4, 3)
    assert rows.spread(coefficients, there[:0]).shape == (2, 0)
    assert not rows.spread(0.0 * coefficients, there).any()


def test_precomputed_parts():
    toy, problem, _ = whole("multiclass", intercept=False)
    K = RBF(np.array(toy.X), np.array(toy.X))
    toy.X = list(K)
    other = in_kernel_space("multiclass", toy, PrecomputedKernel(), intercept=False)[0]
    one, two = (p.restrict(SOME, np.full(3, 1 / 3)).space.support for p in (problem, other))
    there = np.array([0, 2])
    coefficients = np.random.default_rng(0).normal(size=(toy.n_states, 2))
    np.testing.assert_allclose(
        one.gather(there, coefficients), two.gather(there, coefficients), atol=1e-12
    )
    back = np.random.default_rng(1).normal(size=(toy.n_states, 3))
    np.testing.assert_allclose(one.spread(back, there), two.spread(back, there), atol=1e-12)


def test_there_are_no_parts_elsewhere():
    problem = multiclass_toy(0, n=4).problem
    assert problem.space.value_slice == slice(0, 0)
    assert problem.space.support is None
    with pytest.raises(NotImplementedError, match="StructuredProblem is in no kernel space"):
        problem.restrict(SOME, np.ones(3))
