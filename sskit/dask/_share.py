"""What a worker of a cluster has of a fit, and does when it is asked."""

import threading
import time
from collections import deque
from functools import partial

import numpy as np

from sskit.core.stop import Stop
from sskit.dask._parts import Part
from sskit.dask._plan import make_plan
from sskit.estimators.base.estimator import QUIET
from sskit.solvers.distributed.pieces import add_fields, n_bytes

# By the key of the fit and the address of the worker: there may be several in one process.
shares = {}
# Fits that have ended: a task that comes too late does not begin them again.
ended = deque(maxlen=1000)
guard = threading.Lock()
# Seconds for which nothing must have been asked by a client that is gone.
IDLE = 60.0
# What changes a share: these are not done twice, whatever the scheduler runs twice.
CHANGES = {"survey", "take", "advance", "visit", "evaluate", "follow"}


class ShareLost(Exception):
    """A worker has nothing, or too little, of a fit: it was started anew since."""


class Share:
    """Parts of the data on one worker, and the site that they make.

    Attributes
    ----------
    parts : dict of int to Part
        By their numbers.
    site : Site or None
        Once there is a plan.
    stage : int or None
        Of which stage of the plan it is.
    """

    def __init__(self):
        self.parts = {}
        self.site = self.stage = None
        self.n_presses = 0
        self.stop = None
        self.lock = threading.Lock()
        self.era = 0
        self.last = (None, None)
        self.asked = time.monotonic()

    def call(self, era, token, method, args):
        """Return what a method returns.

        Parameters
        ----------
        era : int
            Goes up whenever a worker is lost: what was asked before is not done any more.
        token : str
            Of the question; if it is the last one, the last answer is given again.
        method : str
            Its name.
        args : tuple
            Its arguments.
        """
        with self.lock, np.errstate(**QUIET):
            if era < self.era:
                raise ShareLost(f"{method} was asked before another worker was lost")
            self.era = era
            self.asked = time.monotonic()
            if token == self.last[0]:
                return self.last[1]
            answer = getattr(self, method)(*args)
            if method in CHANGES:
                self.last = (token, answer)
            return answer

    def survey(self, number, values, estimator, remembers, start):
        """Check a part, which is kept; return its `Facts`, None if it has no samples.

        Parameters
        ----------
        number : int
            Of the part.
        values : tuple (X, y, sample_weight, token_weight)
            The data.
        estimator : StructuredEstimator
            To be fitted.
        remembers : bool
            Whether the fingerprint of its problem is wanted.
        start : WarmStart or None
            Where it begins.
        """
        part = Part(number, estimator, partial(tuple, values), remembers=remembers, start=start)
        facts = part.survey()
        # the gate may have made a copy, which is all that is needed from now on
        part.let_go()
        if facts is not None:
            self.parts[number] = part
        return facts

    def count(self, number, facts):
        """Return what a second look at a part says, given the facts of all."""
        return self.part(number).count(facts)

    def advance(self, number, facts, stage, later, point):
        """Let a part go on to a later stage; see `Part.advance`."""
        return self.part(number).advance(facts, stage, later, point)

    def make_plan(self, number, estimator, facts, solver, seeds):
        """Return the `Plan` from one of the parts, and the `TrainingTask` without its problem."""
        part = self.part(number)
        checked = part.checked
        answer = make_plan(estimator, part, facts, solver, seeds)
        # still to be bound for good
        part.checked = checked
        return answer

    def part(self, number):
        """Return a part, or raise ShareLost."""
        if number not in self.parts:
            raise ShareLost(f"part {number} is not here")
        return self.parts[number]

    def take(self, numbers, n_sites, plan):
        """Make a site of parts, or let the site have these from now on; load those that are new.

        The sum of their dual variables is then what was found.

        Parameters
        ----------
        numbers : list of int
            The parts.
        n_sites : int
            How many sites there are.
        plan : Plan
            Of the fit.

        Returns
        -------
        unit : float
            What the parts add to P(0).
        proof : Proof
            What the answers of all their oracles prove.
        report : Report
            Of the site.
        marks : dict of int to Fingerprint
            Of the parts, if they are wanted.
        """
        parts = [self.part(number) for number in numbers]
        if self.stage != (plan.stage and plan.stage.number):
            self.site, self.stage = None, plan.stage.number
        if self.site is None:
            self.site = plan.make_site(parts, n_sites)
        else:
            had, regularizer = self.site.parts, self.site.regularizer
            new = [part for part in parts if part.number not in had]
            kept = {number: had[number] for number in numbers if number in had}
            runs = kept | plan.make_runs(new, regularizer)
            self.site.change(runs, plan.lam / n_sites, n_sites)
        unit, proof = self.site.begin()
        report = add_fields(self.site.reports.values())
        return unit, proof, report, {part.number: part.fingerprint for part in parts}

    def visit(self, extrapolation, limits):
        """Make a pass; return the `Report` of the site."""
        return self.begun().visit(extrapolation, self.make_stop(*limits))

    def evaluate(self, limits):
        """Make an exact pass; return the `Report` and the hinge."""
        return self.begun().evaluate(self.make_stop(*limits))

    def outgoing(self, k, n_pieces):
        """Return piece k of what was found, packed."""
        return self.begun().outgoing(k, n_pieces)

    def combine(self, k, n_pieces, own, incoming, anew):
        """Add up piece k of what all sites have found.

        Parameters
        ----------
        k, n_pieces : int
            Which piece of how many.
        own : int
            Which of the incoming pieces is from here.
        incoming : list of tuple
            Packed pieces, one of each site.
        anew : bool
            Whether they come from an exact pass.

        Returns
        -------
        piece : ndarray
            Of the dual sum.
        norms : Norms
            Of the piece.
        sent : int
            Bytes that came from other sites.
        """
        sent = sum(n_bytes(packed) for j, packed in enumerate(incoming) if j != own)
        return *self.begun().combine(k, n_pieces, incoming, anew), sent

    def norms(self):
        """Return the `Norms` of the dual sum of a site that is alone."""
        return self.begun().combine(0, 1, [], anew=False)[1]

    def follow(self, own, combined, anew):
        """Take over the dual sum of all sites.

        Parameters
        ----------
        own : int
            Which of the pieces was added up here; -1 if none was.
        combined : list of tuple
            From `combine`.
        anew : bool
            Whether it comes from an exact pass.

        Returns
        -------
        norms : Norms
            Of all pieces.
        sent : int
            Bytes that came here, and those that were sent to add up the piece from here.
        """
        pieces, norms, sent = zip(*combined, strict=True)
        self.begun().follow(pieces, anew)
        came = sum(piece.nbytes for j, piece in enumerate(pieces) if j != own)
        return add_fields(norms), came + (sent[own] if own >= 0 else 0)

    def total(self):
        """Return the dual sum of all sites."""
        return np.array(self.begun().total)

    def save(self, number):
        """Return the `DualPoint` of a part."""
        return self.begun().save(number)

    def begun(self):
        """Return the site, or raise ShareLost."""
        if self.site is None:
            raise ShareLost("there is no site here")
        return self.site

    def make_stop(self, seconds, n_presses):
        """Return a `Stop` for so many seconds, after Ctrl-C has been pressed so many times."""
        self.n_presses = max(self.n_presses, n_presses)
        self.stop = Stop(seconds)
        self.stop.request(self.n_presses)
        return self.stop

    def press(self, n_presses):
        """Let what is under way know how often Ctrl-C was pressed; asked from another thread."""
        self.n_presses = n_presses
        if self.stop is not None:
            self.stop.request(n_presses)


