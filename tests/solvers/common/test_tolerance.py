"""A gap is small enough relative to the objective, or to the unit of the problem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit.solvers.common.solution import NEGLIGIBLE, UNKNOWN, Certificate, Tolerance, relative

NUMBERS = st.floats(0.0, 1e6, allow_subnormal=False)


@given(NUMBERS, NUMBERS, st.floats(0.0, 0.99, allow_subnormal=False), NUMBERS)
def test_all_forms_agree(dual, gap, fraction, unit):
    """The largest gap above a dual objective, and the fraction that is told of a gap."""
    tolerance = Tolerance(fraction, unit)
    holds = tolerance.holds(Certificate(None, dual + gap, dual, gap))
    largest, told = tolerance.gap_above(dual), relative(gap, dual + gap, unit)
    if abs(gap - largest) > 1e-9 * max(gap, largest):
        assert holds == (gap <= largest)
    if abs(told - fraction) > 1e-9 and unit > 0.1:
        assert holds == (told <= fraction)


def test_what_is_proved_at_the_borders():
    dual, fraction = 3.0, 0.2
    primal = dual + Tolerance(fraction).gap_above(dual)
    assert primal - dual == pytest.approx(fraction * primal)
    # any dual point will do for all of the objective
    assert Tolerance(1.0).gap_above(0.0) == Tolerance(2.0).gap_above(0.0) == np.inf
    # rounding may give a dual objective below zero
    assert Tolerance(0.5).gap_above(-1e-18) == 0.0
    for tolerance, numbers, expected in [
        (Tolerance(1.0), (2.0, 0.0, 2.0), True),
        (Tolerance(0.0), (0.0, 0.0, 0.0), True),
        (Tolerance(0.5), (1e-9, 0.0, 1e-9), False),
        (Tolerance(0.5, unit=1.0), (1e-9, 0.0, 1e-9), True),
        (Tolerance(0.5), (np.inf, 0.0, np.inf), False),  # which overflowed
        (Tolerance(0.5), (np.inf, -np.inf, np.nan), False),
    ]:
        assert tolerance.holds(Certificate(None, *numbers)) == expected
    assert not Tolerance(0.5).holds(UNKNOWN)
    assert relative(1.0, 4.0, 0.0) == 0.25
    assert relative(1.0, 4.0, 1.0 / NEGLIGIBLE) == 0.2
    assert relative(0.0, 0.0, 0.0) == 0.0
