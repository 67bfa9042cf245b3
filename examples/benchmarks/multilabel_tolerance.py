"""Test measures of multilabel models at several tolerances.

Loss of a fit that ends early, and gain of one that continues, at the default lam and at a tenth of
it; the last column is the gap at the end over P(w). Needs the data sets, see sskit.datasets.

    python examples/benchmarks/multilabel_tolerance.py
"""

import warnings

from _data import load_imclef07a
from multilabel_tables import bibtex, imclef07a, measured
from sklearn.exceptions import ConvergenceWarning

from sskit import HierarchicalMultilabel, MultilabelPairwise


def main():
    """Print the table."""
    parents = load_imclef07a("test").parents
    cases = {
        "imclef07a": (imclef07a, HierarchicalMultilabel, {"hierarchy": parents}),
        "bibtex, no edges": (bibtex, MultilabelPairwise, {"edges": None}),
        "bibtex, tree": (bibtex, MultilabelPairwise, {"edges": "tree"}),
    }
    print("data              lam  tol     passes  accuracy  loss    micro   macro   samples  gap/P")
    for name, (load, kind, options) in cases.items():
        data = load()
        for factor in (1.0, 0.1):
            for tol in (0.3, 0.1, 0.02, 0.002):
                fitted = []

                def make(lam, n, tol=tol, kind=kind, options=options, fitted=fitted):
                    fitted.append(kind(lam=lam, tol=tol, max_iter=200, random_state=0, **options))
                    return fitted[0]

                figures, _ = measured(make, factor, *data)
                model = fitted[0]
                cells = "  ".join(f"{value:.4f}" for value in figures.values())
                print(
                    f"{name:17s} {factor:3g}  {tol:<6g} {model.n_iter_:6d}   {cells}"
                    f"  {model.dual_gap_ / model.primal_objective_:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    main()
