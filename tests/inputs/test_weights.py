"""The one reader of costs of pairs of labels."""

import copy
from enum import Enum

import numpy as np
import pandas as pd
import pytest

from sskit.inputs.weights import cost_table, factored, labels_with_costs

LABELS = np.array(["B-PER", "I-PER", "O"])
TABLE = np.array([[0.0, 0.5, 3.0], [0.0, 0.0, 1.0], [2.0, 1.0, 0.0]])


class Tag(str, Enum):
    PERSON = "B-PER"
    OUTSIDE = "O"


def test_all_forms_are_one_table_without_other_owners():
    for given in [
        TABLE,
        TABLE.tolist(),
        np.asfortranarray(TABLE),
        pd.DataFrame(TABLE),
        {"B-PER": {"O": 3, "I-PER": 0.5}, "I-PER": {"B-PER": 0}, "O": {"B-PER": np.float32(2)}},
        {Tag.PERSON: {Tag.OUTSIDE: 3, "I-PER": 0.5}, "I-PER": {"B-PER": False}, "O": {"B-PER": 2}},
        {"B-PER": {"O": 3, "I-PER": 0.5, "B-LOC": 9}, "I-PER": {"B-PER": 0, "I-PER": 0}}
        | {"O": {"B-PER": 2}, "B-LOC": {"O": 9}},
    ]:
        before = copy.deepcopy(given)
        found = cost_table(given, LABELS)
        np.testing.assert_array_equal(found, TABLE)
        assert found.dtype == np.float64 and found.flags.c_contiguous
        found[...] = -1.0
        if isinstance(given, dict):
            assert given == before
        else:
            np.testing.assert_array_equal(given, before)


def test_labels_are_numbers_too_and_names_of_losses_have_no_table():
    assert cost_table("hamming_sum", LABELS) is None
    found = cost_table({2: {7: 4.0}, 7: {}}, np.array([2, 7]))
    np.testing.assert_array_equal(found, [[0.0, 4.0], [1.0, 0.0]])


def test_wrong_costs_are_named_by_their_labels():
    for given, error, message in [
        ({"B-PER": {"O": -1}}, ValueError, r"loss\['B-PER'\]\['O'\] is -1, expected a finite numb"),
        ({"B-PER": {"O": np.inf}}, ValueError, r"loss\['B-PER'\]\['O'\] is inf, expected a fini"),
        ({"O": {"O": 2}}, ValueError, r"loss\['O'\]\['O'\] is 2, expected 0, as both labels are"),
        ({"O": {"B-PER": "dear"}}, ValueError,
         r"loss\['O'\]\['B-PER'\] must hold numbers, .* 'dear"),
        ({"O": 2}, TypeError, r"loss\['O'\] must be a dict of costs by predicted label, got int"),
        (np.ones((3, 3)), ValueError, r"loss\['B-PER'\]\['B-PER'\] is 1, expected 0, as both"),
        (np.where(TABLE == 3, np.nan, TABLE), ValueError, r"loss\['B-PER'\]\['O'\] is nan, exp"),
        (TABLE[:2], ValueError, r"loss must have shape \(3, 3\), a row for each true label .* \(2"),
        (3.0, ValueError, r"loss must have shape \(3, 3\).*got \(\)"),
        ([["a"] * 3] * 3, ValueError, "loss must hold numbers"),
        (TABLE + 0j, ValueError, "loss must hold numbers"),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            cost_table(given, LABELS)


def test_tables_that_are_one_cost_for_each_true_label():
    for table in (np.zeros((1, 1)), np.array([[0.0, 3.0], [0.5, 0.0]])):
        factors, left = factored(table)
        assert left is None
        np.testing.assert_array_equal(factors[:, None] * (1 - np.eye(len(table))), table)
    uniform = np.array([2.0, 0.0, 1.0])[:, None] * (1 - np.eye(3))
    np.testing.assert_array_equal(factored(uniform)[0], [2.0, 0.0, 1.0])
    factors, left = factored(TABLE)
    np.testing.assert_array_equal(factors, np.ones(3))
    np.testing.assert_array_equal(left, TABLE)


def test_labels_that_a_dict_names():
    assert labels_with_costs({"a": {"b": 1}, "c": {"a": 1, "d": 2}, "e": 3}) == list("acebd")
