"""Classes of handwritten digits with several styles: several components per class.

"styles": the digits of scikit-learn in five classes, each of two digits of different shapes (digit
modulo 5), which training does not know; test error of five splits. "digits": the ten digits
themselves. "usps": those of USPS, where `SSKIT_DATA` has them, with their own test rows. In each,
one component a class is compared with several, with training on the true digits, and with a kernel.
"starts" has the objective and the test error by `n_init`. Run:

    python examples/benchmarks/latent.py [styles | digits | usps | starts | all]
"""

import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from sskit import StructSVMClassifier, StructuredModel, StructuredSVM


class Styles(StructuredModel):
    """Rows of classes with styles: a labelling is (class, style), the class alone is known."""

    def __init__(self, n_classes=5, n_styles=2):
        self.n_classes = n_classes
        self.n_styles = n_styles

    def joint_feature(self, x, y):
        phi = np.zeros((self.n_classes, self.n_styles, len(x)))
        phi[y] = x
        return phi.ravel()

    def loss(self, y_true, y):
        return float(y[0] != y_true)

    def argmax(self, x, w, y_true=None):
        scores = w.reshape(self.n_classes, self.n_styles, -1) @ x
        if y_true is not None:
            scores += (np.arange(self.n_classes) != y_true)[:, None]
        return divmod(int(scores.argmax()), self.n_styles)

    def complete(self, x, y, w):
        return y, int((w.reshape(self.n_classes, self.n_styles, -1)[y] @ x).argmax())

    def start(self, X, Y, random_state):
        rows, classes = np.array(X), np.array(Y)
        styles = np.zeros(len(rows), dtype=int)
        for k in range(self.n_classes):
            clusters = KMeans(self.n_styles, n_init=1, random_state=random_state)
            styles[classes == k] = clusters.fit_predict(rows[classes == k])
        return list(zip(Y, styles.tolist(), strict=True))

    def observed(self, y):
        return y[0]


def mixture(n_components, n_init=1, lam=None):
    """Return the compiled model."""
    return StructSVMClassifier(
        n_components=n_components, n_init=n_init, lam=lam, standardize=False, random_state=0
    )


def with_constant(X):
    """Return rows with a last feature that is one."""
    return np.column_stack([X, np.ones(len(X))])


def folds(X, y, strata):
    """Yield the training and test parts of five splits."""
    yield from StratifiedKFold(5, shuffle=True, random_state=0).split(X, strata)


def show(name, errors, seconds, said=""):
    """Print a line of the table."""
    each = " ".join(f"{error:.1f}" for error in errors)
    print(f"    {name:34} {np.mean(errors):5.2f} %  ({each})  {seconds:6.1f} s  {said}", flush=True)


def measure(name, make, X, y, strata, prepare=lambda X: X, read=lambda y: y):
    """Print the test errors of a model in five splits."""
    errors, rounds, start = [], [], time.process_time()
    for train, test in folds(X, y, strata):
        model = make().fit(prepare(X[train]), y[train].tolist())
        rounds.append(getattr(model, "n_rounds_", 0))
        predicted = read(np.asarray(model.predict(prepare(X[test]))))
        errors.append(100 * np.mean(predicted != read(y[test])))
    said = f"{np.mean(rounds):.1f} rounds" if any(rounds) else ""
    show(name, errors, time.process_time() - start, said)


def styles():
    """Print the errors of five classes of two digits each."""
    X, digits = load_digits(return_X_y=True)
    X, y = X / 16.0, digits % 5
    print(f"styles: {len(X)} digits, classes are the digits modulo 5; test error of 5 splits")
    measure("one prototype", lambda: mixture(1), X, y, digits)
    measure("LinearSVC", lambda: LinearSVC(random_state=0, max_iter=20_000), X, y, digits)
    measure("n_components=2", lambda: mixture(2), X, y, digits)
    measure("n_components=2, n_init=5", lambda: mixture(2, 5), X, y, digits)
    for n_init in (1, 5):
        measure(
            f"structure in Python, n_init={n_init}",
            lambda n_init=n_init: StructuredSVM(Styles(), n_init=n_init, random_state=0),
            X,
            y,
            digits,
            lambda X: list(with_constant(X)),
        )
    measure("told the digits", lambda: mixture(1), X, digits, digits, read=lambda y: y % 5)
    measure("SVC, rbf", lambda: SVC(C=10.0), X, y, digits)


def digits():
    """Print the errors of the ten digits."""
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    print(f"digits: {len(X)} digits; test error of 5 splits")
    for n_components in (1, 2, 3, 5):
        measure(f"n_components={n_components}", lambda n=n_components: mixture(n), X, y, y)
    measure("n_components=3, n_init=5", lambda: mixture(3, 5), X, y, y)
    measure("SVC, rbf", lambda: SVC(C=10.0), X, y, y)


def usps():
    """Print the errors of USPS on its own test rows."""
    from _data import load_usps

    train, test = load_usps(subset="train"), load_usps(subset="test")
    X, y, X_test, y_test = train.data, train.target, test.data, test.target
    print(f"usps: {len(X)} training rows, {len(X_test)} test rows")
    for n_components in (1, 2, 3, 5, 8):
        for lam in (None, 1e-3):
            start = time.process_time()
            model = mixture(n_components, lam=lam).fit(X, y)
            error = 100 * np.mean(model.predict(X_test) != y_test)
            seconds = time.process_time() - start
            show(f"n_components={n_components}, lam={model.lam_:.1e}", [error], seconds)


def starts():
    """Print objective and error by the number of starts, on the task of two styles."""
    X, digits = load_digits(return_X_y=True)
    X, y = X / 16.0, digits % 5
    print("starts: classes of two digits; P(w) at the end and test error, means of 5 splits")
    for n_init in (1, 2, 3, 5, 10):
        objectives, errors, start = [], [], time.process_time()
        for train, test in folds(X, y, digits):
            model = mixture(2, n_init).fit(X[train], y[train])
            objectives.append(model.round_objectives_[-1])
            errors.append(100 * np.mean(model.predict(X[test]) != y[test]))
        said = f"P(w) {np.mean(objectives):.5f}"
        show(f"n_init={n_init}", errors, time.process_time() - start, said)


def main(task="all"):
    """Print one table or all."""
    tables = {"styles": styles, "digits": digits, "usps": usps, "starts": starts}
    for name, table in tables.items():
        if task in (name, "all"):
            table()


if __name__ == "__main__":
    main(*sys.argv[1:])
