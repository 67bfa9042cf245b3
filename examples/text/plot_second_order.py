"""
Weights of three labels in a row: SequenceTagger
================================================

A walker follows a circular track of eight places and seldom turns back. The features of a place
are very noisy. The place before tells little about the next one, because both neighbours are
equally likely. The *two* places before determine it almost completely, and ``order=2`` gives three
labels in a row a weight.
"""

# %%
# Walks, and noisy pictures of the places.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger

N_PLACES = 8
rng = np.random.default_rng(0)


def walk(length=20):
    """Return features and places of one walk, whose direction seldom changes."""
    turns = np.where(rng.random(length - 1) < 0.05, -1, 1)
    steps = rng.choice([-1, 1]) * np.cumprod(turns)
    places = (rng.integers(N_PLACES) + np.cumsum(np.append(0, steps))) % N_PLACES
    return np.eye(N_PLACES)[places] + 0.9 * rng.normal(size=(length, N_PLACES)), places


X, y = zip(*(walk() for _ in range(200)), strict=True)
train, test = slice(0, 150), slice(150, 200)
taggers = {
    order: SequenceTagger(order=order, random_state=0).fit(X[train], y[train]) for order in (1, 2)
}
for order, tagger in taggers.items():
    print(f"order {order}: {tagger.score(X[test], y[test]):.3f} of the places are right")

# %%
# On the left are the transitions of order 1, from a place to both of its neighbours. In the middle
# are the additional weights of order 2 for walkers at place 3: from 2 they go on to 4, and from 4
# to 2. On the right is the fraction of right places by their distance from the beginning of a
# walk.

fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
tables = taggers[1].transitions_, taggers[2].triples_[:, 3, :]
titles = "order 1: transitions", "order 2: before and after place 3"
words = ("place", "next place"), ("place before", "place after")
for ax, table, title, (rows, columns) in zip(axes, tables, titles, words, strict=False):
    most = np.abs(table).max()
    image = ax.imshow(table, cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set(title=title, ylabel=rows, xlabel=columns, xticks=range(8), yticks=range(8))
    fig.colorbar(image, ax=ax, label="weight", shrink=0.7)
for order, tagger in taggers.items():
    right = np.stack(tagger.predict(X[test])) == np.stack(y[test])
    axes[2].plot(right.mean(axis=0), marker="o", markersize=3, label=f"order {order}")
axes[2].set(title="places that are right", xlabel="step", ylabel="fraction", ylim=(0, 1.02))
axes[2].legend(loc="lower right")
plt.show()
