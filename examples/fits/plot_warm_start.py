"""
Continuing fits with a warm start: SequenceTagger
=================================================

Models for similar values of ``lam`` are similar. With ``warm_start=True`` a fit starts from the
dual variables of the last one: at a smaller ``lam`` its weights are first the old ones, and the
duality gap is as exact as that of a fit from scratch.
"""

# %%
# Fit a tagger for ten values of lam, from scratch and with a warm start.

import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings

X, y = make_digit_strings(400, random_state=0)
lams = 0.5 ** np.arange(10)
passes = {}
for warm_start in (False, True):
    tagger = SequenceTagger(warm_start=warm_start, random_state=0)
    passes[warm_start] = [tagger.set_params(lam=lam).fit(X, y).n_iter_ for lam in lams]
    print(f"warm_start={warm_start}: {sum(passes[warm_start])} passes in all")

# %%
# A warm start also works with more samples after the old ones, a smaller tolerance and other
# sample weights. Repeating the same fit takes no pass, because the exact gap is small enough. If
# an old sample has changed, an error says so.

print(tagger.fit(X, y).n_iter_, "passes")
X[17] = X[17] + 1.0
try:
    tagger.fit(X, y)
except ValueError as error:
    print(error)

# %%
# Both reach the same tolerance at every lam.

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.semilogx(lams, passes[False], "o-", color="tab:gray", label="from scratch")
ax.semilogx(lams, passes[True], "o-", color="tab:blue", label="warm_start=True")
ax.set(xlabel="lam", ylabel="passes of the fit", ylim=(0, None))
ax.invert_xaxis()
ax.legend(frameon=False)
plt.show()
