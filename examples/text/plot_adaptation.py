"""
Domain adaptation with a prior: SequenceTagger
==============================================

A tagger has been trained on many sequences of one domain. Of another domain, whose features are
slightly different, only a few sequences have labels. A fit to these alone has too few data, and a
fit to all sequences together is dominated by the many. With ``prior=`` the fit starts from the
weights of the first tagger, and changes them only as far as the few sequences require: it
minimises :math:`\\tfrac{\\lambda}{2} \\|w - w_0\\|^2` plus the hinge losses of the few.

Both domains are synthetic: chains of four states, with rotated features in the second domain.
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
# Fit the first tagger, and test it on the other domain.

first = SequenceTagger(random_state=0).fit(X[source], y[source])
print(f"of its own kind {first.score(X[tested], y[tested]):.3f}, of the other", end=" ")
print(f"{first.score(X_test, y[tested]):.3f}")

# %%
# Train on growing numbers of sequences of the other domain.

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
# The prior is never much worse than the first tagger, and with many sequences as good as the fit
# to the new sequences alone.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, marker in zip(scores, "osD", strict=True):
    axes.plot(sizes, scores[name], marker=marker, label=name)
axes.axhline(first.score(X_test, y[tested]), color="0.5", linestyle=":", label="not adapted")
axes.set(xscale="log", xlabel="sequences of the other kind", ylabel="token accuracy", xticks=sizes)
axes.set_xticklabels(sizes)
axes.minorticks_off()
axes.legend()
plt.show()
