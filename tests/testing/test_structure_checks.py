"""Laws of structures: right ones pass, and each fault is named with its sample."""

import itertools

import numpy as np
import pytest
from helpers.hidden import Hidden, Started, Styles, make_styles
from helpers.structures import Chains, Classes, Matching, Signs, best_sign

from sskit.testing import check_structure


def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 3)), [1, -1, 1, 1]


@pytest.mark.parametrize(
    ("model", "X", "y", "labellings"),
    [
        (Signs(), *samples(), lambda x: (1, -1)),
        (Classes(), samples()[0], [0, 1, 2, 0], lambda x: range(3)),
        (
            Chains(2), list(np.random.default_rng(0).normal(size=(3, 4, 2))),
            [np.array([0, 1, 1, 0])] * 3,
            lambda x: [np.array(y) for y in itertools.product(range(2), repeat=len(x))],
        ),
        (
            Matching(), list(np.random.default_rng(0).normal(size=(2, 3, 3, 4))),
            [np.arange(3), np.array([2, 0, 1])],
            lambda x: [np.array(y) for y in itertools.permutations(range(len(x)))],
        ),
    ],
    ids=["signs", "classes", "chains", "matchings"],
)  # fmt: skip
def test_right_structures_pass(model, X, y, labellings):
    check_structure(model, X, y, labellings=labellings, random_state=0)
    check_structure(model, X, y, random_state=0)


def writing(place, answer):
    """A method that writes to one of its arguments."""

    def method(*arguments):
        arguments[place][:] *= 2.0
        return answer

    return method


def flipped(x, w, y_true=None):
    return best_sign(x, w, y_true) * (1 if np.log2(w @ w) % 4 < 2 else -1)


TURNS = itertools.count()
FAULTS = [
    ("argmax", lambda x, w, y_true=None: 1 if x @ w > 0 else -1, "does it add the loss"),
    ("argmax", lambda x, w, y_true=None: -1 if x @ w > 0 else 1, "argmax without y_true"),
    ("argmax", writing(1, 1), "sample 0: argmax has changed the weights"),
    ("argmax", writing(0, 1), "sample 0: argmax has changed the input"),
    ("argmax", lambda *x: 1 if next(TURNS) % 2 else -1, "sample 0: argmax found .* asked again"),
    ("argmax", flipped, "sample 0: argmax found .* by twice the weights"),
    ("joint_feature", lambda x, y: np.full(3, float(next(TURNS))),
     "sample 0: joint_feature of 1 differs when asked again"),
    ("joint_feature", writing(0, np.ones(3)),
     "sample 0: joint_feature or loss has changed the input"),
]  # fmt: skip


def test_faults_are_named():
    both = {"labellings": lambda x: (1, -1), "random_state": 0}
    for method, wrong, message in FAULTS:
        with pytest.raises(AssertionError, match=message):
            check_structure(Signs({method: wrong}), *samples(), **both)
    # inexact structures may miss the best
    model = Signs({"argmax": lambda x, w, y_true=None: 1})
    model.exact = False
    check_structure(model, *samples(), **both)
    # what training could not use is an error of values
    X, y = samples()
    for model, labels, error, message in [
        (Signs({"loss": lambda y_true, y: 1.0}), y, ValueError, "the truth of sample 0 is 1"),
        (Signs(), y[:3], ValueError, "X has 4 samples but y has 3"),
        (object(), y, TypeError, "object has no joint_feature"),
    ]:
        with pytest.raises(error, match=message):
            check_structure(model, X, labels)


class Spoiled(Started):
    """Hidden parts, one method of which answers with a mistake."""

    def __init__(self, spoil=None):
        super().__init__()
        self.spoil = spoil

    def complete(self, x, y, w):
        if self.spoil == "weights":
            w *= 2.0
        if self.spoil == "input":
            x += 1.0
        y, style = super().complete(x, y, w)
        if self.spoil == "worse":
            style = 0
        if self.spoil == "again":
            self.n_calls = getattr(self, "n_calls", 0) + 1
            style = self.n_calls % 2
        return ((y + 1) % 3 if self.spoil == "class" else y), style

    def observed(self, y):
        return y[1] if self.spoil == "observed" else y[0]

    def argmax(self, x, w, y_true=None):
        y, style = super().argmax(x, w, y_true)
        return (y, 0) if self.spoil == "argmax" else (y, style)


MISTAKES = {
    "weights": "sample 0: complete has changed the weights",
    "input": "sample 0: complete has changed the input",
    "worse": "agrees with what is known and has",
    "again": "complete found .* and, asked again",
    "class": "whose loss is 1: it does not agree",
    "observed": "is not what is known",
    "argmax": "argmax .* found .* but .* has",
}


@pytest.mark.parametrize("spoil", [None, *MISTAKES])
def test_hidden_parts(spoil):
    X, y = make_styles(6)
    model = Spoiled(spoil)
    if spoil is None:
        check_structure(model, X, y, labellings=model.labellings, random_state=0)
        check_structure(Styles(), X, y, labellings=model.labellings, random_state=0)
        check_structure(Hidden(), X, y, labellings=lambda x: range(6), random_state=0)
        return
    with pytest.raises(AssertionError, match=MISTAKES[spoil]):
        check_structure(model, X, y, labellings=model.labellings, random_state=0)
