"""A sparse sum that is read densely is the sum of its parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.core_probe import collect

SIZE = 12
TERMS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(-4, 4).map(float)), max_size=6),
        st.sampled_from([1.0, -1.0, 0.5]),
    ),
    max_size=4,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(TERMS)
def test_direction_is_the_sum_of_its_terms(terms):
    expected, order = np.zeros(SIZE), []
    for entries, scale in terms:
        for j, value in entries:
            expected[j] += scale * value
            order.extend([j] if j not in order else [])
    terms = [([j for j, _ in e], [value for _, value in e], scale) for e, scale in terms]
    index, value, clean = collect(SIZE, terms)
    np.testing.assert_array_equal(value, expected)
    assert index.tolist() == order
    assert clean


def test_cancelled_entries_stay_listed_until_cleared():
    index, value, clean = collect(3, [([2, 2], [1.0, -1.0], 1.0)])
    assert index.tolist() == [2]
    assert not value.any()
    assert clean
    with pytest.raises(IndexError, match="size 3"):
        collect(3, [([3], [1.0], 1.0)])
