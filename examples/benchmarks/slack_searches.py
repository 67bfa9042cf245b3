"""Searches for slack rescaling, compared in one cutting-plane run.

Choi, Meshi, Srebro (2016). Fast and scalable structural SVM with slack rescaling. AISTATS. Table 1:
all searches are called at the weights of a run that uses the answers of the angular one alone. A
search has success if it finds a label set that violates its row's slack, the largest value at these
weights of the sets that were found for the row before, by more than a margin. The table of the user
guide, "Slack rescaling". Needs the data sets yeast and RCV1 topics, see sskit.datasets. Some
searches are not part of the package and are written here, in Python: the binary search of section
4.1, the one of Sarawagi and Gupta (2008), and, for relaxed sets of labels, the angular search,
whose constrained oracle is a linear programme for SciPy.

    python examples/benchmarks/slack_searches.py [--rows 160] [--relaxed-rows 40] [--passes 150]
        [--relaxed-passes 100] [--labels 20] [--margin 0.01] [--tol 0.05] [--models sets yeast rcv1]
"""

import argparse
import time
from functools import cached_property

import numpy as np
from _common import local_polytope
from _data import load_rcv1_topics, load_yeast
from scipy.optimize import linprog
from scipy.sparse import vstack

from sskit import MultilabelPairwise, SlackRescaling
from sskit.core.regularizer import Regularizer
from sskit.models import StructuredModel
from sskit.models.structured.binding import PythonBinding
from sskit.solvers import CuttingPlane
from sskit.testing.probe import ProblemProbe

SEARCHES = ("angular", "bisecting", "binary", "sarawagi")


class Searches:
    """A problem under slack rescaling, and what its searches did."""

    def __init__(self, problem, name, tol):
        self.problem = SlackRescaling(name, tol=tol).wrap(problem.fork())
        self.probe = ProblemProbe(self.problem)
        self.seconds, self.successes = 0.0, []

    @property
    def n_queries(self):
        """How often the oracle behind the searches was called."""
        return self.problem.n_queries(0)

    def find(self, i, theta):
        """Return the plane that a search finds for row i: loss times psi, and loss."""
        start = time.process_time()
        words, _ = self.probe.argmax(i, theta)
        self.seconds += time.process_time() - start
        return self.probe.plane(i, words), words[-2:].view(np.float64)[0]


