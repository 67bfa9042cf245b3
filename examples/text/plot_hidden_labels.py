"""
Training with unknown labels: SequenceTagger
============================================

Neighbouring labels of these noisy sequences depend on each other strongly. The labels of more and
more tokens are hidden. A tagger that completes them still learns from tokens without a label. It
is compared with a tagger of the segments of known tokens, and with a classifier of single known
tokens.
"""

# %%
# Four labels that change rarely, under noise that makes single tokens ambiguous.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from sskit import SequenceTagger

rng = np.random.default_rng(0)
K, DIM, LENGTH = 4, 8, 20
means = rng.normal(size=(K, DIM))


def draw(n):
    """Return n sequences and their labels."""
    X, y = [], []
    for _ in range(n):
        labels = [rng.integers(K)]
        for _ in range(LENGTH - 1):
            labels.append((labels[-1] + (rng.random() < 0.3)) % K)
        y.append(np.array(labels))
        X.append(means[labels] + 2.0 * rng.normal(size=(LENGTH, DIM)))
    return X, y


X, y = draw(150)
X_test, y_test = draw(200)


def known_stretches(X, y):
    """Return the segments of tokens whose labels are known."""
    pieces, labels = [], []
    for x, given in zip(X, y, strict=True):
        ends = np.flatnonzero(np.diff((given >= 0).astype(int), prepend=0, append=0))
        for start, stop in zip(ends[::2], ends[1::2], strict=True):
            pieces.append(x[start:stop])
            labels.append(given[start:stop])
    return pieces, labels


# %%
# All three have the same regularisation per token.

LAM = 0.02
fractions = np.array([0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
ways = {"hidden labels completed": [], "cut at hidden labels": [], "single tokens": []}
for fraction in fractions:
    hidden = [np.where(rng.random(LENGTH) < fraction, -1, labels) for labels in y]
    tagger = SequenceTagger(lam=LAM, ignore_label=-1, random_state=0).fit(X, hidden)
    pieces, labels = known_stretches(X, hidden)
    cut = SequenceTagger(lam=LAM * len(X) / len(pieces), random_state=0).fit(pieces, labels)
    known = np.concatenate(hidden) >= 0
    single = LinearSVC(C=0.1).fit(np.concatenate(X)[known], np.concatenate(hidden)[known])
    scores = (
        tagger.score(X_test, y_test),
        cut.score(X_test, y_test),
        single.score(np.concatenate(X_test), np.concatenate(y_test)),
    )
    for found, score in zip(ways.values(), scores, strict=True):
        found.append(score)
    print(f"{fraction:.0%} hidden: " + ", ".join(f"{score:.3f}" for score in scores))

# %%
# With most labels hidden there are few known neighbours, so cut sequences contain little
# information on transitions; completed ones still do. With nearly all labels hidden all three are
# poor.

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (name, found), marker in zip(ways.items(), "osx", strict=True):
    ax.plot(100 * fractions, found, marker=marker, label=name)
ax.set(xlabel="hidden labels in training, percent", ylabel="test tokens with the right label")
ax.legend()
plt.show()
