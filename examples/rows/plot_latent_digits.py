"""
Classes with several components: StructSVMClassifier
====================================================

Each class has two digits of different shapes, 0 and 5, 1 and 6, and so on, and training does not
know which is which. A single weight vector for a class has to fit both. With two components a
class, the rounds of training assign the rows of each class to components, and each component
represents one digit.
"""

# %%
# Five classes of ten digits. The digits themselves are used only at the end.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sskit import StructSVMClassifier

X, digits = load_digits(return_X_y=True)
X, y = X / 16.0, digits % 5
X, X_test, y, y_test, digits, _ = train_test_split(X, y, digits, random_state=0, stratify=digits)

# %%
# The fit with two components begins with clusters of the rows of each class.

one = StructSVMClassifier(lam=0.001, random_state=0).fit(X, y)
two = StructSVMClassifier(lam=0.001, n_components=2, n_init=3, random_state=0).fit(X, y)
errors = [100 - 100 * model.score(X_test, y_test) for model in (one, two)]
print(f"test errors: {errors[0]:.1f} % with one prototype, {errors[1]:.1f} % with two")
print(f"{two.n_rounds_} rounds, P(w) at their ends: {two.round_objectives_.round(5)}")

# %%
# The digits of the components, by the training rows for which they score highest.

components = two.predict_component(X)
found = [np.bincount(digits[components == k], minlength=10) for k in range(len(two.coef_))]
for k, counts in enumerate(found):
    most = int(counts.argmax())
    print(f"class {two.component_labels_[k]}: {counts[most]} of {counts.sum()} rows are {most}s")

# %%
# The mean of the rows of each class, and of the rows of each component.

classes = [X[y == k].mean(axis=0) for k in range(5)]
styles = [X[components == k].mean(axis=0) for k in range(10)]
names = [[f"class {k}" for k in range(5)]]
names += [[f"mostly {found[k].argmax()}s" for k in range(first, 10, 2)] for first in (0, 1)]
fig, axes = plt.subplots(3, 5, figsize=(7, 4.8), layout="constrained")
for images, titles, line in zip((classes, styles[0::2], styles[1::2]), names, axes, strict=True):
    for image, title, ax in zip(images, titles, line, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(title=title, xticks=[], yticks=[])
for ax, label in zip(axes[:, 0], ("all rows", "component 0", "component 1"), strict=True):
    ax.set_ylabel(label)
fig.suptitle(f"test error {errors[0]:.1f} % with one prototype a class, {errors[1]:.1f} % with two")
plt.show()
