"""Parameters of estimators and solvers, each declared once: its default and its constraints."""

import re
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from sskit._types import dataclass_transform


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


TRUTH = Options(bool, {True, False})
# of estimators, to which True is 1, as to those of scikit-learn
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
COUNT = Number(Integral, 1, None, closed="left")
NATURAL = Number(Integral, 0, None, closed="left")
NON_NEGATIVE = Number(Real, 0, None, closed="left")
POSITIVE = Number(Real, 0, None, closed="neither")
POSITIVE_OR_INFINITE = Number(Real, 0, None, closed="right")
FRACTION = Number(Real, 0, 1, closed="neither")
# Values of n_jobs, in terms of scikit-learn's validation
JOBS = None, Number(Integral, None, -1, closed="right"), COUNT
# Marks a parameter without a default.
REQUIRED = object()
Class = TypeVar("Class")


def parameter(*allowed: object, default: object = REQUIRED, kw_only: bool = True) -> Any:
    """Return the declaration of a parameter.

    Type checkers read `default` and `kw_only` from its call, and so know the constructor.

    Parameters
    ----------
    *allowed : object
        What it may be besides the strings that its annotation lists, in the form of scikit-learn's
        `_parameter_constraints`; nothing, and no such string, allows all.
    default : object
        Its value if not given; without one it must be given.
    kw_only : bool, default=True
        Whether it must be given by its name; the first ones may do without.

    Returns
    -------
    field : dataclasses.Field
        For a class that is decorated by `parameters`.
    """
    options = {} if default is REQUIRED else {"default": default}
    return field(**options, kw_only=kw_only, metadata={"allowed": allowed})


def constraints_of(declared):
    """Return the constraints of a declared parameter, in the form of scikit-learn."""
    allowed = list(declared.metadata["allowed"])
    # as text an annotation has no strings but those of a Literal; a class has none
    text = "" if isinstance(declared.type, type) else str(declared.type)
    listed = [name for _, name in re.findall(r"""(["'])(.*?)\1""", text)]
    if listed and not any(isinstance(values, StrOptions) for values in allowed):
        allowed.insert(0, StrOptions(set(listed)))
    for values in allowed:
        if isinstance(values, Options):  # a set, which errors would list in another order each run
            values.options = tuple(sorted(values.options, key=repr))
    return allowed or "no_validation"


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
def parameters(cls: type[Class]) -> type[Class]:
    """Give a class the constructor of its parameters and those of its bases, and their constraints.

    What is annotated in the class is a parameter: types of fitted attributes stand in a base class
    that is not decorated. The strings that a `Literal` of the annotation lists are allowed.

    Parameters
    ----------
    cls : type
        Declares parameters by `parameter`; may declare those of its bases anew.

    Returns
    -------
    cls : type
        The same.
    """
    cls = dataclass(eq=False, repr=False)(cls)
    declared = cls.__dataclass_fields__
    for name in declared.keys() & vars(cls).keys():
        delattr(cls, name)  # the constructor has the default
    cls.__init__.__annotations__ = {}  # help() shows defaults; checkers read the class
    cls._parameter_constraints = {name: constraints_of(own) for name, own in declared.items()}
    return cls


def check_constraints(owner: Any, *names: str) -> None:
    """Raise an error for the first parameter, of some or all, that cannot have its value.

    Parameters
    ----------
    owner : object
        Of a class that is decorated by `parameters`.
    *names : str
        Those to check; none means all.
    """
    constraints = owner._parameter_constraints
    values = {name: getattr(owner, name) for name in names or sorted(constraints)}
    validate_parameter_constraints(constraints, values, type(owner).__name__)
