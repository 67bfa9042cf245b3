"""Searches for slack rescaling, compared in one cutting-plane run.

Choi, Meshi, Srebro (2016). Fast and scalable structural SVM with slack rescaling. AISTATS. Table 1:
all searches are asked at the weights of a run that is moved by the answers of the angular one
alone. A search has success if it finds a label set that violates its row's slack, the largest
value at these weights of the sets that were found for the row before, by more than a margin. The
table of the user guide, "Slack rescaling". Needs the data sets yeast and RCV1 topics, see
sskit.datasets; and highspy for the relaxed models.

    python examples/benchmarks/slack_searches.py [--rows 160] [--relaxed-rows 40] [--passes 150]
        [--relaxed-passes 100] [--labels 20] [--margin 0.01] [--tol 0.05] [--models sets yeast rcv1]
"""

import argparse
import time

import numpy as np
from _data import load_rcv1_topics, load_yeast

from sskit import MultilabelPairwise, SlackRescaling
from sskit.core.regularizer import Regularizer
from sskit.solvers import CuttingPlane
from sskit.testing.probe import ProblemProbe

SEARCHES = ("angular", "bisecting", "sarawagi")


class Searches:
    """A problem under slack rescaling, and what its searches did."""

    def __init__(self, problem, name, tol):
        self.problem = SlackRescaling(name, tol=tol).wrap(problem.fork())
        self.probe = ProblemProbe(self.problem)
        self.seconds, self.successes = 0.0, []

    def find(self, i, theta):
        """Return the plane that a search finds for row i, as statistics and loss."""
        start = time.process_time()
        words, loss = self.probe.argmax(i, theta)
        self.seconds += time.process_time() - start
        return self.probe.plane(i, words), words[-2:].view(np.float64)[0], loss


def compare(name, data, options, inference, n_rows, n_passes, n_labels):
    """Run cutting planes with the angular search; print a line for each search."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(data.data.shape[0])[:n_rows]
    labels = np.sort(np.argsort(-data.target.sum(axis=0), kind="stable")[:n_labels])
    model = MultilabelPairwise(inference=inference)
    task = model._make_task(data.data[rows], data.target[rows][:, labels], None)
    searches = {search: Searches(task.problem, search, options.tol) for search in SEARCHES}
    mover = searches["angular"]
    regularizer = Regularizer(task.lam, mover.problem.n_weights)
    run = CuttingPlane().start(mover.problem, regularizer, None)
    found = [[] for _ in rows]  # psi and loss of planes
    queries = dict.fromkeys(SEARCHES, 0)
    begun = time.process_time()
    for _ in range(n_passes):
        w = run.next_weights()
        before = {search: s.problem.n_queries(0) for search, s in searches.items()}
        for i, planes in enumerate(found):
            theta = mover.probe.scores(i, w)
            slack = max([0.0] + [loss - psi @ theta for psi, loss in planes])
            answers = {search: s.find(i, theta) for search, s in searches.items()}
            for search, (psi, loss, _) in answers.items():
                searches[search].successes.append(loss - psi @ theta > slack + options.margin)
            planes.append(answers["angular"][:2])
        for search, s in searches.items():
            queries[search] += s.problem.n_queries(0) - before[search]
        gap = run.run_pass()
    n = len(rows) * n_passes
    print(
        f"{name}: {len(rows)} rows, {len(labels)} labels, {n_passes} passes, lam "
        f"{task.lam:.3g}, gap {gap / run.primal:.2f} of P, {time.process_time() - begun:.0f} s"
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
