"""Joints of Leeds Sports Poses on simulated score maps: what learning adds, at the same effort.

All models are chosen on held-out people: springs set by hand by their stiffness, learned ones by
lam and the number of types, from as many candidates. (A factor of the scores would be one of the
stiffness upside down.) Maps are simulated anew for every seed. At the end, oracle calls that
solvers need to a relative gap of one hundredth. Run:

    python examples/benchmarks/poses.py [n_train] [n_chosen] [n_test] [n_seeds] [n_calls] [png]
"""

import sys
import time

import numpy as np

from sskit import PartsModel
from sskit.datasets import load_lsp, make_score_maps
from sskit.metrics import mean_part_error, pdj_curve, pdj_score
from sskit.models.parts.data import spring_means
from sskit.oracles import parts_max_sum
from sskit.solvers import BCFW, MultiPlane

SHAPE = (32, 32)
RADII = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
LEARNED = [(n_types, lam) for n_types in (1, 4) for lam in (0.3, 1.0, 3.0, 10.0)]


def load(seed, *sizes):
    """Return the skeleton, and people to train, to choose and to test with: maps and joints."""
    train, test = load_lsp("train", SHAPE), load_lsp("test", SHAPE)
    n_train, n_chosen, n_test = sizes
    parts = (
        train.target[:n_train],
        train.target[n_train : n_train + n_chosen],
        test.target[:n_test],
    )
    return train, [
        (
            make_score_maps(y, SHAPE, mirrors=train.mirrors, random_state=3 * seed + part),
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
    for n_types, lam in LEARNED:
        model = PartsModel(
            skeleton.parents, lam / len(X), n_types=n_types, torso=skeleton.torso, random_state=0
        )
        start = time.process_time()
        model.fit(X, y)
        name = (
            f"{n_types} types, lam {lam} / n (certified {model.certified_}, "
            f"{model.n_oracle_calls_} calls, {time.process_time() - start:.0f} s)"
        )
        yield "learned", name, model.predict


def compare(seed, *sizes):
    """Return for each kind of model the PDJ curve and the mean error on the test people."""
    skeleton, (train, chosen, test) = load(seed, *sizes)
    best = {"highest score of each part": (0.0, "", highest)}
    for kind, name, predict in candidates(skeleton, *train):
        score = pdj_score(chosen[1], predict(chosen[0]), torso=skeleton.torso)
        print(f"    seed {seed}: {kind}, {name}: {score:.4f} held out", flush=True)
        if score > best.get(kind, (0.0,))[0]:
            best[kind] = score, name, predict
    results = {}
    for kind, (_, name, predict) in best.items():
        found = predict(test[0])
        curve = pdj_curve(test[1], found, torso=skeleton.torso)
        error = mean_part_error(test[1], found, torso=skeleton.torso)
        shares = pdj_curve(test[1], found, torso=skeleton.torso, radii=RADII)[1]
        print(f"  seed {seed}: {kind}, {name}: {shares.round(4)}, error {error:.4f}", flush=True)
        results[kind] = (*curve, shares, error)
    return results


def draw(runs, path):
    """Draw the mean curves over the seeds, with the range of the seeds, into a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for kind in runs[0]:
        radii, shares = runs[0][kind][0], np.array([run[kind][1] for run in runs])
        ax.plot(radii, shares.mean(axis=0), label=kind)
        ax.fill_between(radii, shares.min(axis=0), shares.max(axis=0), alpha=0.3)
    ax.set(xlabel="radius (torsos)", ylabel="joints detected", xlim=(0, 0.5), ylim=(0, 1))
    ax.legend()
    figure.savefig(path, dpi=120)


def count_calls(n):
    """Print how often solvers ask the oracle."""
    skeleton, ((X, y), *_) = load(0, n, 1, 1)
    solvers = {
        "plain, permutation": BCFW(steps="fw", sampling="permutation", cache=False),
        "pairwise, gap sampling, cache": BCFW(),
        "multi-plane": MultiPlane(),
    }
    print(f"oracle calls to a relative gap of 1e-2, {n} people, 1 type")
    for name, solver in solvers.items():
        model = PartsModel(
            skeleton.parents, n_types=1, solver=solver, torso=skeleton.torso, random_state=0
        )
        start = time.process_time()
        model.fit(X, y)
        print(
            f"    {name:32s} {model.n_oracle_calls_:8d} calls, {model.n_iter_:4d} passes, gap "
            f"{model.dual_gap_:.4f}, {time.process_time() - start:.1f} s",
            flush=True,
        )


def main(n_train=300, n_chosen=200, n_test=1000, n_seeds=3, n_calls=100, path=None):
    """Print all tables, and draw the curves."""
    print(f"{n_train} people to train, {n_chosen} to choose, {n_test} to test, {SHAPE} cells")
    runs = [compare(seed, n_train, n_chosen, n_test) for seed in range(n_seeds)]
    print(f"{'detected within (torsos), mean and range':40s} {RADII}, error")
    for kind in runs[0]:
        shares = np.array([run[kind][2] for run in runs])
        errors = np.array([run[kind][3] for run in runs])
        print(f"{kind:40s} {shares.mean(axis=0).round(3)}, {errors.mean():.3f}")
        print(f"{'':40s} {np.ptp(shares, axis=0).round(3)}, {np.ptp(errors):.3f}")
    if path is not None:
        draw(runs, path)
    count_calls(n_calls)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:6]), *sys.argv[6:7])
