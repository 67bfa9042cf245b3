"""Graphs with interactions of any sign: accuracy, time, and the part of the gap that is not proved.

Usage: python any_graphs.py [toys] [snakes] [images] [speed]

"toys": test accuracy on boards of checkers, blocks, crosses and directed grids, by lam in units of
the default. "snakes": the same on 200 + 100 snakes (snakes/snakes.npz in the folder SSKIT_DATA, the
toy of Nowozin et al., 2011), with the directions of edges alone and with the features of both ends.
"images": horses and MSRC, compared with neighbours that only attract each other. "speed": one call
of message passing on a grid of 30 x 30 nodes with 11 labels, and a training pass on snakes compared
with a structure written in Python. Seconds are of the processor, with one thread.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _images import graphs as graphs_of_images
from _images import measures
from sklearn.exceptions import ConvergenceWarning

from sskit import GraphTagger, SegmentationModel, StructuredModel, StructuredSVM
from sskit.oracles import trws

FRACTIONS = 1.0, 1 / 4, 1 / 16, 1 / 64


def grid(height, width):
    """Return the edges of a grid, those along rows first, and which direction each has."""
    nodes = np.arange(height * width).reshape(height, width)
    right = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
    down = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
    directions = np.repeat(np.eye(2), [len(right), len(down)], axis=0)
    return np.concatenate([right, down]), directions


def noisy(n, labels, noise, n_labels, seed, directed=False):
    """Return n graphs that show the same labels under noise of this standard deviation."""
    rng = np.random.default_rng(seed)
    edges, directions = grid(*labels.shape)
    flat, X = labels.ravel(), []
    for _ in range(n):
        seen = np.eye(n_labels)[flat] + noise * rng.normal(size=(flat.size, n_labels))
        features = np.column_stack([seen, np.ones(flat.size)])
        X.append((features, edges, directions if directed else None))
    return X, [flat] * n


def crosses(n, n_flips, seed, size=9):
    """Return noisy grids with two crosses of label 1 around a hidden centre of label 2."""
    rng = np.random.default_rng(seed)
    edges, X, y = grid(size, size)[0], [], []
    for _ in range(n):
        labels, places = np.zeros((size, size), dtype=int), []
        while len(places) < 2:
            i, j = rng.integers(1, size - 1, size=2)
            if all(max(abs(i - a), abs(j - b)) > 2 for a, b in places):
                places.append((i, j))
                labels[i, j - 1 : j + 2] = labels[i - 1 : i + 2, j] = 1
                labels[i, j] = 2
        seen = labels > 0
        seen[tuple(rng.integers(size, size=(2, n_flips)))] = rng.random(n_flips) < 0.5
        X.append((np.stack([~seen, seen], axis=-1).reshape(-1, 2).astype(float), edges, None))
        y.append(labels.ravel())
    return X, y


BOARD = np.add.outer(np.arange(11), np.arange(13))
BLOCKS = np.repeat([[0, 1, 2]], 10, axis=0).repeat(4, axis=1)
TOYS = {
    "board, 2 labels, noise 1.5": lambda seed: noisy(20, BOARD % 2, 1.5, 2, seed),
    "board, 3 labels, noise 1.5": lambda seed: noisy(20, BOARD % 3, 1.5, 3, seed),
    "blocks, noise 0.5": lambda seed: noisy(20, BLOCKS, 0.5, 3, seed),
    "blocks, directed, noise 2": lambda seed: noisy(50, BLOCKS, 2.0, 3, seed, True),
    "crosses, 5 flips": lambda seed: crosses(30, 5, seed),
    "crosses, 30 flips": lambda seed: crosses(30, 30, seed),
}


def patches(image):
    """Return which of five colours each of nine cells around has; background beyond the border."""
    codes = (image // 255) @ np.array([1, 2, 4])
    colours = np.searchsorted([1, 2, 3, 4, 6], codes)  # the fourth of them is the background
    padded = np.pad(colours, 1, constant_values=3)
    rows, columns = colours.shape
    around = [padded[i : i + rows, j : j + columns].ravel() for i in range(3) for j in range(3)]
    return np.eye(5)[np.stack(around, axis=1)].reshape(colours.size, -1)


def snakes(part, ends):
    """Return snakes as graphs."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "snakes" / "snakes.npz") as file:
        z = dict(file)
    offsets, X, y = z[f"offsets_{part}"], [], []
    for i, shape in enumerate(z[f"shapes_{part}"].tolist()):
        place = slice(offsets[i], offsets[i + 1])
        edges, directions = grid(*shape)
        features = patches(z[f"X_{part}"][place].reshape(*shape, 3))
        both = features[edges].reshape(len(edges), -1)
        of_ends = (directions[:, :, None] * both[:, None, :]).reshape(len(edges), -1)
        X.append((features, edges, of_ends if ends else directions))
        y.append(z[f"Y_{part}"][place].astype(int))
    return X, y


def line(name, train, test, **options):
    """Print what a fit takes and what it is worth."""
    start = time.process_time()
    model = GraphTagger(random_state=0, **options).fit(*train)
    seconds = time.process_time() - start
    fraction = model.history_.get("inexactness", [0.0])[-1] / model.primal_objective_
    proven = np.mean(model.optimality_gap(test[0]) <= 1e-9)
    print(
        f"{name:30s} lam {model.lam_:8.3g}  accuracy {model.score(*test):.4f}  {seconds:5.1f} s  "
        f"{model.n_iter_:3d} passes  gap {model.dual_gap_ / model.primal_objective_:.3f}, of that "
        f"inexact {fraction:.4f}  predictions proven best {proven:.2f}",
        flush=True,
    )
    return model


