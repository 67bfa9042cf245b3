"""
Data that do not fit in memory: Distributed
===========================================

Each of fifty parts is loaded when it is visited and dropped again: the fit keeps a few parts, the
weights and the dual variables. It needs no cluster. The result is an ordinary fitted estimator
with a certificate, because the duality gap is a sum over the parts.

The plot shows the gap against the time, and how often parts were loaded. The parts are handwritten
digits in strings, made anew at each load as if they came from a file.
"""

import dask
import matplotlib.pyplot as plt

from sskit import SequenceTagger
from sskit.dask import Distributed
from sskit.datasets import make_digit_strings

N_PARTS = 50
n_loads = 0


@dask.delayed(nout=2, pure=False)
def load(k):
    """Return the strings of part k, and their digits."""
    global n_loads
    n_loads += 1
    return make_digit_strings(20, subset="train", random_state=k)


X, y = zip(*(load(k) for k in range(N_PARTS)), strict=True)
model = Distributed(SequenceTagger(lam=0.01, random_state=0)).fit(X, y)
fitted = model.estimator_
print(f"{N_PARTS} parts were loaded {n_loads} times in {fitted.n_iter_} passes")
print(f"primal {fitted.primal_objective_:.4f} is within {fitted.dual_gap_:.4f} of the optimum")

figure, axes = plt.subplots(figsize=(6.4, 4.0))
history, exact = model.history_, fitted.history_
axes.plot(history["n_passes"], history["dual"], marker=".", label="dual objective, each pass")
axes.plot(exact["n_passes"], exact["primal"], marker="o", label="primal objective, exact passes")
axes.set(xlabel="passes over the parts", ylabel="objective", ylim=(0, 2.5 * history["dual"][-1]))
axes.legend(frameon=False)
figure.tight_layout()
plt.show()

# %%
# Predictions are lazy, part by part; data in one piece are predicted at once.

X_test, y_test = make_digit_strings(100, subset="test", random_state=0)
print(model.predict(X)[0], f"test accuracy {fitted.score(X_test, y_test):.3f}")
