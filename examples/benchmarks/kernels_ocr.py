"""SequenceTagger on OCR letters, linear and with kernels.

Fraction of wrong letters on the test words, seconds of processor time, support vectors and relative
gap, over lam and kernels. Needs the data set, see sskit.datasets.

    python examples/benchmarks/kernels_ocr.py [--words 626] [--lams 0.3 0.1 0.03] [--tol 0.05]
        [--kernels linear rbf poly] [--gammas 0.01 0.03] [--cache 500]
"""

import argparse
import itertools
import warnings

from _common import ocr, processor_time
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger


def settings(options):
    """Yield the kernel parameters of each model."""
    for kernel, lam in itertools.product(options.kernels, options.lams):
        if kernel == "linear":
            yield {"kernel": kernel, "lam": lam}
            continue
        shape = {"degree": 2, "coef0": 1.0} if kernel == "poly" else {}
        shape |= {"kernel": kernel, "lam": lam, "kernel_cache": options.cache}
        yield from (shape | {"gamma": gamma} for gamma in options.gammas)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=None)
    parser.add_argument("--lams", nargs="+", type=float, default=[0.3, 0.1, 0.03])
    parser.add_argument("--kernels", nargs="+", default=["linear", "rbf", "poly"])
    parser.add_argument("--gammas", nargs="+", type=float, default=[0.01, 0.03])
    parser.add_argument("--tol", type=float, default=0.05)
    parser.add_argument("--cache", type=float, default=500.0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test = ocr("small")
    X, y = X[: options.words], y[: options.words]
    unit = sum(map(len, y)) / len(y)
    print(f"{len(X)} words, {sum(map(len, y))} letters")
    print("kernel  gamma  lam     seconds  passes  support  rel. gap  wrong letters")
    for params in settings(options):
        model = SequenceTagger(tol=options.tol, max_iter=300, random_state=0, **params)
        _, seconds = processor_time(lambda model=model: model.fit(X, y))
        wrong = 1.0 - model.score(X_test, y_test)
        print(
            f"{params['kernel']:7s} {params.get('gamma', 0):<6g} {params['lam']:<7g} "
            f"{seconds:7.2f}  {model.n_iter_:6d}  {len(getattr(model, 'support_', ())):7d}  "
            f"{model.dual_gap_ / unit:8.4f}  {wrong:.4f}",
            flush=True,
        )
