"""The laws of a structure written in Python, tried: for people who write structures."""

import copy

import numpy as np
from sklearn.utils import check_random_state

from sskit.models.structured.checked_structure import Answers, label_key

# Differences below this share of the numbers that they are of are rounding.
ROUNDING = 1e-9


def check_structure(model, X, y, *, labellings=None, random_state=None, n_trials=5):
    """Try the laws of a `StructuredModel` on samples: is it right what it answers?

    For random weights, with the loss and without: `argmax` answers alike when asked twice and
    changes neither the input nor the weights; if the structure says that it is exact, nothing
    scores higher than its answer: no labelling of `labellings`, not the truth, and none that it
    found with other weights. `joint_feature` gives finite vectors of one length. The loss of the
    truth is zero, and no loss is negative or infinite.

    Parameters
    ----------
    model : object
        The structure.
    X, y : sequence of length n
        Samples and their true labellings: few and small ones will do.
    labellings : callable, default=None
        Called with an input, returns all of its labellings, or as many as should be tried. Without
        it an argmax that misses the same labellings always is not found out.
    random_state : int, RandomState instance or None, default=None
        Source of the weights.
    n_trials : int, default=5
        Number of weight vectors.

    Raises
    ------
    AssertionError
        If a law fails, with the number of the sample and what was expected.
    ValueError
        If an answer has no form that training could use: a vector of another length, say.
    """
    rng = check_random_state(random_state)
    inputs, truths = list(X), list(y)
    if not inputs or len(inputs) != len(truths):
        raise ValueError(f"X has {len(inputs)} samples and y has {len(truths)}; expected as many")
    n_weights = getattr(model, "n_weights", None)
    laws = Laws(Answers(model, inputs, truths, n_weights), labellings)
    trials = [rng.normal(scale=10.0**-k, size=laws.answers.n_weights) for k in range(n_trials)]
    for i in range(len(inputs)):
        laws.try_sample(i, trials)


class Laws:
    """The laws, sample by sample.

    Parameters
    ----------
    answers : Answers
        Asks the structure.
    labellings : callable or None
        Returns labellings of an input.
    """

    def __init__(self, answers, labellings):
        self.answers = answers
        self.labellings = labellings
        self.exact = getattr(answers.model, "exact", True)

    def try_sample(self, i, trials):
        """Try all laws on one sample with several weight vectors."""
        answers = self.answers
        answers.truth(i)
        met = {answers.key(i, answers.Y[i]): answers.Y[i]}
        for labelling in self.labellings(answers.X[i]) if self.labellings else ():
            met[answers.key(i, labelling)] = labelling
        for w in trials:
            for augmented in (False, True):
                found = self.ask(i, w, augmented)
                met[answers.key(i, found)] = found
        if not self.exact:
            return
        for w in trials:
            for augmented in (False, True):
                best = self.value(i, answers.argmax(i, w.copy(), augmented), w, augmented)
                for labelling in met.values():
                    other = self.value(i, labelling, w, augmented)
                    slack = ROUNDING * (abs(best) + abs(other) + np.abs(w).max())
                    require(
                        other <= best + slack,
                        i,
                        f"argmax {'with' if augmented else 'without'} y_true found {best:g}, but "
                        f"{labelling!r:.80} has {other:g}"
                        + ("; does it add the loss?" if augmented else ""),
                    )

    def ask(self, i, w, augmented):
        """Return a labelling; raise AssertionError if asking has changed something."""
        answers = self.answers
        before, given = copy.deepcopy(answers.X[i]), w.copy()
        found = answers.argmax(i, given, augmented)
        require(np.array_equal(given, w), i, "argmax has changed the weights")
        require(
            label_key(before) == label_key(answers.X[i]), i, "argmax has changed the input"
        )
        again = answers.argmax(i, w.copy(), augmented)
        values = [self.value(i, labelling, w, augmented) for labelling in (found, again)]
        close = abs(values[0] - values[1]) <= ROUNDING * (1.0 + abs(values[0]))
        require(close, i, f"argmax found {values[0]:g} and, asked again, {values[1]:g}")
        return found

    def value(self, i, labelling, w, augmented):
        """Return the score of a labelling, with its loss if augmented."""
        index, value = self.answers.joint_feature(i, labelling)
        score = float(np.dot(w[index], value))
        return score + (self.answers.loss(i, labelling) if augmented else 0.0)


def require(law, i, message):
    """Raise AssertionError with the number of the sample unless a law holds."""
    if not law:
        raise AssertionError(f"sample {i}: {message}")
