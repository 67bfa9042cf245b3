"""Laws of structures: right ones pass, and each fault is named with its sample."""

import functools
import itertools

import numpy as np
import pytest
from helpers.hidden import Hidden, Started, Styles, make_styles
from helpers.structures import Chains, Matching, Signs, best_sign

from sskit.testing import check_structure


def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 3)), [1, -1, 1, 1]


def test_right_structures_pass():
    rng = np.random.default_rng(0)
    tables, styles = list(rng.normal(size=(2, 3, 3, 4))), make_styles(6)
    chains = list(rng.normal(size=(3, 4, 2)))
    for model, X, Y, labellings in [
        (Signs(), *samples(), lambda x: (1, -1)),
        (
            Chains(2), chains, [np.array([0, 1, 1, 0])] * 3,
            lambda x: [np.array(y) for y in itertools.product(range(2), repeat=len(x))],
        ),
        (
            Matching(), tables, [np.arange(3), np.array([2, 0, 1])],
            lambda x: [np.array(y) for y in itertools.permutations(range(len(x)))],
        ),
        # with hidden parts
        (Started(), *styles, Started().labellings),
        (Styles(), *styles, Styles().labellings),
        (Hidden(), *styles, lambda x: range(6)),
    ]:  # fmt: skip
        check_structure(model, X, Y, labellings=labellings, random_state=0)
        check_structure(model, X, Y, random_state=0)


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


def hidden_writing(place):
    """A method that writes to one of its arguments, and answers as the right one does."""

    def method(right, *arguments):
        arguments[place][:] += 1.0
        return right(*arguments)

    return method


# Of each message the method that is wrong, which gets the right one and its arguments.
MISTAKES = {
    "sample 0: complete has changed the weights": ("complete", hidden_writing(2)),
    "sample 0: complete has changed the input": ("complete", hidden_writing(0)),
    "agrees with what is known and has": ("complete", lambda right, x, y, w: (y, 0)),
    "complete found .* and, asked again": ("complete", lambda right, x, y, w: (y, next(TURNS) % 2)),
    "whose loss is 1: it does not agree": (
        "complete", lambda right, x, y, w: ((y + 1) % 3, right(x, y, w)[1]),
    ),
    "is not what is known": ("observed", lambda right, y: y[1]),
    "argmax .* found .* but .* has": ("argmax", lambda right, *given: (right(*given)[0], 0)),
}  # fmt: skip


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_with_hidden_parts_are_named(message):
    X, y = make_styles(6)
    model, (method, wrong) = Started(), MISTAKES[message]
    setattr(model, method, functools.partial(wrong, getattr(model, method)))
    with pytest.raises(AssertionError, match=message):
        check_structure(model, X, y, labellings=model.labellings, random_state=0)
