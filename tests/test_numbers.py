"""Numbers of users: what becomes of them, and what is refused by name."""

from multiprocessing import current_process

import joblib
import numpy as np
import pandas as pd
import pytest

from sskit import SequenceTagger
from sskit._numbers import (
    LARGEST_COUNT,
    as_array,
    as_floats,
    capped,
    check_k,
    count_threads,
    n_workers,
)
from sskit.datasets import make_digit_strings
from sskit.display import ConfusionDisplay, TransitionDisplay
from sskit.metrics import convert_tags, span_report
from sskit.oracles import chain_marginals, expansion, segment_marginals, tree_marginals


def test_numbers_become_a_copy_in_c_order():
    numbers = [[1, 2], [3, 4]]
    for values in (np.array(numbers, dtype=object), np.asfortranarray(numbers, dtype=float)):
        found = as_floats(values, "values")
        np.testing.assert_array_equal(found, numbers)
        assert found.dtype == np.float64 and found.flags.c_contiguous and found is not values
    # beyond float64
    assert as_floats(np.array([np.longdouble("1e400")]), "values") == np.inf


def test_what_is_no_number_is_refused():
    for values, message in [
        (["a"], r"^values must hold numbers, but values\[0\] is 'a'$"),
        ([b"1"], r"^values must hold numbers, but values\[0\] is b'1'"),
        (None, "^values must hold numbers, but values is None$"),
        ({1: 2}, "^values must hold numbers, but values is .1: 2.$"),
        ([1j], r"^values must hold numbers, but values\[0\] is 1j$"),
        ([[1, 2], [1, 10**5000]], r"but values\[1, 1\] is an integer of 16610 bits$"),
        ([[1], [1, 2]], "^values is no array: its items have different shapes$"),
        (np.array(["2020"], dtype="datetime64[D]"), "^values must hold numbers, but"),
    ]:
        with pytest.raises(ValueError, match=message):
            as_floats(values, "values")


def test_arrays_and_counts():
    array = np.zeros(2, dtype="U3")
    assert as_array(array, "names") is array
    with pytest.raises(ValueError, match="^names is no array"):
        as_array([["a"], "b", ["c", "d"]], "names")
    assert [capped(3), capped(10**30), capped(10**30, 2**62)] == [3, LARGEST_COUNT, 2**62]
    assert [n_workers(n, 3) for n in (None, 1, 2, 10**30, -(10**30))] == [1, 1, 2, 3, 1]
    assert n_workers(2, 0) == 1


@pytest.mark.filterwarnings("error")
def test_threads_are_those_of_joblib_also_in_a_daemon(monkeypatch):
    for is_daemon in (False, True):  # as workers of Dask are
        monkeypatch.setattr(current_process(), "_config", {"daemon": is_daemon})
        for backend, expected in (("loky", [2, 1, 3]), ("threading", [2, 1, 3])):
            with joblib.parallel_config(backend, n_jobs=3):
                assert [count_threads(n) for n in (2, 1, None)] == expected
        with joblib.parallel_config("sequential", n_jobs=3):
            assert [count_threads(n) for n in (2, 1, None)] == [1, 1, 1]


def test_numbers_of_answers_are_positive_integers():
    for k in (0, -1, True, 1.0, "2", None, np.nan, 2**70):
        with pytest.raises(ValueError, match="k must be a positive integer, got "):
            check_k(k)
    check_k(2**31 - 1)
    check_k(np.int64(3))


CHAIN, confusion = ([[0, 1]], [[0, 0]] * 2), ConfusionDisplay.from_predictions
BOOLEAN_CALLS = {
    "strict": lambda value: convert_tags([["O"]], "bio", "bioes", strict=value),
    "output_dict": lambda value: span_report([["O"]], [["O"]], output_dict=value),
    "return_transitions": lambda value: make_digit_strings(2, return_transitions=value),
    "persistency": lambda value: expansion([[0, 1]], [], [], persistency=value),
    "return_pairs": lambda value: chain_marginals(*CHAIN, return_pairs=value),
    "return_pairs of trees": lambda value: tree_marginals([[0, 1]], return_pairs=value),
    "return_triples": lambda value: chain_marginals(*CHAIN, return_triples=value),
    "return_segments": lambda value: segment_marginals(*CHAIN, [[0]] * 2, return_segments=value),
    "return_scores": lambda value: FITTED.predict_topk([[[1.0]]], 1, return_scores=value),
    "include_values": lambda value: confusion([["a"]], [["b"]], include_values=value),
    "colorbar": lambda value: TransitionDisplay.from_estimator(FITTED, colorbar=value),
}
FITTED = SequenceTagger(random_state=0).fit([[[1.0], [-1.0]]], [["a", "b"]])


@pytest.mark.parametrize("name", BOOLEAN_CALLS)
def test_booleans_are_true_or_false(name):
    call = BOOLEAN_CALLS[name]
    for value in (1, "no", None, np.zeros(2, dtype=bool), pd.Series([True, False])):
        with pytest.raises(TypeError, match=f"^{name.split()[0]} must be True or False, got "):
            call(value)
    for value in (True, np.False_):
        call(value)
