"""
Segments with durations: SegmentTagger
======================================

A signal has short and long pulses of the same height. Single tokens of a pulse do not show its
kind, so a tagger of tokens has to guess. :class:`~sskit.SegmentTagger` labels whole segments, and
has weights for their lengths.
"""

# %%
# Short pulses take 4 to 7 tokens, long ones 10 to 15. The noise is a third of the step.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SegmentTagger, SequenceTagger
from sskit.metrics import span_f1_score

rng = np.random.default_rng(0)
LENGTHS = {"short": (4, 8), "long": (10, 16)}


def draw(n, size=80):
    """Return n signals and their tags."""
    X, y = [], []
    for _ in range(n):
        tags = []
        while len(tags) < size:
            kind = str(rng.choice(["short", "long"]))
            tags += ["O"] * int(rng.integers(3, 12))
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (int(rng.integers(*LENGTHS[kind])) - 1)
        tags = [*tags, *["O"] * 3]
        level = np.array([tag != "O" for tag in tags], dtype=float)
        X.append(np.stack([level + rng.normal(scale=0.3, size=len(tags)), np.ones(len(tags))], 1))
        y.append(np.array(tags))
    return X, y


X, y = draw(120)
X_test, y_test = draw(100)

# %%
# Both have the same two features of a token: the signal and a constant.

models = {
    "SequenceTagger": SequenceTagger(allowed_transitions="bio", random_state=0),
    "SegmentTagger": SegmentTagger(random_state=0),
}
rows = {"true": y_test}
for name, model in models.items():
    rows[name] = model.fit(X, y).predict(X_test)
    score = span_f1_score(y_test, rows[name])
    print(f"{name:15s} {score:.3f} F1 of pulses on signals not seen")

# %%
# The signal on which the two differ most, the true pulses, and the predictions. Below are the
# weights of lengths, up to the longest training pulse of each kind.

fig, (above, below) = plt.subplots(2, 1, figsize=(8, 6), layout="constrained", height_ratios=[3, 2])
colors = {"short": "tab:orange", "long": "tab:blue"}
wrong = {
    name: np.array([np.sum(a != b) for a, b in zip(y_test, tags, strict=True)])
    for name, tags in rows.items()
}
i = int(np.argmax(wrong["SequenceTagger"] - wrong["SegmentTagger"]))
above.plot(X_test[i][:, 0], color="0.6", lw=1, label="signal")
for height, name in zip((-2.0, -2.7, -3.4), rows, strict=True):
    for t, tag in enumerate(rows[name][i]):
        if tag != "O":
            gap = 0.25 * tag.startswith("B")
            bar = {"left": t - 0.5 + gap, "height": 0.45, "color": colors[tag[2:]]}
            above.barh(height, 1 - gap, **bar)
    above.text(-1.5, height, name, ha="right", va="center")
above.set(ylim=(-4, 2.6), yticks=[0, 1], xlim=(-1, len(y_test[i])), xlabel="token")
segments = models["SegmentTagger"]
for kind, color in colors.items():
    k = segments.classes_.tolist().index(kind)
    weights = segments.lengths_[k, : segments.max_length_[k]]
    below.plot(np.arange(1, len(weights) + 1), weights, "o-", color=color, label=kind)
    above.barh([0], [0], color=color, label=kind)
above.legend(loc="upper right", ncols=3, fontsize="small")
below.axhline(0, color="0.8", lw=1, zorder=0)
below.set(xlabel="length of a segment", ylabel="weight")
below.legend()
plt.show()
