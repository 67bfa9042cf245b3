"""Graphs of photographs, and the baselines of the segmentation benchmarks."""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _data import load_msrc, load_weizmann_horses
from joblib import Memory
from sklearn.linear_model import LogisticRegression

from sskit.metrics import class_accuracy_score, iou_scores
from sskit.preprocessing import SuperpixelGraphs

LOADERS = {"horses": load_weizmann_horses, "msrc": load_msrc}


def described(train, test):
    """Return the graphs of images to train on and to test on."""
    superpixels = SuperpixelGraphs(random_state=0)
    return superpixels.fit_transform(train), superpixels.transform(test)


def graphs(name, memory=None):
    """Return (X, y, X_test, y_test): superpixel graphs with all features, and pixel masks."""
    train, test = (LOADERS[name](part) for part in ("train", "test"))
    start = time.perf_counter()
    X, X_test = Memory(memory, verbose=0).cache(described)(train.data, test.data)
    n_nodes, n_edges = (np.mean([len(getattr(g, a)) for g in X]) for a in ("features", "edges"))
    print(
        f"{name}: {len(X)} images to train on, {len(X_test)} to test on; {n_nodes:.0f} nodes and "
        f"{n_edges:.0f} edges each, {X[0].features.shape[1]} and {X[0].edge_features.shape[1]} "
        f"features; made in {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    return X, train.target, X_test, test.target


def measures(y, found, ignore_label=None):
    """Return pixel accuracy, mean class accuracy, and the IoU of each class that is there."""
    counted = [np.ones(mask.shape, bool) if ignore_label is None else mask != ignore_label
               for mask in y]  # fmt: skip
    right = sum(np.sum((a == b)[c]) for a, b, c in zip(y, found, counted, strict=True))
    iou, classes = iou_scores(y, found, ignore_label=ignore_label)
    there = np.isin(classes, np.unique(np.concatenate([mask.ravel() for mask in y])))
    accuracy = right / sum(np.sum(c) for c in counted)
    return accuracy, class_accuracy_score(y, found, ignore_label=ignore_label), iou[there]


def best_possible(X, y, ignore_label=None):
    """Return the masks of the true labels of superpixels: no labelling of them does better."""
    return [g.pixel_mask(g.node_labels(mask, ignore_label)) for g, mask in zip(X, y, strict=True)]


def logistic_regression(X, y, X_test, C, ignore_label=None):
    """Return masks by a logistic regression of single superpixels."""
    labels = np.concatenate([g.node_labels(m, ignore_label) for g, m in zip(X, y, strict=True)])
    features = np.concatenate([g.features for g in X])
    kept = np.ones(len(labels), bool) if ignore_label is None else labels != ignore_label
    model = LogisticRegression(C=C, max_iter=300).fit(features[kept], labels[kept])
    return [g.pixel_mask(model.predict(g.features)) for g in X_test]
