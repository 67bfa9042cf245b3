"""Tests of the laws on which training relies, for structures in Python and compiled problems.

Each check raises an error that names what is wrong and where.
"""

from sskit.testing.problem_checks import check_problem
from sskit.testing.structure_checks import check_structure

__all__ = ["check_problem", "check_structure"]
