"""
Gap sampling: fewer calls of a costly oracle
============================================

Block-coordinate Frank-Wolfe visits one training example at a time. A permutation visits all
equally often; gap sampling visits an example in proportion to its duality gap. If most examples
are easy, that saves many calls of the oracle.
"""

# %%
# Six classes of points in the plane, as a structure in Python that counts its calls for each
# example.

import matplotlib.pyplot as plt
import numpy as np

from sskit import StructuredSVM
from sskit.models import StructuredModel
from sskit.solvers import BCFW

K = 6
rng = np.random.default_rng(0)
angles = 2 * np.pi * np.arange(K) / K
y = rng.integers(K, size=400)
points = 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)[y] + 0.5 * rng.normal(size=(400, 2))
# each example carries its number, which is no feature
X = [(i, np.append(point, 1.0)) for i, point in enumerate(points)]


class CountingClasses(StructuredModel):
    """Classes of points."""

    def __init__(self):
        self.n_calls = np.zeros(len(X), dtype=int)

    def joint_feature(self, x, y):
        """Return the features of the point, at the place of its class."""
        features = np.zeros((K, 3))
        features[y] = x[1]
        return features.ravel()

    def loss(self, y_true, y):
        """Return whether the class is wrong."""
        return float(y != y_true)

    def argmax(self, x, w, y_true=None):
        """Return the best class, or the one that violates its margin most."""
        scores = w.reshape(K, 3) @ x[1]
        if y_true is not None:
            self.n_calls[x[0]] += 1
            scores = scores + (np.arange(K) != y_true)
        return int(scores.argmax())


# %%
# Both fits end with the same certificate. Every visit calls the oracle once, and an exact pass,
# every ten passes, calls it once for each example.

calls = {}
for sampling in ("permutation", "gap"):
    model = CountingClasses()
    solver = BCFW(steps="pairwise", sampling=sampling, cache=False, stored_passes=0, gap_every=10)
    classifier = StructuredSVM(
        model=model, solver=solver, lam=1e-3, tol=1e-2, max_iter=1000, random_state=0
    ).fit(X, y.tolist())
    calls[sampling] = model.n_calls
    print(f"{sampling:12s} {classifier.n_oracle_calls_:6d} calls, gap {classifier.dual_gap_:.4f}")

# %%
# The points by the number of calls. Gap sampling leaves points in the middle of their class to the
# exact passes, and visits those between two classes.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True, layout="constrained")
least, largest = min(map(min, calls.values())), max(map(max, calls.values()))
for ax, (sampling, count) in zip(axes, calls.items(), strict=True):
    order = np.argsort(count)
    dots = ax.scatter(
        *points[order].T,
        c=count[order],
        s=18,
        cmap="viridis_r",
        norm="log",
        vmin=least,
        vmax=largest,
    )
    ax.set(title=f"{sampling}: {count.sum()} calls", aspect="equal")
bar = fig.colorbar(dots, ax=axes, label="calls of the oracle", format="%d")
bar.set_ticks([20, 50, 100, 200, 400], minor=False)
bar.minorticks_off()
plt.show()
