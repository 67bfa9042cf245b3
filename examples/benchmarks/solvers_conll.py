"""Gap against oracle calls and time on CoNLL-2000 chunking; see solvers_ocr.py.

8,936 sentences, all 335,674 attributes, normalised Hamming loss, lam 0.01. The figures of the user
guide are those of ``--seeds 2 --seconds 3``. Needs the data set, see sskit.datasets.

    python examples/benchmarks/solvers_conll.py [--seeds 2] [--seconds 4] [--solvers NAME ...]
        [--lam 0.01] [--out FOLDER]
"""

from _common import chain_problem, conll
from _curves import parse, study

if __name__ == "__main__":
    options = parse(__doc__, seeds=1, seconds=4.0)
    X, y, _, _ = conll()
    problem = chain_problem(X, y)
    for lam in options.lam or (0.01,):
        study(f"conll-lam-{lam:g}", problem, lam, options)
