"""
Hidden states of labels: SequenceTagger
=======================================

Strings of handwritten digits have a label for every two digits: 0 and 1 are "a", 2 and 3 are "b",
and so on. A single row of weights has to fit both shapes, and transitions between labels mix the
grammar of the digits. With two hidden states for each label the model finds the digits itself:
each state has its own weights of features and of transitions.
"""

# %%
# The strings follow a grammar of digits; the labels are pairs of them.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

NAMES = np.array(["a", "b", "c", "d", "e"])
X, digits = make_digit_strings(200, subset="train", random_state=0)
X_test, digits_test = make_digit_strings(300, subset="test", random_state=1)
y, y_test = ([NAMES[string // 2] for string in strings] for strings in (digits, digits_test))

# %%
# The first states are clusters of the tokens of a label. Each round then takes the best states
# under the present weights as the truth, and trains the model on them.

plain = SequenceTagger(lam=0.001, random_state=0).fit(X, y)
tagger = SequenceTagger(lam=0.001, n_states_per_label=2, random_state=0).fit(X, y)
errors = [100 * (1 - model.score(X_test, y_test)) for model in (plain, tagger)]
print(f"wrong test labels: {errors[0]:.1f} % without hidden states, {errors[1]:.1f} % with two")
print(f"{tagger.n_rounds_} rounds, objective after each: {tagger.round_objectives_.round(4)}")

# %%
# A count over the test strings shows which digits the states represent, although training had no
# digits.

states = np.concatenate(tagger.predict_states(X_test))
counts = np.zeros((10, 10), dtype=int)
np.add.at(counts, (states, np.concatenate(digits_test)), 1)

# %%
# On the left are the weights of the pixels by state, two for each label; on the right, the digits
# for which each state was predicted.

fig = plt.figure(figsize=(6.8, 4.6), layout="constrained")
left, right = fig.subfigures(1, 2, width_ratios=[1, 2.2])
for k, ax in enumerate(left.subplots(5, 2).ravel()):
    weights = tagger.coef_[k, :64].reshape(8, 8)
    limit = np.abs(weights).max()
    ax.imshow(weights, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set_title(f"{tagger.state_labels_[k]}/{k % 2}", fontsize="small")
    ax.axis("off")
ax = right.subplots()
ax.imshow(np.sqrt(counts), cmap="Greys")
names = [f"{label}/{k % 2}" for k, label in enumerate(tagger.state_labels_)]
ax.set(xticks=range(10), yticks=range(10), yticklabels=names, xlabel="digit", ylabel="state")
ax.set_title("test tokens by state and digit")
plt.show()
