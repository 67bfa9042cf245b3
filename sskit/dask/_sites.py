"""Sites on the workers of a cluster."""

from typing import NamedTuple

from sskit.solvers.distributed.pieces import n_pieces_of
from sskit.solvers.distributed.sites import Sites, SitesLost


class Begun(NamedTuple):
    """What sites say when they have begun, each a tuple with an entry for every site.

    Attributes
    ----------
    unit : tuple of float
        What the parts add to P(0).
    proof : tuple of Proof
        What the answers of the oracles prove.
    reports : tuple of Report
        Of the parts.
    marks : tuple of dict of int to Fingerprint
        Of the parts, if they are wanted.
    """

    unit: tuple
    proof: tuple
    reports: tuple
    marks: tuple


class ClusterSites(Sites):
    """Sites on the workers of a cluster, one on each that has parts.

    Parameters
    ----------
    places : ClusterPlaces
        Where the parts are; all of them are surveyed.
    plan : Plan
        Of the fit.
    """

    def __init__(self, places, plan):
        self.places = places
        self.tasks = places.tasks
        self.plan = plan
        self.addresses = []

    @property
    def n_sites(self):
        """How many there are."""
        return len(self.addresses)

    @property
    def n_lost(self):
        """Parts that have been lost, and were loaded again."""
        return self.places.n_lost

    def begin(self):
        """Make the sites; return P(0), and what their oracles prove."""
        while True:
            try:
                found = self.take()
                self.merge(anew=True)
                return sum(found.unit), min(found.proof)
            except SitesLost:
                self.places.settle(self.tasks.timeout)

    def take(self):
        """Let every worker have a site of its parts; return what these say, `Begun`."""
        places = self.places
        parts = {}
        for number, address in sorted(places.address.items()):
            parts.setdefault(address, []).append(number)
        self.addresses = list(parts)
        plan = self.tasks.scatter(self.plan)
        calls = [(address, "take", parts[address], self.n_sites, plan) for address in parts]
        found = Begun(*zip(*self.tasks.call(calls), strict=True))
        for marks in found.marks:
            places.marks |= marks
        return found

    def recover(self):
        """Put the parts of lost sites elsewhere; see `Sites`."""
        self.places.settle(self.tasks.timeout)
        return list(self.take().reports)

    def at_all(self, method, *args, stop=None):
        """Return what a method of all sites returns."""
        return self.tasks.call([(address, method, *args) for address in self.addresses], stop)

    def visit(self, extrapolation, stop):
        """Let every site make a pass; return a list of `Report`."""
        limits = (stop.seconds_left, stop.n_presses)
        return self.at_all("visit", extrapolation, limits, stop=stop)

    def evaluate(self, stop):
        """Let every site make an exact pass; return a list of (`Report`, hinge)."""
        limits = (stop.seconds_left, stop.n_presses)
        return self.at_all("evaluate", limits, stop=stop)

    def merge(self, anew):
        """Add up what all sites have found, and let them follow; see `Sites`.

        Pieces go from worker to worker. Where the weights are few there is one piece.
        """
        alone = self.n_sites == 1 and not anew
        norms = self.at_all("norms")[0] if alone else self.exchange(anew)
        self.tasks.n_losses = 0
        return norms

    def exchange(self, anew):
        """Let sites add up pieces, and follow."""
        submit, addresses = self.tasks.submit, self.addresses
        n = n_pieces_of(self.plan.n_weights, self.n_sites)
        owners = addresses[:n]
        outgoing = [
            [(address, submit(address, "outgoing", k, n)) for address in addresses]
            for k in range(n)
        ]
        combined = [
            (owner, submit(owner, "combine", k, n, k, [piece for _, piece in outgoing[k]], anew))
            for k, owner in enumerate(owners)
        ]
        pieces = [piece for _, piece in combined]
        follow = [
            (address, submit(address, "follow", j if j < n else -1, pieces, anew))
            for j, address in enumerate(addresses)
        ]
        before = [task for group in outgoing for task in group] + combined
        found = self.tasks.answers(follow, also=before)
        self.n_bytes += sum(sent for _, sent in found)
        return found[0][0]

    def total(self):
        """Return the dual sum of all sites, shape (n_weights,)."""
        return self.tasks.call([(self.addresses[0], "total")])[0]

    def save(self):
        """Yield (number, `DualPoint`) for every part."""
        for number in sorted(self.places.address):
            yield number, self.point(number)

    def point(self, number):
        """Return the `DualPoint` of a part."""
        while True:
            try:
                return self.tasks.call([(self.places.address[number], "save", number)])[0]
            except SitesLost:
                self.restore()

    def restore(self):
        """Let all sites follow the dual variables that are left, after some were lost."""
        while True:
            try:
                self.recover()
                self.merge(anew=True)
                break
            except SitesLost:
                continue
