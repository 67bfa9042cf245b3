"""Single requests: fast ways change no answer, weights of this moment count, nothing is kept.

Requests of several threads to a model that has answered none fill together what it keeps; what is
made once for all models is made again too. SSKIT_SECONDS is for how long the slow test goes on, in
every process that runs it.
"""

import copy
import io
import os
import pickle
import time
import tracemalloc
from fractions import Fraction
from functools import cache
from types import MappingProxyType

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from helpers import families
from helpers.requests import CASES, answers, bits, differing, served, together
from sklearn.base import clone

from sskit import SequenceTagger

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
WEIGHTS = (
    "coef_", "intercept_", "transitions_", "start_", "end_", "root_", "leaf_", "pairwise_",
    "dual_coef_", "springs_", "types_",
)  # fmt: skip
# what is no model of its own, or has a model that is asked
HOLDERS = ("calibrated", "path", "stopping")
MODELS = [case for case in CASES if not case.endswith(HOLDERS)]


def unusual(x):
    """Return the same numbers in a form that the fast validation leaves to the full one."""
    if sp.issparse(x):
        return x.tocoo()
    if isinstance(x, np.ndarray):
        return np.asfortranarray(x) if x.ndim == 2 and min(x.shape) > 1 else x[::1].view(Sub)
    return type(x)(map(unusual, x)) if isinstance(x, (list, tuple)) else x


def joblib_copy(model):
    """Return a model that joblib has saved and loaded."""
    joblib.dump(model, file := io.BytesIO())
    file.seek(0)
    return joblib.load(file)


def fresh(model):
    """Return a copy that nothing is known of."""
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("case", CASES)
def test_answers_depend_on_nothing_else(case):
    """Not on the form of a request, the others beside it, copies of the model, or threads."""
    model, requests = fresh(served(case)[0]), served(case)[1]
    before, size = dict(vars(model)), len(pickle.dumps(model))
    singly = [answers(model, request) for request in requests]
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert len(pickle.dumps(model)) == size
    expected = [bits(found) for found in singly]
    for request, found in zip(requests, expected, strict=True):
        assert bits(answers(fresh(model), unusual(request))) == found
    for how in (copy.copy, copy.deepcopy, joblib_copy):
        other = how(model)
        assert [bits(answers(other, request)) for request in requests] == expected
    assert not hasattr(clone(model), "lam_")
    for k, found in enumerate(answers(model, together(case))):
        for item, single in zip(found, singly, strict=True):
            a, b = np.asarray(item), np.asarray(single[k][0])
            if a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            else:
                np.testing.assert_array_equal(a, b)
    assert differing(fresh(model), requests, expected) == []


def changed(model, name, how):
    """Change a weight of a model: assign another array, or write into its own."""
    array, half = getattr(model, name), getattr(model, name) * 0.5
    if how == "in place":
        array *= 0.5
    elif how == "C order":
        setattr(model, name, np.ascontiguousarray(half))
    elif how == "strides":
        setattr(model, name, np.repeat(half, 2, axis=-1)[..., ::2])
    else:
        half.flags.writeable = False
        setattr(model, name, half)


@pytest.mark.parametrize("case", MODELS)
def test_weights_of_this_moment_count(case):
    requests = served(case)[1][:4]
    for how in ("in place", "C order", "strides", "read-only"):
        if how == "strides" and "rbf" in case:
            continue  # BLAS rounds in another way than for the contiguous copy
        model = fresh(served(case)[0])
        before = [bits(answers(model, request)) for request in requests]
        for name in (name for name in WEIGHTS if hasattr(model, name)):
            changed(model, name, how)
            found, expected = ([answers(m, x) for x in requests] for m in (model, fresh(model)))
            assert bits(found) == bits(expected)
        if hasattr(model, "decision_function"):
            assert [bits(answers(model, request)) for request in requests] != before
    if "rbf" not in case:  # weights that are no numbers are refused
        requests = served(case)[1]
        for name in ("coef_", "dual_coef_"):
            if hasattr(model, name):
                setattr(model, name, np.full_like(getattr(model, name), np.nan))
        longest = max(requests, key=lambda x: x.nnz if sp.issparse(x) else 0)
        with pytest.raises(ValueError, match=r"overflow|is nan"):
            model.predict(longest if sp.issparse(longest) else requests[-1])


