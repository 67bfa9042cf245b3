"""
Choosing lam, and models for all lam: RegularizationPath
========================================================

The strength of regularisation is usually chosen by comparing a few values of ``lam`` on held-out
data. A regularisation path has a model for *every* value, and a proof that each exceeds its
optimum by at most ``eps``.
"""

# %%
# With ``cv``, five values around the default are compared in each fold. The default is kept unless
# another value is clearly better.

import matplotlib.pyplot as plt

from sskit import RegularizationPath, SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.display import RegularizationPathDisplay

X, y = make_digit_strings(500, random_state=0)
choice = RegularizationPath(SequenceTagger(random_state=0), cv=5).fit(X[:200], y[:200])
print(f"chosen: {choice.best_lam_ / choice.default_lam_:g} times the default")
print(f"error on new strings: {1 - choice.score(X[200:], y[200:]):.4f}")

RegularizationPathDisplay.from_estimator(choice)
plt.show()

# %%
# Without ``cv``, a path is traced. From left to right lam decreases: the weights grow, and more
# planes have weight. In the left panel one model serves all lam between two drops. Its gap is
# smallest at the lam where it was found, and grows with the distance from there; where its bound
# reaches ``eps``, the dotted line, the solver continues and finds the next model.

path = RegularizationPath(SequenceTagger(random_state=0), eps=0.05).fit(X[:200], y[:200])
print(f"{len(path.lams_)} models serve all lam")

RegularizationPathDisplay.from_estimator(path)
plt.show()

# %%
# The path has a model for any lam, without another fit.

for lam in (1.0, 0.1, 0.01):
    model = path.estimator_at(lam)
    error = 1 - model.score(X[200:], y[200:])
    print(f"lam={lam}: gap at most {model.dual_gap_:.3f}, error {error:.4f}")
