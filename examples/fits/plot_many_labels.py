"""
Hundreds of labels without decoding: the solver GDMM
====================================================

Training a tagger finds the best labelling of a sentence many times, in time that grows with the
square of the number of labels. Dual-decomposed training (``solver="gdmm"``) finds the best label
of each token and the best pair of each two neighbours instead, and messages make them agree. The
example shows how the disagreement decreases, and the gap that remains.
"""

# %%
# Chains of 90 states, for which exact passes, which compute the certificate, are fast.
import matplotlib.pyplot as plt
import numpy as np

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.solvers import GDMM

X, y = make_chains(80, n_features=20, n_states=90, min_length=10, max_length=15, random_state=0)
tagger = SequenceTagger(solver=GDMM(gap_every=5), tol=0.05, max_iter=300, random_state=0)
tagger.fit(X[:60], y[:60])
print(f"{tagger.n_iter_} passes, {tagger.score(X[60:], y[60:]):.2f} of the states are right")

# %%
# The augmented Lagrangian, with its sign changed, and the two bounds of exact passes enclose the
# optimum. The disagreement of nodes and edges decreases at a linear rate, a straight line on a
# logarithmic axis.
history = tagger.history_
exact = np.isfinite(history["gap"])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.plot(history["n_passes"], -history["lagrangian"], label="augmented Lagrangian")
left.plot(history["n_passes"][exact], history["primal"][exact], "o-", label="primal")
left.plot(history["n_passes"][exact], history["dual"][exact], "o-", label="dual")
left.set(xlabel="passes", ylabel="objective", ylim=(0, 2 * history["primal"][-1]))
left.legend()
right.semilogy(history["n_passes"], history["infeasibility"], label="infeasibility")
right.semilogy(
    history["n_passes"][exact], history["gap"][exact] / history["gap"][exact][0], "o-", label="gap"
)
right.set(xlabel="passes", title="disagreement, and gap relative to the first")
right.legend()

# %%
# The oracles of the factors compared this many states and pairs per token in a pass. The Viterbi
# algorithm compares 8,100 pairs.
n_tokens = sum(len(labels) for labels in y[:60])
scored = np.diff(history["n_scores"]) / n_tokens
print(f"{scored.min():.0f} to {scored.max():.0f} labels scored a token")

plt.show()
