"""
Reading handwritten digit strings: SequenceTagger
=================================================

A tagger learns which digits follow each other; a classifier of single digits does not. Both are
trained on the same noisy images, and the strings on which they differ most are drawn.
"""

# %%
# The data: strings of images, 8 x 8 pixels and a constant per digit, with added noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from sskit import SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings
from sskit.display import TransitionDisplay

rng = np.random.default_rng(0)
X, y = make_digit_strings(400, random_state=0)
X = [images + rng.normal(scale=0.3, size=images.shape) for images in X]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

# %%
# Train the tagger on strings and the classifier on the same digits one by one.

tagger = SequenceTagger(lam=0.01, random_state=0).fit(X_train, y_train)
classifier = StructSVMClassifier(lam=0.01, random_state=0)
classifier.fit(np.vstack(X_train), np.concatenate(y_train))

together = tagger.predict(X_test)
alone = [classifier.predict(images) for images in X_test]
truth = np.concatenate(y_test)
print(f"tagger      {np.mean(np.concatenate(list(together)) == truth):.3f} of the digits right")
print(f"classifier  {np.mean(np.concatenate(alone) == truth):.3f} of the digits right")

# %%
# The strings on which the two differ most. Wrong digits are red.

disagreement = [np.sum(a != b) for a, b in zip(together, alone, strict=True)]
shown = np.argsort(disagreement)[::-1][:5]
fig, axes = plt.subplots(len(shown), 1, figsize=(7, 1.9 * len(shown)), layout="constrained")
for ax, i in zip(axes, shown, strict=True):
    ax.imshow(np.hstack(X_test[i][:, :64].reshape(-1, 8, 8)), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], ylim=(20, -0.5))
    rows = {"truth": y_test[i], "tagger": together[i], "classifier": alone[i]}
    for row, (name, labels) in enumerate(rows.items()):
        height = 10 + 3.8 * row
        ax.text(-1, height, name, ha="right", va="center", fontsize=9)
        for t, (label, right) in enumerate(zip(labels, y_test[i], strict=True)):
            color = "tab:red" if label != right else "black"
            ax.text(8 * t + 3.5, height, str(label), ha="center", va="center", color=color)
    for spine in ax.spines.values():
        spine.set_visible(False)
fig.suptitle("Same images, with and without their neighbours")
plt.show()

# %%
# The learned weights of pairs of neighbouring digits.

TransitionDisplay.from_estimator(tagger)
plt.show()
