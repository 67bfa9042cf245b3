"""
Training a network through a structured loss: StructuredHinge
=============================================================

:class:`sskit.losses.StructuredHinge` computes losses and gradients of potentials and labels, so
that a network can be trained through it. This network, of one hidden layer, is written in NumPy to
show every step; the guide has the same layer for PyTorch and JAX.

The digits of a sequence are noisy, and each is the one before it plus one, two or three. A network
of single images cannot use that. With a table of transitions, learned by the same gradient, it
can, even if most of the labels are hidden.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sskit.losses import StructuredHinge

rng = np.random.default_rng(0)
images, digits = load_digits(return_X_y=True)
by_digit = [np.flatnonzero(digits == k) for k in range(10)]


def make_strings(n, length, part):
    """Sequences of noisy images, from one part of the writers, and their digits."""
    steps = rng.integers(1, 4, size=(n, length))
    y = (rng.integers(10, size=(n, 1)) + steps.cumsum(axis=1)) % 10
    chosen = [rng.choice(by_digit[k][part]) for k in y.ravel()]
    X = images[chosen] / 16 + rng.normal(scale=0.5, size=(n * length, 64))
    return X.reshape(n, length, 64), y


X, y = make_strings(300, 12, slice(None, 100))
X_test, y_test = make_strings(200, 12, slice(100, None))
hidden = np.where(rng.random(y.shape) < 0.7, -100, y)  # 70 % of the labels are unknown


# %%
# The forward pass is two products of matrices. The layer returns the gradients with respect to the
# potentials and the transitions; the rest is the chain rule. Updates are those of Adam.


def train(labels, use_transitions, n_steps=400, batch_size=32):
    """Return the error on the test set, step by step."""
    layer = StructuredHinge("chain", loss="hamming")
    draw = np.random.default_rng(1)
    weights = [draw.normal(size=(64, 64)) / 8, draw.normal(size=(64, 10)) / 8, np.zeros((10, 10))]
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
    errors = []
    for step in range(1, n_steps + 1):
        batch = draw.choice(len(X), size=batch_size, replace=False)
        features = np.tanh(X[batch] @ weights[0])
        mask = np.ones((batch_size, X.shape[1]), dtype=bool)  # -100 is a hidden label, not padding
        hinge = layer.evaluate(features @ weights[1], weights[2], labels[batch], mask=mask)
        by_unary, by_transitions = hinge.gradients(np.full(batch_size, 1 / batch_size))
        by_features = (by_unary @ weights[1].T) * (1 - features**2)
        gradients = [
            np.einsum("ntp,ntq->pq", X[batch], by_features),
            np.einsum("ntp,ntk->pk", features, by_unary),
            by_transitions * use_transitions,
        ]
        for w, g, (first, second) in zip(weights, gradients, moments, strict=True):
            first += 0.1 * (g - first)
            second += 0.01 * (g**2 - second)
            scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
            w -= 0.003 * scaled + 1e-5 * w
        if step % 10 == 0:
            decoded = layer.decode(np.tanh(X_test @ weights[0]) @ weights[1], weights[2])
            errors.append(np.mean(decoded != y_test))
    return np.arange(10, n_steps + 1, 10), errors


# %%
# With single images more than a third of the noisy digits are wrong. Transitions halve that, and
# with 30 % of the labels they are better than single images with all of them.

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for labels, given in ((y, "all labels"), (hidden, "30 % of the labels")):
    for use, name in ((True, "with transitions"), (False, "single images")):
        line = {"color": "C0" if use else "C1", "linestyle": "-" if labels is y else "--"}
        steps, errors = train(labels, use)
        ax.plot(steps, errors, label=f"{name}, {given}", **line)
        print(f"{name}, {given}: {np.mean(errors[-5:]):.3f}")
ax.set(xlabel="steps, 32 sequences each", ylabel="test error of digits", ylim=(0, None))
ax.legend()
plt.show()
