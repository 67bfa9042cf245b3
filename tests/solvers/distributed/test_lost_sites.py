"""Sites are lost at every moment that there is: the fit goes on, and its certificate is true."""

import numpy as np
import pytest
from helpers.parts import CASES, split
from sklearn.base import clone

from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.solvers import BCFW
from sskit.solvers.common.fit import Fit
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import Proof, Status
from sskit.solvers.distributed.part_run import PartRun
from sskit.solvers.distributed.pieces import add_fields
from sskit.solvers.distributed.run import DistributedRun
from sskit.solvers.distributed.site import Site
from sskit.solvers.distributed.sites import LocalSites, Sites, SitesLost
from sskit.solvers.oracle_calls.exact_pass import Evaluator

LAM = 0.2
N_PARTS = 4
STARTS = ("visit", "evaluate", "outgoing", "combine", "follow", "begin")


class Mortal(Site):
    """A site that may be lost whenever something is asked of it."""

    clock = None

    def __getattribute__(self, name):
        if name in STARTS or name == "total":
            object.__getattribute__(self, "clock").tick(self)
        return super().__getattribute__(name)


class Clock:
    """Counts what is asked of all sites; at some moments one is lost."""

    def __init__(self, fatal):
        self.fatal = fatal
        self.moment = 0
        self.lost = None

    def tick(self, site):
        self.moment += 1
        if self.moment in self.fatal:
            self.lost = site
            raise SitesLost(f"at moment {self.moment}")


class MortalSites(LocalSites):
    """Sites of which one is lost now and then; its parts go to another, or to one of their own."""

    def __init__(self, tasks, owners, fatal, joins):
        self.tasks, self.joins = tasks, joins
        self.clock = Clock(fatal)
        self.numbers = {
            owner: [k for k in range(len(owners)) if owners[k] == owner] for owner in set(owners)
        }
        super().__init__([])
        self.n_sites = len(self.numbers)
        self.sites = [self.make_site(numbers) for numbers in self.numbers.values()]

    def make_parts(self, numbers, regularizer):
        return {
            number: PartRun(
                lambda task=self.tasks[number]: task.problem,
                BCFW(averaging=False),
                regularizer,
                LAM,
                np.random.RandomState(number),
            )
            for number in numbers
        }

    def make_site(self, numbers):
        regularizer = Regularizer(LAM / self.n_sites, self.tasks[0].layout.n_weights)
        parts = self.make_parts(numbers, regularizer)
        site = Mortal(parts, regularizer, self.n_sites, np.random.RandomState(0))
        site.clock = self.clock
        return site

    def recover(self):
        """As a cluster does: parts that were put somewhere stay there if that is interrupted."""
        lost = self.clock.lost
        if lost in self.sites:
            numbers, place = list(lost.parts), self.sites.index(lost)
            self.n_lost += len(numbers)
            self.sites.remove(lost)
            self.n_sites = len(self.sites)
            if self.joins and self.sites:
                first = self.sites[0]
                first.parts |= self.make_parts(numbers, first.regularizer)
            else:
                self.n_sites += 1
                self.sites.insert(place, self.make_site(numbers))
        for site in self.sites:
            site.change(site.parts, LAM / self.n_sites, self.n_sites)
            site.begin()
        return [add_fields(site.reports.values()) for site in self.sites]


@pytest.fixture(scope="module")
def tasks():
    """Training tasks of the parts, and that of all data."""
    estimator, *data = CASES["rows with weights"]
    estimator = clone(estimator)
    checked = [estimator._gate(*part, part=True) for part in split(data, N_PARTS)]
    facts = estimator._agree([estimator._survey(part) for part in checked])
    facts = estimator._with_columns(facts)
    whole = estimator._make_rescaled_task(*data)
    return [estimator._rescaled(estimator._bind_scaled(part, facts)) for part in checked], whole


def fit(tasks, owners, fatal=(), joins=True, tol=0.05):
    """A fit that loses sites at some moments; its solution, run, and moments."""
    sites = MortalSites(tasks, owners, (), joins)
    unit = sum(site.begin()[0] for site in sites.sites)
    sites.clock.fatal, sites.clock.moment = fatal, 0
    run = DistributedRun(sites, Regularizer(LAM, tasks[0].layout.n_weights))
    run.recover()
    progress = Progress("sites", 0)
    driver = Fit(run, unit, gap_every=5, proof=Proof.MAXIMUM, stop=Stop(), progress=progress)
    status = driver.reach(tol, max_iter=5000)
    assert status == Status.CONVERGED
    return driver.solution(status), run, sites.clock.moment


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("owners", [[0, 1, 0, 1], [0, 1, 2, 2], [0, 0, 0, 0]])
def test_a_site_is_lost_at_any_moment(tasks, owners, joins):
    parts, whole = tasks
    reference, _, n_moments = fit(parts, owners, joins=joins)
    evaluator = Evaluator(whole.problem)
    regularizer = Regularizer(LAM, whole.layout.n_weights)
    # the first rounds and the last ones, and some of those between
    first, last = range(1, 16), range(max(n_moments - 9, 1), n_moments + 1)
    for moment in sorted({*first, *range(16, n_moments, 29), *last}):
        # in turn alone, and with a second one that is lost while the first one is replaced
        fatal = {moment} if moment % 2 == joins else {moment, moment + 1 + moment % 5}
        solution, run, _ = fit(parts, owners, fatal, joins)
        hinges = evaluator.hinges(regularizer.padded(solution.w))
        value = 0.5 * LAM * solution.w @ solution.w + whole.problem.block_weight @ hinges
        assert solution.certified
        assert solution.primal == pytest.approx(value, rel=1e-9)
        assert solution.dual <= reference.primal * (1 + 1e-9)
        assert reference.dual <= value * (1 + 1e-9)
        rounds = run.rounds.as_dict()
        assert run.sites.n_lost > 0
        # what is lost after the last round is in no row
        assert rounds["n_lost"].sum() in (run.sites.n_lost, run.n_lost)
        assert np.all(np.diff(solution.history["n_oracle_calls"]) >= 0)


def test_weights_that_a_callback_wants_are_found_after_a_loss(tasks):
    parts, _ = tasks
    solution, run, n_moments = fit(parts, [0, 1, 0, 1])
    before = run.weights()
    run.sites.clock.fatal = {n_moments + 2}
    assert np.isfinite(run.weights()).all()
    assert run.sites.n_sites == 1
    assert before.shape == run.weights().shape


def test_sites_that_cannot_be_lost_need_not_recover():
    with pytest.raises(NotImplementedError, match="Sites must implement recover"):
        Sites().recover()