# what predictions read besides
OTHERS = (
    "first_coef_", "last_coef_", "lengths_", "segment_coef_", "edge_coef_", "triples_", "means_",
    "score_curves_", "n_states_", "max_length_", "component_labels_", "classes_",
)  # fmt: skip


@pytest.mark.parametrize("case", [case for case in MODELS if "structure" not in case])
def test_what_is_not_as_it_was_fitted_is_named(case):
    model, requests = served(case)
    for name in (name for name in (*WEIGHTS, *OTHERS) if hasattr(model, name)):
        if name == "classes_" and case.startswith(("sets", "hierarchy")):
            continue  # names of columns
        value = np.asarray(getattr(model, name))
        wrongs = [None, "many"]
        if name in ("n_states_", "max_length_"):
            wrongs.append(np.zeros_like(value))
        elif name == "component_labels_":
            wrongs = [value[:1].repeat(len(value))]
        elif name == "score_curves_":
            wrongs = [value[:1]]  # none are those of raw scores
        elif value.dtype == float and not name.endswith("coef_"):  # whose scores may overflow
            wrongs.append(np.full(value.shape, 1e200))
        for wrong in [value[..., :-1], *wrongs]:
            damaged = copy.copy(model)
            setattr(damaged, name, wrong)
            for method in {"predict", "decision_function"} & set(dir(model)):
                # counts of states may be right, and weights wrong for them
                with pytest.raises((TypeError, ValueError), match=f"{name}|was fitted|NoneType"):
                    getattr(damaged, method)(requests[0])


def test_parameters_and_arrays_of_this_moment_count():
    model, requests = fresh(served("tagger, sparse")[0]), served("tagger, sparse")[1]
    long = max(requests, key=lambda request: request[0].shape[0])
    free, allowed = model.predict(long)[0], np.eye(3, k=1, dtype=bool) | np.eye(3, k=-2, dtype=bool)
    assert bits(model.set_params(allowed_transitions=allowed).predict(long)[0]) != bits(free)
    allowed[...] = True  # the same object, written to
    assert bits(model.predict(long)[0]) == bits(free)
    with pytest.raises(ValueError, match="beam_size"):
        model.set_params(allowed_transitions=None, beam_size=0).predict(long)
    path, requests = fresh(served("classifier, path")[0]), served("classifier, path")[1]
    first = path.decision_function(requests[0])
    assert bits(first) == bits(path.estimator_at(path.lam_).decision_function(requests[0]))
    path.coefs_ = -path.coefs_
    assert bits(path.decision_function(requests[0])) == bits(-first)


WIDE = ["rows", "sets", "hierarchy", "sequences", "beam", "trees", "segmentation"]


def wide(case):
    """Return a fitted model of very many weights, and a request that uses few of them."""
    X = sp.random(12, 60_000, 0.0005, format="csr", random_state=0)
    pieces, given = [X[i : i + 3] for i in range(0, 12, 3)], {"max_iter": 3, "random_state": 0}
    if case == "beam":
        case, given["beam_size"] = "sequences", 1
    labels = np.arange(12).reshape(4, 3) % (3 if case in ("sets", "hierarchy") else 2)
    model, X, y = families.make(case, pieces, list(labels), **given)
    return model.fit(X, y), X[:1]


@pytest.mark.parametrize("case", WIDE)
def test_a_request_takes_no_more_for_more_weights(case):
    model, request = wide(case)
    for copied in (model, fresh(model)):  # weights of a feature are neighbours
        assert copied.coef_.T.flags.c_contiguous
    answers(model, request)
    expected = bits(answers(model, request))
    tracemalloc.start()
    answers(model, request)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * model.coef_.nbytes
    # and the weights of other features are not looked at
    matrix = request if sp.issparse(request) else request[0]
    matrix = matrix if sp.issparse(matrix) else matrix[0]
    model.coef_[:, np.setdiff1d(np.arange(60_000), matrix.indices)] = np.nan
    assert bits(answers(model, request)) == expected


class Sub(np.ndarray):
    """Arrays of a class of their own."""


# ---- the first requests, by threads -------------------------------------------------------------


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


def unasked(case):
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
    model, requests = unasked(case)
    return [bits(answers(model, request)) for request in requests]


def check(case, interval=1e-5):
    """Let threads ask a fresh model."""
    right, (model, requests) = expected(case), unasked(case)
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
