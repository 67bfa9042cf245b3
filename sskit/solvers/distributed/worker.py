"""What one process does of a run on data in parts."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sskit.solvers.block_coordinate.runs import BlockCoordinateRun, make_pass
from sskit.solvers.common.solution import Proof
from sskit.solvers.distributed.part_run import Report

# In a pass, parts that are visited together take so many turns: blocks of a part that are all
# visited before those of the next would pull the weights back and forth.
TURNS = 64
# Of parts that pass through memory so many are visited together, while as many are loaded: visits
# to one alone fit the weights to what it has in it.
TOGETHER = 4


class Worker:
    """Some parts of the data in one process, and the weights that their visits move.

    Alone, a worker makes ordinary passes over its parts. Where there are S of them, each makes its
    pass by itself, from the same weights, against a curvature S times as large, so that the moves
    of all can be added up and the dual objective does not fall (CoCoA+; Ma et al. 2015); and it
    begins where the last rounds point to (Nesterov's extrapolation), for that needs fewer rounds.
    The dual variables are feasible all the time: what is extrapolated is the sum that a round
    begins with.

    Parameters
    ----------
    parts : dict of int to PartRun
        The parts by their numbers; they share the regularizer.
    regularizer : Regularizer
        Has lam, and weights of this worker alone.
    stop : Stop
        That of the parts.
    random_state : RandomState
        Order of the parts.
    """

    def __init__(self, parts, regularizer, stop, random_state):
        self.parts = parts
        self.regularizer, self.lam = regularizer, regularizer.lam
        self.stop = stop
        self.random_state = random_state
        self.reports = {}
        # the dual sum of all workers, as of the last round
        self.common = np.zeros(regularizer.n_weights)

    def begin(self, n_workers):
        """Load every part that is not here yet, and sum the dual variables there are.

        Parameters
        ----------
        n_workers : int
            How many workers there are from now on.

        Returns
        -------
        unit : float
            What the parts add to P(0).
        proof : Proof
            What the answers of all their oracles prove.
        report : Report
            Of all parts.
        v : ndarray of shape (n_weights,)
            What the parts add to the dual sum.
        """
        self.n_workers = n_workers
        self.drift = np.zeros(len(self.common))
        self.regularizer.change_lam(self.lam / n_workers)
        unit, proof, v = 0.0, Proof.MAXIMUM, np.zeros(len(self.regularizer.v))
        for number, part in self.one_by_one():
            part.open()
            part.add_sum(v)
            unit, proof = unit + part.unit, min(proof, part.fit.proof)
            self.reports[number] = part.close()
        return unit, proof, self.report(), v[: len(self.common)]

    def report(self):
        """Return the `Report` of all parts."""
        return Report(*(sum(column) for column in zip(*self.reports.values(), strict=True)))

    def call(self, news, method, *args):
        """Follow the news, and return what a method then does."""
        self.follow(*news)
        return getattr(self, method)(*args)

    def follow(self, places, numbers):
        """Take over what all workers have found.

        Parameters
        ----------
        places : ndarray of int or None
            Where the dual sum of all workers has moved; None replaces all of it.
        numbers : ndarray
            How far, or by what.
        """
        if places is None:
            self.common[:] = numbers
        else:
            self.common[places] += numbers
            # an extrapolated round begins at  total + beta (step - n_workers * own step)
            self.drift *= -self.n_workers
            self.drift[places] += numbers

    def visit(self, extrapolation):
        """Make a pass over the parts.

        Parameters
        ----------
        extrapolation : float
            How far to begin beyond the last round, beta.

        Returns
        -------
        report : Report
            Of all parts.
        move : tuple of ndarray
            Where the dual sum has moved, and how far.
        """
        start = self.common + extrapolation * self.drift
        self.regularizer.set_v(start)
        self.stop.begin_pass()
        self.make_pass()
        # visits have moved the weights n_workers times as far as the dual sum
        self.drift = (np.asarray(self.regularizer.v)[: len(start)] - start) / self.n_workers
        places = np.flatnonzero(self.drift).astype(np.int32)
        return self.report(), (places, self.drift[places])

    def make_pass(self):
        """Make a pass over the parts, those that pass through memory in random order."""
        kept = [number for number, part in self.parts.items() if part.keeps]
        passing = [number for number, part in self.parts.items() if not part.keeps]
        order = [passing[k] for k in self.random_state.permutation(len(passing))]
        groups = [order[k : k + TOGETHER] for k in range(0, len(order), TOGETHER)]
        for parts in self.in_turn([kept, *groups] if kept else groups):
            if self.stop.ends:
                break
            runs = [part.open().run for part in parts.values()]
            if all(isinstance(run, BlockCoordinateRun) for run in runs):
                make_pass(runs, TURNS if len(runs) > 1 else 1)
            else:
                for run in runs:
                    run.run_pass()
            for number, part in parts.items():
                self.reports[number] = part.close()

    def in_turn(self, groups):
        """Yield groups of parts by number; while one is in use, the next is loaded."""
        with ThreadPoolExecutor(1) as executor:
            for group, later in zip(groups, [*groups[1:], []], strict=True):
                for number in [*group, *later]:
                    self.parts[number].load_ahead(executor)
                yield {number: self.parts[number] for number in group}

    def one_by_one(self):
        """Yield the number and the part of each; while it is in use, the next is loaded."""
        for parts in self.in_turn([[number] for number in self.parts]):
            yield from parts.items()

    def evaluate(self):
        """Make an exact pass, and sum the dual variables anew.

        Returns
        -------
        report : Report
            Of all parts; its estimate is the sum of the block gaps.
        v : ndarray of shape (n_weights,)
            What the parts add to the dual sum.

        Raises
        ------
        CutShort
            If a stop was due before the end.
        """
        self.stop.begin_certificate()
        self.regularizer.set_v(self.common)
        v = np.zeros(len(self.regularizer.v))
        for number, part in self.one_by_one():
            self.reports[number] = part.evaluate(v)
        return self.report(), v[: len(self.common)]

    def save(self):
        """Return the `DualPoint` of every part by number."""
        return {number: part.save() for number, part in self.parts.items()}
