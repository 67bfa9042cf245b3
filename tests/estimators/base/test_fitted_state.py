"""What is looked at before fitted attributes reach compiled code."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.estimators.base.fitted_state import (
    check_count,
    check_labels,
    check_numbers,
    check_sparse,
)


def test_what_does_not_fit():
    """That estimators ask is in tests/estimators/test_serving.py."""
    owner = SimpleNamespace()
    for value, message in [
        (None, r"^a_ must be an array of numbers, got NoneType; the Simple.* not as it was fitted"),
        ([[1.0]], "^a_ must be an array of numbers, got list"),
        (np.array([["x"]]), "^a_ must be an array of numbers, got <U1"),
        (np.ones((1, 1), dtype=complex), "^a_ must be an array of numbers, got complex128"),
        (np.ones((1, 2)), r"^a_ must have the shape \(2, 1\), got \(1, 2\)"),
        (np.array([[1.0], [-np.inf]]), r"^a_\[1, 0\] is -inf"),
        (np.array([[1e200], [0.0]]), r"^a_\[0, 0\] is 1e\+200"),
    ]:
        owner.a_ = value
        with pytest.raises(ValueError, match=message):
            check_numbers(owner, {"a_": (2, 1)})
    owner.a_ = np.array([[np.nan]])
    check_numbers(owner, {"a_": (1, 1)}, finite=False)
    with pytest.raises(ValueError, match="^b_ must"):
        check_numbers(owner, {"b_": (1, 1)})
    with pytest.raises(ValueError, match="^a_ must be an array of whole numbers, got float64"):
        check_numbers(owner, {"a_": (1, 1)}, integer=True)
    for value in (-1, 2.0, True, "3", None):
        with pytest.raises(ValueError, match="^n_ must be a whole number, got"):
            check_count(SimpleNamespace(n_=value), "n_")
    for value in (np.ones((2, 2)), ["a"], np.empty(0)):
        with pytest.raises(ValueError, match="^classes_ must be an array of labels of shape"):
            check_labels(SimpleNamespace(classes_=value))


def test_a_matrix_that_points_outside_of_itself():
    for name, number in (("indices", 9), ("indices", -1), ("indptr", 99)):
        matrix = sp.csr_array(np.eye(3))
        getattr(matrix, name)[1] = number
        told = "^X is no matrix: .*; the path is not as it was fitted"
        with pytest.raises(ValueError, match=told):
            check_sparse("path", "X", matrix)
    with pytest.raises(ValueError, match="^X is no matrix: its format is lil, not csr; the path"):
        check_sparse("path", "X", sp.lil_array(np.eye(3)))
