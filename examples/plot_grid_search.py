"""
Choosing by what counts: a grid search by span F1
=================================================

Most words of a text belong to no name, so a tagger that finds no name at all has most of its
tokens right. A search should ask for the names: for the F1 of whole spans, as
:func:`~sskit.metrics.span_f1_score` counts them. Scikit-learn's ``GridSearchCV`` takes it as a
scorer.
"""

# %%
# Texts of 20 tokens with some names of people and places in them, each token seen as a point under
# noise. Five in six tokens are outside.

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
# Two parameters: how strong to regularise, and whether to rule out labellings that are no spans.
# The search records both measures and chooses by the second.

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
# Token accuracy hardly sees the difference between a good model and one that finds nothing.

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
