"""MSRC, 21 classes: gain of neighbours in accuracy, with approximate best labellings.

Test accuracy of pixels, the mean over classes, and the mean IoU, of superpixel graphs with and
without the weights of pairs and of a logistic regression of single superpixels. Void pixels do
not count. Needs the images in the folder SSKIT_DATA, scikit-image and Pillow.

    python examples/benchmarks/segmentation_msrc.py [--memory FOLDER] [--lam LAM]
"""

import argparse
import time
import warnings

from _images import best_possible, graphs, logistic_regression, measures
from sklearn.exceptions import ConvergenceWarning

from sskit import SegmentationModel


def line(name, found):
    """Print the measures of some masks."""
    accuracy, of_classes, iou = measures(y_test, found, ignore_label=0)
    print(
        f"{name:34s} pixel accuracy {accuracy:.4f}, mean of classes {of_classes:.4f}, mean IoU "
        f"{iou.mean():.4f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", help="where superpixels and features are kept on disk")
    parser.add_argument("--lam", type=float, default=None)
    parser.add_argument("--tol", type=float, default=0.02)
    parser.add_argument("--max-iter", type=int, default=30)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test = graphs("msrc", arguments.memory)
    line("best labelling of superpixels", best_possible(X_test, y_test, 0))
    for C in (0.1, 1.0):
        line(f"logistic regression, C={C:g}", logistic_regression(X, y, X_test, C, 0))
    variants = [("hamming_sum", False), ("hamming_sum", True), ("balanced", True)]
    for loss, neighbours in variants:
        start = time.process_time()
        model = SegmentationModel(
            lam=arguments.lam if loss == "hamming_sum" else None,
            loss=loss,
            bounds=None if neighbours else {"pairwise": (0, 0)},
            ignore_label=0,
            tol=arguments.tol,
            max_iter=arguments.max_iter,
            random_state=0,
        ).fit(X, y)
        line(f"{loss}, {'with neighbours' if neighbours else 'alone'}", model.predict(X_test))
        print(
            f"   lam {model.lam_:.3g}, {model.n_iter_} passes, {model.n_oracle_calls_} calls, "
            f"{time.process_time() - start:.0f} s, gap {model.dual_gap_:.3g} (P "
            f"{model.primal_objective_:.4g}), certified: {model.certified_}",
            flush=True,
        )
