"""Parameters of the solvers that work factor by factor: what they refuse."""

import numpy as np
import pytest

from sskit.solvers import GDMM, SoftBCFW


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rho": 0.0}, "^rho must be a positive number, got 0.0"),
        ({"rho": np.inf}, "^rho must be a positive number, got inf"),
        ({"step": -1}, "^step must be a positive number"),
        ({"step": np.inf}, "^step must be a positive number, got inf"),
        ({"method": "fw"}, "^method must be one of 'auto', 'afw', 'bgcd'"),
        ({"partitions": 0}, "^partitions must be a positive integer"),
        ({"partitions": "many"}, "^partitions must be a positive integer"),
        ({"ordered": "yes"}, "^ordered must be one of 'auto', True, False"),
        ({"block_sweeps": 0}, "^block_sweeps must be a positive integer"),
        ({"stored_passes": -1}, "^stored_passes must be an integer >= 0"),
        ({"gap_every": 0}, "^gap_every must be a positive integer or None"),
        ({"max_time": 0}, "^max_time must be a positive number or None"),
    ],
)
def test_bad_parameters_of_gdmm(options, match):
    with pytest.raises(ValueError, match=match):
        GDMM(**options).check()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"rho": 0.0}, "^rho must be a positive number, got 0.0"),
        ({"rho": np.inf}, "^rho must be a positive number, got inf"),
        ({"growth": True}, "^growth must be a number that is at least 1, got True"),
        ({"growth": 0.5}, "^growth must be a number that is at least 1, got 0.5"),
        ({"growth": np.nan}, "^growth must be a number that is at least 1, got nan"),
        ({"growth": np.inf}, "^growth must be a number that is at least 1, got inf"),
        ({"growth": "fast"}, "^growth must be a number that is at least 1, got 'fast'"),
        ({"steps": "pairwise"}, "^steps must be one of 'fw', 'away'"),
        ({"gap_every": None}, "^gap_every must be a positive integer, got None"),
        ({"exact": 1}, "^exact must be one of True, False"),
        ({"max_time": 0}, "^max_time must be a positive number or None"),
    ],
)
def test_bad_parameters_of_soft_bcfw(options, match):
    with pytest.raises(ValueError, match=match):
        SoftBCFW(**options).check()
