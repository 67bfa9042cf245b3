"""Fits without a cluster: parts are visited one after the other in this process."""

from functools import partial

import dask

from sskit.dask._parts import Part, is_lazy
from sskit.dask._plan import make_plan
from sskit.solvers.distributed.sites import LocalSites


class LocalPlaces:
    """Parts in this process; those that have yet to be computed are so for each pass, and dropped.

    Parameters
    ----------
    estimator : StructuredEstimator
        To be fitted.
    parts : list of tuple (X, y, sample_weight, token_weight)
        From `collect`.
    starts : dict of int to WarmStart
        Where parts begin, by their numbers.
    remembers : bool
        Whether a later fit may go on from here.
    """

    n_sites = 1

    def __init__(self, estimator, parts, starts, remembers):
        self.parts = [
            Part(
                number,
                estimator,
                partial(compute_here, values),
                keeps=not any(is_lazy(value) for value in values),
                remembers=remembers,
                start=starts.get(number),
            )
            for number, values in enumerate(parts)
        ]
        self.starts = starts
        self.passing = not all(part.keeps for part in self.parts)
        self.full = []

    def survey(self):
        """Return the `Facts` of every part, None for those that have no samples."""
        surveys = [part.survey() for part in self.parts]
        pairs = zip(self.parts, surveys, strict=True)
        self.full = [part for part, survey in pairs if survey is not None]
        return surveys

    def count(self, facts):
        """Return what a second look at each part says, given the facts of all."""
        return [part.count(facts) for part in self.full]

    def make_plan(self, estimator, facts, solver, seeds):
        """Return the `Plan` of the fit, and the `TrainingTask` without its problem."""
        return make_plan(estimator, self.full[0], facts, solver, seeds)

    def begin(self, plan, stop):
        """Load every part once.

        Returns
        -------
        sites : LocalSites
            One site.
        unit : float
            P(0).
        proof : Proof
            What the answers of the oracles prove.
        """
        site = plan.make_site(self.full)
        sites, begun = LocalSites([site]), site.begin(stop)
        sites.merge(anew=True)
        return sites, *begun

    def advance(self, *stages, points):
        """Let every part go on to a later stage; return what `Part.advance` says of each."""
        return [part.advance(*stages, points[part.number]) for part in self.full]

    def fingerprints(self):
        """Return the fingerprints of the problems of the parts by number, if they are wanted."""
        return {part.number: part.fingerprint for part in self.full}

    def close(self):
        """Forget everything."""


def compute_here(values):
    """Return values that may be lazy, computed by this thread."""
    return dask.compute(*values, traverse=False, scheduler="synchronous")
