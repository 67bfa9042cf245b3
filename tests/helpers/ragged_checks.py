"""What scikit-learn's check_estimator would try of estimators that take lists of sequences."""

import functools

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sskit._labels import object_array
from sskit.inputs.ragged_array import make_offsets, split
from sskit.utils import RaggedArray

CHECKS = []


def ragged_check(function):
    """Put a check on the list; it is called with an estimator, of which it gets a seeded clone.

    The function gets that clone, a list of matrices and a list of label arrays, which are its own.
    """

    @functools.wraps(function)
    def check(estimator):
        function(seeded(estimator), *small_chains())

    CHECKS.append(check)
    return check


def small_chains():
    """Return 18 chains of three states that are easy to tell apart: (T_i, 4) and (T_i,)."""
    rng = np.random.RandomState(7)
    offsets = make_offsets(rng.randint(2, 6, size=18))
    first = np.repeat(rng.randint(3, size=18), np.diff(offsets))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    labels = (first + place + (rng.uniform(size=offsets[-1]) < 0.2)) % 3
    means = np.array([[2.0, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1]])
    values = means[labels] + 0.4 * rng.normal(size=(offsets[-1], 4))
    return [[rows.copy() for rows in split(flat, offsets)] for flat in (values, labels)]


def seeded(estimator, **params):
    """Return a clone with a fixed random state and those of the parameters that it has."""
    known = estimator.get_params()
    params = {"random_state": 0, **params}
    return clone(estimator).set_params(**{name: params[name] for name in params if name in known})


def cut_to_equal_lengths(X, y):
    """Return the beginnings of the sequences, all of the length of the shortest."""
    length = min(len(x) for x in X)
    return [x[:length] for x in X], [labels[:length] for labels in y]