def by_lam(name, train, test):
    """Print lines for some lam."""
    lam = line(f"{name}, default", train, test).lam_
    for fraction in FRACTIONS:
        if fraction != 1.0:
            line(f"{name}, {fraction:g}", train, test, lam=fraction * lam)


def images():
    """Print horses and MSRC with neighbours that attract each other, and with any."""
    for name, ignore in (("horses", None), ("msrc", 0)):
        X, y, X_test, y_test = graphs_of_images(name)
        options = {
            "ignore_label": ignore,
            "random_state": 0,
            "max_iter": 30 if ignore == 0 else 300,
        }
        models = {"attractive": SegmentationModel(**options)}
        for form in ("potts", "symmetric", "directed"):
            models[form] = GraphTagger(pairwise_form=form, **options)
        for label, model in models.items():
            start = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - start
            accuracy, of_classes, iou = measures(y_test, model.predict(X_test), ignore)
            fraction = model.history_.get("inexactness", [0.0])[-1] / model.primal_objective_
            print(
                f"{name:7s} {label:11s} accuracy {accuracy:.4f}, of classes {of_classes:.4f}, IoU "
                f"{iou.mean():.4f}; {seconds:.0f} s, {model.n_iter_} passes, gap "
                f"{model.dual_gap_ / model.primal_objective_:.3f}, of that inexact {fraction:.3f}",
                flush=True,
            )


class PythonGraphs(StructuredModel):
    """The same structure as it is written in Python, with max-product for its oracle."""

    def __init__(self, n_features, n_edge_features, n_labels, n_rounds=10):
        self.n_features = n_features
        self.n_edge_features = n_edge_features
        self.n_labels = n_labels
        self.n_rounds = n_rounds
        self.n_weights = n_labels * n_features + n_edge_features * n_labels**2

    def joint_feature(self, x, y):
        """Return phi(x, y)."""
        features, edges, edge_features = x
        pairs = np.eye(self.n_labels**2)[y[edges[:, 0]] * self.n_labels + y[edges[:, 1]]]
        nodes = np.eye(self.n_labels)[y].T @ features
        return np.concatenate([nodes.ravel(), (edge_features.T @ pairs).ravel()])

    def loss(self, y, other):
        """Return the number of wrong nodes."""
        return float(np.sum(y != other))

    def argmax(self, x, w, y=None):
        """Return the labelling of some rounds of max-product, with the loss if y is given."""
        features, edges, edge_features = x
        K = self.n_labels
        cut = K * self.n_features
        nodes = features @ w[:cut].reshape(K, -1).T
        if y is not None:
            nodes = nodes + 1.0
            nodes[np.arange(len(y)), y] -= 1.0
        tables = (edge_features @ w[cut:].reshape(-1, K * K)).reshape(-1, K, K)
        messages = np.zeros((2, len(edges), K))
        beliefs = nodes.copy()
        for _ in range(self.n_rounds):
            for e, (u, v) in enumerate(edges):
                for side, (a, b) in enumerate(((u, v), (v, u))):
                    table = tables[e] if side == 0 else tables[e].T
                    rest = beliefs[a] - messages[1 - side, e]
                    found = (table + rest[:, None]).max(axis=0)
                    found -= found.max()
                    beliefs[b] += found - messages[side, e]
                    messages[side, e] = found
        return beliefs.argmax(axis=1)


def speed():
    """Print what one call of message passing, and one pass over snakes, take."""
    rng = np.random.default_rng(0)
    edges, _ = grid(30, 30)
    nodes, tables = rng.normal(size=(900, 11)), rng.normal(size=(len(edges), 11, 11))
    seconds = []
    for _ in range(30):
        start = time.process_time()
        trws(nodes, edges, tables, max_sweeps=20, tol=0.0)
        seconds.append(time.process_time() - start)
    print(f"30 x 30 nodes, 11 labels, 20 sweeps: {1e3 * np.median(seconds):.1f} ms")
    X, y = snakes("train", ends=False)
    start = time.process_time()
    model = GraphTagger(random_state=0).fit(X, y)
    ours = (time.process_time() - start) / (model.n_iter_ + len(model.history_["gap"]))
    written = PythonGraphs(X[0][0].shape[1], 2, 11)
    start = time.process_time()
    slow = StructuredSVM(model=written, lam=model.lam_, max_iter=1, random_state=0)
    slow.fit(X[:20], y[:20])
    theirs = 10 * (time.process_time() - start) / (slow.n_oracle_calls_ / 20)
    print(f"a pass over snakes: {ours:.4f} s, in Python {theirs:.1f} s: {theirs / ours:.0f} times")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = ("toys", "snakes", "images", "speed")
    parser.add_argument("what", nargs="*", help="of " + ", ".join(what))
    warnings.simplefilter("ignore", ConvergenceWarning)
    for each in parser.parse_args().what or what:
        if each == "toys":
            for name, make in TOYS.items():
                by_lam(name, make(0), make(1))
        elif each == "snakes":
            for ends in (False, True):
                label = f"snakes, {'ends' if ends else 'directions'}"
                by_lam(label, snakes("train", ends), snakes("test", ends))
        elif each == "images":
            images()
        else:
            speed()
