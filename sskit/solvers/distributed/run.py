"""The run of a fit to data in parts."""

import time

import numpy as np

from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate, Record
from sskit.solvers.distributed.part_run import Report

NOTHING = np.zeros(0, dtype=np.int32), np.zeros(0)


class SitesLost(Exception):
    """Sites are gone with the dual variables of their parts.

    Whoever meets it lets all sites begin, and does anew what was under way.
    """


class PassRecord(Record):
    """Record of the passes of a run: what they took and what they gained.

    Attributes
    ----------
    COLUMNS : dict of str to type
        The columns: passes over the data so far, whether this was an exact pass, seconds
        since the start, seconds in which sites were at work and of everything else, bytes sent,
        the dual objective after it, and how many parts had been lost and were loaded again.
    """

    COLUMNS = {
        "n_passes": np.int64,
        "exact": np.bool_,
        "time": np.float64,
        "visit_time": np.float64,
        "merge_time": np.float64,
        "n_bytes": np.int64,
        "dual": np.float64,
        "n_lost": np.int64,
    }

    def __init__(self):
        super().__init__(self.COLUMNS)
        self.began = time.perf_counter()

    @property
    def n_passes(self):
        """Passes over the data so far."""
        return self.rows[-1]["n_passes"] if self.rows else 0


class DistributedRun(Run):
    """Passes of all sites, whose moves are added up.

    With one site a pass is one of the solver. With more, a round may make the dual objective
    fall, since it is extrapolated: then extrapolation begins anew (O'Donoghue, Candes 2015).

    Parameters
    ----------
    sites : object
        Who makes the passes: has `begin` and `call`, which raise SitesLost.
    regularizer : Regularizer
        Has lam, the box, and weights of this run alone.
    record : PassRecord, default=None
        A record that goes on; None begins one.
    """

    def __init__(self, sites, regularizer, record=None):
        super().__init__()
        self.sites = sites
        self.regularizer = regularizer
        self.record = PassRecord() if record is None else record
        self.n_passes = self.record.n_passes
        self.momentum, self.extrapolation = 1.0, 0.0
        self.loss = self.dual_value = self.working = 0.0
        self.n_sites = self.n_calls = self.n_calls_lost = self.n_lost = 0
        self.news = NOTHING

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far, those of exact passes included."""
        return self.n_calls + self.n_calls_lost

    @property
    def v(self):
        """The dual sum of all sites, shape (n_weights,); not to be changed."""
        return np.asarray(self.regularizer.v)[: self.regularizer.n_weights]

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        return self.dual_value

    def begin(self):
        """Let all sites begin from the dual variables that there are: any are feasible.

        Returns
        -------
        unit : float
            P(0).
        proof : Proof
            What the answers of the oracles prove.
        """
        while True:
            try:
                found = self.sites.begin()
                break
            except SitesLost:
                continue
        units, proofs, reports, sums = zip(*found, strict=True)
        self.n_sites, n_calls = len(found), self.n_calls
        self.take(reports)
        self.n_calls_lost += max(n_calls - self.n_calls, 0)
        self.replace_sum(sums)
        self.momentum, self.extrapolation = 1.0, 0.0
        return sum(units), min(proofs)

    def take(self, reports):
        """Take over what all sites report; return the sum."""
        total = Report(*(sum(column) for column in zip(*reports, strict=True)))
        self.loss, self.n_calls, self.estimate = total.loss, total.n_calls, total.estimate
        return total

    def replace_sum(self, sums):
        """Take for the dual sum what all sites add to it."""
        total = np.sum(sums, axis=0)
        self.regularizer.set_v(total)
        self.dual_value = self.regularizer.dual(total, self.loss)
        self.news = None, total

    def call(self, method, *args):
        """Return what all sites answer, which first hear of the last round."""
        news, self.news = self.news, NOTHING
        start = time.perf_counter()
        answers = self.sites.call(method, news, *args)
        self.working += time.perf_counter() - start
        return answers

    def persist(self, action):
        """Return what an action returns, which is begun anew whenever sites are lost."""
        while True:
            try:
                return action()
            except SitesLost:
                self.begin()

    def run_pass(self):
        """Let every site make a pass; return the sum of the gaps last seen."""
        return self.persist(self.make_pass)

    def certify(self, evaluator):
        """Return the certificate of the last round; see `Run.certify`."""
        return self.persist(self.make_exact_pass)

    def make_pass(self):
        """Let all sites make a pass, and add up their moves."""
        start, self.working = time.perf_counter(), 0.0
        reports, moves = zip(*self.call("visit", self.extrapolation), strict=True)
        self.take(reports)
        step = np.zeros(self.regularizer.n_weights)
        for places, numbers in moves:
            step[places] += numbers
        places = np.flatnonzero(step).astype(np.int32)
        self.news = places, step[places]
        before = self.dual_value
        self.v[places] += step[places]
        self.regularizer.set_v(self.v)
        self.dual_value = self.regularizer.dual(self.v, self.loss)
        self.n_passes += 1
        self.note(start, exact=False)
        if self.dual_value < before:
            self.momentum, self.extrapolation = 1.0, 0.0
        elif self.n_sites > 1:
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
            self.extrapolation = (self.momentum - 1.0) / momentum
            self.momentum = momentum
        return self.estimate

    def make_exact_pass(self):
        """Make an exact pass."""
        start, self.working = time.perf_counter(), 0.0
        reports, sums = zip(*self.call("evaluate"), strict=True)
        report = self.take(reports)
        regularizer, w = self.regularizer, self.weights()
        self.replace_sum(sums)
        self.note(start, exact=True)
        moved = regularizer.image(self.v)
        excess = float((moved - w) @ (2.0 * self.v - w - moved))
        return Certificate(
            w,
            regularizer.primal(w, report.hinge),
            self.dual_value,
            # the block gaps are those between the weights and the dual sum as they were, which
            # rounding has driven apart
            report.estimate + 0.5 * regularizer.lam * excess,
            inexactness=report.inexactness,
        )

    def note(self, start, exact):
        """Add a pass to the record."""
        now = time.perf_counter()
        self.record.append(
            n_passes=self.n_passes,
            exact=exact,
            time=now - self.record.began,
            visit_time=self.working,
            merge_time=now - start - self.working,
            n_bytes=self.sites.n_bytes,
            dual=self.dual_value,
            n_lost=self.sites.n_lost - self.n_lost,
        )
        self.n_lost = self.sites.n_lost
