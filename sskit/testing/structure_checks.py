"""Tests of the laws of a structure written in Python, for its author."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sskit._types import RandomState, Samples
from sskit.inputs.rows import check_pairs
from sskit.models.structured.answers import call_method, label_key
from sskit.models.structured.binding import PythonBinding
from sskit.models.structured.pystruct import adapted

# Differences below this fraction of the numbers count as rounding.
ROUNDING = 1e-9


def check_structure(
    model: object,
    X: Samples,
    y: Samples,
    *,
    labellings: Callable[[Any], Iterable[Any]] | None = None,
    random_state: RandomState = None,
    n_trials: int = 5,
) -> None:
    """Check a `StructuredModel` on samples.

    For random weights, with the loss and without: `argmax` gives the same answer twice; if the
    structure is exact, nothing scores higher than its answer: no labelling of `labellings`, not
    the truth, and none that it found with other weights; and twice the weights have the same best
    labelling. `joint_feature` gives finite vectors of one length, the same in two calls. The loss
    of the truth is zero, and no loss is negative or infinite. Neither inputs nor weights are
    changed.

    If labellings have hidden parts: those of ``start`` and ``complete`` agree with the known part,
    at no loss, and ``observed`` returns that part; `complete` gives the same answer twice, and,
    for an exact structure, no labelling that agrees scores higher than its answer.

    Parameters
    ----------
    model : object
        The structure, or an object written for pystruct.
    X, y : sequence of length n
        Samples and their true labellings, or their known parts: few and small ones are enough.
    labellings : callable, default=None
        A function of an input that returns all of its labellings, or as many as should be tried,
        with their hidden parts if they have any. Without it, an argmax that always misses the same
        labellings is not detected.
    random_state : int, RandomState instance or None, default=None
        Source of the weights.
    n_trials : int, default=5
        Number of weight vectors.

    Raises
    ------
    AssertionError
        If a check fails, with the number of the sample and what was expected.
    ValueError
        If an answer has a form that training cannot use, such as a vector of another length.
    TypeError
        If a method is missing, with its name.

    See Also
    --------
    check_problem : For problems written in Cython.

    Examples
    --------
    An argmax that forgets the loss:

    >>> import numpy as np
    >>> from sskit import StructuredModel
    >>> from sskit.testing import check_structure
    >>> class Sign(StructuredModel):
    ...     def joint_feature(self, x, y):
    ...         return y * x
    ...
    ...     def loss(self, y_true, y):
    ...         return float(y != y_true)
    ...
    ...     def argmax(self, x, w, y_true=None):
    ...         return 1 if w @ x > 0 else -1
    >>> X = np.random.default_rng(0).normal(size=(3, 2))
    >>> check_structure(Sign(), X, [1, -1, 1], labellings=lambda x: (1, -1), random_state=0)
    Traceback (most recent call last):
        ...
    AssertionError: sample 0: argmax with y_true found ... does it add the loss?
    """
    rng = check_random_state(random_state)
    inputs, truths = check_pairs(X, y)
    binding, full = PythonBinding(adapted(model, inputs, truths)), None
    if binding.is_latent:
        full = next(binding.starts(inputs, truths, rng))
    n_weights = binding.n_weights(inputs, truths if full is None else full)
    laws = Laws(binding, inputs, truths, full, labellings)
    trials = [rng.normal(scale=10.0**-k, size=n_weights) for k in range(n_trials)]
    for i in range(len(inputs)):
        laws.try_sample(i, trials)


class Laws:
    """The laws, sample by sample.

    Parameters
    ----------
    binding : PythonBinding
        Calls the structure.
    X, Y : list of length n
        Samples and their true labellings, or their known parts.
    full : list of length n or None
        Full labellings that agree with these; None if they are full.
    labellings : callable or None
        Returns labellings of an input.
    """

    def __init__(self, binding, X, Y, full, labellings):
        self.binding, self.X, self.Y, self.full = binding, X, Y, full
        self.labellings = labellings
        self.exact = getattr(binding.model, "exact", True)

    def try_sample(self, i, trials):
        """Try all laws on one sample with several weight vectors."""
        binding, x = self.binding, self.X[i]
        before = content(x)
        sample = [self.Y[i]] if self.full is None else [self.Y[i], self.full[i]]
        *_, key = binding.truth(i, x, *sample)
        candidates = {key: sample[-1]}
        for labelling in self.labellings(x) if self.labellings else ():
            candidates[binding.key(i, labelling)] = labelling
        for labelling in candidates.values():
            pair = [binding.joint_feature(i, x, labelling) for _ in range(2)]
            same = all(map(np.array_equal, *pair))
            require(same, i, f"joint_feature of {labelling!r:.80} differs when asked again")
        require(content(x) == before, i, "joint_feature or loss has changed the input")
        if self.full is not None:
            self.try_completions(i, trials, candidates)
        answers = []
        for w in trials:
            for augmented in (False, True):
                labelling, _ = self.ask_twice(i, "argmax", w, augmented)
                candidates[binding.key(i, labelling)] = labelling
                answers.append((w, augmented, self.value(i, labelling, w, augmented)))
        for w, augmented, best in answers:
            if self.exact and not augmented:
                twice = self.value(i, self.answer(i, "argmax", 2.0 * w), w)
                message = f"argmax found {best:g} and, by twice the weights, {twice:g}: the score "
                message += "of a labelling must be the product of w and its joint_feature"
                require(close(best, twice), i, message)
            call = f"argmax {'with' if augmented else 'without'} y_true"
            self.require_best(i, w, augmented, best, candidates.values(), call)

    def try_completions(self, i, trials, candidates):
        """Try the laws of completions of hidden parts, and add these to the labellings."""
        binding, answers = self.binding, []
        self.require_agreement(i, self.full[i])
        for w in trials:
            pair = self.ask_twice(i, "complete", w)
            for y in pair:
                loss = binding.loss(i, self.Y[i], y)
                message = f"complete found {y!r:.80}, whose loss is {loss:g}: it does not agree"
                require(loss == 0.0, i, message)
                self.require_agreement(i, y)
                candidates[binding.key(i, y)] = y
            answers.append((w, self.value(i, pair[0], w)))
        known = [y for y in candidates.values() if self.agrees(i, y)]
        for w, best in answers:
            condition = " agrees with what is known and"
            self.require_best(i, w, False, best, known, "complete", condition)

    def ask_twice(self, i, method, w, augmented=False):
        """Return two answers; raise AssertionError unless they are as good as each other."""
        pair = [self.answer(i, method, w, augmented) for _ in range(2)]
        first, again = (self.value(i, labelling, w, augmented) for labelling in pair)
        require(close(first, again), i, f"{method} found {first:g} and, asked again, {again:g}")
        return pair

    def answer(self, i, method, w, augmented=False):
        """Return the answer of a method; raise AssertionError if it changes its arguments."""
        x, y, weights = self.X[i], self.Y[i], w.copy()
        before = content(x)
        arguments = (x, y, weights) if method == "complete" else (x, weights, y)[: 2 + augmented]
        labelling = call_method(self.binding.model, method, f"sample {i}", *arguments)
        require(np.array_equal(weights, w), i, f"{method} has changed the weights")
        require(content(x) == before, i, f"{method} has changed the input")
        return labelling

    def value(self, i, labelling, w, augmented=False):
        """Return the score of a labelling, with its loss if augmented."""
        index, value = self.binding.joint_feature(i, self.X[i], labelling)
        score = float(np.dot(w[index], value))
        return score + (self.binding.loss(i, self.Y[i], labelling) if augmented else 0.0)

    def require_best(self, i, w, augmented, best, labellings, call, condition=""):
        """Raise AssertionError if a labelling is better than the answer of an exact structure."""
        for labelling in labellings if self.exact else ():
            other = self.value(i, labelling, w, augmented)
            noise = ROUNDING * (abs(best) + abs(other) + np.abs(w).max())
            message = f"{call} found {best:g}, but {labelling!r:.80}{condition} has {other:g}"
            message += "; does it add the loss?" * augmented
            require(other <= best + noise, i, message)

    def agrees(self, i, y):
        """Return whether a full labelling agrees with the known part, as far as can be checked."""
        if not hasattr(self.binding.model, "observed"):
            return self.binding.loss(i, self.Y[i], y) == 0.0
        observed = call_method(self.binding.model, "observed", f"sample {i}", y)
        return label_key(observed) == label_key(self.Y[i])

    def require_agreement(self, i, y):
        """Raise AssertionError unless the observed part of a completion is the known part."""
        message = f"what can be seen of the completion {y!r:.80} is not what is known"
        require(self.agrees(i, y), i, message)


def content(x):
    """Return a key that changes with an input; None if it can be neither hashed nor pickled."""
    try:
        return label_key(x.toarray() if sp.issparse(x) else x)
    except Exception:  # whatever code of the user's raises
        return None


def close(a, b):
    """Return whether two numbers agree but for rounding."""
    return abs(a - b) <= ROUNDING * (1.0 + abs(a))


def require(law, i, message):
    """Raise AssertionError with the number of the sample unless a law holds."""
    if not law:
        raise AssertionError(f"sample {i}: {message}")
