"""
Multi-label classification, labels that depend on each other: MultilabelPairwise
================================================================================

A digit has several properties at once: it is even or not, prime or not, and so on. Independent
classifiers may contradict each other. :class:`~sskit.MultilabelPairwise` learns which labels
attract and which repel each other, and predicts the best set of labels.
"""

# %%
# Five properties of handwritten digits, as an indicator matrix.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from sskit import MultilabelPairwise

PROPERTIES = {
    "even": [0, 2, 4, 6, 8],
    "prime": [2, 3, 5, 7],
    "square": [0, 1, 4, 9],
    "above 5": [6, 7, 8, 9],
    "has a loop": [0, 6, 8, 9],
}
X, digit = load_digits(return_X_y=True)
Y = np.stack([np.isin(digit, digits) for digits in PROPERTIES.values()], axis=1)
X_train, X_test, Y_train, Y_test = train_test_split(X / 16, Y, random_state=0)

# %%
# Without edges between the labels these are five support vector machines. A tree has only the four
# strongest dependencies; all pairs of labels are best on whole sets.

models = {}
for edges in (None, "tree", "full"):
    model = MultilabelPairwise(edges=edges, random_state=0).fit(X_train, Y_train)
    models[edges] = model
    found = model.predict(X_test)
    print(
        f"edges={edges!s:4}  whole sets right: {model.score(X_test, Y_test):.3f}"
        f"  macro F1: {f1_score(Y_test, found, average='macro'):.3f}"
        f"  certified gap: {model.dual_gap_:.3f}"
    )

# %%
# The weights of the pairs: primes are not squares and hardly ever have a loop, and loops occur in
# digits above 5.

model = models["full"]
table = np.full((len(PROPERTIES), len(PROPERTIES)), np.nan)
k, j = model.edges_.T
table[k, j] = table[j, k] = model.pairwise_
limit = np.abs(model.pairwise_).max()

fig, ax = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
image = ax.imshow(table, cmap="RdBu_r", vmin=-limit, vmax=limit)
ax.set_xticks(range(len(PROPERTIES)), PROPERTIES, rotation=30, ha="right")
ax.set_yticks(range(len(PROPERTIES)), PROPERTIES)
fig.colorbar(image, label="weight of the pair: repel (below 0) or attract")
plt.show()
