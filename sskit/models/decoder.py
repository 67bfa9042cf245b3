"""Labelling many inputs with a trained model."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import effective_n_jobs


class Decoder:
    """Shares the blocks of a request out to threads; a subclass says what is found for them.

    Parameters
    ----------
    request : object
        Inputs: it has n_blocks, and fork(), which gives another thread one of its own.
    n_jobs : int, default=None
        Number of threads.
    *weights : object
        What threads share: weights, where a request has none of its own.
    """

    def __init__(self, request, n_jobs=None, *weights):
        self.request = request
        self.weights = weights
        # a single input is what is served most: it asks nobody how many threads there are
        n = request.n_blocks
        n_shares = 1 if n == 1 else max(1, min(effective_n_jobs(n_jobs), n))
        self.shares = [(0, n)]
        if n_shares > 1:
            bounds = np.linspace(0, n, n_shares + 1).astype(np.intp)
            self.shares = list(zip(bounds, bounds[1:], strict=False))

    def _run(self, function, out):
        """Call function(request, *weights, start, stop, out) for every share; return `out`."""
        own, *others = self.shares
        if not others:
            function(self.request, *self.weights, *own, out)
            return out
        # joblib would look only every hundredth of a second whether its threads are done
        with ThreadPoolExecutor(len(others)) as executor:
            futures = [
                executor.submit(function, self.request.fork(), *self.weights, *share, out)
                for share in others
            ]
            function(self.request, *self.weights, *own, out)
            for future in futures:
                future.result()
        return out
