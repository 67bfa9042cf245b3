"""Which defaults of SequenceTagger are best without tuning?

Test error (fraction of wrong tokens) of fits on OCR-small, OCR-large and CoNLL-2000 chunking over
lam x loss x tol, for the default solver or others: a solver that reaches the same gap sooner may
stop at weights that predict worse. Needs the data sets, see sskit.datasets.

    python examples/benchmarks/defaults.py [small] [large] [conll] [--tols 0.1 0.03 0.01]
        [--lams 0.1 0.01 ... 0] [--losses hamming hamming_sum]
        [--solvers auto averaged single plain]
"""

import argparse
import itertools
import warnings

from _common import conll, ocr, processor_time
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.metrics import span_f1_score
from sskit.solvers import BCFW

LAMS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 0.0)  # 0: the default
LOSSES = ("hamming", "hamming_sum")
SETS = {"small": lambda: ocr("small"), "large": lambda: ocr("large"), "conll": conll}
SOLVERS = {
    "auto": BCFW(),
    "averaged": BCFW(averaging=True),
    "single": BCFW(stored_passes=0),
    "plain": BCFW(steps="fw"),
}


def table(name, options):
    """Print the table of one data set."""
    X, y, X_test, y_test = SETS[name]()
    print(f"{name}: n = {len(X)}, mean length {sum(map(len, y)) / len(y):.1f}")
    print("loss          lam      tol    solver  passes  seconds  rel. gap  test error  span F1")
    for loss, lam, tol, solver in itertools.product(
        options.losses, options.lams, options.tols, options.solvers
    ):
        tagger = SequenceTagger(
            lam=lam or None,
            loss=loss,
            tol=tol,
            max_iter=300,
            solver=SOLVERS[solver],
            random_state=0,
        )
        _, seconds = processor_time(lambda tagger=tagger: tagger.fit(X, y))
        predicted = tagger.predict(X_test)
        error = 1.0 - tagger.score(X_test, y_test)
        f1 = span_f1_score(y_test, predicted) if name == "conll" else float("nan")
        label = f"{lam:<8.3g}" if lam else f"None={tagger.lam_:.2g}"
        unit = 1.0 if loss == "hamming" else sum(map(len, y)) / len(y)
        print(
            f"{loss:12s}  {label:8s} {tol:<6g} {solver:6s} {tagger.n_iter_:6d}  {seconds:7.2f}  "
            f"{tagger.dual_gap_ / unit:8.4f}  {error:10.4f}  {f1:7.4f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="of " + ", ".join(SETS))
    parser.add_argument("--tols", nargs="+", type=float, default=[0.01])
    parser.add_argument("--lams", nargs="+", type=float, default=LAMS)
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=["auto"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for chosen in options.sets or ["small"]:
        if chosen not in SETS:
            parser.error(f"{chosen!r} is not one of {', '.join(SETS)}")
        table(chosen, options)
