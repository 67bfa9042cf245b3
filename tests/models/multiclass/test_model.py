"""Ties of the multiclass model go to the truth, then to the smallest class or component."""

import numpy as np
from helpers.toys import bind_components, bind_rows

from sskit.testing.probe import ProblemProbe


def test_ties_go_to_the_truth_then_to_the_smallest_class():
    for toy, expected in [
        (bind_rows(np.ones((3, 2)), [2, 0, 1], 4), [([0], 1.0), ([1], 1.0), ([0], 1.0)]),
        # the second and the third are components of one class
        (bind_components(np.ones((3, 2)), [2, 0, 1], 3), [([0], 1.0), ([1], 1.0), ([0], 1.0)]),
    ]:
        probe, flat = ProblemProbe(toy.problem), np.zeros(toy.problem.max_statistics)
        assert [probe.argmax(i, flat, 0.0) for i in range(3)] == [([k], 0.0) for k in (2, 0, 1)]
        assert [probe.argmax(i, flat, 1.0) for i in range(3)] == expected
