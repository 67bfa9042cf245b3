"""What the options of block-coordinate solvers name: samplers, steps, batches."""

from sskit.core.sampler import GapSampler, MaxGapSampler, PermutationSampler, UniformSampler
from sskit.solvers.oracle_calls.pool import ThreadPool
from sskit.solvers.sharded.rounds import MOST_SHARDS, logs_moves
from sskit.solvers.simplex_qp.program import AwayStep, PairwiseStep, PlainStep

# Shards have no fewer blocks than this.
LEAST_BLOCKS = 4
# More would wait for their turns at the interpreter's lock.
MOST_IN_TURNS = 3
# Weights that shards hold in copies, all of them together: 1 GB.
MOST_COPIED = 2**27

SAMPLERS = {
    "permutation": PermutationSampler,
    "uniform": UniformSampler,
    "gap": GapSampler,
    "max_gap": MaxGapSampler,
}
STEPS = {"fw": PlainStep, "pairwise": PairwiseStep, "away": AwayStep}
MEGABYTE = 2.0**20


def shards_for(problem, pool, *, bounded):
    """Return how many workers of a pool are to visit blocks at the same time.

    Parameters
    ----------
    problem : Problem
        What to solve. Where an oracle takes the interpreter's lock, as structures in Python do,
        workers would wait for each other, and in a kernel space a step needs rows that all share.
    pool : Pool or None
        Whose workers.
    bounded : bool
        Whether there are bounds on the weights: those of very many would have to follow logs.

    Returns
    -------
    n_shards : int
        1 if blocks are to be visited one after the other.
    """
    if not isinstance(pool, ThreadPool) or problem.space.is_kernel_space:
        return 1
    if bounded and logs_moves(problem):
        return 1
    most = MOST_SHARDS if problem.lock_free else MOST_IN_TURNS if problem.takes_turns else 1
    most = min(most, problem.n_blocks // LEAST_BLOCKS, 1 + MOST_COPIED // max(problem.n_weights, 1))
    return max(min(pool.crew.n_workers, most), 1)
