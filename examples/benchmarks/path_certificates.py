"""Is every model of a path within eps of the optimum? 200 values of lam, checked from outside.

The primal objective is computed by a loop over the public oracle, the optimum bounded from below
by tight fits: as a function of lam it is a minimum of straight lines, hence concave, so what is
proved at two lam is proved on the chord between them.

Usage: python path_certificates.py [data set ...]      (about four minutes; horses: longer)
"""

import sys

import numpy as np
from _common import ocr
from _images import graphs
from sklearn.datasets import load_digits

from sskit import RegularizationPath, SegmentationModel, SequenceTagger, StructSVMClassifier
from sskit.oracles import graphcut, viterbi

EPS = 0.1
N_TIGHT = {"digits": 120, "OCR-small": 120, "horses": 30}  # fits that bound the optimum


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
    for graph, mask in zip(X, y, strict=True):
        nodes = graph.features @ model.coef_.T
        edges = graph.edge_features @ model.pairwise_
        truth = np.searchsorted(model.classes_, graph.node_labels(mask))
        _, value = graphcut(nodes, graph.edges, edges, truth=truth, cost=1.0 / len(truth))
        agree = truth[graph.edges[:, 0]] == truth[graph.edges[:, 1]]
        total += value - nodes[np.arange(len(truth)), truth].sum() - edges[agree].sum()
    return total / len(X)


def data_set(name):
    """Return (estimator, X, y, hinge)."""
    options = {"random_state": 0, "max_iter": 100_000}
    if name == "digits":
        digits, classes = load_digits(return_X_y=True)
        return StructSVMClassifier(**options), digits / 16.0, classes, row_hinge
    if name == "horses":
        X, y, *_ = graphs("horses")
        return SegmentationModel(loss="hamming", **options), X, y, graph_hinge
    words, letters, *_ = ocr("small")
    return SequenceTagger(loss="hamming", **options), words, letters, chain_hinge


def lower_bounds(estimator, X, y, lams):
    """Return the dual objectives of tight fits, each going on from the last."""
    model, bounds = estimator.set_params(tol=3e-3, warm_start=True), []
    for lam in lams:
        bounds.append(model.set_params(lam=lam).fit(X, y).dual_objective_)
    return np.array(bounds)


def main(names):
    """Trace, draw 200 lam, compare."""
    for name in names:
        estimator, X, y, hinge = data_set(name)
        paths = {
            "exact": RegularizationPath(estimator, eps=EPS).fit(X, y),
            "heuristic": RegularizationPath(estimator, eps=EPS, exact=False).fit(X, y),
        }
        path = paths["exact"]
        # both ends lie outside of the path's breakpoints
        lowest = max(path.lam_end_, 0.2 * path.lams_[-1])
        highest = 4.0 * path.lams_[0]
        drawn = np.exp(np.random.default_rng(0).uniform(np.log(lowest), np.log(highest), 200))
        grid = np.geomspace(highest, lowest, N_TIGHT[name])
        bounds = lower_bounds(estimator, X, y, grid)
        optimum = np.interp(drawn, grid[::-1], bounds[::-1])
        for kind, path in paths.items():
            served = drawn >= path.lam_end_
            report(f"{name}, {kind}", path, drawn[served], optimum[served], X, y, hinge)


def report(name, path, lams, optimum, X, y, hinge):
    """Print how far the models of these lam are from the optimum, at most."""
    excess, promised = [], []
    for lam, least in zip(lams, optimum, strict=True):
        w = path.coef_at(lam)
        primal = 0.5 * lam * w @ w + hinge(X, y, path.estimator_at(lam))
        excess.append(primal - least)
        promised.append(path.gap_at(lam))
    excess, promised = np.array(excess), np.array(promised)
    print(
        f"{name}: {len(path.lams_)} models, lam {path.lams_[0]:.3g} to {path.lam_end_:.3g}; "
        f"suboptimality of {len(lams)} models: median {np.median(excess):.4f}, largest "
        f"{excess.max():.4f}, allowed {path.max_gap_:.4f}; above it "
        f"{(excess > path.max_gap_).sum()}, above gap_at {(excess > promised).sum()}",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:] or ["digits", "OCR-small"])
