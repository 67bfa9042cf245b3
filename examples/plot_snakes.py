"""
Neighbours that differ: numbering snakes
========================================

A snake lies on a grid, and each of its cells shows to which side the next one lies. Its cells are
to be numbered from the head to the tail. No cell tells its number; that is the number of the cell
which points to it, plus one. So neighbours always differ, in a way that depends on direction and
colour: interactions that can only attract, as cuts need them, learn nothing here.
"""

# %%
# The data: a one of five colours for each cell and its eight neighbours, and for each pair of
# neighbours, along rows or columns, the features of both.

import matplotlib.pyplot as plt
import numpy as np

from sskit import GraphTagger, SegmentationModel
from sskit.datasets import make_snakes

shape = (8, 8)
X, y = make_snakes(160, shape=shape, random_state=0)
X_train, X_test, y_train, y_test = X[:120], X[120:], y[:120], y[120:]

# %%
# Two models: weights of pairs that only say how much neighbours want to agree, and a table of all
# pairs of labels for each feature of an edge, of any sign.

attractive = SegmentationModel(random_state=0).fit(X_train, y_train)
tagger = GraphTagger(random_state=0).fit(X_train, y_train)
for name, model in (("attractive", attractive), ("any sign", tagger)):
    print(f"{name}: {model.score(X_test, y_test):.3f} of the cells are right")

# %%
# The best labelling of such a graph cannot be found for certain in general. Message passing finds a
# good one together with an upper bound of all scores, and where the two meet, it is the best. The
# certificate of the fit is made of these bounds: part of the gap is what they leave open.

proven = np.mean(tagger.optimality_gap(X_test) < 1e-9)
print(f"proven to be the best labelling: {proven:.0%} of the predictions")
print(
    f"gap {tagger.dual_gap_:.3g}, of that inexact search {tagger.history_['inexactness'][-1]:.3g}, "
    f"objective {tagger.primal_objective_:.3g}"
)

# %%
# Snakes that neither model has seen.

_, axes = plt.subplots(3, 3, figsize=(6.6, 6.9), layout="constrained")
found = {
    "truth": y_test,
    "attractive": attractive.predict(X_test),
    "any sign": tagger.predict(X_test),
}
for row, i in zip(axes, (0, 1, 2), strict=True):
    for ax, (name, labels) in zip(row, found.items(), strict=True):
        grid = labels[i].reshape(shape)
        ax.imshow(np.where(grid == 0, np.nan, grid), cmap="viridis", vmin=1, vmax=10)
        for (r, c), number in np.ndenumerate(grid):
            if number:
                ax.text(c, r, number, ha="center", va="center", color="w", fontsize=9)
        right = np.mean(labels[i] == y_test[i])
        ax.set_title(name if name == "truth" else f"{name}: {right:.0%}", fontsize=10)
        ax.set(xticks=[], yticks=[])
plt.show()
