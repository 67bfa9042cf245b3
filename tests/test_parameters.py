"""Parameters are those that a class and its bases declare, with their constraints."""

import inspect
import pickle

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import InvalidParameterError, StrOptions

from sskit import SequenceTagger
from sskit._parameters import AT_LEAST_ONE, parameter, parameters


@parameters
class Base(BaseEstimator):
    size: int = parameter(AT_LEAST_ONE, default=1, kw_only=False)
    form: str = parameter(StrOptions({"round", "square"}), default="round")


@parameters
class Mixin:
    depth: int = parameter(AT_LEAST_ONE, default=2)


@parameters
class Derived(Mixin, Base):
    what: object = parameter(kw_only=False)
    size: int = parameter(AT_LEAST_ONE, default=7)
    anything: object = parameter(default=None)


def test_parameters_of_all_bases():
    found = Derived("this", form="square")
    expected = {"size": 7, "form": "square", "depth": 2, "what": "this", "anything": None}
    for same in (found, clone(found), pickle.loads(pickle.dumps(found))):
        assert vars(same) == same.get_params() == expected
    assert Base().get_params() == {"size": 1, "form": "round"}
    assert repr(found) == "Derived(form='square', what='this')"
    # classes keep no defaults, and objects their identity
    assert not hasattr(Base, "form") and not hasattr(Derived, "size")
    assert Base() != Base() and len({Base(), Base()}) == 2


def test_only_what_is_positional_has_a_place():
    kinds = inspect.signature(Derived).parameters.values()
    assert [p.name for p in kinds if p.kind is p.POSITIONAL_OR_KEYWORD] == ["what"]
    for given, message in (((), "'what'"), (("this", 3), "positional")):
        with pytest.raises(TypeError, match=message):
            Derived(*given)


def test_constraints_are_those_of_the_class_that_declares_last():
    Derived("this")._validate_params()
    for wrong in ({"size": 0}, {"depth": 0}, {"form": "flat"}):
        with pytest.raises(InvalidParameterError, match=f"'{next(iter(wrong))}' parameter"):
            Derived("this", **wrong)._validate_params()


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
