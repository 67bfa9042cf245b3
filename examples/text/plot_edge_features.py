"""
Transitions with features: SequenceTagger
=========================================

A walker follows a circular track of eight places, mostly forwards. The features of a place are
very noisy, but a compass indicates, with errors, whether the last step was forwards or backwards.
This is a feature of the *step*, not of a place: without it, a table of transitions contains only
the average behaviour.
"""

# %%
# An item of X is a pair: noisy pictures of the places, and the reading of the compass for each
# step.

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
# The same tagger without and with the compass.

plain = SequenceTagger(random_state=0).fit(alone[:150], y[:150])
tagger = SequenceTagger(random_state=0).fit(X[:150], y[:150])
print(f"without the compass {plain.score(alone[150:], y[150:]):.3f} of the places are right")
print(f"with the compass    {tagger.score(X[150:], y[150:]):.3f}")

# %%
# On the left are the transitions without the compass: one place forwards, and less often one
# backwards. With the compass each reading has a table, ``edge_coef_[j]``, which is added to the
# common one.

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
