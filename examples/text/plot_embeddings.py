"""
Tagging tokens by their embeddings: SequenceTagger
==================================================

The output of a network for each token is a row of numbers in a file. A tagger reads these rows in
half precision without a copy, and learns which labels follow each other, which a classifier of
single tokens cannot. The noisier the embeddings, the more this helps.
"""

# %%
# Synthetic embeddings: each label has a direction, to which noise is added. They are saved as
# float16, one row below the other, and memory-mapped.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from sskit import SequenceTagger
from sskit.utils import RaggedArray

rng = np.random.default_rng(0)
n_sentences, length, n_labels, n_columns = 500, 20, 8, 100
follows = rng.dirichlet(np.full(n_labels, 0.3), size=n_labels)
y = np.empty((n_sentences, length), dtype=int)
y[:, 0] = rng.integers(n_labels, size=n_sentences)
for t in range(1, length):
    y[:, t] = [rng.choice(n_labels, p=follows[label]) for label in y[:, t - 1]]

folder = tempfile.TemporaryDirectory()
directions, noise = rng.normal(size=(n_labels, n_columns)), rng.normal(size=(y.size, n_columns))
offsets = np.arange(0, y.size + 1, length)


def embeddings(signal):
    """Return the sentences with directions of this size."""
    file = Path(folder.name) / f"{signal}.npy"
    np.save(file, (signal * directions[y.ravel()] + noise).astype(np.float16))
    return RaggedArray(np.load(file, mmap_mode="r"), offsets)


# %%
# Slices of a ``RaggedArray`` are views of the file, so the tagger copies nothing.

signals, train = [0.1, 0.15, 0.2, 0.3], 400
together, alone = [], []
for signal in signals:
    X = embeddings(signal)
    tagger = SequenceTagger(random_state=0).fit(X[:train], y[:train])
    together.append(tagger.score(X[train:], y[train:]))
    single = SGDClassifier(alpha=1e-3, average=True, random_state=0)
    single.fit(X[:train].values.astype(np.float32), y[:train].ravel())
    alone.append(single.score(X[train:].values.astype(np.float32), y[train:].ravel()))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(signals, together, "o-", label="SequenceTagger")
ax.plot(signals, alone, "s--", label="SGDClassifier, token by token")
ax.set(xlabel="size of the directions (the noise has size 1)", ylabel="accuracy on test tokens")
ax.legend()
plt.show()
