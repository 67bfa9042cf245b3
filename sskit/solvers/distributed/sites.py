"""All sites of a run, whatever lies between them."""

from sskit.solvers.distributed.pieces import add_fields


class SitesLost(Exception):
    """Sites are gone with the dual variables of their parts, and what was under way was undone.

    Whoever meets it asks `Sites.recover`, and begins anew what was under way.
    """


class Sites:
    """Base: what a run asks of all sites together.

    A subclass implements ``visit``, ``evaluate``, ``merge``, ``total`` and ``save``; if sites can
    be lost, these raise `SitesLost`, and there is ``recover``.

    Attributes
    ----------
    n_sites : int
        How many there are.
    n_bytes : int
        Bytes that have been sent from site to site.
    n_lost : int
        Parts that have been lost, and were loaded again.
    """

    n_bytes = n_lost = 0

    def visit(self, extrapolation, stop):
        """Let every site make a pass; return a list of `Report`."""
        raise NotImplementedError(f"{type(self).__name__} must implement visit")

    def evaluate(self, stop):
        """Let every site make an exact pass; return a list of (`Report`, hinge)."""
        raise NotImplementedError(f"{type(self).__name__} must implement evaluate")

    def merge(self, anew):
        """Add up what all sites have found, and let them follow; return `Norms`.

        Parameters
        ----------
        anew : bool
            Whether that are sums from an exact pass, not moves.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement merge")

    def total(self):
        """Return the dual sum of all sites, shape (n_weights,)."""
        raise NotImplementedError(f"{type(self).__name__} must implement total")

    def save(self):
        """Yield (number, `DualPoint`) for every part."""
        raise NotImplementedError(f"{type(self).__name__} must implement save")

    def recover(self):
        """Put the parts of lost sites elsewhere, and let all sites sum their dual variables.

        Returns
        -------
        reports : list of Report
            Of all sites; `merge` of these sums is to follow.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement recover")


class LocalSites(Sites):
    """Sites in this process, one after the other.

    Parameters
    ----------
    sites : list of Site
        Usually one; more of them do what as many processes would.
    """

    def __init__(self, sites):
        self.sites = sites
        self.n_sites = len(sites)

    def visit(self, extrapolation, stop):
        """Let every site make a pass; return a list of `Report`."""
        return [site.visit(extrapolation, stop) for site in self.sites]

    def evaluate(self, stop):
        """Let every site make an exact pass; return a list of (`Report`, hinge)."""
        return [site.evaluate(stop) for site in self.sites]

    def merge(self, anew):
        """Add up what all sites have found, and let them follow; see `Sites`."""
        if self.n_sites == 1 and not anew:
            return self.sites[0].combine(0, 1, [], anew)[1]
        found, n = [], self.n_sites
        for k, owner in enumerate(self.sites):
            incoming = [site.outgoing(k, n) for site in self.sites]
            found.append(owner.combine(k, n, incoming, anew))
        for site in self.sites:
            site.follow([piece for piece, _ in found], anew)
        return add_fields([norms for _, norms in found])

    def total(self):
        """Return the dual sum of all sites, shape (n_weights,)."""
        return self.sites[0].total

    def save(self):
        """Yield (number, `DualPoint`) for every part."""
        for site in self.sites:
            for number in site.parts:
                yield number, site.save(number)