class PythonSearches:
    """The same in Python. A label is a point: its margin h = 1 - <psi, theta> and its loss g."""

    def __init__(self, problem, name, tol):
        self.inner, self.tol = problem.fork(), tol
        self.probe = ProblemProbe(self.inner)
        self.search = getattr(self, name)
        self.known = {}  # psi and loss of the last answer by row
        self.n_queries, self.seconds, self.successes = 0, 0.0, []

    @cached_property
    def problem(self):
        """The problem whose planes these searches find."""
        rows, d = range(self.inner.n_blocks), self.inner.max_statistics
        truths = [(np.zeros(d), 0.0) for _ in rows]
        weights = np.asarray(self.inner.block_weight)
        return PythonBinding(Rows(self)).bind_full(list(rows), truths, weights)[0]

    def find(self, i, theta):
        """Return the plane that a search finds for row i: loss times psi, and loss."""
        start = time.process_time()
        self.i, self.theta, self.bound = i, theta, np.inf
        self.best, self.answer = 0.0, (np.zeros(len(theta)), 0.0)
        if i in self.known:
            self.meet(*self.known[i])
        self.search(self.h / self.g if self.best > 0.0 else 1.0)
        self.known[i] = psi, loss = self.answer
        self.seconds += time.process_time() - start
        return loss * psi, loss

    def meet(self, psi, loss):
        """Take note of a label."""
        self.h, self.g = 1.0 - psi @ self.theta, loss
        if self.h > 0.0 and self.h * self.g > self.best:
            self.best, self.answer = self.h * self.g, (psi, loss)

    def ask(self, lam):
        """Ask for the largest h + lam g, which is returned."""
        self.n_queries += 1
        code, loss = self.probe.argmax(self.i, self.theta, lam)
        self.meet(self.probe.plane(self.i, code), loss)
        value = self.h + lam * self.g
        self.bound = min(self.bound, max(value, 0.0) ** 2 / (4.0 * lam))
        return value

    def done(self):
        """Return whether the bound proves that the best label is good enough."""
        return self.bound <= (1.0 + self.tol + 1e-12) * self.best or self.bound == 0.0

    def binary(self, lam):
        """Minimise the bound by the sign of its slope, lam g - h."""
        low, high, ends, hull = 0.0, np.inf, [None, None], False
        while 1e-15 < lam < 1e15:
            self.ask(lam)
            point, again = (self.h, self.g), (self.h, self.g) in ends
            if self.done() or (again and hull):
                return
            side = int(not lam * self.g < self.h)
            low, high, ends[side] = (low, lam, point) if side else (lam, high, point)
            if ends[0] == ends[1] or not low < high * (1.0 - 1e-9):
                return
            hull = again and None not in ends
            if hull:  # does a label lie above the line through the two?
                lam = (ends[0][0] - ends[1][0]) / (ends[1][1] - ends[0][1])
                lam = lam if low < lam < high else np.inf
            else:
                lam = lam * 8 if high == np.inf else lam / 8 if low == 0.0 else np.sqrt(low * high)

    def sarawagi(self, lam):
        """Minimise K(lam) - 2 sqrt(xi lam) by golden sections in log lam."""
        golden, width = 0.5 * (np.sqrt(5.0) - 1.0), 2.0 * np.log(1e3)
        left = np.log(lam) - 0.5 * width
        self.ask(lam)
        xi = self.best

        def value(place):
            return self.ask(np.exp(place)) - 2.0 * np.sqrt(xi * np.exp(place))

        a, b = left + (1.0 - golden) * width, left + golden * width
        at_a, at_b = (np.inf if self.done() else value(place) for place in (a, b))
        while width > 1e-4 and not self.done():
            width *= golden
            if at_a <= at_b:
                b, at_b, a = a, at_a, left + (1.0 - golden) * width
                at_a = value(a)
            else:
                left, a, at_a, b = a, b, at_b, a + golden * width
                at_b = value(b)

    def angular(self, lam):
        """Split the quadrant into cones of slopes g / h, of which the best bound comes next."""
        cones = [(np.inf, 1e-6, 1e6)]
        while cones:
            bound, lower, upper = cones.pop(int(np.argmax([cone[0] for cone in cones])))
            if bound <= (1.0 + self.tol + 1e-6) * self.best:
                return
            if bound < np.inf:
                lam = 1.0 / np.sqrt(lower * upper)
            value = self.within(lam, lower, upper)
            root = value**2 - 4.0 * lam * self.best
            if not root > 4e-6 * lam * self.best or self.best == 0.0:
                continue
            bound = min(bound, value**2 / (4.0 * lam))
            steep = (value + np.sqrt(root)) ** 2 / (4.0 * lam**2 * self.best)
            flat = 1.0 / (lam**2 * steep)
            parts = (1 / lam, min(steep, upper)), (max(flat, lower), 1 / lam)
            cones += [(bound, a, b) for a, b in parts if a * (1.0 + 1e-9) < b]

    def within(self, lam, lower, upper):
        """Ask for the largest h + lam g of the relaxed sets in a cone; 0 if there is none."""
        self.n_queries += 1
        truth, A, b, where = self.polytope(self.i)
        gain = self.theta[where]
        slope = np.where(where < self.n_labels, 1.0 - 2.0 * truth, 0.0)
        h, g = 1.0 - gain @ truth, truth[: self.n_labels].sum()  # of the empty set
        cone = np.stack([lower * gain - slope, slope / upper - gain])
        limits = np.append(b, [g - lower * h, h - g / upper])
        found = linprog(-(gain + lam * slope), vstack([A, cone]), limits, bounds=(0, 1))
        if found.status != 0:
            return 0.0
        psi = np.zeros(len(self.theta))
        psi[where] = truth - np.clip(found.x, 0.0, 1.0)
        self.meet(psi, float(np.abs(psi[: self.n_labels]).sum()))
        return self.h + lam * self.g

    def polytope(self, i):
        """Return the truth of a row, the inequalities, and where the entries are in theta."""
        if not hasattr(self, "constraints"):
            self.n_labels, n_edges = self.inner.n_labels, self.inner.n_edges
            self.edges = np.stack(np.triu_indices(self.n_labels, 1), axis=1)
            pairs = self.inner.max_statistics - n_edges + np.arange(n_edges)
            where = np.append(np.arange(self.n_labels), pairs)
            self.constraints = *local_polytope(self.n_labels, self.edges), where
            # labels that nothing speaks for are left out, unless psi says that they are there
            none = -np.ones(self.inner.max_statistics)
            self.truths = []
            for row in range(self.inner.n_blocks):
                code, _ = self.probe.argmax(row, none, 0.0)
                self.truths.append(self.probe.plane(row, code)[where])
        return self.truths[i], *self.constraints


