"""
======================================
A prior: few sequences of another kind
======================================

A tagger has learnt from many sequences of one kind. Of another kind, in which things look a little
different, only a few sequences have labels. A fit to these alone knows too little; one to all of
them together mostly hears the many. With ``prior=`` the fit starts from the weights of the first
tagger, and leaves them only as far as the few sequences ask for: it minimises
:math:`\\tfrac{\\lambda}{2} \\|w - w_0\\|^2` and the hinge losses of the few.

Both kinds are made on the spot: chains of four states, whose features the second kind has rotated.
"""

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_chains

P = 12
X, y = make_chains(700, n_features=P, n_states=4, noise=1.5, random_state=0)
rotation = np.linalg.qr(np.eye(P) + 0.35 * np.random.default_rng(1).normal(size=(P, P)))[0]
rotation *= np.sign(np.diag(rotation))
source, target, tested = slice(0, 300), slice(300, 400), slice(400, 700)
X_new, X_test = [x @ rotation for x in X[target]], [x @ rotation for x in X[tested]]

# %%
# The first tagger, and what it makes of the other kind.

first = SequenceTagger(random_state=0).fit(X[source], y[source])
print(f"of its own kind {first.score(X[tested], y[tested]):.3f}, of the other", end=" ")
print(f"{first.score(X_test, y[tested]):.3f}")

# %%
# More and more sequences of the other kind.

sizes = [2, 5, 10, 20, 50, 100]
scores = {"alone": [], "pooled": [], "prior": []}
for n in sizes:
    few, labels = X_new[:n], list(y[target][:n])
    together = [*X[source], *few], [*y[source], *labels]
    models = {
        "alone": SequenceTagger(random_state=0).fit(few, labels),
        "pooled": SequenceTagger(random_state=0).fit(*together),
        "prior": SequenceTagger(prior=first, random_state=0).fit(few, labels),
    }
    for name, model in models.items():
        scores[name].append(model.score(X_test, y[tested]))

# %%
# The prior is never worse than the tagger it came from by much, and ends where the fit of the new
# sequences alone does.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, marker in zip(scores, "osD", strict=True):
    axes.plot(sizes, scores[name], marker=marker, label=name)
axes.axhline(first.score(X_test, y[tested]), color="0.5", linestyle=":", label="not adapted")
axes.set(xscale="log", xlabel="sequences of the other kind", ylabel="token accuracy", xticks=sizes)
axes.set_xticklabels(sizes)
axes.minorticks_off()
axes.legend()
plt.show()
