"""Some parts of the data in one process, from the gate to the certificate."""

import numpy as np

from sskit.core.stop import Stop
from sskit.dask._plan import make_plan
from sskit.estimators.base.estimator import QUIET


class Share:
    """Parts of the data, and the site that they make; on a cluster an actor on a worker.

    Parameters
    ----------
    parts : dict of int to Part
        By their numbers.
    values : dict of int to tuple (X, y, sample_weight, token_weight), default=None
        The data of parts that have yet to be loaded.

    Attributes
    ----------
    parts : dict of int to Part
        Those that have samples, once they are surveyed.
    surveys : dict of int to Facts
        What was found.
    site : Site or None
        Once there is a plan.
    """

    def __init__(self, parts, values=None):
        self.parts = parts
        for number, given in (values or {}).items():
            parts[number].load = lambda given=given: given
        self.surveys = self.site = self.stage = self.stop = None

    def survey(self):
        """Check all parts; return their `Facts` by number, None for those that have no samples."""
        if self.surveys is None:
            self.surveys = {number: part.survey() for number, part in self.parts.items()}
            self.parts = {n: part for n, part in self.parts.items() if self.surveys[n] is not None}
        return self.surveys

    def count(self, facts):
        """Return what a second look at each part says, given the facts of all, by number."""
        return {number: part.count(facts) for number, part in self.parts.items()}

    def make_plan(self, *given):
        """Return the `Plan` of the fit, and the `TrainingTask` without its problem."""
        part = self.parts[min(self.parts)]
        checked = part.checked
        answer = make_plan(part, *given)
        # still to be bound for good
        part.checked = checked
        return answer

    def begin(self, plan, n_sites, stop):
        """Let the site begin, which is made if there is none at this stage of the plan.

        Parameters
        ----------
        plan : Plan
            Of the fit.
        n_sites : int
            How many sites there are.
        stop : Stop or tuple (float, int)
            Says when to end; or seconds that are left, and how often Ctrl-C was pressed.

        Returns
        -------
        begun : tuple
            From `Site.begin`.
        marks : dict of int to Fingerprint
            Of the problems of the parts, if they are wanted.
        """
        if self.stop is None:
            self.stop = stop
            if not isinstance(stop, Stop):
                self.stop = Stop(stop[0])
                self.stop.request(stop[1])
        stage = plan.stage and plan.stage.number
        if self.site is None or self.stage != stage:
            self.site, self.stage = plan.make_site(self.parts, self.stop), stage
        with np.errstate(**QUIET):
            begun = self.site.begin(n_sites)
        return begun, {number: part.fingerprint for number, part in self.parts.items()}

    def call(self, news, method, *args):
        """Let the site follow the news; return what one of its methods does."""
        with np.errstate(**QUIET):
            self.site.follow(*news)
            return getattr(self.site, method)(*args)

    def advance(self, facts, stage, later):
        """Let all parts go on to a later stage; return what `Part.advance` says of each."""
        return [
            part.advance(facts, stage, later, self.site and self.site.save(number))
            for number, part in self.parts.items()
        ]

    def save(self, number):
        """Return the `DualPoint` of a part."""
        return self.site.save(number)

    async def press(self, n_presses):
        """Let what is under way know how often Ctrl-C was pressed; not in turn with other calls."""
        if self.stop is not None:
            self.stop.request(n_presses)
