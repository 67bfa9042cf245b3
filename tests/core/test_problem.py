"""The contract between models and solvers, on every model, and broken on purpose."""

import numpy as np
import pytest
from helpers.toys import chain_toy
from sskit_probes.unreliable import BoundingProblem, UnreliableProblem

from sskit.core.problem import Problem, block_weights
from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.solvers import BCFW
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem, require


def test_missing_methods_are_named_and_broken_laws_with_their_block(monkeypatch):
    with pytest.raises(NotImplementedError, match="Problem must implement fork"):
        check_problem(Problem())
    with pytest.raises(AssertionError, match="block 3: the loss -1 is negative"):
        require(False, 3, "the loss -1 is negative")
    probe = ProblemProbe(chain_toy().problem)
    with pytest.raises(IndexError, match="block 5 of a problem with 5 blocks"):
        probe.truth(5)
    with pytest.raises(ValueError, match="w must have shape"):
        probe.scores(0, np.zeros(3))
    for broken, pattern in [
        ({"loose": 0.5}, "the oracle found .*, with excess .*, but .* is possible"),
        ({"extra": -1.0}, "the excess -.* is no bound"),
        ({"extra": np.inf}, "the excess inf is no bound"),
        ({"extra": np.nan}, "the excess nan is no bound"),
    ]:
        problem = BoundingProblem(chain_toy(3, n=9).problem, fraction=0.0, **broken)
        with pytest.raises(AssertionError, match=r"block \d: .*" + pattern):
            check_problem(problem, 0)
    right, wrong = (chain_toy(seed, lengths=(3,)).problem for seed in range(2))

    class Shell:
        """Has the sizes of the one problem, but its fork is the other."""

        fork = staticmethod(lambda: wrong)

        def __getattr__(self, name):
            return getattr(right, name)

    monkeypatch.setattr(
        "sskit.testing.problem_checks.ProblemProbe",
        lambda problem: ProblemProbe(wrong if problem is wrong else right),
    )
    with pytest.raises(AssertionError, match="block 0: .* fork"):
        check_problem(Shell(), 0)


@pytest.mark.parametrize("forgotten", ["plane", "truth", "clip", "sqnorm"])
def test_a_method_that_is_forgotten_is_named_when_it_is_needed(forgotten):
    problem = UnreliableProblem(chain_toy(0).problem, 10**6)
    box = np.full(problem.n_weights, -0.1), np.full(problem.n_weights, 0.1)
    regularizer = Regularizer(0.1, problem.n_weights)
    if forgotten == "clip":
        regularizer = BoxRegularizer(0.1, *box)

    def solve():
        return BCFW().solve(problem, regularizer, tol=0, max_iter=2, random_state=0)

    assert solve().w.any()
    problem.forget(forgotten)
    assert problem.fork().forgotten == forgotten
    with pytest.raises(NotImplementedError, match=f"^Problem must implement {forgotten}"):
        solve()


def test_block_weights_sum_to_one():
    for weights, expected in [
        (None, [0.25] * 4),
        ([1, 1, 2, 0], [0.25, 0.25, 0.5, 0.0]),
        ([1e-320] * 4, [0.25] * 4),
        ([1e308] * 4, [0.25] * 4),
    ]:
        given = None if weights is None else np.array(weights)
        copy = None if given is None else given.copy()
        np.testing.assert_allclose(block_weights(4, given), expected)
        assert given is None or (given == copy).all()
    # those of some blocks are a fraction of those of all
    weights = np.array([1e-200, 3e-200, 4e-200])
    some = block_weights(2, weights[:2], 4e-200, 2.0)
    np.testing.assert_array_equal(some, block_weights(3, weights)[:2])
    np.testing.assert_array_equal(block_weights(2, None, 1.0, 5.0), block_weights(5)[:2])
