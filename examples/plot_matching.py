"""
Matching point sets
===================

Which point of one picture is which point of the other? Every pair of points has some differences:
of place, of brightness, of how crowded the surroundings are. How much each of them should count,
and from when on a point rather has no partner at all, :class:`~sskit.MatchingModel` learns from
pictures that were matched by hand.
"""

# %%
# The data: constellations of 12 points, seen a second time after a turn, with noise on everything;
# in both pictures there are 3 points that the other one lacks. The features of a pair are minus its
# squared differences.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sskit import MatchingModel
from sskit.datasets import make_point_sets
from sskit.oracles import best_matching

sets = make_point_sets(160, n_points=12, n_outliers=3, noise=0.6, random_state=0)
X, y = sets.data, sets.target
train, test = slice(0, 60), slice(60, None)

# %%
# Training finds weights with which the right matchings are better than all others, by a margin.
# Minus the intercept is the cost at which both points of a pair stay alone.

model = MatchingModel(lam=0.001, random_state=0).fit(X[train], y[train])
learnt = model.predict(X[test])
print(f"duality gap {model.dual_gap_:.4f}, certified: {model.certified_}")

# %%
# What one does without: a classifier of pairs, each for itself, and then the best assignment of its
# scores. At which score points stay alone is chosen on the training data.

pairs = np.concatenate([x.reshape(-1, x.shape[-1]) for x in X[train]])
partners = [np.arange(x.shape[1]) == found[:, None] for x, found in zip(X, y, strict=True)]
classifier = LogisticRegression(C=10.0).fit(pairs, np.concatenate(partners[train]).ravel())


def match(samples, least):
    """Return assignments of pairs that score so much at least."""
    scores = [classifier.decision_function(x.reshape(-1, x.shape[-1])) for x in samples]
    tables = [s.reshape(x.shape[:2]) - least for s, x in zip(scores, samples, strict=True)]
    return [best_matching(table)[0] for table in tables]


def share(found, truth):
    """Return the share of points whose partner is right."""
    return np.mean(np.concatenate(found) == np.concatenate(truth))


least = max(np.arange(-6, 3), key=lambda value: share(match(X[train], value), y[train]))
classified = match(X[test], least)
print(f"classifier and assignment  {share(classified, y[test]):.3f} of the points right")
print(f"MatchingModel              {model.score(X[test], y[test]):.3f} of the points right")

# %%
# A picture in which the two differ. Red lines are wrong; rings are points that stay alone, red if
# they should not.

gain = [
    np.sum(b == t) - np.sum(a == t) for a, b, t in zip(classified, learnt, y[test], strict=True)
]
k = 60 + int(np.argmax(gain))
left, right, truth = sets.left[k], sets.right[k] + [3.6, 0.0], y[k]
fig, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
for ax, name, found in zip(
    axes, ["classifier", "MatchingModel"], [classified[k - 60], learnt[k - 60]], strict=True
):
    for i, j in enumerate(found):
        color = "tab:gray" if j == truth[i] else "tab:red"
        if j >= 0:
            ax.plot(*np.transpose([left[i], right[j]]), color=color, linewidth=1)
        else:
            ax.plot(*left[i], "o", markersize=10, markerfacecolor="none", color=color)
    ax.scatter(*left.T, s=18, color="tab:blue", zorder=2)
    ax.scatter(*right.T, s=18, color="tab:orange", zorder=2)
    ax.set(title=f"{name}: {np.mean(found == truth):.0%} right", xticks=[], yticks=[])
    ax.set_aspect("equal")
plt.show()

# %%
# What was learnt: places say little after a turn, what a turn leaves alone says much.

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(sets.feature_names, model.coef_)
ax.axvline(0, color="black", linewidth=0.8)
ax.invert_yaxis()
ax.set(xlabel="weight of the squared difference")
plt.show()
