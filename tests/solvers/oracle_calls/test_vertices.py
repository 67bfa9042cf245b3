"""Sums of the planes that all oracles find, where a step fails on the way."""

import numpy as np
import pytest
from helpers.kernels import in_kernel_space
from helpers.toys import TOYS, chain_toy, multiclass_toy
from sskit_probes.unreliable import UnreliableProblem

from sskit.models.kernel.functions import Kernel
from sskit.solvers.oracle_calls.pool import Answers, Pool

KERNEL = Kernel("rbf", gamma=0.5)
PROBLEMS = {name: lambda make=make: make().problem for name, make in TOYS.items()} | {
    "kernel-chain": lambda: in_kernel_space("chain", chain_toy(), KERNEL)[0],
    "kernel-multiclass": lambda: in_kernel_space("multiclass", multiclass_toy(), KERNEL)[0],
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_after_a_sum_that_fails_the_next_one_is_right(name):
    problem = UnreliableProblem(PROBLEMS[name](), 10**6)
    vertices = Answers(Pool(problem), planes=True)
    vertices.evaluate(np.zeros(problem.n_weights + 16))
    every = np.arange(problem.n_blocks), problem.block_weight
    expected = vertices.sum(*every)
    assert np.abs(expected).max() > 0
    for n_moves in (0, 1, 3):
        problem.n_moves = n_moves
        with pytest.raises(RuntimeError, match="cannot be moved"):
            vertices.sum(*every)
        problem.n_moves = -1
        np.testing.assert_allclose(vertices.sum(*every), expected, rtol=0, atol=1e-14)
