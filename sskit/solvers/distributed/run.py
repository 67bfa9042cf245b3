"""The run of a fit to data in parts, which adds up the steps of all places (CoCoA+)."""

import time
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.distributed.local import Report
from sskit.solvers.quasi_newton.lbfgs import PrimalPoint

NOTHING = np.zeros(0, dtype=np.int32), np.zeros(0)


class PartsLost(Exception):
    """Parts were lost, with their dual variables.

    The caller that catches it lets all places begin, and repeats the interrupted action.
    """


def persist(action, begin):
    """Return the result of an action, which is repeated after `begin` if parts are lost."""
    while True:
        try:
            return action()
        except PartsLost:
            begin()


def begin_all(places):
    """Return the results of the places, all of which have begun."""
    while True:
        with suppress(PartsLost):
            return places.begin()


class Record:
    """What is known of the passes over parts, those of earlier runs of a fit included.

    Parameters
    ----------
    places : object
        Make the passes.

    Attributes
    ----------
    rows : list of dict
        Of every pass: passes over the data so far, whether this was an exact pass, seconds
        since the start, seconds in which places were asked and of everything else, bytes sent,
        the dual objective after it, and how many parts had been lost and were loaded again.
    n_passes : int
        Passes so far.
    """

    def __init__(self, places):
        self.places, self.rows = places, []
        self.n_passes = self.n_lost = 0
        self.began = time.perf_counter()
        self.begin()

    def begin(self):
        """Begin a pass."""
        self.start, self.working = time.perf_counter(), 0.0

    def ask(self, *args):
        """Return what all places answer to a call."""
        start = time.perf_counter()
        answers = self.places.ask("call", *args)
        self.working += time.perf_counter() - start
        return answers

    def end(self, exact, dual):
        """Add the pass that has begun."""
        now = time.perf_counter()
        self.rows.append(
            {
                "n_passes": self.n_passes,
                "exact": exact,
                "time": now - self.began,
                "visit_time": self.working,
                "merge_time": now - self.start - self.working,
                "n_bytes": self.places.n_bytes,
                "dual": dual,
                "n_lost": self.places.n_lost - self.n_lost,
            }
        )
        self.n_lost = self.places.n_lost

    def history(self):
        """Return the rows as arrays by name."""
        return {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}


class DistributedRun(Run):
    """A run of CoCoA+ (Ma et al. 2015, algorithm 1): the changes of v at all places are added up.

    With one place a pass is one of the solver, and the place keeps the dual sum, which is sent only
    if somebody asks for it. With more, a round may make the dual objective
    fall, since it is extrapolated: then extrapolation begins anew (O'Donoghue, Candes 2015).

    Parameters
    ----------
    places : object
        Makes the passes: has `begin` and `ask`, which raise PartsLost.
    regularizer : Regularizer
        Has lam, the box, and weights of this run alone.
    record : Record
        Of the passes; that of an earlier run is continued.
    """

    def __init__(self, places, regularizer, record):
        super().__init__(None, regularizer)
        self.places, self.record = places, record
        self.momentum, self.extrapolation = 1.0, 0.0
        self.loss = self.dual_value = 0.0
        self.n_places = self.n_calls = self.n_calls_lost = 0
        self.news = NOTHING
        self.is_behind = False  # has the only place another sum?

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far, those of exact passes included."""
        return self.n_calls + self.n_calls_lost

    @property
    def v(self):
        """The dual sum of all parts, shape (n_weights,); not to be changed."""
        if self.is_behind:
            persist(self.fetch, self.begin)
        return np.asarray(self.regularizer.v)[: self.regularizer.n_weights]

    def fetch(self):
        """Get the dual sum from the only place."""
        (v,) = self.call("sum")
        self.regularizer.set_v(v)
        self.is_behind = False

    def weights(self):
        """Return a copy of the current weights."""
        return self.regularizer.image(np.array(self.v))

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        return self.dual_value

    def begin(self):
        """Let all places begin from the present dual variables: any are feasible.

        Returns
        -------
        unit : float
            P(0).
        proof : Proof
            Proof of the answers of the oracles.
        """
        begun = begin_all(self.places)
        units, proofs, reports, sums = zip(*begun, strict=True)
        self.n_places, n_calls = len(begun), self.n_calls
        self.take(reports)
        self.n_calls_lost += max(n_calls - self.n_calls, 0)
        self.replace_sum(sums)
        self.momentum, self.extrapolation = 1.0, 0.0
        return sum(units), min(proofs)

    def take(self, reports):
        """Store the reports of all places; return their sum."""
        total = Report(*(sum(column) for column in zip(*reports, strict=True)))
        self.loss, self.n_calls, self.estimate = total.loss, total.n_calls, total.estimate
        return total

    def replace_sum(self, sums):
        """Set the dual sum to the sum over all places."""
        total = self.regularizer.from_prior(reduce(add, sums))
        self.regularizer.set_v(total)
        self.dual_value = self.regularizer.dual(total, self.loss)
        self.news, self.is_behind = (None, total), False

    def call(self, method, *args):
        """Return the answers of all places, which first get the result of the last round."""
        news, self.news = self.news, NOTHING
        return self.record.ask(news, method, *args)

    def run_pass(self):
        """Let every place make a pass; return the sum of the last known gaps."""
        return persist(self.make_pass, self.begin)

    def certify(self, evaluator):
        """Return the certificate of the last round; see `Run.certify`."""
        return persist(self.make_exact_pass, self.begin)

    def make_pass(self):
        """Let all places make a pass, and add up their changes of v."""
        self.record.begin()
        before = self.dual_value
        reports, changes = zip(*self.call("visit", self.extrapolation), strict=True)
        self.take(reports)
        if self.n_places == 1:
            (self.dual_value,), self.is_behind = changes, True
        else:
            self.add_changes(changes)
        self.record.n_passes += 1
        self.record.end(False, self.dual_value)
        if self.dual_value < before:
            self.momentum, self.extrapolation = 1.0, 0.0
        elif self.n_places > 1:
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
            self.extrapolation = (self.momentum - 1.0) / momentum
            self.momentum = momentum
        return self.estimate

    def add_changes(self, changes):
        """Add up the changes of v of all places."""
        step = np.zeros(self.regularizer.n_weights)
        for places, numbers in changes:
            step[places] += numbers
        places = np.flatnonzero(step).astype(np.int32)
        self.news = places, step[places]
        self.v[places] += step[places]
        self.regularizer.set_v(self.v)
        self.dual_value = self.regularizer.dual(self.v, self.loss)

    def make_exact_pass(self):
        """Make an exact pass."""
        self.record.begin()
        w, regularizer = self.weights(), self.regularizer
        reports, sums = zip(*self.call("evaluate"), strict=True)
        report = self.take(reports)
        self.replace_sum(sums)
        self.record.end(True, self.dual_value)
        image = regularizer.image(self.v)
        excess = float((image - w) @ (2.0 * self.v - w - image))
        # the block gaps belong to the weights and the dual sum before, which differ by rounding
        gap = report.estimate + 0.5 * regularizer.lam * excess
        primal, missed = regularizer.primal(w, report.hinge), report.inexactness
        return Certificate(w, primal, self.dual_value, gap, inexactness=missed)

    def save(self, largest_loss=None):
        """Return fingerprint and `DualPoint` of every part by number."""
        found = persist(self.places.save, self.begin)
        if not any(isinstance(point, PrimalPoint) for _, point in found.values()):
            return found
        w = self.weights()  # one array for all parts
        return {n: (fingerprint, replace(point, w=w)) for n, (fingerprint, point) in found.items()}
