"""
Grid search by span F1: SequenceTagger
======================================

Most words of a text belong to no name, so a tagger that finds no name labels most tokens right. A
search should therefore use the F1 of whole spans, :func:`~sskit.metrics.span_f1_score`.
Scikit-learn's ``GridSearchCV`` takes it as a scorer.
"""

# %%
# Texts of 20 tokens with some names of people and places. Each token is a point with noise. Five
# in six tokens are outside of names.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from sskit import SequenceTagger
from sskit.metrics import span_f1_scorer, token_accuracy_scorer

rng = np.random.default_rng(0)
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
centres = dict(zip(LABELS, rng.normal(size=(5, 6)), strict=True))


def text():
    """Return tokens and labels of a text."""
    labels = []
    while len(labels) < 20:
        labels += ["O"] * int(rng.integers(4, 12))
        kind = rng.choice(["PER", "LOC"])
        labels += [f"B-{kind}"] + [f"I-{kind}"] * int(rng.integers(0, 3))
    points = [centres[label] + 1.1 * rng.normal(size=6) for label in labels[:20]]
    return np.column_stack([points, np.ones(20)]), labels[:20]


X, y = zip(*(text() for _ in range(160)), strict=True)
print(f"{np.mean(np.array(y) == 'O'):.2f} of the tokens are outside")

# %%
# The search has two parameters: the strength of regularisation, and whether to forbid labellings
# that are not spans. It records both measures and chooses by the second.

lams = 10.0 ** np.arange(-3, 2.5, 0.5)
search = GridSearchCV(
    SequenceTagger(random_state=0),
    {"lam": lams, "allowed_transitions": [None, "bio"]},
    scoring={"token accuracy": token_accuracy_scorer, "span F1": span_f1_scorer},
    refit="span F1",
    cv=4,
)
search.fit(X, y)
print(search.best_params_, f"span F1 {search.best_score_:.3f}")

# %%
# Token accuracy hardly distinguishes a good model from one that finds nothing.

results = search.cv_results_
chosen = search.best_params_["lam"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, measure in zip(axes, ("token accuracy", "span F1"), strict=True):
    for transitions, color in ((None, "tab:gray"), ("bio", "tab:blue")):
        rows = np.array([value == transitions for value in results["param_allowed_transitions"]])
        mean, std = (results[f"{what}_test_{measure}"][rows] for what in ("mean", "std"))
        ax.errorbar(
            lams,
            mean,
            std,
            marker="o",
            capsize=3,
            color=color,
            label=f"allowed_transitions={transitions!r}",
        )
    ax.axvline(chosen, color="tab:orange", linestyle="--", zorder=0)
    ax.set(xscale="log", xlabel="lam", title=measure, ylim=(0, 1.02))
axes[0].set_ylabel("mean of four folds")
axes[0].legend(frameon=False, loc="lower left")
plt.show()
