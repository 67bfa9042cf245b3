"""
Transitions that look at what is seen
=====================================

A walker goes round a track of eight places, mostly forwards. Where it is can hardly be seen, but a
compass says, with errors, whether it has just gone forwards or backwards. That is a feature of the
*step*, not of a place: a table of transitions knows no more than what walkers do on average.
"""

# %%
# An item of X is a pair: noisy pictures of the places, and for each step what the compass said.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.display import TransitionDisplay

N_PLACES = 8
rng = np.random.default_rng(0)


def walk(length=20):
    """Return (features, edge_features) and the places of one walk."""
    forwards = rng.random(length - 1) < 0.7
    places = (rng.integers(N_PLACES) + np.cumsum(np.append(0, 2 * forwards - 1))) % N_PLACES
    features = np.eye(N_PLACES)[places] + rng.normal(size=(length, N_PLACES))
    said = forwards ^ (rng.random(length - 1) < 0.1)
    return (features, np.stack([said, ~said], axis=1).astype(float)), places


X, y = zip(*(walk() for _ in range(200)), strict=True)
X, y = list(X), list(y)
alone = [features for features, _ in X]

# %%
# The same tagger without the compass and with it.

plain = SequenceTagger(random_state=0).fit(alone[:150], y[:150])
tagger = SequenceTagger(random_state=0).fit(X[:150], y[:150])
print(f"without the compass {plain.score(alone[150:], y[150:]):.3f} of the places are right")
print(f"with the compass    {tagger.score(X[150:], y[150:]):.3f}")

# %%
# Left the transitions without the compass: one place forwards, more seldom one backwards. With it
# each answer has a table of its own, ``edge_coef_[j]``, which is added to what both have in
# common.

fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), layout="constrained")
titles = "without the compass", "it says forwards", "it says backwards"
shown = (plain, None), (tagger, 0), (tagger, 1)
for ax, title, (model, edge_feature) in zip(axes, titles, shown, strict=True):
    display = TransitionDisplay.from_estimator(
        model, ends=False, edge_feature=edge_feature, ax=ax, colorbar=False
    )
    fig.colorbar(display.image_, ax=ax, label="weight", shrink=0.7)
    ax.set_title(title)
plt.show()
