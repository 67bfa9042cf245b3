"""Sites in this process, as many as one likes."""

import numpy as np

from sskit.core.stop import Stop
from sskit.solvers.common.fit import Fit
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import Proof
from sskit.solvers.distributed.part_run import PartRun
from sskit.solvers.distributed.run import DistributedRun
from sskit.solvers.distributed.site import Site


class LocalSites:
    """What a run asks of sites, done by one after the other.

    Parameters
    ----------
    problems : list of Problem
        Of the parts.
    owners : list of int
        Which site has each.
    solver : Solver
        Of the parts.
    make_regularizer : callable
        Returns one for each site.
    keeps : bool, default=True
        Whether parts stay in memory.
    site : type, default=Site
        Of the sites.
    """

    n_bytes = n_lost = 0

    def __init__(self, problems, owners, solver, make_regularizer, keeps=True, site=Site):
        self.problems, self.solver, self.keeps = problems, solver, keeps
        self.make_regularizer, self.site = make_regularizer, site
        self.stop = Stop()
        owned = {
            owner: [number for number, each in enumerate(owners) if each == owner]
            for owner in sorted(set(owners))
        }
        self.sites = [self.make_site(numbers) for numbers in owned.values()]

    def make_parts(self, numbers, regularizer):
        """Return runs of parts by number."""
        return {
            number: PartRun(
                lambda problem=self.problems[number]: problem,
                self.solver,
                regularizer,
                self.make_regularizer().lam,
                np.random.RandomState(number),
                self.stop,
                keeps=self.keeps,
            )
            for number in numbers
        }

    def make_site(self, numbers):
        """Return a site of some parts."""
        regularizer = self.make_regularizer()
        parts = self.make_parts(numbers, regularizer)
        order = np.random.RandomState(numbers[0])
        return self.site(parts, regularizer, self.stop, order)

    def begin(self):
        """Let all sites begin; return what each says."""
        return [site.begin(len(self.sites)) for site in self.sites]

    def call(self, method, news, *args):
        """Let all sites follow the news, and return what a method then does."""
        answers = []
        for site in self.sites:
            site.follow(*news)
            answers.append(getattr(site, method)(*args))
        return answers

    def save(self):
        """Return the `DualPoint` of every part by number."""
        return {number: site.save(number) for site in self.sites for number in site.parts}


def make_fit(sites, gap_every=10):
    """Return the fit of a run on sites, which have begun."""
    run = DistributedRun(sites, sites.make_regularizer())
    unit, proof = run.begin()
    progress = Progress("sites", 0)
    fit = Fit(run, unit, gap_every=gap_every, proof=proof, stop=sites.stop, progress=progress)
    assert fit.proof in Proof
    return fit
