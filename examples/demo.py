"""Train a structured SVM on real handwritten digits, to a certified duality gap.

Strings of digit images (scikit-learn's, by 43 writers) follow a simple grammar. The tagger
learns both the shapes of the digits and which digit follows which; a classifier of single
digits, trained on the same images with the same kind of loss, knows only the first half.
"""

import time

import numpy as np

from sskit import SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings


def blurred(strings, seed):
    """Return the images with noise, which makes single digits hard to read."""
    noise = np.random.RandomState(seed)
    return [images + noise.normal(scale=0.35, size=images.shape) for images in strings]


def main():
    """Train, certify, compare."""
    X, y = make_digit_strings(1000, subset="train", random_state=0)
    X_test, y_test = make_digit_strings(500, subset="test", random_state=1)
    X, X_test = blurred(X, 0), blurred(X_test, 1)
    print(
        f"{len(X)} strings of {sum(map(len, y))} handwritten digits to learn from, "
        f"{len(X_test)} strings by other writers to read.\n"
    )

    start = time.perf_counter()
    tagger = SequenceTagger(lam=0.01, tol=1e-3, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    print("  pass    primal      dual       gap   seconds")
    history = tagger.history_
    for k in np.unique(np.linspace(0, len(history["gap"]) - 1, 8).astype(int)):
        print(
            f"{history['n_passes'][k]:6d}  {history['primal'][k]:.6f}  {history['dual'][k]:.6f}"
            f"  {history['gap'][k]:.6f}  {history['time'][k]:8.3f}"
        )
    kind = "certified" if tagger.certified_ else "not certified"
    print(
        f"\nThe objective is at most {tagger.dual_gap_:.2g} above the best possible one "
        f"({kind}), after {seconds:.2f} s and {tagger.n_oracle_calls_} oracle calls.\n"
    )

    classifier = StructSVMClassifier(lam=0.01, random_state=0)
    classifier.fit(np.vstack(X), np.concatenate(y))
    truth = np.concatenate(y_test)
    alone = np.mean(classifier.predict(np.vstack(X_test)) == truth)
    print(f"digits read right, one by one:  {alone:.1%}")
    print(f"digits read right, as strings:  {tagger.score(X_test, y_test):.1%}\n")

    predicted = tagger.predict(X_test[:5])
    for images, read, digits in zip(X_test, predicted, y_test, strict=False):
        single = classifier.predict(images)
        print(
            f"    written {''.join(map(str, digits)):8s}   read as string "
            f"{''.join(map(str, read)):8s}   one by one {''.join(map(str, single)):8s}"
        )


if __name__ == "__main__":
    main()
