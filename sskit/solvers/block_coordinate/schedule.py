"""How many passes over stored planes follow a pass with the oracle."""

import time

# Work of a pass with the oracle, in passes over stored planes, where nobody has measured it: a
# cheap oracle costs about as much as scoring the stored planes, and of a costly one this is a
# cautious guess.
WORK_OF_CHEAP_ORACLE = 1.0
WORK_OF_COSTLY_ORACLE = 100.0


def oracle_work(problem):
    """Return the work of a pass with the oracle that `SlopeSchedule` assumes for a problem."""
    return WORK_OF_COSTLY_ORACLE if problem.costly else WORK_OF_CHEAP_ORACLE


class FixedSchedule:
    """Always the same number.

    Parameters
    ----------
    n_passes : int
        Stored passes after each pass with the oracle.
    """

    def __init__(self, n_passes):
        self.n_passes = n_passes

    def begin(self, increase):
        """A pass with the oracle begins.

        Parameters
        ----------
        increase : float
            Increase of the dual objective by all passes so far.
        """
        self.n_left = self.n_passes + 1

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
        self.n_left -= 1
        return self.n_left > 0


class SlopeSchedule:
    """As long as a stored pass gains more per unit of work than the whole iteration so far.

    The increase of the dual objective over the work, drawn as a curve from the beginning of the
    pass with the oracle, is followed while it is steeper than the line from its first to its
    last point (Shah, Kolmogorov, Lampert 2015, section 3.4).

    Parameters
    ----------
    n_passes : int
        Largest number of stored passes in a row, M.
    oracle_work : float
        Work of a pass with the oracle; that of a pass over all stored planes is 1.
    clock : bool
        Whether work is seconds on the clock instead.
    """

    def __init__(self, n_passes, oracle_work, clock):
        self.n_passes = n_passes
        self.oracle_work = oracle_work
        self.clock = clock

    def begin(self, increase):
        """A pass with the oracle begins; see `FixedSchedule.begin`."""
        self.n_done = -1
        self.work = time.perf_counter() if self.clock else 0.0
        self.first = self.last = (self.work, increase)

    def another(self, increase, work):
        """Tell whether a stored pass should follow; see `FixedSchedule.another`."""
        self.n_done += 1
        if self.clock:
            self.work = time.perf_counter()
        else:
            # blocks of the first pass that did not ask the oracle looked at stored planes
            self.work += work if self.n_done else work * self.oracle_work + (1.0 - work)
        point, before = (self.work, increase), self.last
        self.last = point
        if self.n_done == 0:
            return self.n_passes > 0
        gained = point[1] > before[1]
        steep = _slope(before, point) >= _slope(self.first, point)
        return gained and steep and self.n_done < self.n_passes


def _slope(start, end):
    """Return the increase per work between two points; none if nothing was done."""
    work = end[0] - start[0]
    return (end[1] - start[1]) / work if work > 0.0 else 0.0
