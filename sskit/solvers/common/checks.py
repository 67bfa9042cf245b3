"""What the parameters of solvers may be, in terms of scikit-learn's validation."""

from numbers import Integral, Real

from sklearn.utils._param_validation import Options, StrOptions

from sskit._numbers import Number

AUTO = StrOptions({"auto"})
TRUTH = Options(bool, {True, False})
COUNT = Number(Integral, 1, None, closed="left")
NATURAL = Number(Integral, 0, None, closed="left")
POSITIVE = Number(Real, 0, None, closed="right")
FINITE = Number(Real, 0, None, closed="neither")
