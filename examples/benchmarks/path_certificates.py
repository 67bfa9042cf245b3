"""Is every model of a path within eps of the optimum? 200 values of lam, checked independently.

The primal objective is computed by a loop over the public oracle and compared with the dual
objective of the path: their difference is the duality gap. That the dual objective is one is
checked too: it must not exceed the primal objective of any weights, here those of tight fits on a
grid of lam and of all models of the path, again by the public oracle. The dual objectives of the
tight fits bound the optimum from below a second time: as a function of lam it is a minimum of
straight lines, hence concave, so what is proved at two lam is proved on the chord between them.

Usage: python path_certificates.py [data set ...]      (about four minutes; horses: longer)
"""

import sys
import warnings

import numpy as np
from _common import ocr
from _images import graphs
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sskit import RegularizationPath, SegmentationModel, SequenceTagger, StructSVMClassifier
from sskit.oracles import graphcut, viterbi

EPS = 0.1
# Tight fits: how many, their tolerance, and the largest number of passes of each. With bounds on
# the weights small lam take hundreds of passes; a fit that is cut short has its objectives too.
TIGHT = {
    "digits": (120, 3e-3, 100_000),
    "OCR-small": (120, 3e-3, 100_000),
    "horses": (12, 1e-2, 20),
}


def chain_hinge(X, y, model):
    """Mean hinge of a fitted tagger with the normalised Hamming loss."""
    total = 0.0
    for x, labels in zip(X, y, strict=True):
        nodes = x @ model.coef_.T
        nodes[0] += model.start_
        nodes[-1] += model.end_
        truth = np.searchsorted(model.classes_, labels)
        best, value = viterbi(nodes, model.transitions_, truth=truth, cost=1.0 / len(x))
        del best
        score = nodes[np.arange(len(x)), truth].sum()
        total += value - score - model.transitions_[truth[:-1], truth[1:]].sum()
    return total / len(X)


def row_hinge(X, y, model):
    """Mean hinge of a fitted classifier of rows."""
    scores = model.decision_function(X)
    truth = np.searchsorted(model.classes_, y)
    right = scores[np.arange(len(y)), truth]
    margins = scores + 1.0
    margins[np.arange(len(y)), truth] -= 1.0
    return float(np.mean(margins.max(axis=1) - right))


def graph_hinge(X, y, model):
    """Mean hinge of a fitted segmentation of two classes with the normalised Hamming loss."""
    total = 0.0
    for graph, labels in zip(X, y, strict=True):
        nodes = graph.features @ model.coef_.T
        edges = graph.edge_features @ model.pairwise_
        truth = np.searchsorted(model.classes_, labels)
        _, value = graphcut(nodes, graph.edges, edges, truth=truth, cost=1.0 / len(truth))
        agree = truth[graph.edges[:, 0]] == truth[graph.edges[:, 1]]
        total += value - nodes[np.arange(len(truth)), truth].sum() - edges[agree].sum()
    return total / len(X)


def data_set(name):
    """Return (estimator, X, y, hinge)."""
    options = {"random_state": 0, "max_iter": 100_000}
    if name == "digits":
        digits, classes = load_digits(return_X_y=True)
        return StructSVMClassifier(standardize=False, **options), digits / 16.0, classes, row_hinge
    if name == "horses":
        X, masks, *_ = graphs("horses")
        y = [graph.node_labels(mask) for graph, mask in zip(X, masks, strict=True)]
        return SegmentationModel(loss="hamming", **options), X, y, graph_hinge
    words, letters, *_ = ocr("small")
    return SequenceTagger(loss="hamming", **options), words, letters, chain_hinge


def tight_fits(name, estimator, X, y, hinge, lams):
    """Return dual objectives of tight fits, each going on from the last, and their weights.

    Returns
    -------
    duals : ndarray of shape (n_lams,)
        Lower bounds of the optimum at lams.
    lines : list of (float, float)
        Half the squared norm and the mean hinge of the weights of each fit.
    """
    _, tol, max_iter = TIGHT[name]
    model = estimator.set_params(tol=tol, max_iter=max_iter, warm_start=True)
    duals, lines = [], []
    for lam in lams:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(lam=lam).fit(X, y)
        duals.append(model.dual_objective_)
        mean_hinge = hinge(X, y, model)
        lines.append(((model.primal_objective_ - mean_hinge) / lam, mean_hinge))
    return np.array(duals), lines


def main(names):
    """Trace, draw 200 lam, compare."""
    for name in names:
        estimator, X, y, hinge = data_set(name)
        path = RegularizationPath(estimator, eps=EPS).fit(X, y)
        # both ends lie outside of the path's breakpoints
        lowest = max(path.lam_end_, 0.2 * path.lams_[-1])
        highest = 4.0 * path.lams_[0]
        drawn = np.exp(np.random.default_rng(0).uniform(np.log(lowest), np.log(highest), 200))
        grid = np.geomspace(highest, lowest, TIGHT[name][0])
        duals, lines = tight_fits(name, clone(estimator), X, y, hinge, grid)
        optimum = np.interp(drawn, grid[::-1], duals[::-1])
        served = drawn >= path.lam_end_
        report(name, path, drawn[served], optimum[served], lines, X, y, hinge)


def report(name, path, lams, optimum, lines, X, y, hinge):
    """Print the gaps of the models of these lam, and what else is known of the optimum."""
    gaps, excess, promised, over = [], [], [], []
    hinges = [hinge(X, y, path.estimator_at(lam)) for lam in path.lams_]
    lines = lines + [(0.5 * w @ w, h) for w, h in zip(path.coefs_, hinges, strict=True)]
    for lam, least in zip(lams, optimum, strict=True):
        w = path.coef_at(lam)
        primal = 0.5 * lam * w @ w + hinge(X, y, path.estimator_at(lam))
        dual = path.dual_objective_at(lam)
        scale = path.gap_at(lam) / path.relative_gap_at(lam)  # the objective, but for an offset
        gaps.append((primal - dual) / scale)
        excess.append((primal - least) / scale)
        promised.append(path.relative_gap_at(lam))
        over.append(dual - min(lam * half + h for half, h in lines))
    gaps, excess, promised, over = map(np.array, (gaps, excess, promised, over))
    allowed = path.max_gap_ * (1.0 + 1e-9)
    known = np.minimum(gaps, excess)
    print(
        f"{name}: {len(path.lams_)} models, lam {path.lams_[0]:.3g} to {path.lam_end_:.3g}, "
        f"{path.n_oracle_calls_[-1]} oracle calls\n"
        f"  gaps of {len(lams)} models: median {np.median(gaps):.4f}, largest {gaps.max():.4f}, "
        f"allowed {path.max_gap_:.4f}; above it {(gaps > allowed).sum()}, above gap_at "
        f"{(gaps > promised + 1e-9).sum()}\n"
        f"  by tight fits: median {np.median(excess):.4f}, largest {excess.max():.4f}; above eps "
        f"by both {(known > allowed).sum()}\n"
        f"  dual objectives above a primal one: {(over > 1e-9).sum()}, nearest "
        f"{over.max():.2g}, median {np.median(over):.2g}",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:] or ["digits", "OCR-small"])
