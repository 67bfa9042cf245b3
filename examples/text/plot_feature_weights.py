"""
Weights by name and explanations of a label: SequenceTagger
===========================================================

The weights of a linear model can be listed by name, and its predictions explained. Words that may
be nouns, verbs or adjectives get their labels from their neighbours: the weights show which words
are evidence for which label, and an explanation shows why one word got its label.
"""

# %%
# Sentences of a small grammar. "Light", "run" and "fast" belong to several classes. Features of a
# word are the word itself and its last letter.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.display import FeatureWeightsDisplay, TransitionDisplay
from sskit.inspection import explain, weights_frame

WORDS = {
    "DET": ["the", "a", "this", "every"],
    "ADJ": ["old", "light", "fast", "green", "calm"],
    "NOUN": ["dog", "light", "run", "house", "river", "fast"],
    "VERB": ["sees", "runs", "light", "run", "finds", "fast"],
}
rng = np.random.default_rng(0)


def sentence():
    """Return words and their classes."""
    labels = []
    for _ in range(2):
        labels += ["DET"] + ["ADJ"] * int(rng.integers(0, 3)) + ["NOUN", "VERB"]
    labels = labels[: -int(rng.integers(1, 3))]
    return [str(rng.choice(WORDS[label])) for label in labels], labels


def describe(words):
    """Return a dict for each word."""
    return [{"word": word, "last letter": word[-1]} for word in words]


sentences, y = zip(*(sentence() for _ in range(300)), strict=True)
X = [describe(words) for words in sentences]
tagger = SequenceTagger(random_state=0).fit(X[:200], y[:200])
print(f"{tagger.score(X[200:], y[200:]):.3f} of the words right")

# %%
# The strongest weights as a table. The names come from the dicts.

frame = weights_frame(tagger, top=2)
print(frame[frame["kind"] == "node"].drop(columns=["kind", "to_label"]).to_string(index=False))

# %%
# The same weights as bars: evidence for a label is on the right, evidence against it on the left.
# Words of several classes have small weights.

FeatureWeightsDisplay.from_estimator(tagger, top=5)
plt.show()

# %%
# The transitions between labels decide where words do not.

TransitionDisplay.from_estimator(tagger)
plt.show()

# %%
# "Light" occurs twice in this sentence. The contributions add up to the difference between the
# best labelling with the label and the best one with its rival.

words = ["the", "light", "house", "light", "the", "river"]
print(tagger.predict([describe(words)])[0])
reasons = [explain(tagger, [describe(words)], 0, t) for t in (1, 3)]
for reason in reasons:
    print(reason[["group", "feature", "contribution"]], end="\n\n")

# %%
# The first is an adjective because of the word after it, the second a verb because of both of its
# neighbours.

groups = ["features", "before", "after"]
fig, ax = plt.subplots(figsize=(6.0, 2.6), layout="constrained")
for k, reason in enumerate(reasons):
    name = "word {}: {label} against {rival}".format((1, 3)[k], **reason.attrs)
    sums = reason.groupby("group")["contribution"].sum()
    values = [sums.get(group, 0.0) for group in groups]
    ax.barh(np.arange(3) + 0.4 * k - 0.2, values, height=0.36, label=name)
ax.axvline(0.0, color="black", linewidth=0.8)
ax.set(yticks=range(3), yticklabels=groups, xlabel="contribution to the margin")
ax.invert_yaxis()
ax.legend()
plt.show()
