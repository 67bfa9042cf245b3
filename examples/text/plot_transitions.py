"""
Learned transitions as a heat map: SequenceTagger
=================================================

A tagger has a weight for each pair of consecutive labels. Digits follow a known grammar, and the
weights are learned twice: from clear images and from noisy images. The less an image shows, the
larger are the weights of neighbours.
"""

# %%
# Strings in which three digits may follow each digit. The grammar is used for comparison only.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.display import TransitionDisplay

X, y, grammar = make_digit_strings(600, return_transitions=True, random_state=0)
rng = np.random.default_rng(0)
noisy = [images + rng.normal(scale=0.6, size=images.shape) for images in X]

# %%
# The same tagger on both.

taggers = {
    name: SequenceTagger(random_state=0).fit(data[:400], y[:400])
    for name, data in (("clear images", X), ("noisy images", noisy))
}
for (name, tagger), data in zip(taggers.items(), (X, noisy), strict=True):
    norm = np.linalg.norm(tagger.transitions_) / np.linalg.norm(tagger.coef_)
    print(
        f"{name}: {tagger.score(data[400:], y[400:]):.3f} of the digits right, "
        f"norm of transitions over that of images {norm:.2f}"
    )

# %%
# The grammar is on the left. Weights are not probabilities, but the same pairs stand out.
# ``ends=False`` leaves out the rows for the beginning and the columns for the end of a string.

fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), layout="constrained")
image = axes[0].imshow(grammar, cmap="Greys")
axes[0].set(xlabel="label", ylabel="label before it", xticks=range(10), yticks=range(10))
axes[0].set_title("the grammar")
fig.colorbar(image, ax=axes[0], label="probability", shrink=0.7)
for ax, (name, tagger) in zip(axes[1:], taggers.items(), strict=True):
    display = TransitionDisplay.from_estimator(tagger, ends=False, ax=ax, colorbar=False)
    fig.colorbar(display.image_, ax=ax, label="weight", shrink=0.7)
    ax.set_title(name)
plt.show()
