"""
Aligning sequences: a structure in Python
=========================================

An alignment says which letter of one sequence corresponds to which letter of another. The
Needleman-Wunsch algorithm finds the best alignment for given scores of substitutions and gaps.
Training learns these scores from known alignments. The structure is 25 lines; see
:doc:`/how_to/write_your_own`.
"""

# %%
# Synthetic data: sequences of six letters. Letters of the first three, and of the last three, are
# often substituted for each other, others hardly ever; pieces are deleted and inserted.

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from sskit import StructuredModel, StructuredSVM
from sskit.testing import check_structure

K = 6
GROUP = np.arange(K) // 3
CHANGE = np.where(np.equal.outer(GROUP, GROUP), 0.28, 0.02) + np.diag([0.38] * K)


def evolve(rng, length=30):
    """Return a sequence and what became of it, and the partner of each letter, -1 for none."""
    a = rng.integers(K, size=length)
    b, y = [], np.full(length, -1)
    i = 0
    while i < length:
        if rng.random() < 0.12:
            b += rng.integers(K, size=rng.integers(1, 4)).tolist()
        if rng.random() < 0.12:
            i += int(rng.integers(1, 4))
            continue
        y[i] = len(b)
        b.append(rng.choice(K, p=CHANGE[a[i]] / CHANGE[a[i]].sum()))
        i += 1
    return (a, np.array(b, dtype=int)), y


rng = np.random.default_rng(0)
X, y = zip(*(evolve(rng) for _ in range(200)), strict=True)
train, test = slice(0, 80), slice(80, None)

# %%
# The structure has a weight for each pair of letters, and one for a letter in a gap. The loss is
# the fraction of letters with a wrong partner. Each row of the table is computed from the row
# above at once: gaps in the other sequence, along the row, are a running maximum.


class Alignment(StructuredModel):
    """x is a pair of sequences; y has the partner of each letter of the first, -1 in a gap."""

    def joint_feature(self, x, y):
        (a, b), chosen, counts = x, np.flatnonzero(y >= 0), np.zeros((K, K))
        np.add.at(counts, (a[chosen], b[y[chosen]]), 1.0)
        return np.append(counts, len(a) + len(b) - 2 * len(chosen))

    def loss(self, y_true, y):
        return np.mean(y != y_true)

    def argmax(self, x, w, y_true=None):
        (a, b), gap = x, w[-1]
        scores = np.column_stack([w[:-1].reshape(K, K)[a][:, b], np.full(len(a), gap)])
        if y_true is not None:
            scores += 1.0 / len(a)
            scores[np.arange(len(a)), y_true] -= 1.0 / len(a)  # the last column is -1 too
        along = gap * np.arange(len(b) + 1)
        best, tables = along, []
        for row in scores:
            up, diagonal = best + row[-1], np.append(-np.inf, best[:-1] + row[:-1])
            tables.append((np.maximum(up, diagonal) - along, diagonal > up))
            best = np.maximum.accumulate(tables[-1][0]) + along
        y, j = np.full(len(a), -1), len(b)
        for i in reversed(range(len(a))):
            values, paired = tables[i]
            j = int(values[: j + 1].argmax())
            if paired[j]:
                j -= 1
                y[i] = j
        return y


# %%
# Check the structure on beginnings of the sequences, which have few alignments.


def alignments(x):
    """Yield all alignments."""
    n, m = map(len, x)
    for size in range(min(n, m) + 1):
        for left in combinations(range(n), size):
            for right in combinations(range(m), size):
                y = np.full(n, -1)
                y[list(left)] = right
                yield y


few = [((a[:4], b[:4]), np.where(found < 4, found, -1)[:4])
       for (a, b), found in zip(X[:10], y[:10], strict=True) if len(b) >= 4]  # fmt: skip
check_structure(Alignment(), *zip(*few, strict=True), labellings=alignments)

# %%
# The baseline has one score for equal letters and one for a gap, the best of many on the training
# data.

fraction = {}
best = max(
    (
        np.append(np.where(np.eye(K), 1.0, -other), -gap)
        for other in (0, 0.5, 1)
        for gap in (0.2, 0.5, 1)
    ),
    key=lambda w: np.mean(
        [np.mean(Alignment().argmax(x, w) == t) for x, t in zip(X[train], y[train], strict=True)]
    ),
)
found = [Alignment().argmax(x, best) for x in X[test]]
fraction["equal or not"] = np.mean(np.concatenate(found) == np.concatenate(y[test]))
model = StructuredSVM(Alignment(), lam=0.003, random_state=0).fit(X[train], y[train])
fraction["learned"] = model.score(X[test], y[test])
print(f"gap {model.dual_gap_:.4f}, certified {model.certified_}")
print({name: round(float(value), 3) for name, value in fraction.items()})

# %%
# Plot the learned scores, and one alignment as a path through the table.

fig, (ax, other) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
table = model.coef_[:-1].reshape(K, K)
image = ax.imshow(table, cmap="RdBu", vmin=-np.abs(table).max(), vmax=np.abs(table).max())
fig.colorbar(image, ax=ax, shrink=0.8)
ax.set(title=f"substitutions (a gap: {model.coef_[-1]:.2f})", xlabel="to", ylabel="from")
learned = model.predict(X[test])
gain = [np.sum(b == t) - np.sum(a == t) for a, b, t in zip(found, learned, y[test], strict=True)]
k = int(np.argmax(gain))
for name, way, style in (
    ("truth", y[80 + k], "k-"), ("equal or not", found[k], "C1o"), ("learned", learned[k], "C0."),
):  # fmt: skip
    at = np.flatnonzero(way >= 0)
    other.plot(way[at], at, style, label=name, markersize=7 if "o" in style else 5)
other.set(xlabel="position in the second sequence", ylabel="in the first")
other.legend()
plt.show()
