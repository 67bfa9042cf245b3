"""Labelling many inputs with a trained model."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from sskit.models.features import with_spare


class Decoder:
    """Shares the blocks of a problem out to threads; a subclass says what is found for them.

    Parameters
    ----------
    problem : Problem
        The inputs; its labels are not used.
    w : ndarray of shape (n_weights,)
        Flat weights.
    n_jobs : int, default=None
        Number of threads.
    """

    def __init__(self, problem, w, n_jobs=None):
        n_shares = max(1, min(effective_n_jobs(n_jobs), problem.n_blocks))
        bounds = np.linspace(0, problem.n_blocks, n_shares + 1).astype(np.intp)
        self.problem = problem
        self.w = with_spare(w)
        self.shares = list(zip(bounds, bounds[1:], strict=False))

    def _run(self, function, out):
        """Call function(problem, w, start, stop, out) for every share; return `out`."""
        if len(self.shares) == 1:
            function(self.problem, self.w, *self.shares[0], out)
        else:
            Parallel(n_jobs=len(self.shares), require="sharedmem")(
                delayed(function)(self.problem.fork(), self.w, start, stop, out)
                for start, stop in self.shares
            )
        return out
