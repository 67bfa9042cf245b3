"""Validation of rows: what is wrong is named by row."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from sskit.inputs.rows import check_classes, check_rows


def test_first_entry_that_is_not_finite():
    for form in [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix]:
        for value, what in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
            X = np.ones((5, 3))
            X[3, 1] = X[4, 0] = value
            with pytest.raises(ValueError, match=rf"^X contains {what} at row 3, column 1$"):
                check_rows(BaseEstimator(), form(X))
        # finite rows whose sum overflows pass
        check_rows(BaseEstimator(), form(np.full((2, 2), 1.7e308)))
        with pytest.raises(ValueError, match="^Input y contains infinity"):
            check_rows(BaseEstimator(), np.ones((2, 1)), np.array([np.inf, -np.inf]))


def test_what_scikit_learn_finds():
    estimator = BaseEstimator()
    X, y = check_rows(estimator, pd.DataFrame({"a": [1, 2], "b": [3, 4]}), [0, 1])
    assert X.dtype == np.float64 and X.flags.c_contiguous and list(y) == [0, 1]
    assert list(estimator.feature_names_in_) == ["a", "b"]
    estimator = BaseEstimator()
    check_rows(estimator, np.ones((2, 2)))  # without names
    with pytest.raises(ValueError, match="has 3 features, but BaseEstimator is expecting 2"):
        check_rows(estimator, np.ones((2, 3)), reset=False)
    with pytest.raises(ValueError, match="^y "):
        check_rows(estimator, np.eye(2), "a", reset=False)
    with pytest.raises(ValueError, match="inconsistent numbers of samples") as caught:
        check_rows(BaseEstimator(), np.ones((2, 2)), [0])
    assert caught.value.__cause__ is None  # no error is its own cause


def test_errors_say_which_is_wrong():
    for X, y, error, message in [
        ([["a"], ["b"]], [0, 1], ValueError, "could not convert string.*'a'"),
        ([[1], [1, 2]], [0, 1], ValueError, "inhomogeneous"),
        ([[{}], [1]], [0, 1], TypeError, "argument must be a string"),
        ([[10**400], [1]], [0, 1], ValueError, "too large"),
        ([[1], [2]], [[0], [0, 1]], ValueError, "inhomogeneous"),
        (np.zeros((2, 0)), [0, 1], ValueError, "^Found array with 0 feature"),
    ]:
        with pytest.raises(error, match=message):
            check_rows(BaseEstimator(), X, y)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
def test_broken_sparse_matrices(form):
    for part in ("indices", "indptr", "data", "row", "col"):
        X = sp.csr_matrix(np.eye(4)).asformat(form)
        if not hasattr(X, part):
            continue
        if part == "data":
            X.data = X.data[:-1]
        else:
            getattr(X, part)[1] = 99
        with pytest.raises(ValueError, match=f"^X is a broken {form.upper()} matrix"):
            check_rows(BaseEstimator(), X)
        if form != "bsr" and part != "data":
            with pytest.raises(ValueError, match=f"^y is a broken {form.upper()} matrix"):
                check_rows(BaseEstimator(), np.eye(4), X, multi_output=True)


def test_wrong_classes():
    for y, error, message in [
        ([0.0, np.nan], ValueError, r"^y\[1\] is nan: labels must not be missing"),
        (["a", None], ValueError, r"^y\[1\] is None: labels must not be missing"),
        (pd.Series(["a", "b", pd.NA]), ValueError, r"^y\[2\] is .*missing"),
        (np.array(["a", 3], dtype=object), TypeError, r"^y\[0\] is 'a' but y\[1\] is 3"),
        (np.array([{}, {}], dtype=object), TypeError, r"^y\[0\] is .*, of type dict: one label"),
    ]:
        with pytest.raises(error, match=message):
            check_classes(y)
    for y in (None, ["a", "b"], [[0, 1]], np.array([True, False], dtype=object)):
        check_classes(y)
