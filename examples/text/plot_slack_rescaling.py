"""
Slack rescaling for errors of very different size: SequenceTagger
=================================================================

Margin rescaling requires a margin as large as the loss: a labelling with a hundredfold loss must
be a hundred units away, however unlikely it is, and dominates training until it is. Slack
rescaling requires a margin of one from every labelling, and multiplies violations by the loss.
"""

# %%
# The two hinges of a labelling, against its margin :math:`\langle w, \psi \rangle`. Both are upper
# bounds of the loss of a negative margin; only margin rescaling still penalises a margin of one.

import matplotlib.pyplot as plt
import numpy as np

margin = np.linspace(-1, 6, 200)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
for loss in (1, 3, 5):
    axes[0].plot(margin, np.maximum(loss - margin, 0), label=f"loss {loss}")
    axes[1].plot(margin, np.maximum(loss * (1 - margin), 0), label=f"loss {loss}")
axes[0].set(title="margin rescaling", xlabel="margin", ylabel="hinge")
axes[1].set(title="slack rescaling", xlabel="margin")
axes[1].legend()
plt.show()

# %%
# Strings of digits, with a loss that counts wrong digits: long strings have large losses. Both
# fits end with a certificate.

from sskit import SequenceTagger, SlackRescaling
from sskit.datasets import make_digit_strings

X, y = make_digit_strings(300, random_state=0)
for rescaling in ("margin", "slack"):
    tagger = SequenceTagger(rescaling=rescaling, random_state=0).fit(X[:100], y[:100])
    error = 1 - tagger.score(X[100:], y[100:])
    gap = f"gap {tagger.dual_gap_:.3g}, certified: {tagger.certified_}"
    print(f"{rescaling}: error {error:.4f}, {gap}")

# %%
# The most violating labelling maximises a product, loss times (1 - margin). For chains with the
# Hamming loss a dynamic programme finds it directly. The other searches call the oracle of margin
# rescaling several times, with different weights of the loss. Of these only "angular", which can
# also restrict the oracle's answer, is certain to find it.

for search in ("exact", "angular", "bisecting"):
    tagger = SequenceTagger(rescaling=SlackRescaling(search), random_state=0)
    tagger.fit(X[:100], y[:100])
    calls = tagger.n_oracle_calls_ / tagger.n_iter_ / 100
    print(f"{search}: about {calls:.1f} queries a visit, certified: {tagger.certified_}")
