"""
Learning to rank, for the ROC area: RankingSVM
==============================================

For rare classes accuracy is not useful. The area under the ROC curve is the fraction of pairs of a
positive and a negative row in the right order, which is not a sum over rows. A structured SVM
whose structure is the ranking of all rows is trained for it directly.
"""

# %%
# Five rows in a hundred are positive. Two thirds of them are easy to recognise by the first
# feature; the others are among negative rows, and show in the second feature, as do many negative
# ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from sskit import RankingSVM


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.05).astype(int)
    X = rng.normal(size=(n, 2))
    easy = (y == 1) & (rng.random(n) < 0.66)
    X[easy] += [3.0, 0.3]
    X[(y == 1) & ~easy] += [-0.5, 1.5]
    X[(y == 0) & (rng.random(n) < 0.1)] += [0.0, 2.0]
    return X, y


X, y = make_rows(3000, 0)
X_test, y_test = make_rows(20_000, 1)

# %%
# Two classes are two grades: rows of grade 1 belong above those of grade 0. Training ends with a
# certificate: the objective exceeds the optimum by at most the gap.

ranker = RankingSVM().fit(X, y)
print(f"P(w) = {ranker.primal_objective_:.3f}, gap {ranker.dual_gap_:.3f}, {ranker.n_iter_} passes")

# %%
# Classifiers treat single rows.

models = {
    "LinearSVC, balanced": LinearSVC(class_weight="balanced").fit(X, y),
    "logistic regression": LogisticRegression().fit(X, y),
}
scores = {name: model.decision_function(X_test) for name, model in models.items()}
scores["RankingSVM"] = ranker.predict(X_test)
for name, found in scores.items():
    print(f"{name:20s} ROC area {roc_auc_score(y_test, found):.3f}")

# %%
# The ROC area counts all pairs, so its model also uses the second feature. Above each line are as
# many training rows as there are positive ones.

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.scatter(*X[y == 0].T, s=4, color="0.75", label="negative")
axes.scatter(*X[y == 1].T, s=12, color="tab:red", label="positive")
models["RankingSVM"] = ranker
for (name, model), style in zip(models.items(), ("k--", "k:", "C0"), strict=True):
    a, b = model.coef_[0]
    threshold = np.sort(X @ [a, b])[-y.sum()]
    vertical = np.linspace(-4, 5, 2)
    axes.plot((threshold - b * vertical) / a, vertical, style, label=name)
axes.set(xlim=(-4, 6.5), ylim=(-4, 5), xlabel="first feature", ylabel="second feature")
axes.legend(loc="lower right")
plt.show()

# %%
# For F1 a ranking needs a threshold, and need not be the best: use a classifier with a threshold
# tuned by cross-validation, see "Rank rows" of the guide.

tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=3).fit(X, y)
print(f"F1 of logistic regression, tuned: {f1_score(y_test, tuned.predict(X_test)):.3f}")
