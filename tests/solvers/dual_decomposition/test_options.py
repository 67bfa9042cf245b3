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
        ({"momentum": 1.0}, "'momentum' parameter .* float in the range .0.*, 1.*. Got 1.0"),
        ({"momentum": -0.1}, "'momentum' parameter .* float in the range .0.*, 1.*. Got -0.1"),
        ({"momentum": "some"}, "'momentum' parameter .* Got 'some'"),
        ({"step": -1}, "'step' parameter .* float in the range .0.0, inf"),
        ({"step": np.inf}, "'step' parameter .* float in the range .0.0, inf.* Got inf"),
        ({"method": "fw"}, "'method' parameter .* str among"),
        ({"partitions": 0}, "'partitions' parameter .* int in the range .1,"),
        ({"partitions": "many"}, "'partitions' parameter .* int in the range .1,"),
        ({"ordered": "yes"}, "'ordered' parameter .* str among .* bool among"),
        ({"block_sweeps": 0}, "'block_sweeps' parameter .* int in the range .1,"),
        ({"stored_passes": -1}, "'stored_passes' parameter .* int in the range .0,"),
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
        ({"growth": True}, "'growth' parameter .* float in the range .1.0, inf.* Got True"),
        ({"growth": 0.5}, "'growth' parameter .* float in the range .1.0, inf.* Got 0.5"),
        ({"growth": np.nan}, "'growth' parameter .* float in the range .1.0, inf.* Got nan"),
        ({"growth": np.inf}, "'growth' parameter .* float in the range .1.0, inf.* Got inf"),
        ({"growth": "fast"}, "'growth' parameter .* float in the range .1.0, inf.* Got 'fast'"),
        ({"steps": "pairwise"}, "'steps' parameter .* str among"),
        ({"gap_every": None}, "'gap_every' parameter .* int in the range .1,.* Got None"),
        ({"exact": 1}, "'exact' parameter .* bool among"),
        ({"max_time": 0}, "'max_time' parameter .* float in the range .0.0, inf. or None"),
    ],
)
def test_bad_parameters_of_soft_bcfw(options, match):
    with pytest.raises(ValueError, match=match):
        SoftBCFW(**options).check()
