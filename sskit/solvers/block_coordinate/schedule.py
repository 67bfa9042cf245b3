"""How many passes over stored planes follow a pass with the oracle."""

import time


class Schedule:
    """A fixed number, or as long as one gains more per unit of work than the iteration so far.

    The increase of the dual objective over the work, drawn as a curve from the beginning of the
    pass with the oracle, is followed while it is steeper than the line from its first to its
    last point (Shah, Kolmogorov, Lampert 2015, section 3.4).

    Parameters
    ----------
    n_passes : int
        Number of stored passes in a row, or the largest one, M.
    oracle_work : float, default=None
        Work of a pass with the oracle; that of a pass over all stored planes is 1. None if there is
        no rule, but always the same number.
    clock : bool, default=False
        Whether work is seconds on the clock instead.
    """

    def __init__(self, n_passes, oracle_work=None, clock=False):
        self.n_passes = n_passes
        self.oracle_work = oracle_work
        self.clock = clock

    def begin(self, increase):
        """A pass with the oracle begins.

        Parameters
        ----------
        increase : float
            Increase of the dual objective by all passes so far.
        """
        self.n_done = -1
        self.work = time.perf_counter() if self.clock else 0.0
        self.first = self.last = (self.work, increase)

    def another(self, increase, work):
        """Tell whether a stored pass should follow.

        Parameters
        ----------
        increase : float
            Increase of the dual objective by all passes so far.
        work : float
            Share of the blocks whose oracle the last pass has asked, or, of a stored pass, that
            it has visited.

        Returns
        -------
        more : bool
            Asked after the pass with the oracle, and again after each stored pass.
        """
        self.n_done += 1
        if self.oracle_work is None or self.n_done >= self.n_passes:
            return self.n_done < self.n_passes
        if self.clock:
            self.work = time.perf_counter()
        else:
            # blocks of the first pass that did not ask the oracle looked at stored planes
            first = work * self.oracle_work + (1.0 - work)
            self.work += work if self.n_done else first
        before, self.last = self.last, (self.work, increase)
        gained = increase > before[1]
        steep = _slope(before, self.last) >= _slope(self.first, self.last)
        return self.n_done == 0 or (gained and steep)


def _slope(start, end):
    """Return the increase per work between two points; none if nothing was done."""
    work = end[0] - start[0]
    return (end[1] - start[1]) / work if work > 0.0 else 0.0