def ask(fit, era, token, method, *args):
    """Return what the share of a fit on this worker answers; see `Share.call`."""
    from distributed import get_worker

    place = (fit, get_worker().address)
    with guard:
        if fit in ended:
            raise ShareLost("the fit has ended")
        share = shares.setdefault(place, Share()) if method == "survey" else shares.get(place)
    if share is None:
        raise ShareLost(f"nothing of the fit is on the worker {place[1]}")
    return share.call(era, token, method, args)


def press(fit, n_presses, dask_worker):
    """Tell the share on a worker how often Ctrl-C was pressed."""
    share = shares.get((fit, dask_worker.address))
    if share is not None:
        share.press(n_presses)


def forget_strangers(clients, dask_worker):
    """Forget the shares on a worker that belong to clients which are gone.

    Parameters
    ----------
    clients : list of str
        Those that are there, with which the key of a fit begins.
    """
    now = time.monotonic()
    for (fit, address), share in list(shares.items()):
        idle = not share.lock.locked() and now - share.asked > IDLE
        if idle and address == dask_worker.address and not fit.startswith(tuple(clients)):
            forget(fit, dask_worker)


def forget(fit, dask_worker):
    """Forget the share of a fit on a worker; what it is at ends soon."""
    with guard:
        ended.append(fit)
        share = shares.pop((fit, dask_worker.address), None)
    if share is not None:
        # passes end at the first press, exact passes at the second
        share.press(2)
