"""Laws on which training relies, tried on what you write: structures in Python, compiled problems.

Each check raises an error that says what is wrong and where. Nothing else of the package imports
this one.
"""

from sskit.testing.problem_checks import check_problem
from sskit.testing.structure_checks import check_structure

__all__ = ["check_problem", "check_structure"]
