"""Weizmann horses: gain of neighbours in accuracy, and cost of training with them.

Test accuracy of pixels and IoU of the horses of superpixel graphs with and without the weights of
pairs, and of a logistic regression of single superpixels; then the number of oracle calls that
solvers need to the same certified gap, and the fraction of time that these calls take. Needs the
images in the folder SSKIT_DATA, scikit-image and Pillow.

    python examples/benchmarks/segmentation_horses.py [--memory FOLDER] [--lam LAM]
"""

import argparse
import time
import warnings

import numpy as np
from _images import best_possible, graphs, logistic_regression, measures
from sklearn.exceptions import ConvergenceWarning

from sskit import SegmentationModel
from sskit.core.problem import block_weights
from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import node_targets
from sskit.models.graph.model import AttractiveModel
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

PLAIN = {"steps": "fw", "cache": False, "stored_passes": 0}
SOLVERS = {
    "BCFW, permutations": BCFW(sampling="permutation", **PLAIN),
    "BCFW, gap sampling": BCFW(sampling="gap", **PLAIN),
    "pairwise, no stored planes": BCFW(steps="pairwise", cache=False, stored_passes=0),
    "multi-plane": MultiPlane(),
    "multi-plane, pairwise": MultiPlane(steps="pairwise"),
    "auto": BCFW(),
}


def line(name, found):
    """Print the measures of some masks."""
    accuracy, _, iou = measures(y_test, found)
    print(f"{name:34s} pixel accuracy {accuracy:.4f}, IoU of horses {iou[1]:.4f}", flush=True)


def oracle_seconds(model):
    """Return the time of one call of the oracle at the weights of a model, potentials included."""
    batch = check_graphs(X)
    labels, labelled, _ = node_targets(y, batch)
    graph_model = AttractiveModel(batch.n_features, batch.n_edge_features, 2)
    problem = graph_model.bind(
        batch, labels, labelled.astype(float), block_weights(len(X)), labelled=labelled
    )
    w = graph_model.layout.join({"coef": model.coef_, "pairwise": model.pairwise_})
    w = np.concatenate([w, np.zeros(8)])
    evaluator, best = make_pool(problem), float("inf")
    for _ in range(10):
        start = time.process_time()
        evaluator.hinges(w)
        best = min(best, time.process_time() - start)
    return best / len(X)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", help="where superpixels and features are kept on disk")
    parser.add_argument("--lam", type=float, default=None)
    parser.add_argument("--tol", type=float, default=0.01)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test = graphs("horses", arguments.memory)
    line("best labelling of superpixels", best_possible(X_test, y_test))
    for C in (0.1, 1.0, 10.0):
        line(f"logistic regression, C={C:g}", logistic_regression(X, y, X_test, C))
    common = {"lam": arguments.lam, "tol": arguments.tol, "random_state": 0}
    for name, bounds in (("single superpixels", {"pairwise": (0, 0)}), ("with neighbours", None)):
        model = SegmentationModel(bounds=bounds, **common).fit(X, y)
        line(name, model.predict(X_test))
    print(
        f"   lam {model.lam_:.3g}, gap {model.dual_gap_:.3g} of P {model.primal_objective_:.4g}, "
        f"certified: {model.certified_}; weights of pairs {model.pairwise_.min():.3g} to "
        f"{model.pairwise_.max():.3g}"
    )
    call = oracle_seconds(model)
    print(f"   one call of the oracle takes {call * 1e6:.0f} us")
    for name, solver in SOLVERS.items():
        start = time.process_time()
        model = SegmentationModel(solver=solver, **common).fit(X, y)
        seconds = time.process_time() - start
        print(
            f"{name:34s} {model.n_oracle_calls_:6d} oracle calls, {model.n_iter_:4d} passes, "
            f"{seconds:5.1f} s, oracle {call * model.n_oracle_calls_ / seconds:4.0%}, gap "
            f"{model.dual_gap_:.3g}",
            flush=True,
        )
