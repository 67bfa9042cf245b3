"""Gap against oracle calls and time on OCR-large: figure 3 of "Minding the gaps", and more.

All combinations of sampling, steps and cache with one step at a visit, then multi-plane,
averaged and corrective steps, stored passes and what "auto" chooses; 6,251 words, normalised
Hamming loss, lam 0.001 (the paper's figure) and 0.1. The figures of the benchmarks are those of
``--seeds 3 --seconds 10`` for 0.001 and of 2.7 s for 0.1. Needs the data set, see sskit.datasets.

    python examples/benchmarks/solvers_ocr.py [--seeds 2] [--seconds 4] [--solvers NAME ...]
        [--lam 0.001 0.1] [--out FOLDER]
"""

from _common import chain_problem, ocr
from _curves import parse, study

if __name__ == "__main__":
    options = parse(__doc__, seeds=1, seconds=4.0)
    X, y, _, _ = ocr("large")
    problem = chain_problem(X, y)
    for lam in options.lam or (0.001, 0.1):
        study(f"ocr-large-lam-{lam:g}", problem, lam, options)
