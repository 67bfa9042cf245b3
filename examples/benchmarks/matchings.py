"""Matchings learnt as a whole against classifiers of pairs and an assignment.

Points: point sets with noise and outliers (`make_point_sets`). Tracks: which detection of a frame
is which of the frame before, on made trajectories with missed detections, false alarms, births and
deaths. The baseline is a logistic regression on the pairs, with the same features, whose scores
less a cost are assigned; its C, the weights of its classes and the cost are chosen on held-out
samples, as is the lam of `MatchingModel`. Run:

    python examples/benchmarks/matchings.py [points] [tracks] [loss] [threads]
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import itertools
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from sskit import MatchingModel
from sskit.datasets import make_point_sets
from sskit.oracles import best_matching

LAMS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
CS = (0.1, 1.0, 10.0, 100.0)
COSTS = np.append(-100.0, np.arange(-6.0, 5.0, 0.5))  # the first one leaves nobody alone
SEEDS = range(5)


def make_tracks(n, rng, *, n_objects=12, missed=0.1, alarms=2.0, n_colours=3, length=10):
    """Return features of pairs of detections, of the items, and partners, of pairs of frames.

    Objects cross a unit square on smooth ways, have a colour, and are born and die at its border. A
    detection has a noisy place and colour and a score, low for false alarms. Features of a pair are
    the distance, its square, the difference of colours and that of scores; those of an item are its
    score and how near it is to the border.
    """
    X, y = [], []
    while len(X) < n:
        place = rng.uniform(0, 1, size=(n_objects, 2))
        speed = rng.normal(scale=0.06, size=(n_objects, 2))
        colour = rng.normal(size=(n_objects, n_colours))
        before = None
        for _ in range(length):
            place, speed = place + speed, 0.9 * speed + rng.normal(scale=0.02, size=speed.shape)
            gone = (np.abs(place - 0.5) > 0.5).any(axis=1)
            for k in np.flatnonzero(gone):  # another one comes in at the border
                side = rng.integers(4)
                along = rng.uniform()
                place[k] = [(along, 0.0), (along, 1.0), (0.0, along), (1.0, along)][side]
                speed[k] = 0.06 * (0.5 - place[k]) + rng.normal(scale=0.03, size=2)
                colour[k] = rng.normal(size=n_colours)
            names = np.where(gone, -2, np.arange(n_objects))  # those that are new have no past
            seen = rng.random(n_objects) > missed
            n_false = rng.poisson(alarms)
            detections = {
                "place": np.vstack([
                    place[seen] + rng.normal(scale=0.01, size=(seen.sum(), 2)),
                    rng.uniform(size=(n_false, 2)),
                ]),
                "colour": np.vstack([
                    colour[seen] + rng.normal(scale=0.5, size=(seen.sum(), n_colours)),
                    rng.normal(size=(n_false, n_colours)),
                ]),
                "score": np.append(rng.normal(1.0, 0.5, seen.sum()), rng.normal(0, 0.5, n_false)),
                "name": np.append(np.arange(n_objects)[seen], np.full(n_false, -1)),
                "past": np.append(names[seen], np.full(n_false, -2)),
            }  # fmt: skip
            order = rng.permutation(len(detections["score"]))
            now = {key: value[order] for key, value in detections.items()}
            if before is not None:
                X.append(pair_features(before, now))
                y.append(partners_of(before["name"], now["past"]))
            before = now
    return X[:n], y[:n]


def pair_features(one, other):
    """Return the features of pairs, left and right items of two frames."""
    distance = np.linalg.norm(one["place"][:, None] - other["place"], axis=2) / 0.1
    colours = np.linalg.norm(one["colour"][:, None] - other["colour"], axis=2)
    scores = np.abs(one["score"][:, None] - other["score"])
    sides = []
    for frame in (one, other):
        border = (0.5 - np.abs(frame["place"] - 0.5)).min(axis=1) < 0.1
        sides.append(np.column_stack([frame["score"], border]))
    return np.stack([distance, distance**2, colours, scores], axis=2), *sides


def partners_of(names, past):
    """Return where the objects of a frame are in the next one, -1 for nowhere."""
    place = {name: j for j, name in enumerate(past.tolist()) if name >= 0}
    return np.array([place.get(name, -1) if name >= 0 else -1 for name in names.tolist()], int)


def rows_of(X):
    """Return one row for each pair: its features, and those of both items if there are any."""
    rows = []
    for x in X:
        pairs, *sides = x if isinstance(x, tuple) else (x,)
        blocks = [pairs]
        for axis, side in enumerate(sides):
            shape = (*pairs.shape[:2], side.shape[1])
            blocks.append(np.broadcast_to(np.expand_dims(side, 1 - axis), shape))
        rows.append(np.concatenate(blocks, axis=2))
    return rows


def share(found, truth):
    """Return the share of left items whose partner is right."""
    return float(np.mean(np.concatenate(found) == np.concatenate(truth)))


def assigned(tables, cost):
    """Return the best matchings under scores less a cost."""
    return [best_matching(table - cost)[0] for table in tables]


def baseline(train, held_out, test):
    """Return the share of right items of a logistic regression, chosen on held-out samples."""
    rows, held, last = (rows_of(X) for X, _ in (train, held_out, test))
    flat = np.concatenate([table.reshape(-1, table.shape[2]) for table in rows])
    is_pair = [
        (np.arange(table.shape[1]) == partners[:, None]).ravel()
        for table, partners in zip(rows, train[1], strict=True)
    ]
    best = -1.0, None, None
    for C, weight in itertools.product(CS, (None, "balanced")):
        model = LogisticRegression(C=C, class_weight=weight, max_iter=5000)
        model.fit(flat, np.concatenate(is_pair))
        tables = [table @ model.coef_[0] + model.intercept_ for table in held]
        for cost in COSTS:
            best = max(best, (share(assigned(tables, cost), held_out[1]), cost, model),
                       key=lambda entry: entry[0])  # fmt: skip
    _, cost, model = best
    tables = [table @ model.coef_[0] + model.intercept_ for table in last]
    return share(assigned(tables, cost), test[1])


def learnt(train, held_out, test, **options):
    """Return the share of right items of MatchingModel, whose lam is chosen on held-out samples."""
    best = -1.0, None
    for lam in LAMS:
        model = MatchingModel(lam / len(train[0]), random_state=0, **options).fit(*train)
        best = max(best, (model.score(*held_out), model), key=lambda entry: entry[0])
    return best[1].score(*test), best[1]


def compare(name, make, **options):
    """Print both of five seeds."""
    shares = []
    for seed in SEEDS:
        data = make(seed)
        shares.append((baseline(*data), learnt(*data, **options)[0]))
    shares = np.array(shares)
    gain = shares[:, 1] - shares[:, 0]
    print(
        f"{name}: pairs and assignment {shares[:, 0].mean():.3f}, MatchingModel "
        f"{shares[:, 1].mean():.3f}; gain {gain.mean():+.3f}, from {gain.min():+.3f} to "
        f"{gain.max():+.3f}",
        flush=True,
    )


def cut(X, y, n):
    """Return samples for training, n each held out and half of the rest for the test."""
    return [(X[part], y[part]) for part in (slice(0, n), slice(n, 2 * n), slice(2 * n, None))]


def points(n=40):
    """Point sets under noise and outliers."""
    for noise, n_outliers in ((0.6, 3), (0.3, 6), (1.0, 3), (0.6, 0)):

        def make(seed, noise=noise, n_outliers=n_outliers):
            sets = make_point_sets(
                2 * n + 100, n_outliers=n_outliers, noise=noise, random_state=seed
            )
            return cut(sets.data, sets.target, n)

        name = f"points, noise {noise}, {n_outliers} outliers"
        compare(name, make, complete=n_outliers == 0)


def tracks(n=60):
    """Association of the detections of two frames."""
    for missed, alarms in ((0.05, 1.0), (0.1, 3.0), (0.2, 6.0)):

        def make(seed, missed=missed, alarms=alarms):
            rng = np.random.default_rng(seed)
            return cut(*make_tracks(2 * n + 200, rng, missed=missed, alarms=alarms), n)

        compare(f"tracks, {missed:.0%} missed, {alarms:g} false alarms a frame", make)


def loss():
    """Losses and values of lam: the defaults."""
    print("lam n          " + "".join(f"{lam:8g}" for lam in LAMS))
    for kind, noise, n_outliers in (("points", 0.6, 3), ("tracks", 0, 0)):
        for name in ("hamming", "hamming_sum"):
            table = []
            for seed in range(2):
                if kind == "points":
                    sets = make_point_sets(
                        180, n_outliers=n_outliers, noise=noise, random_state=seed
                    )
                    data = cut(sets.data, sets.target, 40)
                else:
                    data = cut(*make_tracks(220, np.random.default_rng(seed)), 60)
                train, _, test = data
                table.append([
                    MatchingModel(lam / len(train[0]), loss=name, random_state=0)
                    .fit(*train).score(*test)
                    for lam in LAMS
                ])  # fmt: skip
            row = "".join(f"{value:8.3f}" for value in np.mean(table, axis=0))
            print(f"{kind} {noise} {name:12}{row}", flush=True)


def threads():
    """Time of fits and predictions by the number of threads."""
    for n_points in (12, 40, 120):
        sets = make_point_sets(60, n_points=n_points, noise=0.5, random_state=0)
        for n_jobs in (1, 2):
            model = MatchingModel(0.01, n_jobs=n_jobs, tol=0.1, random_state=0)
            start = time.perf_counter()
            model.fit(sets.data, sets.target)
            fitted = time.perf_counter()
            model.predict(sets.data)
            print(
                f"{n_points} points, n_jobs={n_jobs}: fit {fitted - start:.2f} s, "
                f"{1e6 * (fitted - start) / model.n_oracle_calls_:.0f} us a call; predict "
                f"{1e6 * (time.perf_counter() - fitted) / 60:.0f} us a sample",
                flush=True,
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in sys.argv[1:] or ("points", "tracks", "loss", "threads"):
        {"points": points, "tracks": tracks, "loss": loss, "threads": threads}[name]()
