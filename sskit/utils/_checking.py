"""What the checks of ragged estimators share: their list, small data, comparisons."""

import functools
import re
from contextlib import contextmanager

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from sskit.inputs.ragged import stack_labels, stack_sequences
from sskit.inputs.ragged_array import make_offsets, split

CHECKS = []


def ragged_check(function):
    """Put a check on the list and give it default data and a clone of the estimator.

    Parameters
    ----------
    function : callable
        Called with an unfitted estimator, a list of matrices and a list of label arrays, which
        belong to it; raises AssertionError if the estimator is not as it should be.

    Returns
    -------
    check : callable
        Called with an estimator and, if wanted, X and y.
    """

    @functools.wraps(function)
    def check(estimator, X=None, y=None):
        if X is None:
            X, y = make_small_chains()
        else:
            stacked = stack_sequences(X)
            values = stacked.values.toarray() if sp.issparse(stacked.values) else stacked.values
            y = list(split(stack_labels(y, stacked.lengths), stacked.offsets))
            X = list(split(values, stacked.offsets))
        function(seeded(estimator), [x.copy() for x in X], [labels.copy() for labels in y])

    CHECKS.append(check)
    return check


def make_small_chains(n_samples=18, *, min_length=2, max_length=5):
    """Return small chains of three states that are easy to tell apart.

    Parameters
    ----------
    n_samples : int, default=18
        Number of chains.
    min_length, max_length : int
        Bounds of their lengths.

    Returns
    -------
    X : list of ndarray of shape (T_i, 4)
        Features.
    y : list of ndarray of shape (T_i,)
        States, 0 to 2.
    """
    rng = np.random.RandomState(7)
    offsets = make_offsets(rng.randint(min_length, max_length + 1, size=n_samples))
    first = np.repeat(rng.randint(3, size=n_samples), np.diff(offsets))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    labels = (first + place + (rng.uniform(size=offsets[-1]) < 0.2)) % 3
    means = np.array([[2.0, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1]])
    values = means[labels] + 0.4 * rng.normal(size=(offsets[-1], 4))
    return list(split(values, offsets)), list(split(labels, offsets))


def seeded(estimator, **params):
    """Return a clone with a fixed random state and those of the parameters that it has."""
    estimator = clone(estimator)
    known = estimator.get_params()
    params = {"random_state": 0, **params}
    return estimator.set_params(**{name: params[name] for name in params if name in known})


def precise(estimator):
    """Return a clone that comes so close to the optimum that predictions do not wobble."""
    return seeded(estimator, tol=1e-3, max_iter=100_000)


def cut_to_equal_lengths(X, y):
    """Return the beginnings of the sequences, all of the length of the shortest."""
    length = min(len(x) for x in X)
    return [x[:length] for x in X], [labels[:length] for labels in y]


def state_of(estimator):
    """Return a hash of all attributes."""
    return joblib.hash(vars(estimator))


def results_of(estimator):
    """Return the fitted numbers and arrays: what must be the same bits in a second fit."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_")
        and not name.startswith("_")
        and isinstance(value, (np.ndarray, np.generic, int, float))
    }


def assert_same_results(a, b, what):
    """Raise unless the fitted numbers and arrays of two estimators are the same bits."""
    a, b = results_of(a), results_of(b)
    assert a.keys() == b.keys(), f"{what}: the fitted attributes differ"
    for name in a:
        assert np.array_equal(a[name], b[name]), f"{what}: {name} differs"


def assert_sequences(found, lengths, what="predict"):
    """Raise unless a result is a 1-D object array of one array of labels per sequence."""
    assert isinstance(found, np.ndarray), f"{what} returned a {type(found).__name__}, not an array"
    assert found.dtype == object and found.shape == (len(lengths),), (
        f"{what} must return an object array of shape ({len(lengths)},), got {found.dtype} of "
        f"shape {found.shape}"
    )
    for i, (labels, length) in enumerate(zip(found, lengths, strict=True)):
        assert isinstance(labels, np.ndarray) and labels.shape == (length,), (
            f"{what}: item {i} must be an array of shape ({length},), got "
            f"{getattr(labels, 'shape', type(labels).__name__)}"
        )


def assert_same_labels(found, expected, what):
    """Raise unless two lists of label sequences are equal."""
    assert len(found) == len(expected), f"{what}: {len(found)} instead of {len(expected)} sequences"
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert np.array_equal(a, b), f"{what}: sequence {i} has the labels {a} instead of {b}"


@contextmanager
def raises(kinds, *patterns, what):
    """Expect an exception of these kinds whose message holds all the patterns.

    Parameters
    ----------
    kinds : type or tuple of types
        Kinds of exception.
    *patterns : str
        Regular expressions.
    what : str
        The situation, for the message of the AssertionError.

    Yields
    ------
    None
        Once.
    """
    try:
        yield
    except kinds as error:
        for pattern in patterns:
            assert re.search(pattern, str(error)), (
                f"{what}: the message must match {pattern!r}, got {str(error)!r}"
            )
    except Exception as error:
        raise AssertionError(f"{what} raised a {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{what} raised no error")
