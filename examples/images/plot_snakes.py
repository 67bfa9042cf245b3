"""
Numbering snakes, neighbours that differ: GraphTagger
=====================================================

A snake lies on a grid, and each of its cells shows on which side the next one is. The cells have
to be numbered from the head to the tail. No cell contains its number; it is the number of the cell
that points to it, plus one. So neighbours always differ, in a way that depends on direction and
colour. Interactions that can only attract, as required for cuts, learn nothing here.
"""

# %%
# The features of a cell are the colours of the cell and its eight neighbours, one of five each.
# The features of a pair of neighbours, along rows or columns, are those of both.

import matplotlib.pyplot as plt
import numpy as np

from sskit import GraphTagger, SegmentationModel
from sskit.datasets import make_snakes

shape = (8, 8)
X, y = make_snakes(160, shape=shape, random_state=0)
X_train, X_test, y_train, y_test = X[:120], X[120:], y[:120], y[120:]

# %%
# Two models: weights of pairs that only say how much neighbours should agree, and a table of all
# pairs of labels, of any sign, for each feature of an edge.

attractive = SegmentationModel(random_state=0).fit(X_train, y_train)
tagger = GraphTagger(random_state=0).fit(X_train, y_train)
for name, model in (("attractive", attractive), ("any sign", tagger)):
    print(f"{name}: {model.score(X_test, y_test):.3f} of the cells are right")

# %%
# In general no efficient algorithm finds the best labelling of such a graph. Message passing finds
# a good one and an upper bound of all scores; if the two are equal, the labelling is the best. The
# certificate of the fit uses these bounds: part of the gap is due to them.

proven = np.mean(tagger.optimality_gap(X_test) < 1e-9)
print(f"proven to be the best labelling: {proven:.0%} of the predictions")
print(
    f"gap {tagger.dual_gap_:.3g}, of that inexact search {tagger.history_['inexactness'][-1]:.3g}, "
    f"objective {tagger.primal_objective_:.3g}"
)

# %%
# Snakes of the test data.

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
