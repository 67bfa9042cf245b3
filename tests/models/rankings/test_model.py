"""Sets of rows bound to data refuse codes that are none of theirs."""

import numpy as np
import pytest

from sskit.models.rankings.model import RankingModel
from sskit.testing.probe import ProblemProbe


def test_codes_from_elsewhere():
    problem = RankingModel(2).bind(np.ones((3, 2)), [0, 3], np.array([1, 0, 0]), np.ones(1))
    probe = ProblemProbe(problem)
    code, _ = probe.argmax(0, np.zeros(problem.max_statistics))
    for right in (np.zeros(3, dtype=np.int32), np.array(code, dtype=np.int32)):
        probe.plane(0, right)
    for wrong in ([1, 0, 0], [3, 0, -3], [0, -1, 1]):
        with pytest.raises(ValueError, match="has no plane of the code"):
            probe.plane(0, np.array(wrong, dtype=np.int32))
