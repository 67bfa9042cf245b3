"""
How three solvers converge
==========================

The primal objective falls, the dual objective rises, and the optimum lies between the two. The
distance is the duality gap: proof of how good the model is, at any time of the training.
"""

# %%
# Train one tagger with each solver, long enough to see what happens.

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW, SSG, FrankWolfe

X, y = make_digit_strings(random_state=0)
solvers = {
    "block-coordinate Frank-Wolfe": BCFW(gap_every=1),
    "batch Frank-Wolfe": FrankWolfe(gap_every=1),
    "stochastic subgradient": SSG(gap_every=1),
}
histories = {}
for name, solver in solvers.items():
    tagger = SequenceTagger(
        lam=0.1, loss="hamming", solver=solver, tol=1e-3, max_iter=60, random_state=0
    )
    with warnings.catch_warnings():
        # Sixty passes are not enough for all of them; that is the point of the picture.
        warnings.simplefilter("ignore", ConvergenceWarning)
        histories[name] = tagger.fit(X, y).history_

# %%
# All three methods know how far they are from the optimum; they close the distance at different
# speeds.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
colors = ["tab:blue", "tab:orange", "tab:green"]
for color, (name, history) in zip(colors, histories.items(), strict=True):
    passes = history["n_passes"]
    left.plot(passes, history["primal"], color=color, label=name)
    left.plot(passes, history["dual"], color=color, linestyle="--")
    right.semilogy(passes, history["gap"], color=color, label=name)
left.set(xlabel="passes", title="Primal (line) and dual (dashed)", ylim=(0, 0.3))
right.set(xlabel="passes", title="Duality gap")
right.legend(frameon=False)
plt.show()
