"""Types of public arguments and results, and what type checkers see of scikit-learn's classes.

Scikit-learn has no types, so that mypy allows anything of a class that inherits from one of its
own: wrong attributes too. Type checkers therefore read stand-ins of the bases with the methods that
users call; the classes themselves have scikit-learn's. Nothing here costs time at import.
"""

import sys
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:
    if sys.version_info >= (3, 11):
        from typing import Self, dataclass_transform
    else:
        Self = Any

        def dataclass_transform(**options):
            """Return a decorator that changes nothing, as the one of later versions."""
            return lambda decorator: decorator


__all__ = [
    "ArrayLike",
    "Average",
    "BaseEstimator",
    "CallbackSupportMixin",
    "ClassifierMixin",
    "Dictionary",
    "Estimator",
    "Folds",
    "HasFit",
    "HasShape",
    "History",
    "MaybeNone",
    "MetaEstimatorMixin",
    "Method",
    "RandomState",
    "RegressorMixin",
    "Samples",
    "Scheme",
    "Scoring",
    "Self",
    "SolverName",
    "StrPath",
    "TransformerMixin",
    "available_if",
    "dataclass_transform",
    "with_callbacks",
]

Method = TypeVar("Method", bound=Callable[..., Any])


class Samples(Protocol):
    """A list, an array or anything else that has a length and items."""

    def __len__(self) -> int: ...

    def __getitem__(self, i: Any, /) -> Any: ...


class HasShape(Protocol):
    """An array, a sparse matrix or a data frame."""

    @property
    def shape(self) -> Any: ...


class HasFit(Protocol):
    """An estimator of any package."""

    @property
    def fit(self) -> Any: ...


class HasSplit(Protocol):
    """A cross-validation splitter."""

    @property
    def split(self) -> Any: ...


class Estimator(HasFit, Protocol):
    """An estimator of any package that can be cloned."""

    @property
    def get_params(self) -> Any: ...


Dictionary: TypeAlias = dict[Any, Any]
# Or a sparse matrix or a data frame; unlike numpy's it is no string.
ArrayLike: TypeAlias = "list[Any] | tuple[Any, ...] | range | HasShape"
Folds: TypeAlias = "int | Iterable[tuple[Any, Any]] | HasSplit"
Scoring: TypeAlias = "str | Callable[..., Any] | None"
RandomState: TypeAlias = "int | np.random.RandomState | None"
StrPath: TypeAlias = "str | PathLike[str]"
History: TypeAlias = "dict[str, np.ndarray]"
Scheme: TypeAlias = Literal["bio", "iob1", "iob2", "bioes", "iobes", "bilou"]
# Of attributes that may be None, for which code need not check.
MaybeNone: TypeAlias = Any
SolverName: TypeAlias = Literal[
    "auto",
    "bcfw",
    "multi_plane",
    "frank_wolfe",
    "subgradient",
    "cutting_plane",
    "gdmm",
    "soft_bcfw",
    "lbfgs",
    "exponentiated_gradient",
    "mpbcfw",
    "fw",
    "ssg",
    "one_slack",
]
Average: TypeAlias = Literal["micro", "macro", "weighted"]

if TYPE_CHECKING:

    class BaseEstimator:
        """Scikit-learn's base of estimators."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def get_metadata_routing(self) -> Any: ...

        def set_fit_request(self, **requests: bool | str | None) -> Self: ...

        def set_partial_fit_request(self, **requests: bool | str | None) -> Self: ...

        def set_predict_request(self, **requests: bool | str | None) -> Self: ...

        def set_predict_proba_request(self, **requests: bool | str | None) -> Self: ...

        def set_decision_function_request(self, **requests: bool | str | None) -> Self: ...

        def set_transform_request(self, **requests: bool | str | None) -> Self: ...

        def set_score_request(self, **requests: bool | str | None) -> Self: ...

        def _repr_html_(self) -> str: ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """Scikit-learn's mixin of classifiers."""

    class RegressorMixin:
        """Scikit-learn's mixin of regressors."""

    class MetaEstimatorMixin:
        """Scikit-learn's mixin of estimators that have others."""

    class TransformerMixin:
        """Scikit-learn's mixin of transformers."""

        def __init_subclass__(cls, auto_wrap_output_keys: Any = ("transform",)) -> None: ...

        def fit_transform(self, X: Any, y: Any = None) -> np.ndarray: ...

        def set_output(self, *, transform: str | None = None) -> Self: ...

    class CallbackSupportMixin:
        """Scikit-learn's mixin of estimators that call callbacks."""

        def set_callbacks(self, *callbacks: Any) -> Self: ...

    def with_callbacks(method: Method) -> Method:
        """Return the method that calls callbacks."""
        ...

    def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
        """Return a decorator; the method is there where a check of the object is true."""
        ...
else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        MetaEstimatorMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import available_if

    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn < 1.9

        class CallbackSupportMixin:
            """Stand-in for scikit-learn's mixin: no ``set_callbacks``."""

        def with_callbacks(method):
            """Return the method as it is."""
            return method
