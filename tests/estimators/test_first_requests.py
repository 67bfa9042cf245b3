"""Requests of several threads to a model that has answered none: together they fill what it keeps.

What is made once for all models is made again too. SSKIT_SECONDS is for how long the slow test goes
on, in every process that runs it.
"""

import os
import pickle
import time
from fractions import Fraction
from functools import cache
from types import MappingProxyType

import numpy as np
import pytest
from helpers.requests import CASES, answers, bits, differing, served

from sskit import SequenceTagger

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SECONDS = float(os.environ.get("SSKIT_SECONDS", "20"))
TOKENS = "sequences, tokens", "sequences, tokens, names assigned"


class Name(str):
    """Keys that dicts compare by Python code."""

    def __eq__(self, other):
        return str.__eq__(self, other)

    def __hash__(self):
        return str.__hash__(self)


class Lonely(Name):
    """Keys that dicts find by no other string."""

    def __hash__(self):
        return id(self)


def make_token(rng, depth=0):
    """Return a token of some attributes of many, with values of all kinds."""
    token = {}
    for j in rng.choice(60, 12, replace=False).tolist():
        word = f"w{rng.integers(20)}"
        kind, key = (j + depth) % 10, (str, Name, Lonely)[j % 7 % 3](f"a{j}")
        if kind == 9 and depth < 2:
            inner = make_token(rng, depth + 1)
            token[key] = inner if j % 4 else MappingProxyType(inner)
        else:
            values = word, [word, "x"], {word}, (word,), np.float32(j), np.int8(1), Fraction(1, 2)
            token[key] = (*values, True, 2.5, Name(word))[kind]
    return token


@cache
def tokens():
    """Return a tagger that was fitted to tokens, and requests, some attributes of which are new."""
    rng = np.random.default_rng(0)
    X = [[make_token(rng) for _ in range(2)] for _ in range(62)]
    y = [["a", "b"] for _ in X]
    model = SequenceTagger(tol=0.5, max_iter=2, random_state=0).fit(X[:50], y[:50])
    return model, [X[i : i + 1] for i in range(46, 62)]


def fresh(case):
    """Return a model that has answered no request, and requests to it."""
    model, requests = tokens() if case in TOKENS else served(case)
    model = pickle.loads(pickle.dumps(model))
    if case == TOKENS[1]:
        # the same names as another object: their columns are not known
        model.vectorizer_.feature_names_ = [*model.vectorizer_.feature_names_]
    return model, requests


@cache
def expected(case):
    """Return the answers to all requests of one thread."""
    model, requests = fresh(case)
    return [bits(answers(model, request)) for request in requests]


def check(case, interval=1e-5):
    """Let threads ask a fresh model."""
    right, (model, requests) = expected(case), fresh(case)
    assert differing(model, requests, right, interval) == [], case


@pytest.mark.parametrize("case", TOKENS)
def test_threads_ask_a_fresh_model(case):
    """The others do so in test_serving.py."""
    for _ in range(6):
        check(case)


@pytest.mark.slow
def test_threads_ask_fresh_models_for_long():
    rng, end = np.random.default_rng(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        # half of the time those whose requests keep most
        cases = TOKENS if rng.random() < 0.5 else [*CASES]
        check(cases[rng.integers(len(cases))], 10.0 ** rng.uniform(-6, -3))


def test_attributes_in_use_are_never_replaced():
    """Values and keys of a class of their own may change a token, or come first, as threads may."""
    model, right = pickle.loads(pickle.dumps(tokens()[0])), tokens()[0]
    name = next(name for name in model.feature_names_in_ if name.startswith("a1="))[3:]

    class Meddling(list):
        def __iter__(self):
            # the attribute of this value comes in the table in the meantime
            seen.append(model.predict([[{"a1": name, "a2": [name]}]]))
            token[next(iter(token))] = None  # and the token does not hold this list any longer
            return super().__iter__()

    seen, token = [], {}
    for _ in range(3):
        for key in ("a1", Name("a1"), Lonely("a1")):
            token.clear()
            token[key] = Meddling([name])
            found = model.decision_function([[token]])
            plain = right.decision_function([[{"a1": name}]])
            np.testing.assert_array_equal(found[0], plain[0])
    assert len(seen) == 9
