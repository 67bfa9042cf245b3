"""What the parameters of solvers may be, in terms of scikit-learn's validation."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, Options, StrOptions


class Number(Interval):
    """An interval without truth values, and without integers beyond all floats if it is real."""

    def is_satisfied_by(self, val):
        """Return whether a value is a number of the interval."""
        if isinstance(val, bool) or not isinstance(val, self.type):
            return False
        try:
            return (val if self.type is Integral else float(val)) in self
        except OverflowError:
            return False


AUTO = StrOptions({"auto"})
TRUTH = Options(bool, {True, False})
COUNT = Number(Integral, 1, None, closed="left")
NATURAL = Number(Integral, 0, None, closed="left")
POSITIVE = Number(Real, 0, None, closed="right")
FINITE = Number(Real, 0, None, closed="neither")
