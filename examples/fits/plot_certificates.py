"""
Tolerance, duality gap and test error: SequenceTagger
=====================================================

Every fit ends with a duality gap, which bounds how far the objective is above the optimum. This
example compares the bound with the true distance, and both with the errors on new data.
"""

# %%
# Fit the same tagger with decreasing tolerances. The largest dual objective, a lower bound of the
# optimum, takes the place of the optimum.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

X, y = make_digit_strings(300, subset="train", random_state=0)
X_test, y_test = make_digit_strings(300, subset="test", random_state=0)
tols = 10.0 ** np.arange(0, -6, -0.5)
fits = [
    SequenceTagger(lam=0.01, loss="hamming", tol=tol, max_iter=5000, random_state=0).fit(X, y)
    for tol in tols
]
optimum = max(fit.dual_objective_ for fit in fits)
print(f"optimum {optimum:.6f}, known up to {fits[-1].dual_gap_:.1e}")

# %%
# The distance to the optimum is below the gap, and the gap is at most the fraction ``tol`` of the
# objective. The errors on new strings stop changing long before: the default, 0.02, is enough for
# predictions. To compare objectives or weights, use a smaller one.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
primal = np.array([fit.primal_objective_ for fit in fits])
gaps = np.array([fit.dual_gap_ for fit in fits])
left.loglog(tols, tols, ":", color="gray", label="tolerance")
left.loglog(tols, gaps / primal, "o-", label="gap, what is certified")
left.loglog(tols, (primal - optimum) / primal, "s-", label="objective above the optimum")
left.set(xlabel="tol", ylabel="fraction of the objective")
left.legend(frameon=False)
passes = [fit.n_iter_ for fit in fits]
right.semilogx(tols, [1 - fit.score(X_test, y_test) for fit in fits], "o-")
right.set(xlabel="tol", ylabel="wrong digits of the test strings", ylim=(0, None))
for ax in (left, right):
    ax.invert_xaxis()
    ax.axvline(0.02, color="tab:orange", linestyle="--", zorder=0)
beside = right.twinx()
beside.loglog(tols, passes, color="tab:green")
beside.set_ylabel("passes", color="tab:green")
plt.show()
