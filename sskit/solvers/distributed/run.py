"""The run of a fit to data in parts."""

import time

import numpy as np

from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate, Record
from sskit.solvers.distributed.part_run import Report
from sskit.solvers.distributed.pieces import add_fields
from sskit.solvers.distributed.sites import SitesLost


class Rounds(Record):
    """Record of the rounds of a run: what they took and what they gained.

    Attributes
    ----------
    COLUMNS : dict of str to type
        The columns: passes over the data so far, whether the round was an exact pass, seconds
        since the start, seconds of the visits and of everything, bytes sent, the dual objective
        after it, and how many parts had been lost and were loaded again.
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
    sites : Sites
        Who makes the passes.
    regularizer : Regularizer
        Has lam and the box; its own weights are not used.
    rounds : Rounds, default=None
        A record that goes on; None begins one.
    """

    def __init__(self, sites, regularizer, rounds=None):
        super().__init__()
        self.sites = sites
        self.regularizer = regularizer
        self.rounds = Rounds() if rounds is None else rounds
        self.n_passes = self.rounds.n_passes
        self.momentum = 1.0
        self.extrapolation = 0.0
        self.dual_value = 0.0
        self.report = Report(0.0, np.inf, 0)
        self.n_lost = self.n_lost_calls = 0

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far, those of exact passes included."""
        return self.report.n_calls + self.n_lost_calls

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        return self.dual_value

    def run_pass(self):
        """Let every site make a pass; return the sum of the gaps last seen."""
        return self.persist(self.make_pass)

    def certify(self, evaluator):
        """Return the certificate of the last round; see `Run.certify`."""
        return self.persist(self.make_exact_pass)

    def weights(self):
        """Return a copy of the current weights."""
        return self.persist(self.present_weights)

    def persist(self, action):
        """Return what an action returns, which is begun anew whenever sites are lost."""
        while True:
            try:
                return action()
            except SitesLost:
                self.recover()

    def recover(self):
        """Go on with the dual variables that are left, after sites were lost.

        Any dual variables are feasible, so that all that is lost is progress. Rounds begin where
        their sum is, and are extrapolated anew.
        """
        n_calls = self.report.n_calls
        while True:
            try:
                self.report = add_fields(self.sites.recover())
                self.dual_value = self.dual(self.sites.merge(anew=True))
                break
            except SitesLost:
                continue
        self.n_lost_calls += max(n_calls - self.report.n_calls, 0)
        self.momentum, self.extrapolation = 1.0, 0.0

    def make_pass(self):
        """Make one round."""
        start = time.perf_counter()
        self.report = add_fields(self.sites.visit(self.extrapolation, self.stop))
        visited = time.perf_counter()
        before = self.dual_value
        self.dual_value = self.dual(self.sites.merge(anew=False))
        self.n_passes += 1
        self.record(start, visited, exact=False)
        if self.dual_value < before:
            self.momentum, self.extrapolation = 1.0, 0.0
        elif self.sites.n_sites > 1:
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
            self.extrapolation = (self.momentum - 1.0) / momentum
            self.momentum = momentum
        return self.report.estimate

    def make_exact_pass(self):
        """Make an exact pass."""
        start = time.perf_counter()
        answers = self.sites.evaluate(self.stop)
        visited = time.perf_counter()
        self.report = add_fields([report for report, _ in answers])
        w = self.present_weights()
        norms = self.sites.merge(anew=True)
        self.dual_value = self.dual(norms)
        self.record(start, visited, exact=True)
        lam, hinge = self.regularizer.lam, sum(hinge for _, hinge in answers)
        return Certificate(
            w,
            0.5 * lam * norms.before + hinge,
            self.dual_value,
            # the block gaps are those between the weights and the dual sum as they were, which
            # rounding has driven apart
            self.report.estimate + 0.5 * lam * norms.excess,
            inexactness=self.report.inexactness,
        )

    def dual(self, norms):
        """Return the dual objective, of the `Norms` of the dual sum."""
        lam = self.regularizer.lam
        return self.report.loss + 0.5 * lam * norms.w_w - lam * norms.v_w

    def record(self, start, visited, exact):
        """Add a round to the record."""
        now = time.perf_counter()
        self.rounds.append(
            n_passes=self.n_passes,
            exact=exact,
            time=now - self.rounds.began,
            visit_time=visited - start,
            merge_time=now - visited,
            n_bytes=self.sites.n_bytes,
            dual=self.dual_value,
            n_lost=self.sites.n_lost - self.n_lost,
        )
        self.n_lost = self.sites.n_lost

    def present_weights(self):
        """Return a copy of the weights as of the last round."""
        return self.regularizer.image(np.array(self.sites.total()))
