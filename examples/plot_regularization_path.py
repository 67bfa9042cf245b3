"""
All models for all lam
======================

How strongly to regularise is usually found by fitting a grid of values. A regularisation path has
a model for *every* value, and a proof that none is further than ``eps`` from its optimum; with
folds it also says which one to take.
"""

# %%
# Trace the path of a tagger, and of each of five folds.

import matplotlib.pyplot as plt

from sskit import RegularizationPath, SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.display import RegularizationPathDisplay

X, y = make_digit_strings(500, random_state=0)
path = RegularizationPath(SequenceTagger(random_state=0), eps=0.05, cv=5)
path.fit(X[:200], y[:200])
print(f"{len(path.lams_)} models serve all lam; chosen: {path.best_lam_:.3g}")
print(f"error on new strings: {1 - path.score(X[200:], y[200:]):.4f}")

# %%
# From the left to the right lam falls: the weights grow, more planes carry them, and the score
# rises and stays. Within a piece the bound of the gap rises from the breakpoint, where the model
# was found, to ``eps``, where the next one begins.

RegularizationPathDisplay.from_estimator(path, panels=["score", "gap", "norm"])
plt.show()

# %%
# Any other lam is there too, without another fit.

for lam in (1.0, 0.1, 0.01):
    model = path.estimator_at(lam)
    error = 1 - model.score(X[200:], y[200:])
    print(f"lam={lam}: gap at most {model.dual_gap_:.3f}, error {error:.4f}")
