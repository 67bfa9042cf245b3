"""
Mistakes with different costs: SequenceTagger
=============================================

Strings of digits are amounts, and a digit that is read too low costs five times as much as one
that is read too high. ``loss`` of :class:`sskit.SequenceTagger` takes a table of such costs, with
true labels by row and predicted ones by column, and training minimises a bound of their sum
instead of the number of wrong digits. Fewer digits are then read too low, and more of them too
high.
"""

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

# %%
# Strings with noise, and the costs of a digit: 5 below the diagonal, where the predicted digit is
# smaller than the true one, and 1 above it. ``{3: {1: 5.0}}`` would set the cost of one pair only;
# missing costs of a dict are 1.
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
# The mean cost falls, as intended, and so does the accuracy.
places = np.searchsorted(digits, truth)
for name, labels in found.items():
    mean_cost = costs[places, np.searchsorted(digits, labels)].mean()
    print(f"{name:24} accuracy {np.mean(labels == truth):.3f}, mean cost {mean_cost:.3f}")

# %%
# Plot the errors of the wrong digits.
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
