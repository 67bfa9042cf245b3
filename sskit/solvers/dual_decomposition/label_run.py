"""A run of dual-decomposed training of sets of labels."""

import numpy as np

from sskit.core.sampler import PermutationSampler
from sskit.solvers.dual_decomposition.label_pairs.pair_oracle import BoundedSearch, PairSearch
from sskit.solvers.dual_decomposition.label_pairs.state import LabelState
from sskit.solvers.dual_decomposition.label_pairs.sweep import LabelSweep
from sskit.solvers.dual_decomposition.run import FactorRun

# With w = 0 every label of the first blocks is violated, and so every pair would be linked; a few
# passes over labels alone leave few.
PASSES_ALONE = 3


class LabelRun(FactorRun):
    """State of one run: passes over labels, then over labels and pairs, and certificates.

    Parameters
    ----------
    problem, regularizer, sweep, sampler, exact : object
        As for `FactorRun`; the sweep is a `LabelSweep`.
    """

    n_passes = 0

    @property
    def n_scores(self):
        """Labels and pairs that the oracles looked at so far."""
        return self.sweep.n_looks + self.sweep.pairs.n_looks

    def sweep_blocks(self, n_steps):
        """Visit blocks, in the first passes with their labels alone."""
        alone = self.n_passes < PASSES_ALONE and self.state.factors.n_edges > 0
        self.decrease, self.infeasibility = self.sweep.run_pass(
            self.sampler, n_steps, alone, self.stop
        )
        self.n_passes += 1
        if alone:
            # labels as if there were no edges say nothing about when to stop
            self.infeasibility = 1.0

    def lower_bound(self):
        """Return one of the optimum if the relaxation is the problem, else nan."""
        if not self.state.factors.tight:
            return np.nan
        return self.regularizer.dual(*self.state.consistent())


def start_labels(solver, problem, regularizer, random_state):
    """Return the state of a new run over sets of labels.

    Parameters
    ----------
    solver : GDMM
        Its parameters, with every "auto" replaced.
    problem : Problem
        What to solve; its factors are `LabelFactors`.
    regularizer : Regularizer
        Holds lam and w = 0.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    run : LabelRun
        The state.
    """
    state = LabelState(problem.decomposition(), regularizer.lam, solver.rho, regularizer.v)
    search = (BoundedSearch if solver.ordered else PairSearch)(state.table)
    sweep = LabelSweep(state, search, solver.step, solver.block_sweeps)
    sampler = PermutationSampler(problem.n_blocks, random_state)
    return LabelRun(problem, regularizer, sweep, sampler, solver.gap_every is not None)
