"""Time of the LP relaxation of multilabel models: roof duality against HiGHS.

Random scores on the full graph of 14, 50, 101 and 159 labels (yeast, an odd one, RCV1 topics,
bibtex), with pairs of two strengths: weak ones, as in training, where most labels are decided
by their own scores, and strong ones, where the relaxation is mostly halves. Medians over models;
all values are compared.

    python examples/benchmarks/multilabel_lp.py [n_models]
"""

import itertools
import sys
import time

import numpy as np
from _common import local_polytope
from scipy.optimize import linprog

from sskit.oracles import lp_relaxation


def highs(gains, edges, pairwise):
    """Return the same by the linear programming solver of SciPy."""
    A, b = local_polytope(len(gains), edges)
    result = linprog(-np.concatenate([gains, pairwise]), A, b, bounds=(0, 1), method="highs")
    return result.x[: len(gains)], result.x[len(gains) :], -result.fun


def main(n_models):
    print("labels  pairs   strength  halves   roof [ms]   HiGHS [ms]   ratio   difference")
    for n_labels in (14, 50, 101, 159):
        edges = np.array(list(itertools.combinations(range(n_labels), 2)))
        for strength in (0.3, 3.0):
            rng = np.random.default_rng(n_labels)
            times, halves, difference = {lp_relaxation: [], highs: []}, [], 0.0
            for _ in range(n_models):
                gains = rng.normal(size=n_labels)
                pairwise = rng.normal(size=len(edges)) * strength / np.sqrt(n_labels)
                values = []
                for method, taken in times.items():
                    start = time.perf_counter()
                    labels, _, value = method(gains, edges, pairwise)
                    taken.append(time.perf_counter() - start)
                    values.append(value)
                    if method is lp_relaxation:
                        halves.append(np.mean(labels == 0.5))
                difference = max(difference, abs(values[0] - values[1]))
            roof, other = (1e3 * np.median(taken) for taken in times.values())
            print(
                f"{n_labels:6d} {len(edges):6d} {strength:9.1f} {np.mean(halves):8.2f} "
                f"{roof:10.3f} {other:12.2f} {other / roof:8.0f} {difference:11.1e}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
