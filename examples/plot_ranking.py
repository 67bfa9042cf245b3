"""
Training for F1, ROC area and average precision
===============================================

Of rare classes nobody asks for accuracy. The measures that people ask for are not sums over rows:
they depend on how all rows are labelled, or ranked, together. A structured SVM whose structure is
the labelling of the whole set is trained for them directly.
"""

# %%
# Five rows in a hundred are positive. Two thirds of them are easy to tell, if one looks along the
# first feature; the rest hides among negative rows, and shows up in the second feature, as do many
# negative ones.

import matplotlib.pyplot as plt
import numpy as np


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
# Each of three measures has a model of its own. A balanced linear SVM weighs the classes, and that
# is all that it knows of what it is for. For F1 each model gets the threshold that is best in
# cross-validation.

from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from sskit import MultivariateClassifier

models = {
    "LinearSVC, balanced": LinearSVC(class_weight="balanced"),
    "f1": MultivariateClassifier("f1"),
    "roc_area": MultivariateClassifier("roc_area"),
    "average_precision": MultivariateClassifier("average_precision"),
}
print(f"{'trained for':20s}     F1     at k   area     AP")
for name, model in models.items():
    scores = model.fit(X, y).decision_function(X_test)
    top = y_test[np.argsort(-scores)[: len(y_test) // 30]].mean()  # precision at k = n / 30
    tuned = TunedThresholdClassifierCV(model, scoring="f1", cv=3).fit(X, y)
    f1, area = f1_score(y_test, tuned.predict(X_test)), roc_auc_score(y_test, scores)
    ap = average_precision_score(y_test, scores)
    print(f"{name:20s}  {f1:.3f}   {top:.3f}  {area:.3f}  {ap:.3f}")

# %%
# The ROC area counts all pairs of a positive and a negative row, so that its model tilts towards
# the hidden ones. F1 and average precision give these up: to find them would cost more precision
# than it gains recall. The lines are where the models begin to say "positive", before a
# threshold is tuned.

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.scatter(*X[y == 0].T, s=4, color="0.75", label="negative")
axes.scatter(*X[y == 1].T, s=12, color="tab:red", label="positive")
for (name, model), style in zip(models.items(), ("k--", "C0", "C4", "C1"), strict=True):
    (a, b), c = model.coef_[0], model.intercept_[0]
    vertical = np.linspace(-4, 5, 2)
    axes.plot(-(b * vertical + c) / a, vertical, style, label=name)
axes.set(xlim=(-4, 6.5), ylim=(-4, 5), xlabel="first feature", ylabel="second feature")
axes.legend(loc="lower right")
plt.show()

# %%
# Training ends with a certificate, as everywhere in this package: the objective is at most the gap
# above the smallest there is.

for name, model in list(models.items())[1:]:
    gap, passes = model.dual_gap_, model.n_iter_
    print(f"{name}: P(w) = {model.primal_objective_:.3f}, gap {gap:.3f}, {passes} passes")
