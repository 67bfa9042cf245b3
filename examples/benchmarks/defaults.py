"""Which defaults serve a user of SequenceTagger who tunes nothing?

Test error (share of wrong tokens) of fits on OCR-small, OCR-large and CoNLL-2000 chunking over
lam x loss x tol. Needs the data sets, see sskit.datasets.

    python examples/benchmarks/defaults.py [small] [large] [conll]
"""

import sys
import time
import warnings

from _common import conll, ocr
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.metrics import span_f1_score

LAMS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
LOSSES = ("hamming", "hamming_sum")
TOLS = (0.1, 0.03, 0.01)
SETS = {"small": lambda: ocr("small"), "large": lambda: ocr("large"), "conll": conll}


def table(name):
    """Print the table of one data set."""
    X, y, X_test, y_test = SETS[name]()
    print(f"{name}: n = {len(X)}, mean length {sum(map(len, y)) / len(y):.1f}")
    print("loss          lam      tol    passes  seconds  rel. gap  test error  span F1")
    for loss in LOSSES:
        for lam in (*LAMS, None):
            for tol in TOLS:
                tagger = SequenceTagger(lam=lam, loss=loss, tol=tol, max_iter=300, random_state=0)
                start = time.perf_counter()
                tagger.fit(X, y)
                seconds = time.perf_counter() - start
                predicted = tagger.predict(X_test)
                error = 1.0 - tagger.score(X_test, y_test)
                f1 = span_f1_score(y_test, predicted) if name == "conll" else float("nan")
                label = f"{lam:<8.3g}" if lam else f"None={tagger.lam_:.2g}"
                unit = 1.0 if loss == "hamming" else sum(map(len, y)) / len(y)
                print(
                    f"{loss:12s}  {label:8s} {tol:<6g} {tagger.n_iter_:6d}  {seconds:7.2f}  "
                    f"{tagger.dual_gap_ / unit:8.4f}  {error:10.4f}  {f1:7.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    for chosen in sys.argv[1:] or SETS:
        table(chosen)
