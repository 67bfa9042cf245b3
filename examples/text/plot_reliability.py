"""
Probabilities of labels: CalibratedTagger
=========================================

A tagger that was trained for large margins gives scores, not probabilities. The exponentials of
its scores over their sum are probabilities of labellings, but far too small or far too large.
:class:`~sskit.CalibratedTagger` finds on held-out data how the scores have to be scaled.

The first plot is a reliability diagram: of the digits with a probability of about .8, 80 percent
should be right. The second plot shows a use of probabilities: if the tagger reads only strings
above a threshold, it reads fewer strings, and fewer of these are wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

from sskit import CalibratedTagger, SequenceTagger
from sskit.datasets import make_digit_strings

X, y = make_digit_strings(2000, max_length=6, random_state=0)
rng = np.random.default_rng(0)
X = [x + 0.45 * rng.normal(size=x.shape) for x in X]
train, rest, test = slice(200), slice(200, 1000), slice(1000, None)
tagger = SequenceTagger(random_state=0).fit(X[train], y[train])

# %%
# The original scores, and those calibrated on held-out sequences.

calibrated = CalibratedTagger(tagger, cv="prefit").fit(X[rest], y[rest])
factor = CalibratedTagger(tagger, cv="prefit", method="temperature").fit(X[rest], y[rest])
raw = CalibratedTagger(tagger, cv="prefit", method="temperature").fit(X[rest], y[rest])
raw.calibration_ = {**raw.calibration_, "coef": np.array(1.0), "pairs": 1.0}
print(f"all scores times {factor.calibration_['pairs']:.2f}")

# %%
# A tagger that is trained by the likelihood, a conditional random field, needs no calibration: it
# learns from all sequences, and its scores are logarithms of probabilities.

tagger = SequenceTagger(random_state=0)
field = CalibratedTagger(tagger, method="likelihood").fit(X[:1000], y[:1000])
print(f"gap {field.estimator_.dual_gap_:.2g} after {field.estimator_.n_iter_} passes")

truth = np.concatenate(y[test])


def reliability(model, bins=12):
    """Return mean probability, fraction of right labels and size of bins, and the log-loss."""
    p = np.concatenate(list(model.predict_proba(X[test])))
    best, right = p.max(axis=1), model.classes_[p.argmax(axis=1)] == truth
    place = np.minimum((best * bins).astype(int), bins - 1)
    size = np.bincount(place, minlength=bins)
    used = size >= 10
    means = [np.bincount(place, v, minlength=bins)[used] / size[used] for v in (best, right)]
    own = p[np.arange(len(p)), np.searchsorted(model.classes_, truth)]
    return *means, -np.log(own).mean()


fig, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
for model, name, marker in (
    (raw, "scores as they are", "o"),
    (factor, "one factor", "s"),
    (calibrated, "matrix", "^"),
    (field, "likelihood", "v"),
):
    mean, fraction, loss = reliability(model)
    ax.plot(mean, fraction, marker=marker, label=f"{name} (log-loss {loss:.2f})")
ax.set(xlabel="probability of the best label", ylabel="fraction that is right")
ax.set(xlim=(0.1, 1.02), ylim=(0.1, 1.02))
ax.legend(loc="lower right")

# %%
# The probability that a whole string is read without an error is that of its labelling.

predicted = calibrated.predict(X[test])
sure = calibrated.confidence(X[test], predicted)
correct = np.array([(a == b).all() for a, b in zip(predicted, y[test], strict=True)])
order = np.argsort(-sure)
read = np.arange(1, len(order) + 1) / len(order)
wrong = np.cumsum(~correct[order]) / np.arange(1, len(order) + 1)
expected = np.cumsum(1 - sure[order]) / np.arange(1, len(order) + 1)
fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(read, wrong, label="strings read that are wrong")
ax.plot(read, expected, linestyle="--", label="expected by the probabilities")
ax.set(xlabel="fraction of strings read, the most certain first", ylabel="fraction of them")
ax.legend(loc="upper left")
plt.show()
