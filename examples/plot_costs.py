"""
Mistakes that cost more than others
===================================

Strings of digits are amounts, and an amount that is read too low is five times as bad as one that
is read too high. ``loss`` of :class:`sskit.SequenceTagger` takes a table of such costs, true
labels by row and predicted ones by column, and training minimises their sum in place of the
number of wrong digits. The share of digits that are read too low falls, those that are read too
high become more.
"""

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

# %%
# Strings with noise, and the costs of a digit: 5 below the diagonal, where the predicted digit is
# smaller than the true one, 1 above it. ``{3: {1: 5.0}}`` would be the same for one pair alone, as
# costs that a dict does not name are 1.
X, y = make_digit_strings(400, random_state=0)
X = [x + np.random.default_rng(i).normal(scale=0.5, size=x.shape) for i, x in enumerate(X)]
digits = np.unique(np.concatenate(y))
costs = np.where(digits[:, None] > digits, 5.0, 1.0) - np.eye(len(digits))

train, test = slice(0, 200), slice(200, None)
truth = np.concatenate(y[test])
found = {}
for name, loss in {"number of wrong digits": "hamming_sum", "their costs": costs}.items():
    model = SequenceTagger(loss=loss, random_state=0).fit(X[train], y[train])
    found[name] = np.concatenate(model.predict(X[test]))

# %%
# The mean cost falls, which has been asked for, and the accuracy with it.
places = np.searchsorted(digits, truth)
for name, labels in found.items():
    mean_cost = costs[places, np.searchsorted(digits, labels)].mean()
    print(f"{name:24} accuracy {np.mean(labels == truth):.3f}, mean cost {mean_cost:.3f}")

# %%
# How far off the digits are that are read wrong.
fig, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for ax, (name, labels) in zip(axes, found.items(), strict=True):
    wrong = (labels - truth)[labels != truth]
    ax.hist(wrong, bins=np.arange(-9.5, 10))
    ax.axvline(0, color="k", linewidth=0.8)
    low, high = np.mean(labels < truth), np.mean(labels > truth)
    ax.set(title=f"trained by the {name}" if name.startswith("n") else f"trained by {name}")
    ax.set_xlabel(f"predicted - true digit\n{low:.1%} too low, {high:.1%} too high")
axes[0].set_ylabel("digits")
plt.show()
