"""Joints of Leeds Sports Poses on simulated score maps: learned springs against springs by hand.

Springs set by hand are chosen on held-out people by their stiffness. (A factor of the scores is the
inverse of one of the stiffness.) The learned model has default parameters; raw scores are compared
too. Maps are simulated anew for every seed, in three settings of misses and clutter. At the end,
oracle calls that solvers need to a relative gap of one hundredth. Run:

    python examples/benchmarks/poses.py [--seeds 0 1 2] [--calls 100] [--png FILE]
"""

import argparse
import time
import warnings

import numpy as np
from _data import load_lsp
from sklearn.exceptions import ConvergenceWarning

from sskit import PartsModel
from sskit.datasets import make_score_maps
from sskit.metrics import mean_part_error, pdj_curve, pdj_score
from sskit.models.parts.data import spring_means
from sskit.oracles import parts_max_sum
from sskit.solvers import BCFW, MultiPlane

SHAPE = (32, 32)
RADII = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
SIZES = 300, 200, 1000  # people to train, to choose and to test with
SETTINGS = {
    "standard": {},
    "easy": {"misses": 0.05, "clutter": 1.5},
    "hard": {"misses": 0.2, "clutter": 5.0},
}
STRENGTHS = (0.05, 0.1, 0.2, 0.5, 1.0)
DEFAULT = "default parameters"
LEARNED = {
    DEFAULT: {},
    "raw scores": {"scores": "raw"},
}


def load(seed, setting="standard", sizes=SIZES):
    """Return the skeleton, and people to train, to choose and to test with: maps and joints."""
    train, test = load_lsp("train", SHAPE), load_lsp("test", SHAPE)
    n_train, n_chosen, n_test = sizes
    options = {"mirrors": train.mirrors} | SETTINGS[setting]
    parts = (
        train.target[:n_train],
        train.target[n_train : n_train + n_chosen],
        test.target[:n_test],
    )
    return train, [
        (
            make_score_maps(y, SHAPE, random_state=3 * seed + part, **options),
            np.rint(np.array(y)),
        )
        for part, y in enumerate(parts)
    ]


def highest(X):
    """Return the cell of the highest score of each part."""
    places = np.array([x.reshape(len(x), -1).argmax(axis=1) for x in X])
    return np.stack([places % SHAPE[1], places // SHAPE[1]], axis=2)


def by_hand(parents, y, strength):
    """Return what finds places under springs of one type at the mean displacement in y.

    Their stiffness is that of a normal distribution, 1 / (2 variance), times the strength.
    """
    means = spring_means(y, parents, 1, None, np.random.RandomState(0))[:, 0]
    moved = y - y[:, parents]
    springs = np.zeros((len(parents), 1, 2, 3))
    springs[:, 0, :, 1] = strength / (2 * np.maximum(moved.var(axis=0), 1.0))[:, ::-1]
    springs[:, 0, :, 2] = np.nan_to_num(means[:, ::-1])
    return lambda X: np.array([parts_max_sum(x, parents, springs)[0][:, ::-1] for x in X])


def candidates(skeleton, X, y):
    """Yield kind, name and predictor, one after the other."""
    for strength in STRENGTHS:
        yield "springs by hand", f"times {strength}", by_hand(skeleton.parents, y, strength)
    for name, parameters in LEARNED.items():
        model = PartsModel(skeleton.parents, torso=skeleton.torso, random_state=0, **parameters)
        start = time.process_time()
        model.fit(X, y)
        kind = "learned, default" if name == DEFAULT else "learned, best of others"
        spent = time.process_time() - start
        yield kind, f"{name} ({model.n_oracle_calls_} calls, {spent:.0f} s)", model.predict


def compare(seed, setting):
    """Return for each kind of model the PDJ curve and the mean error on the test people."""
    skeleton, (train, chosen, test) = load(seed, setting)
    best = {"highest score of each part": (0.0, "", highest)}
    for kind, name, predict in candidates(skeleton, *train):
        score = pdj_score(chosen[1], predict(chosen[0]), torso=skeleton.torso)
        tested = pdj_score(test[1], predict(test[0]), torso=skeleton.torso)
        print(
            f"    {setting}, seed {seed}: {kind}, {name}: {score:.4f} held out, {tested:.4f} test",
            flush=True,
        )
        if score > best.get(kind, (0.0,))[0]:
            best[kind] = score, name, predict
    results = {}
    for kind, (_, name, predict) in best.items():
        found = predict(test[0])
        curve = pdj_curve(test[1], found, torso=skeleton.torso)
        error = mean_part_error(test[1], found, torso=skeleton.torso)
        fractions = pdj_curve(test[1], found, torso=skeleton.torso, radii=RADII)[1]
        print(f"  {setting}, seed {seed}: {kind}, {name}: {fractions.round(4)}, error {error:.4f}")
        results[kind] = (*curve, fractions, error)
    return results


def draw(runs, path):
    """Draw the mean curves over the seeds, with the range of the seeds, into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for kind in runs[0]:
        radii, fractions = runs[0][kind][0], np.array([run[kind][1] for run in runs])
        ax.plot(radii, fractions.mean(axis=0), label=kind)
        ax.fill_between(radii, fractions.min(axis=0), fractions.max(axis=0), alpha=0.3)
    ax.set(xlabel="radius (torsos)", ylabel="joints detected", xlim=(0, 0.5), ylim=(0, 1))
    ax.legend()
    figure.savefig(path, dpi=120)


def count_calls(n):
    """Print how often solvers call the oracle."""
    skeleton, ((X, y), *_) = load(0, sizes=(n, 1, 1))
    solvers = {
        "plain, permutation": BCFW(steps="fw", sampling="permutation", cache=False),
        "pairwise, gap sampling, cache": BCFW(),
        "multi-plane": MultiPlane(),
    }
    print(f"oracle calls to a relative gap of 1e-2, {n} people, 1 type")
    for name, solver in solvers.items():
        model = PartsModel(
            skeleton.parents,
            n_types=1,
            solver=solver,
            torso=skeleton.torso,
            tol=0.01,
            random_state=0,
        )
        start = time.process_time()
        model.fit(X, y)
        print(
            f"    {name:32s} {model.n_oracle_calls_:8d} calls, {model.n_iter_:4d} passes, gap "
            f"{model.dual_gap_:.4f}, {time.process_time() - start:.1f} s",
            flush=True,
        )


def main(seeds, n_calls, path):
    """Print all tables, and draw the curves."""
    print("people to train, to choose and to test:", *SIZES, "cells:", *SHAPE)
    for setting in SETTINGS:
        runs = [compare(seed, setting) for seed in seeds]
        print(f"{setting + ': detected within (torsos), mean and range':56s} {RADII}, error")
        for kind in runs[0]:
            fractions = np.array([run[kind][2] for run in runs])
            errors = np.array([run[kind][3] for run in runs])
            print(f"{kind:56s} {fractions.mean(axis=0).round(3)}, {errors.mean():.3f}")
            print(
                f"{'':56s} {np.ptp(fractions, axis=0).round(3)}, {np.ptp(errors):.3f}", flush=True
            )
        if path is not None and setting == "standard":
            draw(runs, path)
    if n_calls:
        count_calls(n_calls)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--calls", type=int, default=100, help="people to count calls with")
    parser.add_argument("--png", help="file for the curves")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(arguments.seeds, arguments.calls, arguments.png)
