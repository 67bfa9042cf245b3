"""
Training on several cores: n_jobs
=================================

With ``n_jobs`` above one, workers visit different sequences at the same time, each with its own
copy of the weights. After some visits the best combination of their updates is applied: the dual
objective never decreases, and the certificate remains valid. Two things change. Workers partly
learn the same, so a fit may take more passes over the data than with one worker. And the result
depends on the number of workers, within the gap that the certificate states, but never on their
speed.

The example trains on digit strings with one, two, four and eight workers, and plots the gap
against passes, which are the same on any machine, however many cores it has. The legend has the
differences of the objectives to that of one worker.
"""

import matplotlib.pyplot as plt

from sskit import SequenceTagger
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW

X, y = make_digit_strings(1000, random_state=0)
figure, axes = plt.subplots(figsize=(6.4, 4.2))
alone = None
for n_jobs in (1, 2, 4, 8):
    tagger = SequenceTagger(
        lam=0.01, tol=1e-3, solver=BCFW(gap_every=2), n_jobs=n_jobs, random_state=0
    ).fit(X, y)
    alone = alone or tagger.primal_objective_
    history = tagger.history_
    axes.semilogy(
        history["n_passes"],
        history["gap"] / history["primal"],
        marker=".",
        label=f"{n_jobs} worker{'s' * (n_jobs > 1)}: {tagger.primal_objective_ / alone - 1.0:+.1e}",
    )
axes.axhline(1e-3, color="gray", linestyle="--", linewidth=1)
axes.set(xlabel="passes over the data", ylabel="duality gap, relative to the objective")
axes.legend(title="difference of the objectives", frameon=False)
figure.tight_layout()
plt.show()

# %%
# Whether several workers save time is another question: if the oracle takes a few microseconds,
# they have to synchronise too often, see :doc:`/how_to/large_data`. Two fits with the same
# number of workers and the same random state are the same to the last bit:

two = [SequenceTagger(lam=0.01, n_jobs=2, random_state=0).fit(X, y).coef_ for _ in range(2)]
print((two[0] == two[1]).all())
