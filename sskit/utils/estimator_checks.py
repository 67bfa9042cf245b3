"""Checks that every estimator of sequences should pass, in the manner of scikit-learn's.

scikit-learn's own ``check_estimator`` tries two-dimensional data only. An estimator here takes a
list of matrices (T_i, p), or an object array, a 3-D array, a RaggedArray ... of such, and a list
of label sequences (T_i,), and its tags say ``input_tags.two_d_array = False``.
"""

from sskit.utils import _ragged_checks, _ragged_input_checks, _ragged_tool_checks  # noqa: F401
from sskit.utils._checking import CHECKS

__all__ = ["check_ragged_estimator", "ragged_estimator_checks"]


def check_ragged_estimator(estimator, *, X=None, y=None):
    """Check that an estimator of sequences does what scikit-learn and its users expect.

    Parameters
    ----------
    estimator : estimator object
        What to check. It is cloned, never fitted itself. Its parameters should let it converge
        on the data without a warning.
    X : sequence of n_samples matrices (T_i, n_features), default=None
        Data to use, twelve or more short sequences. None takes 18 chains of three states.
    y : sequence of n_samples label sequences (T_i,), default=None
        Their labels.

    Raises
    ------
    AssertionError
        From the first check that fails, saying what was found.
    ValueError
        If one of `X` and `y` is given without the other.

    See Also
    --------
    ragged_estimator_checks : The checks one by one, for parametrized tests.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.utils.estimator_checks import check_ragged_estimator
    >>> check_ragged_estimator(SequenceTagger())
    """
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, or neither")
    for check in ragged_estimator_checks():
        check(estimator, X, y)


def ragged_estimator_checks():
    """Return the checks of `check_ragged_estimator` one by one.

    Returns
    -------
    checks : list of callables
        Each is called with an estimator and, if wanted, X and y, and raises AssertionError if it
        fails. Its ``__name__`` says what it looks at, its docstring what must hold.

    See Also
    --------
    check_ragged_estimator : All of them at once.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.utils.estimator_checks import ragged_estimator_checks
    >>> for check in ragged_estimator_checks():
    ...     if "pickle" in check.__name__:
    ...         check(SequenceTagger())

    In a test file:

    >>> import pytest
    >>> @pytest.mark.parametrize("check", ragged_estimator_checks(), ids=lambda c: c.__name__)
    ... def test_ragged(check):
    ...     check(SequenceTagger())
    """
    return list(CHECKS)
