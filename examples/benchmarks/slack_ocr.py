"""Slack against margin rescaling on OCR letters: test errors over lam, and the time of a search.

The tables of the benchmarks, "Slack rescaling". Needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/slack_ocr.py
"""

import time
import warnings
from functools import partial

import numpy as np
from _common import alternate, chain_problem, ocr
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger, SlackRescaling
from sskit.solvers.oracle_calls.pool import make_pool

LAMS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
SEARCHES = ("exact", "angular", "bisecting")
# letters of a word, in the mean: by this the number of wrong letters outweighs their fraction
LENGTH = 7.6


def errors(X, y, X_test, y_test):
    """Print test errors of letters, for both rescalings of both losses, and the time to fit."""
    print("loss             lam  margin            slack  (default tol)")
    for loss in ("hamming", "hamming_sum"):
        for lam in LAMS:
            cells = []
            for rescaling in ("margin", "slack"):
                scaled = lam if loss == "hamming" else LENGTH * lam
                tagger = SequenceTagger(
                    lam=scaled, loss=loss, rescaling=rescaling, max_iter=300, random_state=0
                )
                start = time.process_time()
                tagger.fit(X, y)
                seconds = time.process_time() - start
                error = 1 - tagger.score(X_test, y_test)
                cells.append(f"{error:.4f} {seconds:6.1f} s")
            print(f"{loss:12s} {scaled:7.4f}  {cells[0]}   {cells[1]}", flush=True)


def searches(X, y):
    """Print time and queries of a search, and how many of the violations it finds.

    At weights on the way of a fit with the exact oracle.
    """
    margin = chain_problem(X, y)
    tagger = SequenceTagger(lam=0.01, loss="hamming", rescaling="slack", max_iter=3, tol=0)
    tagger.fit(X, y)
    w = np.concatenate(
        [tagger.coef_.T.ravel(), tagger.transitions_.ravel(), tagger.start_, tagger.end_]
    )
    w = np.concatenate([w, np.zeros(16)])
    best = make_pool(SlackRescaling("exact").wrap(margin)).hinges(w)
    plain = make_pool(margin)
    print("oracle        microseconds  times  queries   found  violated")
    for name in SEARCHES:
        rescaling = SlackRescaling(name)
        wrapped = rescaling.wrap(margin)
        evaluator = make_pool(wrapped)
        found = evaluator.hinges(w)  # from nothing; later ones begin with these answers
        queries = wrapped.n_queries(0) / len(X)
        fraction = np.mean(found >= best * (1 - 1e-9))
        violated = np.mean(found > 0)
        functions = (
            partial(plain.hinges, w),
            partial(rescaling.wrap, margin),
            partial(fresh, rescaling, margin, w),
        )
        times = alternate(functions, 7, time.process_time)
        cost = times[2] - times[1]
        print(
            f"{name:12s} {1e6 * cost / len(X):12.1f} {cost / times[0]:7.1f} {queries:8.2f} "
            f"{fraction:7.3f} {violated:7.3f}"
        )
    print(f"plain Viterbi {1e6 * times[0] / len(X):.1f} microseconds")


def fresh(rescaling, margin, w):
    """Ask all oracles of a problem that has not been asked before."""
    make_pool(rescaling.wrap(margin)).hinges(w)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = ocr("small")
    searches(*data[:2])
    errors(*data)
