"""Parameters of the solvers that work factor by factor: what they refuse."""

import numpy as np
import pytest

from sskit.solvers import GDMM, SoftBCFW


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rho": 0.0}, "'rho' parameter .* float in the range .0.0, inf.* Got 0.0"),
        ({"rho": np.inf}, "'rho' parameter .* float in the range .0.0, inf.* Got inf"),
        ({"rho": "much"}, "'rho' parameter .* float in the range .* Got 'much'"),
        ({"step": -1}, "'step' parameter .* float in the range .0.0, inf"),
        ({"step": np.inf}, "'step' parameter .* float in the range .0.0, inf.* Got inf"),
        ({"method": "fw"}, "'method' parameter .* str among"),
        ({"gap_every": 0}, "'gap_every' parameter .* int in the range .1,.* or None"),
        ({"max_time": 0}, "'max_time' parameter .* float in the range .0.0, inf. or None"),
    ],
)
def test_bad_parameters_of_gdmm(options, match):
    with pytest.raises(ValueError, match=match):
        GDMM(**options).check()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rho": 0.0}, "'rho' parameter .* float in the range .0.0, inf.* Got 0.0"),
        ({"rho": np.inf}, "'rho' parameter .* float in the range .0.0, inf.* Got inf"),
        ({"steps": "pairwise"}, "'steps' parameter .* str among"),
        ({"gap_every": 0}, "'gap_every' parameter .* int in the range .1,.* or None"),
        ({"max_time": 0}, "'max_time' parameter .* float in the range .0.0, inf. or None"),
    ],
)
def test_bad_parameters_of_soft_bcfw(options, match):
    with pytest.raises(ValueError, match=match):
        SoftBCFW(**options).check()
