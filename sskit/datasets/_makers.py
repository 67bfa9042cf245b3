"""Artificial sequences for which structure pays, of random numbers or scikit-learn's digits."""

from __future__ import annotations

from functools import lru_cache
from numbers import Integral, Real
from typing import Literal, overload

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state

from sskit._numbers import check_bool
from sskit._types import RandomState
from sskit.inputs.ragged_array import RaggedArray, make_offsets

# The digits are sorted by writer; the last third becomes the test images.
_FIRST_TEST_IMAGE = 1198
_SUCCESSORS = np.array([1, 4, 7])
_SUCCESSOR_PROBABILITIES = np.array([0.6, 0.3, 0.1])


def make_chains(
    n_samples: int = 100,
    *,
    n_features: int = 10,
    n_states: int = 3,
    min_length: int = 3,
    max_length: int = 10,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Make random chains: states of a Markov chain observed with Gaussian noise.

    Every state has a mean drawn from a standard normal distribution and a random distribution over
    successors, few of which are likely, so a tagger that learns transitions is better than a
    classifier of single tokens.

    Parameters
    ----------
    n_samples : int, default=100
        The number of chains.
    n_features : int, default=10
        The number p of columns.
    n_states : int, default=3
        The number of labels, 0, ..., n_states - 1.
    min_length : int, default=3
        The smallest number of tokens of a chain.
    max_length : int, default=10
        The largest number of tokens of a chain; lengths are uniform between the two.
    noise : float, default=1.0
        Standard deviation of the noise, in units of that of the means.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of n_samples ndarrays of shape (T_i, p)
        The features, float64.
    y : list of n_samples ndarrays of shape (T_i,)
        The states, int64.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> from sskit.datasets import make_chains
    >>> X, y = make_chains(5, n_features=4, random_state=0)
    >>> len(X), X[0].shape[1], X[0].shape[0] == y[0].shape[0]
    (5, 4, True)
    """
    check_counts(n_samples=n_samples, n_features=n_features, n_states=n_states)
    _check_lengths(min_length, max_length)
    check_not_negative(noise=noise)
    rng = check_random_state(random_state)
    means = rng.normal(size=(n_states, n_features))
    # A small concentration makes few successors likely.
    transitions = rng.dirichlet(np.full(n_states, 0.3), size=n_states)
    flat, offsets = _walks(transitions, n_samples, min_length, max_length, rng)
    values = means[flat] + noise * rng.normal(size=(flat.size, n_features))
    return _pieces(values, offsets), _pieces(flat, offsets)


@overload
def make_digit_strings(
    n_samples: int = 100,
    *,
    min_length: int = 4,
    max_length: int = 8,
    subset: Literal["train", "test"] | None = None,
    return_transitions: Literal[False] = False,
    random_state: RandomState = None,
) -> tuple[list[np.ndarray], list[np.ndarray]]: ...


@overload
def make_digit_strings(
    n_samples: int = 100,
    *,
    min_length: int = 4,
    max_length: int = 8,
    subset: Literal["train", "test"] | None = None,
    return_transitions: Literal[True],
    random_state: RandomState = None,
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]: ...


def make_digit_strings(
    n_samples: int = 100,
    *,
    min_length: int = 4,
    max_length: int = 8,
    subset: Literal["train", "test"] | None = None,
    return_transitions: bool = False,
    random_state: RandomState = None,
) -> (
    tuple[list[np.ndarray], list[np.ndarray]]
    | tuple[list[np.ndarray], list[np.ndarray], np.ndarray]
):
    """Make strings of handwritten digits that follow a strict grammar.

    The first digit is uniform, and a digit a is followed by ``(3 a + c) % 10`` where c is 1, 4 or
    7 with probability 0.6, 0.3 or 0.1. Every digit is equally frequent at every position, so only
    the neighbours of an unclear image, not frequencies, help: the entropy is 1.3 bits a digit
    instead of 3.3.

    Parameters
    ----------
    n_samples : int, default=100
        The number of strings.
    min_length : int, default=4
        The smallest number of digits of a string.
    max_length : int, default=8
        The largest number of digits of a string; lengths are uniform between the two.
    subset : {"train", "test"} or None, default=None
        Which of scikit-learn's 1,797 images may occur: the first 1,198, the last 599 (which are
        largely of other writers), or all.
    return_transitions : bool, default=False
        Whether to return the grammar too.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of n_samples ndarrays of shape (T_i, 65)
        The 8 x 8 pixels divided by 16, and a constant 1; float64.
    y : list of n_samples ndarrays of shape (T_i,)
        The digits, int64.
    transitions : ndarray of shape (10, 10)
        Only with ``return_transitions=True``: the probability of a digit (column) after another.

    Raises
    ------
    ValueError
        If a number is out of its range, or `subset` is unknown.

    Examples
    --------
    >>> from sskit.datasets import make_digit_strings
    >>> X, y, transitions = make_digit_strings(2, return_transitions=True, random_state=0)
    >>> X[0].shape == (len(y[0]), 65)
    True
    >>> transitions[0]
    array([0. , 0.6, 0. , 0. , 0.3, 0. , 0. , 0.1, 0. , 0. ])
    """
    check_counts(n_samples=n_samples)
    _check_lengths(min_length, max_length)
    if subset not in (None, "train", "test"):
        raise ValueError(f"subset must be 'train', 'test' or None, got {subset!r}")
    check_bool(return_transitions, "return_transitions")
    rng = check_random_state(random_state)
    transitions = np.zeros((10, 10))
    for c, probability in zip(_SUCCESSORS, _SUCCESSOR_PROBABILITIES, strict=True):
        transitions[np.arange(10), (3 * np.arange(10) + c) % 10] = probability
    flat, offsets = _walks(transitions, n_samples, min_length, max_length, rng)
    images, counts = _digit_images(subset)
    draws = (rng.uniform(size=flat.size) * counts[flat]).astype(np.int64)
    draws += make_offsets(counts)[flat]
    result = _pieces(images[draws], offsets), _pieces(flat, offsets)
    return (*result, transitions) if return_transitions else result


def _walks(transitions, n_samples, min_length, max_length, rng):
    """Return Markov chains whose first states are uniform, one after the other, and offsets."""
    lengths = rng.randint(min_length, max_length + 1, size=n_samples)
    n_states = len(transitions)
    cumulative = transitions.cumsum(axis=1)
    states = rng.randint(n_states, size=(n_samples, max_length))
    for t in range(1, max_length):
        below = cumulative[states[:, t - 1]] <= rng.uniform(size=(n_samples, 1))
        # Rounding may leave the last cumulative probability a little below 1.
        states[:, t] = np.minimum(below.sum(axis=1), n_states - 1)
    states = states.astype(np.int64, copy=False)
    return states[np.arange(max_length) < lengths[:, None]], make_offsets(lengths)


def _pieces(values, offsets):
    """Return the sequences as a list of matrices, each with memory of its own."""
    return [piece.copy() for piece in RaggedArray(values, offsets)]


@lru_cache(maxsize=3)
def _digit_images(subset):
    """Return scaled pixels with a constant, sorted by digit, and how many images each has."""
    digits = load_digits()
    pixels = np.column_stack([digits.data / 16, np.ones(len(digits.data))])
    parts = {"train": slice(_FIRST_TEST_IMAGE), "test": slice(_FIRST_TEST_IMAGE, None)}
    part = parts.get(subset, slice(None))
    order = np.argsort(digits.target[part], kind="stable")
    return pixels[part][order], np.bincount(digits.target[part])


def check_counts(**counts):
    """Raise for the first parameter that is not a positive integer."""
    for name, count in counts.items():
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def check_not_negative(**numbers):
    """Raise for the first parameter that is negative or not finite."""
    for name, number in numbers.items():
        if not (isinstance(number, Real) and np.isfinite(number) and number >= 0):
            raise ValueError(f"{name} must be a finite number >= 0, got {number!r}")


def _check_lengths(min_length, max_length):
    """Raise unless the two are positive integers in order."""
    check_counts(min_length=min_length, max_length=max_length)
    if min_length > max_length:
        raise ValueError(f"min_length is {min_length} but max_length is {max_length}")
