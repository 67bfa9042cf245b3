"""
Kernels and random features: StructSVMClassifier
================================================

With a kernel the scores of the classes are functions in the space of the kernel. On a checkerboard
a linear model fails and a kernel finds the squares. Random features approximate it, at a fraction
of the cost if there are many rows.
"""

# %%
# Points of two classes on a board of four by four squares.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from sskit import StructSVMClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(800, 2))
y = np.where((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2 == 0, "light", "dark")

# %%
# Three models. The duality gap of each is a certificate of its own problem; for the third this is
# the problem on random features.

linear = StructSVMClassifier(lam=1e-4, random_state=0)
exact = StructSVMClassifier(lam=1e-4, kernel="rbf", gamma=2.0, random_state=0)
features = Nystroem(gamma=2.0, n_components=60, random_state=0)
models = {
    "linear": linear,
    "rbf kernel": exact,
    "60 random features": make_pipeline(features, linear),
}

# %%
# Train, and compute the decision of each on a grid.

ticks = np.linspace(-2, 2, 160)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    scores = model.decision_function(grid).reshape(len(ticks), -1)
    ax.contourf(ticks, ticks, scores, levels=[-np.inf, 0, np.inf], colors=["0.95", "0.75"])
    for label, color in (("light", "tab:blue"), ("dark", "tab:orange")):
        ax.scatter(*X[y == label].T, s=4, color=color)
    ax.set_title(f"{name}: {model.score(X, y):.0%} right")
plt.show()

# %%
# Few rows have a coefficient, mainly near the boundary: the model consists of its support vectors.

print(f"{len(exact.support_)} of {len(X)} rows, {exact.n_support_} by class")
