"""
How solvers converge: SequenceTagger
====================================

The primal objective falls, the dual objective rises, and the optimum is between them. Their
difference, the duality gap, bounds the error of the model at any time of the training.
"""

# %%
# Train one tagger with each solver, long enough to compare them.

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.display import ConvergenceDisplay
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane, Subgradient

X, y = make_digit_strings(random_state=0)
solvers = {
    "block-coordinate Frank-Wolfe": BCFW(gap_every=1),
    "the same, multi-plane": MultiPlane(gap_every=1),
    "batch Frank-Wolfe": FrankWolfe(gap_every=1),
    "cutting planes": CuttingPlane(),
    "stochastic subgradient": Subgradient(gap_every=1),
}
fits = {}
for name, solver in solvers.items():
    tagger = SequenceTagger(
        lam=0.1, loss="hamming", solver=solver, tol=1e-3, max_iter=60, random_state=0
    )
    with warnings.catch_warnings():
        # Sixty passes are not enough for all of them, as the plot shows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits[name] = tagger.fit(X, y)

# %%
# All solvers report a gap, and close it at different speeds. Primal objectives are lines, dual
# ones are dashed: the optimum is between them.

display = ConvergenceDisplay.from_estimator(fits)
display.axes_["objective"].set_ylim(0, 0.3)
plt.show()
