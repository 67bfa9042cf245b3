"""
Matching point sets
===================

Which point of one picture is which point of the other? Every pair of points has some differences:
of place, of brightness, of how crowded the surroundings are. How much each of them should count is
learnt from pictures that were matched by hand. The structure, an assignment, is written here in
Python; see :doc:`/user_guide/write_your_own`.
"""

# %%
# The data: constellations of 12 points, seen a second time after a turn, with noise on everything.
# The features of a pair are minus its squared differences.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from sskit import StructSVMClassifier, StructuredModel

NAMES = ["horizontal", "vertical", "distance to centre", "nearest neighbour", "brightness"]


def describe(points, brightness):
    """Return one row of properties for each point."""
    distance = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(len(points))
    radius = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return np.column_stack([points, radius, distance.min(axis=1), brightness])


def make_pair(rng, n_points=12):
    """Return two point sets, the features of their pairs, and which point is which."""
    points, brightness = rng.uniform(-1, 1, size=(n_points, 2)), rng.uniform(0, 2, size=n_points)
    order = rng.permutation(n_points)
    angle = rng.normal(scale=0.9)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = (points @ turn + rng.normal(scale=0.07, size=points.shape))[order]
    dimmed = (brightness + rng.normal(scale=0.4, size=n_points))[order]
    one, other = describe(points, brightness), describe(moved, dimmed)
    return (points, moved), -((one[:, None] - other) ** 2), np.argsort(order)


rng = np.random.default_rng(0)
pictures, X, y = zip(*(make_pair(rng) for _ in range(120)), strict=True)
train, test = slice(0, 80), slice(80, None)

# %%
# The structure. A loss that counts wrong pairs is added to the scores of the pairs, so that the
# loss-augmented problem is an assignment problem again.


class Matching(StructuredModel):
    """A partner y[i] for each point i, scored by the features x[i, y[i]] of the pairs."""

    def joint_feature(self, x, y):
        return x[np.arange(len(y)), y].sum(axis=0)

    def loss(self, y_true, y):
        return np.mean(y != y_true)

    def argmax(self, x, w, y_true=None):
        scores = x @ w
        if y_true is not None:
            scores += (np.arange(len(x)) != y_true[:, None]) / len(x)
        return linear_sum_assignment(scores, maximize=True)[1]


matcher = StructSVMClassifier(Matching(), lam=0.01, random_state=0).fit(X[train], y[train])
equal = [Matching().argmax(x, np.ones(len(NAMES))) for x in X[test]]
learnt = matcher.predict(X[test])
right = [np.mean(np.array(found == truth)) for found, truth in zip(equal, y[test], strict=True)]
print(f"equal weights    {np.mean(right):.3f} of the points right")
print(f"learnt weights   {matcher.score(X[test], y[test]):.3f} of the points right")
print(f"duality gap      {matcher.dual_gap_:.4f}, certified: {matcher.certified_}")

# %%
# The picture with the largest difference. Wrong pairs are red.

gain = [np.sum(b == t) - np.sum(a == t) for a, b, t in zip(equal, learnt, y[test], strict=True)]
k = int(np.argmax(gain))
(left, right), truth = pictures[test][k], y[test][k]
fig, axes = plt.subplots(1, 2, figsize=(9, 2.2), layout="constrained")
for ax, name, found in zip(axes, ["equal", "learnt"], [equal[k], learnt[k]], strict=True):
    shifted = right + [4.0, 0.0]
    for i, j in enumerate(found):
        color = "tab:gray" if j == truth[i] else "tab:red"
        ax.plot(*np.transpose([left[i], shifted[j]]), color=color, linewidth=1)
    ax.scatter(*left.T, color="tab:blue", zorder=2)
    ax.scatter(*shifted.T, color="tab:orange", zorder=2)
    ax.set(title=f"{name} weights: {np.mean(found == truth):.0%} right", xticks=[], yticks=[])
    ax.set_aspect("equal")
plt.show()

# %%
# What was learnt: places say little after a turn, what a turn leaves alone says much.

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(NAMES, matcher.coef_)
ax.axvline(0, color="black", linewidth=0.8)
ax.invert_yaxis()
ax.set(xlabel="weight of the squared difference")
plt.show()
