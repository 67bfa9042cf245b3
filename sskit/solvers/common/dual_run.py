"""What runs with a dual point have in common."""

import numpy as np

from sskit.core.dual import DualState
from sskit.solvers.common.run import Run
from sskit.solvers.common.snapshot import restore, save


class DualRun(Run):
    """A run that moves a dual point: it can be saved, taken up again, and moved to another lam.

    Whatever visits a pass has made, the dual point is whole.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam, v and w.
    averager : Averager
        Average of the iterates.
    """

    def __init__(self, problem, regularizer, averager):
        super().__init__()
        self.problem = problem
        self.regularizer = regularizer
        self.averager = averager
        self.dual = DualState(problem)
        self.gaps = np.full(problem.n_blocks, np.inf)

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        loss = float(np.dot(self.problem.block_weight, self.dual.losses()))
        v = np.asarray(self.regularizer.v)[: self.problem.n_weights]
        return self.regularizer.dual(v, loss)

    def sum_mixes(self):
        """Sum the mixes anew from their planes, where these are known, to undo drift."""

    def change_lam(self, lam):
        """Move to another lam, see `DualState.change_lam`; averaging begins anew.

        Parameters
        ----------
        lam : float
            The new lam.
        """
        self.dual.change_lam(self.problem, self.regularizer, lam)
        self.averager.restart()

    def rescale(self, lam):
        """Move to another lam with the dual weights as they are; averaging begins anew.

        Parameters
        ----------
        lam : float
            The new lam.
        """
        self.regularizer.rescale(lam)
        self.averager.restart()

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks, shape (n_blocks,)."""
        self.gaps[:] = gaps

    def save(self):
        """Return the dual point and the average, as arrays that can be pickled."""
        return save(self.dual), self.averager.save()

    def restore(self, blocks, average, shares):
        """Take up a saved dual point.

        Parameters
        ----------
        blocks : dict
            The dual point, of the first blocks.
        average : tuple or None
            The average of the iterates; None begins a new one.
        shares : ndarray of shape (n_blocks,)
            Share of their weights that the planes of a block keep; the truth gets the rest.
        """
        restore(self.dual, blocks)
        self.dual.keep_shares(self.problem, shares)
        self.dual.rebuild(self.problem, self.regularizer)
        if average is not None:
            self.averager.restore(average)
