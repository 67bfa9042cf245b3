"""
Detecting objects: a structure in Python with an approximate oracle
===================================================================

A detector scores windows, and an object has many windows with high scores. Greedy suppression
keeps the best window and drops those that overlap it. Scores that are trained window by window do
not take suppression into account. In this example the set of windows is the labelling: templates
and the costs of overlaps are learned together, with the greedy choice as the oracle (Desai,
Ramanan and Fowlkes 2009). The oracle may miss the best set, so the structure sets ``exact =
False``, and the gap is an estimate, not a certificate.
"""

# %%
# Synthetic images with noise: rings are the objects, discs and crosses are not. The windows are 9
# x 9 pixels at every second pixel.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sskit import StructuredModel, StructuredSVM
from sskit.testing import check_structure

SIZE, WIDTH, STEP = 41, 9, 2
CORNERS = np.arange(0, SIZE - WIDTH + 1, STEP)
PLACES = np.stack(np.meshgrid(CORNERS, CORNERS, indexing="ij"), axis=-1).reshape(-1, 2)
APART = np.abs(PLACES[:, None] - PLACES).max(axis=2)  # pixels between windows
NEAR = APART <= STEP  # windows of the same object
LEVELS = np.stack([APART <= 2, (APART > 2) & (APART <= 4), (APART > 4) & (APART <= 6)])

offsets = np.arange(WIDTH) - WIDTH // 2
radius = np.hypot(offsets[:, None], offsets)
cross = np.minimum(np.abs(offsets[:, None]), np.abs(offsets)) < 0.5
SHAPES = [np.abs(radius - 3) < 0.8, radius < 3, cross]


def paint(rng):
    """Return the features of all windows of an image, its true windows, and the image."""
    image, y = rng.normal(scale=1.0, size=(SIZE, SIZE)), []
    for k in rng.choice(len(PLACES), size=7, replace=False):
        shape = int(rng.choice(3, p=[0.5, 0.25, 0.25]))
        if all(APART[k, j] >= 6 for j in y):
            row, column = PLACES[k]
            image[row : row + WIDTH, column : column + WIDTH] += SHAPES[shape]
            y += [int(k)] if shape == 0 else []
    windows = [image[r : r + WIDTH, c : c + WIDTH].ravel() for r, c in PLACES]
    return np.column_stack([windows, np.ones(len(PLACES))]), tuple(sorted(y)), image


rng = np.random.default_rng(0)
X, y, images = zip(*(paint(rng) for _ in range(160)), strict=True)
train, test = slice(0, 80), slice(80, None)

# %%
# A labelling is a tuple of windows. The loss counts windows without an object nearby, and objects
# without a window nearby. The greedy choice adds the window with the largest gain, until no gain
# is positive.


class Detector(StructuredModel):
    """x has the features of all windows; y the numbers of those with an object."""

    exact = False

    def joint_feature(self, x, y):
        pairs = LEVELS[:, list(y)][:, :, list(y)].sum(axis=(1, 2)) - [len(y), 0, 0]
        return np.append(x[list(y)].sum(axis=0), pairs / 2)

    def loss(self, y_true, y):
        near = NEAR[np.ix_(y_true, y)]
        return float((~near.any(axis=0)).sum() + (~near.any(axis=1)).sum())

    def argmax(self, x, w, y_true=None):
        gain, y = x @ w[:-3], []
        if y_true is not None:
            gain = gain + ~NEAR[list(y_true)].any(axis=0)
        missed = set(y_true or ())
        while True:
            total = gain - sum((NEAR[k].astype(float) for k in missed), np.zeros(len(gain)))
            total[y] = -np.inf
            best = int(total.argmax())
            if total[best] <= 0:
                return tuple(sorted(y))
            y.append(best)
            missed -= {k for k in missed if NEAR[k, best]}
            gain = gain + w[-3:] @ LEVELS[:, best].reshape(3, -1)


check_structure(Detector(), X[:5], y[:5])
model = StructuredSVM(Detector(), lam=0.1, max_iter=60, tol=0.05, random_state=0)
model.fit(X[train], y[train])
print(f"estimated gap {model.dual_gap_:.3f}, certified {model.certified_}")

# %%
# The baseline is a classifier of windows, with suppression of all overlapping windows. Its
# threshold, and the allowed distance of windows, are the best on the training data.

rows = np.concatenate(X[train])
is_object = np.concatenate([np.isin(np.arange(len(PLACES)), found) for found in y[train]])
classifier = LogisticRegression(C=0.1, max_iter=1000).fit(rows, is_object)


def suppress(x, threshold, apart):
    """Return windows of high scores that are so many pixels apart."""
    scores, kept = x @ classifier.coef_[0] + classifier.intercept_[0] - threshold, []
    for k in np.argsort(-scores):
        if scores[k] > 0 and all(APART[k, j] > apart for j in kept):
            kept.append(int(k))
    return tuple(sorted(kept))


def mistakes(found, truth):
    """Return the mean number of mistakes in an image."""
    return np.mean([Detector().loss(*pair) for pair in zip(truth, found, strict=True)])


threshold, apart = min(
    ((t, a) for t in np.arange(-4, 3, 0.5) for a in (2, 4, 6)),
    key=lambda given: mistakes([suppress(x, *given) for x in X[train]], y[train]),
)
suppressed, detected = [suppress(x, threshold, apart) for x in X[test]], model.predict(X[test])
number = np.mean([len(truth) for truth in y[test]])
print(f"{number:.2f} objects in an image; mistakes in an image:")
print(f"classifier and suppression {mistakes(suppressed, y[test]):.2f}")
print(f"learned together            {mistakes(detected, y[test]):.2f}")

# %%
# The learned templates, and one image: green windows are right, red ones wrong, dashed objects are
# missed.

gain = [
    mistakes([a], [t]) - mistakes([b], [t])
    for a, b, t in zip(suppressed, detected, y[test], strict=True)
]
k = int(np.argmax(gain))
fig, axes = plt.subplots(1, 3, figsize=(9, 3.1), layout="constrained")
axes[0].imshow(model.coef_[: WIDTH**2].reshape(WIDTH, WIDTH), cmap="RdBu")
axes[0].set_title("template learned")
for ax, name, found in zip(
    axes[1:],
    ["classifier, suppression", "learned together"],
    [suppressed[k], detected[k]],
    strict=True,
):
    ax.imshow(images[80 + k], cmap="gray")
    near = NEAR[np.ix_(y[80 + k], found)]
    missed = np.array(y[80 + k], dtype=int)[~near.any(axis=1)]
    for windows, color, style in (
        (np.array(found, dtype=int)[near.any(axis=0)], "lime", "-"),
        (np.array(found, dtype=int)[~near.any(axis=0)], "red", "-"),
        (missed, "orange", "--"),
    ):
        for row, column in PLACES[windows]:
            box = plt.Rectangle((column - 0.5, row - 0.5), WIDTH, WIDTH, fill=False)
            box.set(color=color, linestyle=style, linewidth=1.5)
            ax.add_patch(box)
    ax.set_title(name)
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
