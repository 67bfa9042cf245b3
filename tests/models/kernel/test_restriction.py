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


def whole(name, kernel=RBF, **options):
    toy = TOYS[name](3, n=7)
    if isinstance(kernel, PrecomputedKernel):
        toy.X = list(RBF(np.array(toy.X), np.array(toy.X)))
    return toy, *in_kernel_space(name, toy, kernel, **options)


def random_weights(problem, layout, toy, rng):
    """Weights of functions, with values that belong to the coefficients."""
    X, w = np.concatenate([np.atleast_2d(x) for x in toy.X]), rng.normal(size=problem.n_weights)
    blocks = layout.split(w)
    blocks["values"][:] = blocks["dual_coef"] @ RBF(X, X)
    return w


def found(problem, w, blocks):
    """Losses, hinges and the sum of the planes of some blocks, at equal weights."""
    vertices = Answers(Pool(problem), planes=True)
    vertices.choose(blocks)
    vertices.evaluate(Regularizer(1.0, problem.n_weights).padded(w))
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
    other = one.restrict(np.arange(7), np.full(7, 1 / 7))
    source, support, space = other.space.support, part.space.support, one.space
    values = slice(space.place, space.place + space.n_states * space.n_rows)
    there = support.gather(source.numbers, source.coefficients(w))
    view = np.concatenate([w[: values.start], there.ravel(), np.zeros(there.size)])
    losses_there, hinges_there, sums_there = found(part, view, np.arange(3))
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
    problem = multiclass_toy(0, n=4).problem
    assert problem.space.support is None
    with pytest.raises(NotImplementedError, match="StructuredProblem is in no kernel space"):
        problem.restrict(SOME, np.ones(3))


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
    forward, back = rng.normal(size=(4, 5)), rng.normal(size=(2, 3)) * [1.0, 0.0, 1.0]
    np.testing.assert_allclose(rows.gather(there, forward), forward @ kernels.T, atol=1e-12)
    np.testing.assert_allclose(rows.spread(back, there), back @ kernels, atol=1e-12)
    np.testing.assert_allclose(rows.matrix(), kernel(X[here], X[here]), atol=1e-12)
    assert rows.gather(there[:0], np.zeros((4, 0))).shape == (4, 3)
    assert rows.spread(back, there[:0]).shape == (2, 0)
    assert not rows.spread(0.0 * back, there).any()
    # those of a kernel matrix that is given
    problems = (whole("multiclass", k, intercept=False)[1] for k in (RBF, PrecomputedKernel()))
    one, two = (problem.restrict(SOME, np.full(3, 1 / 3)).space.support for problem in problems)
    forward, back = rng.normal(size=(3, 5)), rng.normal(size=(3, 3))
    there = np.array([0, 2, 3, 5, 6])
    np.testing.assert_allclose(one.gather(there, forward), two.gather(there, forward), atol=1e-12)
    np.testing.assert_allclose(one.spread(back, there), two.spread(back, there), atol=1e-12)
