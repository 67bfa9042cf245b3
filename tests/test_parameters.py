"""Parameters are declared with their constraints; a class of the user may declare its own.

What scikit-learn expects of them is checked for every estimator in tests/estimators/test_common.py.
"""

from typing import Literal

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import InvalidParameterError, StrOptions

from sskit import SequenceTagger
from sskit._parameters import AT_LEAST_ONE, parameter, parameters


@parameters
class Base(BaseEstimator):
    size: int = parameter(AT_LEAST_ONE, default=1, kw_only=False)


@parameters
class Mixin:
    depth: int = parameter(AT_LEAST_ONE, default=2)


@parameters
class Derived(Mixin, Base):
    what: object = parameter(kw_only=False)
    size: int = parameter(AT_LEAST_ONE, default=7)
    anything: object = parameter(default=None)


def test_parameters_are_those_of_all_bases_and_only_what_is_positional_has_a_place():
    expected = {"size": 7, "depth": 2, "what": "this", "anything": None}
    assert vars(Derived("this")) == clone(Derived("this")).get_params() == expected
    assert not hasattr(Derived, "size") and len({Base(3), Base(3)}) == 2
    for given, message in (((), "'what'"), (("this", 3), "positional")):
        with pytest.raises(TypeError, match=message):
            Derived(*given)
    for wrong in ({"size": 0}, {"depth": 0}):
        with pytest.raises(InvalidParameterError, match=f"'{next(iter(wrong))}' parameter"):
            Derived("this", **wrong)._validate_params()


def test_strings_are_those_that_the_annotation_lists():
    @parameters
    class Named(BaseEstimator):
        form: "Literal['one', 'two'] | None" = parameter(None, default="one")  # noqa: F821
        own: 'Literal["three"]' = parameter(StrOptions({"four"}), default="four")  # noqa: F821
        evaluated: Literal["one"] | None = parameter(None, default=None)

    assert Named(form="two", own="four", evaluated="one")._validate_params() is None
    for wrong, message in (
        ({"form": "three"}, r"a str among \{'one', 'two'\} or None"),
        ({"evaluated": "two"}, r"a str among \{'one'\} or None"),
        ({"own": "three"}, r"a str among \{'four'\}"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            Named(**wrong)._validate_params()
    every = {"steps": "fw", "surrogate": "log", "on_violation": "repair", "kernel": "rbf"}
    for name, value in every.items():
        assert any(
            value in allowed.options
            for allowed in SequenceTagger._parameter_constraints[name]
            if isinstance(allowed, StrOptions)
        )


def test_a_class_of_the_user_may_have_a_constructor_or_a_default_of_its_own():
    class Quick(SequenceTagger):
        def __init__(self, lam=0.5, words=()):
            super().__init__(lam, max_iter=3)
            self.words = words

    found = clone(Quick(words=("a",)))
    assert found.get_params() == {"lam": 0.5, "words": ("a",)}
    assert (found.max_iter, found.kernel) == (3, "linear")

    @parameters
    class Careful(SequenceTagger):
        tol: float = parameter(default=1e-4)

    assert SequenceTagger().tol == 0.02
    assert clone(Careful(order=2)).get_params() == SequenceTagger(order=2, tol=1e-4).get_params()


def test_errors_list_options_in_order():
    with pytest.raises(InvalidParameterError, match="among {'hamming', 'hamming_sum'}, an array"):
        SequenceTagger(loss="other")._validate_params()
    with pytest.raises(
        InvalidParameterError, match="{'auto', 'bcfw', 'cutting_plane', 'expon.*'ss"
    ):
        SequenceTagger(solver="other")._validate_params()
