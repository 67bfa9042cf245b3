"""
Probabilities of classes with a kernel: StructSVMClassifier
===========================================================

With ``surrogate="log"`` and a kernel the classifier is a logistic regression whose scores are
functions in the space of the kernel. Where classes overlap it says how likely each of them is, not
only which one is likeliest. Here the true probabilities are known: the estimated ones are compared
with them on the whole map.
"""

# %%
# Three classes: each is a mixture of two round clouds, on opposite sides. By Bayes' theorem their
# densities say how likely a class is at a point.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from sskit import StructSVMClassifier

ANGLES = np.pi * np.array([[0, 3], [1, 4], [2, 5]]) / 3
CENTRES = 1.6 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1)  # class, cloud, axis
WIDTH = 0.6


def probabilities(points):
    """Return the true probabilities of the classes at points."""
    squares = ((points[:, None, None] - CENTRES) ** 2).sum(axis=-1)
    densities = np.exp(-squares / (2 * WIDTH**2)).sum(axis=-1)
    return densities / densities.sum(axis=1, keepdims=True)


def draw(rng, n):
    """Return n points and their classes."""
    y, cloud = rng.integers(3, size=n), rng.integers(2, size=n)
    return CENTRES[y, cloud] + WIDTH * rng.normal(size=(n, 2)), y


rng = np.random.default_rng(0)
X, y = draw(rng, 1000)
X_test, y_test = draw(rng, 5000)

# %%
# The fit, with its certificate, and its loss on test points beside that of the true probabilities,
# which is the least of all.

model = StructSVMClassifier(surrogate="log", kernel="rbf", gamma=0.3, random_state=0).fit(X, y)
print(f"at most {model.dual_gap_ / model.primal_objective_:.1%} above the optimum")
methods = {"true": probabilities, "estimated": model.predict_proba}
losses = {name: log_loss(y_test, method(X_test)) for name, method in methods.items()}
for name, loss in losses.items():
    print(f"log-loss of the {name} probabilities: {loss:.3f}")

# %%
# The colour of a place is the mix of the colours of the classes in the proportion of their
# probabilities; lines are where the likeliest class has .7 and .9. On the right each point is a
# class at one of the test points.

COLOURS = np.array([[0.85, 0.33, 0.24], [0.20, 0.56, 0.36], [0.23, 0.42, 0.80]])
ticks = np.linspace(-3.2, 3.2, 161)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
extent = (ticks[0], ticks[-1], ticks[0], ticks[-1])

figure, axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
for ax, (name, method) in zip(axes, methods.items(), strict=False):
    found = method(grid).reshape(len(ticks), len(ticks), 3)
    ax.imshow(found @ COLOURS, origin="lower", extent=extent)
    lines = ax.contour(ticks, ticks, found.max(axis=-1), [0.7, 0.9], colors="white", linewidths=1)
    ax.clabel(lines, fmt="%.1f", fontsize=8)
    ax.set(title=f"{name}: log-loss {losses[name]:.3f}", xticks=[], yticks=[])
axes[1].scatter(*X[:300].T, c=COLOURS[y[:300]], s=9, edgecolors="black", linewidths=0.4)
for k, colour in enumerate(COLOURS):
    both = (method(X_test[:400])[:, k] for method in methods.values())
    axes[2].scatter(*both, s=6, color=colour, alpha=0.5)
axes[2].plot([0, 1], [0, 1], color="black", linewidth=1)
axes[2].set(xlabel="true probability", ylabel="estimated probability", aspect="equal")
plt.show()
