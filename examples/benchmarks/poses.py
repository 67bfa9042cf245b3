"""Poses of the Leeds Sports Poses from simulated score maps: what learning is worth, and its cost.

Learned models against the highest score of each part and against springs set by hand; oracle
calls that solvers need to a relative gap of one hundredth. Run:

    python examples/benchmarks/poses.py [n_train] [n_test] [n_calls]
"""

import sys
import time

import numpy as np

from sskit import PartsModel
from sskit.datasets import load_lsp, make_score_maps
from sskit.models._parts_data import pose_scales, spring_means
from sskit.oracles import parts_max_sum
from sskit.solvers import BCFW, MultiPlane

SHAPE = (32, 32)
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)


def load(subset, n):
    """Return the first n people with their score maps."""
    poses = load_lsp(subset, SHAPE)
    poses.target = poses.target[:n]
    seed = ("train", "test").index(subset)
    poses.data = make_score_maps(poses.target, SHAPE, mirrors=poses.mirrors, random_state=seed)
    return poses


def tell(name, found, poses):
    """Print the share of parts within parts of a torso, and the mean error in torsos."""
    truth = np.rint(np.array(poses.target))
    torso = pose_scales(truth, poses.torso)
    error = np.linalg.norm(np.stack(list(found)) - truth, axis=2) / torso[:, None]
    curve = "  ".join(f"{np.mean(error <= threshold):6.3f}" for threshold in THRESHOLDS)
    print(f"{name:34s} {curve}   {error.mean():6.3f}", flush=True)


def highest(poses):
    """Return the cell of the highest score of each part."""
    for x in poses.data:
        rows, columns = np.unravel_index(x.reshape(len(x), -1).argmax(axis=1), SHAPE)
        yield np.stack([columns, rows], axis=1)


def by_hand(train, test, strength):
    """Return places under springs of one type at the mean displacement.

    Their stiffness is that of a normal distribution: 1 / (2 variance), times a factor.
    """
    places = np.rint(np.array(train.target))
    parents = train.parents
    means = spring_means(places, parents, 1, None, np.random.RandomState(0))[:, 0]
    moved = places - places[:, parents]
    springs = np.zeros((len(parents), 1, 2, 3))
    springs[:, 0, :, 1] = strength / (2 * np.maximum(moved.var(axis=0), 1.0))[:, ::-1]
    springs[:, 0, :, 2] = np.nan_to_num(means[:, ::-1])
    return [parts_max_sum(x, parents, springs)[0][:, ::-1] for x in test.data]


def main(n_train=300, n_test=1000, n_calls=100):
    """Print all tables."""
    train, test = load("train", n_train), load("test", n_test)
    print(f"{n_train} people to train, {n_test} to test, maps of {SHAPE[0]} x {SHAPE[1]} cells")
    print(f"{'detected within (torsos)':34s} {'  '.join(f'{t:6.1f}' for t in THRESHOLDS)}   error")
    tell("highest score of each part", highest(test), test)
    for strength in (0.1, 0.3, 1.0, 3.0):
        tell(f"springs by hand, times {strength}", by_hand(train, test, strength), test)
    options = {"torso": train.torso, "random_state": 0}
    for n_types in (1, 4):
        start = time.process_time()
        model = PartsModel(train.parents, n_types=n_types, **options)
        model.fit(train.data, train.target)
        seconds = time.process_time() - start
        tell(f"learned, {n_types} types of springs", model.predict(test.data), test)
        print(
            f"    certified {model.certified_}, gap {model.dual_gap_:.4f}, tol {model.tol}, "
            f"{model.n_oracle_calls_} oracle calls, {model.n_iter_} passes, {seconds:.0f} s"
        )
    print(f"\noracle calls to a relative gap of 1e-2, {n_calls} people, 1 type")
    x, y = train.data[:n_calls], train.target[:n_calls]
    solvers = {
        "plain, permutation": BCFW(steps="fw", sampling="permutation", cache=False),
        "pairwise, gap sampling, cache": BCFW(),
        "multi-plane": MultiPlane(),
    }
    for name, solver in solvers.items():
        model = PartsModel(train.parents, n_types=1, solver=solver, max_iter=300, **options)
        model.fit(x, y)
        reached = model.history_["gap"]
        print(
            f"{name:34s} {model.n_oracle_calls_:8d} calls, {model.n_iter_:5d} passes, last gap "
            f"{reached[-1]:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