def numbers_of(estimator):
    """Return the fitted numbers and arrays by name."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_")
        and not name.startswith("_")
        and isinstance(value, (np.ndarray, np.generic, int, float))
    }


def assert_same_results(a, b, what):
    """Raise unless the fitted numbers and arrays of two estimators are the same bits."""
    a, b = numbers_of(a), numbers_of(b)
    assert a.keys() == b.keys(), what
    for name in a:
        assert np.array_equal(a[name], b[name]), f"{what}: {name}"


def assert_sequences(found, X, what="predict"):
    """Raise unless a result is a 1-D object array of one array of labels per sequence."""
    assert isinstance(found, np.ndarray) and found.dtype == object, what
    assert [labels.shape for labels in found] == [(len(x),) for x in X], what


def assert_same_labels(found, expected, what):
    """Raise unless two lists of label sequences are equal."""
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert np.array_equal(a, b), f"{what}: sequence {i} has the labels {a} instead of {b}"


# ---------------------------------------------------------------- parameters, state, results


@ragged_check
def check_parameters_and_attributes(estimator, X, y):
    """Expect that get_params, set_params, clone, tags and names of attributes are in order."""
    params = estimator.get_params(deep=False)
    again = clone(estimator)
    assert joblib.hash(again.get_params()) == joblib.hash(estimator.get_params())
    assert again.set_params(**params) is again
    assert set(vars(type(estimator)(**params))) == set(params)  # __init__ only stores
    with pytest.raises(ValueError, match="no_such_parameter"):
        again.set_params(no_such_parameter=1)
    tags = get_tags(estimator)
    assert not tags.input_tags.two_d_array and tags.target_tags.required
    assert tags.estimator_type != "classifier", "scikit-learn's searches then fail on y"
    before = set(vars(estimator))
    assert estimator.fit(X, y) is estimator
    new = set(vars(estimator)) - before
    assert not [name for name in new if not (name.startswith("_") or name.endswith("_"))]
    assert estimator.n_features_in_ == X[0].shape[1]
    assert np.array_equal(estimator.classes_, np.unique(np.concatenate(y)))
    for model in (estimator, again):
        assert type(model).__name__ in repr(model)
        assert type(model).__name__ in model._repr_html_()


@ragged_check
def check_predict_and_score(estimator, X, y):
    """Expect a 1-D object array, also for equal lengths and a single sequence, and a score."""
    predicted = estimator.fit(X, y).predict(X)
    assert_sequences(predicted, X)
    assert set(np.concatenate(list(predicted))) <= set(estimator.classes_)
    assert_same_labels(estimator.predict(X[3:7]), predicted[3:7], "predicted a few")
    assert_same_labels(estimator.predict(X[:1]), predicted[:1], "one sequence alone")
    for few in (cut_to_equal_lengths(X, y)[0], [x[:1] for x in X[:2]]):
        assert_sequences(estimator.predict(few), few, "equal lengths")
    score = estimator.score(X, y)
    assert isinstance(score, float) and 0 <= score <= 1
    assert estimator.score(X, predicted) == 1


@ragged_check
def check_fit_of_one_sequence(estimator, X, y):
    i = int(np.argmax([len(np.unique(labels)) for labels in y]))
    assert_sequences(estimator.fit(X[i : i + 1], y[i : i + 1]).predict(X), X, "fit to one")


@ragged_check
def check_what_decides(estimator, X, y):
    """Expect that random state and data decide the bits: no earlier fit, no number of jobs.

    That data, which may be read-only, and parameters stay as they are is in tests/estimators.
    """
    first = clone(estimator).fit(X, y)
    wide = [np.hstack([x, x[:, :1]]) for x in X]
    other = [np.where(labels == labels[0], "p", "q") for labels in y]
    estimator.fit(wide, other).fit(X, y)
    assert_same_results(estimator, first, "a second fit with the same random_state")
    a, b = (seeded(estimator, random_state=np.random.RandomState(3)).fit(X, y) for _ in range(2))
    assert_same_results(a, b, "equal RandomState objects")
    one, two = (seeded(estimator, n_jobs=2).fit(X, y) for _ in range(2))
    assert_same_results(one, two, "n_jobs=2")


# ---------------------------------------------------------------- what goes in


def forms_of(X, sparse):
    """Return by name all forms of the same whole, small, non-negative numbers."""
    offsets = make_offsets([len(x) for x in X])
    forms = {
        "tuple": tuple(X),
        "object array": object_array(X),
        "nested lists": [x.tolist() for x in X],
        "float32": [x.astype(np.float32) for x in X],
        "uint8": [x.astype(np.uint8) for x in X],
        "Fortran order": [np.asfortranarray(x) for x in X],
        "every second row": [np.repeat(x, 2, axis=0)[::2] for x in X],
        "RaggedArray": RaggedArray(np.concatenate(X), offsets),
        "data frames": [pd.DataFrame(x) for x in X],
        "series of arrays": pd.Series(X),
    }
    if sparse:
        forms |= {
            "CSR matrices": [sp.csr_matrix(x) for x in X],
            "coordinate arrays": [sp.coo_array(x) for x in X],
            "CSR and dense": [sp.csr_array(x) if i % 2 else x for i, x in enumerate(X)],
            "RaggedArray of CSR": RaggedArray(sp.csr_array(np.concatenate(X)), offsets),
        }
    return forms


@ragged_check
def check_forms_of_X(estimator, X, y):
    """Expect the same model and predictions from all forms of X, a 3-D array too."""
    X = [np.clip(np.rint(x), 0, 3) for x in X]  # which all types of numbers hold
    predicted = clone(estimator).fit(X, y).predict(X)
    for name, form in forms_of(X, get_tags(estimator).input_tags.sparse).items():
        model = clone(estimator).fit(form, y)
        assert_same_labels(model.predict(X), predicted, f"fitted to X as {name}")
        assert_same_labels(model.predict(form), predicted, f"predicted X as {name}")
    X, y = cut_to_equal_lengths(X, y)
    reference = clone(estimator).fit(X, y)
    for array in (np.stack(X), np.stack(X).transpose(2, 1, 0).copy().transpose(2, 1, 0)):
        model = clone(estimator).fit(array, y)
        assert_same_results(model, reference, "X as a 3-D array")
        assert_same_labels(model.predict(array), reference.predict(X), "X as a 3-D array")


@ragged_check
def check_forms_of_y(estimator, X, y):
    reference = clone(estimator).fit(X, y)
    forms = {
        "tuple": tuple(y),
        "lists": [labels.tolist() for labels in y],
        "tuples": [tuple(labels.tolist()) for labels in y],
        "object array": object_array(y),
        "RaggedArray": RaggedArray(np.concatenate(y), make_offsets([len(x) for x in X])),
        "labels as objects": [labels.astype(object) for labels in y],
    }
    for name, form in forms.items():
        assert_same_results(clone(estimator).fit(X, form), reference, f"y as {name}")
        assert reference.score(X, form) == reference.score(X, y), name
    X, y = cut_to_equal_lengths(X, y)
    model, reference = clone(estimator).fit(X, np.stack(y)), clone(estimator).fit(X, y)
    assert_same_results(model, reference, "y as a 2-D array")


@ragged_check
def check_sample_weight(estimator, X, y):
    """Expect that weights of one are none, and that a weight of zero removes a sequence."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    reference = clone(estimator).fit(X, y)
    for ones in (np.ones(len(X)), [1] * len(X), None):
        model = clone(estimator).fit(X, y, sample_weight=ones)
        assert_same_results(model, reference, "sample_weight of ones")
    # so close to the optimum that predictions do not wobble
    estimator = seeded(estimator, tol=1e-3, max_iter=100_000)
    kept = np.arange(len(X)) % 4 != 3
    few = [[item for item, keep in zip(items, kept, strict=True) if keep] for items in (X, y)]
    removed = clone(estimator).fit(*few)
    zeroed = clone(estimator).fit(X, y, sample_weight=kept.astype(float))
    assert_same_labels(zeroed.predict(X), removed.predict(X), "sample_weight of zeros")