class Rows(StructuredModel):
    """Rows under slack rescaling as a structure: x is the number of one, y are psi and a loss."""

    def __init__(self, searches):
        self.searches = searches

    def joint_feature(self, x, y):
        return -y[1] * self.searches.probe.scatter(x, y[0])

    def loss(self, y_true, y):
        return y[1]

    def argmax(self, x, w, y_true=None):
        self.searches.find(x, self.searches.probe.scores(x, w))
        return self.searches.known[x]


def compare(name, data, options, inference, n_rows, n_passes, n_labels):
    """Run cutting planes with the angular search; print a line for each search."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(data.data.shape[0])[:n_rows]
    labels = np.sort(np.argsort(-data.target.sum(axis=0), kind="stable")[:n_labels])
    model = MultilabelPairwise(edges="full", inference=inference, standardize=False)
    task = model._make_task(data.data[rows], data.target[rows][:, labels], None)
    ours = {"bisecting"} if inference == "lp" else {"angular", "bisecting"}
    searches = {
        search: (Searches if search in ours else PythonSearches)(task.problem, search, options.tol)
        for search in SEARCHES
    }
    mover = searches["angular"]
    regularizer = Regularizer(task.default_lam, mover.problem.n_weights)
    run = CuttingPlane().start(mover.problem, regularizer, None)
    found = [[] for _ in rows]  # psi and loss of planes
    queries = dict.fromkeys(SEARCHES, 0)
    begun = time.process_time()
    for _ in range(n_passes):
        w = run.next_weights()
        before = {search: s.n_queries for search, s in searches.items()}
        for i, planes in enumerate(found):
            theta = mover.probe.scores(i, w)
            slack = max([0.0] + [loss - psi @ theta for psi, loss in planes])
            answers = {search: s.find(i, theta) for search, s in searches.items()}
            for search, (psi, loss) in answers.items():
                searches[search].successes.append(loss - psi @ theta > slack + options.margin)
            planes.append(answers["angular"])
        for search, s in searches.items():
            queries[search] += s.n_queries - before[search]
        gap = run.run_pass()
    n = len(rows) * n_passes
    print(
        f"{name}: {len(rows)} rows, {len(labels)} labels, {n_passes} passes, "
        f"lam {task.default_lam:.3g}, gap {gap / run.primal:.2f} of P, "
        f"{time.process_time() - begun:.0f} s"
    )
    # later passes apart: at first whatever is found is new
    rates = {
        search: [np.mean(s.successes), np.mean(s.successes[n // 2 :])]
        for search, s in searches.items()
    }
    for search, s in searches.items():
        cells = "".join(
            f"{rate:6.3f} (angular {base / max(rate, 1e-9) - 1:+5.0%})"
            for rate, base in zip(rates[search], rates["angular"], strict=True)
        )
        print(
            f"  {search:10s} success, in the second half: {cells}, {queries[search] / n:5.1f} "
            f"queries, {1e3 * s.seconds / n:7.3f} ms a search",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=160)
    parser.add_argument("--relaxed-rows", type=int, default=40)
    parser.add_argument("--passes", type=int, default=150)
    parser.add_argument("--relaxed-passes", type=int, default=100)
    parser.add_argument("--labels", type=int, default=20, help="the most frequent ones, of RCV1")
    parser.add_argument("--margin", type=float, default=0.01)
    parser.add_argument("--tol", type=float, default=0.05, help="of the searches")
    models = ("sets", "yeast", "rcv1")
    parser.add_argument("--models", nargs="+", choices=models, default=models)
    options = parser.parse_args()
    sizes, relaxed = (options.rows, options.passes), (options.relaxed_rows, options.relaxed_passes)
    if "sets" in options.models:
        compare("yeast, all sets", load_yeast(), options, "exhaustive", *sizes, 14)
    if "yeast" in options.models:
        compare("yeast, relaxed", load_yeast(), options, "lp", *relaxed, 14)
    if "rcv1" in options.models:
        data, n_labels = load_rcv1_topics(), options.labels
        compare("RCV1 topics, relaxed", data, options, "lp", *relaxed, n_labels)
