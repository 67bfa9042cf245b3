"""Label indicators of any form are read as one; what is wrong is named."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.inputs.label_sets import check_indicator

Y = np.array([[1, 0, 0], [0, 1, 1]])
FORMS = [
    Y,
    Y.astype(bool),
    Y.astype(float),
    np.asfortranarray(Y),
    sp.csr_array(Y),
    sp.csc_matrix(Y),
    # stored zeros
    sp.csr_array((np.array([1, 0, 1, 1]), ([0, 0, 1, 1], [0, 2, 1, 2]))),
]


def test_forms():
    for given in FORMS:
        before = given.copy()
        sets = check_indicator(given)
        np.testing.assert_array_equal(sets, Y)
        assert sets.dtype == np.uint8 and sets.flags.c_contiguous and sets.flags.writeable
        sets[:] = 7
        assert (given != before).sum() == 0


def test_what_is_no_indicator_is_named():
    for y, message in [
        (np.array([[0, 1], [0, 2]]), r"^y\[1, 1\] is 2, expected 0 or 1"),
        (sp.csr_array(np.array([[0, 1, 0], [0, 0, 3]])), r"^y\[1, 2\] is 3, expected 0 or 1"),
        (sp.csr_array([[0.5, 1.0]]), r"^y\[0, 0\] is 0.5, expected 0 or 1"),
        (np.array([["a", "b"]]), r"^y\[0, 0\] is 'a', expected 0 or 1: .*MultiLabelBinarizer"),
        (np.array([[0, None]], dtype=object), r"^y\[0, 1\] is None, expected 0 or 1"),
        (np.array([[0, {1}]], dtype=object), r"^y\[0, 1\] is \{1\}, expected 0 or 1"),
        (sp.csr_array((np.ones(2), [1, 1], [0, 0, 2]), shape=(2, 2)), r"^y\[1, 1\] is 2.0, expe"),
        (np.empty((3, 0)), r"^y has no labels: its shape is \(3, 0\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_indicator(y)
