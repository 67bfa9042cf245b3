"""What one process does of a run on data in parts."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from sskit.core.stop import Stop
from sskit.solvers.block_coordinate.runs import BlockCoordinateRun, make_pass
from sskit.solvers.common.solution import Proof
from sskit.solvers.distributed.pieces import add_fields, add_up, bounds, pack

# In a pass, parts that stay in memory take so many turns: blocks of a part that are all visited
# before those of the next would pull the weights back and forth.
TURNS = 64


class Norms(NamedTuple):
    """Numbers of a dual sum v and its image w that add up over pieces.

    Attributes
    ----------
    w_w, v_w : float
        <w, w> and <v, w>.
    before : float
        <w', w'> of the weights w' before.
    excess : float
        ||v - w'||^2 - ||v - w||^2, which is not negative since w is the point of the box that is
        next to v.
    """

    w_w: float
    v_w: float
    before: float
    excess: float


class Site:
    """Some parts of the data in one process, and the weights that their visits move.

    Alone, a site makes ordinary passes over its parts, one after the other. Where there are S of
    them, each makes its pass by itself, from the same weights, against a curvature S times as
    large, so that the moves of all can be added up and the dual objective does not fall (CoCoA+;
    Ma et al. 2015); and it begins where the last rounds point to (Nesterov's extrapolation), for
    that needs fewer rounds. The dual variables are feasible all the time: what is extrapolated is
    the sum that a pass begins with.

    Parameters
    ----------
    parts : dict of int to PartRun
        The parts by their numbers; they share the regularizer.
    regularizer : Regularizer
        Has lam / n_sites.
    n_sites : int
        How many there are of these.
    random_state : RandomState
        Order of the parts.
    """

    def __init__(self, parts, regularizer, n_sites, random_state):
        self.parts = parts
        self.regularizer = regularizer
        self.random_state = random_state
        self.reports = {}
        self.be_one_of(n_sites)

    def change(self, parts, lam, n_sites):
        """Have other parts from now on, and be one of another number of sites.

        What is known of the dual sum is not true until all sites have begun, and follow.

        Parameters
        ----------
        parts : dict of int to PartRun
            The parts by their numbers; they share the regularizer of this site.
        lam : float
            That of the regularizer, lam / n_sites.
        n_sites : int
            How many sites there are.
        """
        self.parts = parts
        self.reports = {number: self.reports[number] for number in parts if number in self.reports}
        self.regularizer.change_lam(lam)
        self.be_one_of(n_sites)

    def be_one_of(self, n_sites):
        """Be one of so many sites, at a dual sum of zero unless it is alone."""
        self.n_sites = n_sites
        # The dual sum of all sites, where the next round begins beyond it, and what this site
        # adds to either; alone, the dual sum is that of the regularizer.
        self.common = self.drift = self.move = None
        if n_sites > 1:
            self.common = np.zeros(self.regularizer.n_weights)
            self.drift = np.zeros(self.regularizer.n_weights)

    @property
    def total(self):
        """The dual sum of all sites, as of the last round, shape (n_weights,)."""
        if self.alone:
            return np.asarray(self.regularizer.v)[: self.regularizer.n_weights]
        return self.common

    @property
    def alone(self):
        """Whether there is no other site."""
        return self.n_sites == 1

    def begin(self, stop=None):
        """Load every part once, and sum the dual variables that it begins with.

        Parameters
        ----------
        stop : Stop, default=None
            Says when to end early.

        Returns
        -------
        unit : float
            What these parts add to P(0).
        proof : Proof
            What the answers of all their oracles prove.
        """
        stop = Stop() if stop is None else stop
        unit, proof = 0.0, Proof.MAXIMUM
        self.move = np.zeros(len(self.regularizer.v))
        for number, part in self.in_turn([*self.parts]):
            part.open(stop)
            part.add_sum(self.move)
            self.reports[number] = part.close()
            unit, proof = unit + part.unit, min(proof, part.proof)
        return unit, proof

    def visit(self, extrapolation=0.0, stop=None):
        """Make a pass over the parts, in random order.

        Parameters
        ----------
        extrapolation : float, default=0.0
            How far to begin beyond the last round, beta.
        stop : Stop, default=None
            Says when to end early.

        Returns
        -------
        report : Report
            Of all parts.
        """
        stop = Stop() if stop is None else stop
        stop.begin_pass()
        if not self.alone:
            self.regularizer.set_v(self.common + extrapolation * self.drift)
            self.move = np.array(self.regularizer.v)
        self.visit_kept(stop)
        passing = [number for number, part in self.parts.items() if not part.keeps]
        order = [passing[k] for k in self.random_state.permutation(len(passing))]
        for number, part in self.in_turn(order):
            if stop.ends:
                break
            self.reports[number] = part.visit(stop)
        if not self.alone:
            # visits have moved the weights n_sites times as far as the dual sum
            np.subtract(self.regularizer.v, self.move, out=self.move)
            self.move /= self.n_sites
        return add_fields(self.reports.values())

    def in_turn(self, numbers):
        """Yield (number, part) of some parts; while one is in use, the next is loaded."""
        with ThreadPoolExecutor(1) as executor:
            for k, number in enumerate(numbers):
                if k + 1 < len(numbers):
                    self.parts[numbers[k]].load_ahead(executor)
                    self.parts[numbers[k + 1]].load_ahead(executor)
                yield number, self.parts[number]

    def visit_kept(self, stop):
        """Make a pass over the parts that stay in memory, which take turns."""
        kept = {number: part for number, part in self.parts.items() if part.keeps}
        for part in kept.values():
            part.open(stop)
        runs = [part.run for part in kept.values()]
        if runs and all(isinstance(run, BlockCoordinateRun) for run in runs):
            make_pass(runs, TURNS if len(runs) > 1 else 1)
        else:
            for run in runs:
                run.run_pass()
        for number, part in kept.items():
            self.reports[number] = part.close()

    def evaluate(self, stop=None):
        """Make an exact pass at the weights of the last round, and sum the dual variables anew.

        Parameters
        ----------
        stop : Stop, default=None
            Says when to leave out the rest.

        Returns
        -------
        report : Report
            Of all parts; its estimate is the sum of the block gaps.
        hinge : float
            Sum of c_i times the hinge, by the best known labellings.

        Raises
        ------
        CutShort
            If a stop was due before the end; nothing is changed then.
        """
        stop = Stop() if stop is None else stop
        stop.begin_certificate()
        if not self.alone:
            self.regularizer.set_v(self.common)
        move, hinge = np.zeros(len(self.regularizer.v)), 0.0
        for number, part in self.in_turn([*self.parts]):
            self.reports[number], of_part = part.evaluate(stop, move)
            hinge += of_part
        self.move = move
        return add_fields(self.reports.values()), hinge

    def outgoing(self, k, n_pieces):
        """Return piece k of what the last pass has found, packed: a move, or a sum."""
        first, last = bounds(self.regularizer.n_weights, k, n_pieces)
        return pack(self.move[first:last])

    def combine(self, k, n_pieces, incoming, anew):
        """Return piece k of the next dual sum of all sites, and its `Norms`.

        Parameters
        ----------
        k, n_pieces : int
            Which piece of how many.
        incoming : list of tuple
            That piece of what each site has found, packed; none if there is one site, and moves.
        anew : bool
            Whether these are sums from an exact pass, not moves.

        Returns
        -------
        piece : ndarray
            Of the dual sum.
        norms : Norms
            Of this piece; `before` and `excess` only if `anew`.
        """
        place = slice(*bounds(self.regularizer.n_weights, k, n_pieces))
        lower, upper = (side[place] if np.ndim(side) else side for side in self.regularizer.box())
        before = self.total[place]
        v = add_up(incoming) if incoming else before
        if incoming and not anew:
            v += before
        w = np.clip(v, lower, upper)
        norms = [float(w @ w), float(v @ w), 0.0, 0.0]
        if anew:
            past = np.clip(before, lower, upper)
            norms[2] = float(past @ past)
            norms[3] = float((w - past) @ (2.0 * v - w - past))
        return v, Norms(*norms)

    def follow(self, pieces, anew):
        """Take over the dual sum of all sites.

        Parameters
        ----------
        pieces : list of ndarray
            All of it, cut somehow.
        anew : bool
            Whether it comes from an exact pass: then the next round begins where it is.
        """
        total = np.concatenate(pieces)
        if self.alone:
            self.regularizer.set_v(total)
        elif anew:
            self.common = total
        else:
            # an extrapolated round begins at  total + beta (step - n_sites * own step)
            self.drift = total - self.common - self.n_sites * self.move[: len(total)]
            self.common = total
        self.move = None

    def save(self, number):
        """Return the `DualPoint` of a part."""
        return self.parts[number].save()
