"""The summary of training data: what is merged of all parts before any is bound."""

from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import add

import numpy as np
import scipy.sparse as sp

from sskit._numbers import shortened
from sskit.core.problem import block_weights
from sskit.inputs.labels.counted import Labels
from sskit.inputs.ragged_array import RaggedArray
from sskit.inputs.stacking import FeatureScale
from sskit.inputs.weights import WeightSums, check_total


class ByClass(dict):
    """Sums over the rows of each class, by class; those of parts of the data add up."""

    def __add__(self, other):
        """Return the sums over the rows of both."""
        both = {label: self[label] + other[label] for label in self.keys() & other.keys()}
        return ByClass({**self, **other, **both})

    def total(self, factors):
        """Return the sum over all classes, with the weights of rows multiplied by a factor each.

        Parameters
        ----------
        factors : dict
            By class.

        Returns
        -------
        total : FeatureScale or ColumnSums
            Of all rows.
        """
        return reduce(add, (sums.weighted(factors[label]) for label, sums in self.items()))


def same(sentence):
    """Return a field of a `Summary` that must be the same in all parts.

    Parameters
    ----------
    sentence : str
        Text of error messages for a part that differs, with places for its value, the number of
        the first part, and the value there.

    Returns
    -------
    field : dataclasses.Field
        With a rule by which it is merged.
    """

    def rule(values, portions, numbers):
        for number, value in zip(numbers, values, strict=True):
            if value != values[0]:
                fault = sentence.format(_told(value), numbers[0], _told(values[0]))
                raise ValueError(f"part {number}: {fault}")
        return values[0]

    return field(metadata={"rule": rule, "same": True})


def united(values, portions, numbers):
    """Return the values of all parts merged: by `merge` of their type, or a sum; or None."""
    if values[0] is None:
        return None
    if isinstance(values[0], frozenset):
        return frozenset().union(*values)
    merge = getattr(values[0], "merge", None)
    return sum(values[1:], values[0]) if merge is None else merge(values, portions, numbers)


def averaged():
    """Return a field of a `Summary` that is averaged by the sample weights of the parts."""

    def rule(values, portions, numbers):
        terms = [(v, portion) for v, portion in zip(values, portions, strict=True) if portion]
        if not terms or terms[0][0] is None:
            return None
        first = terms[0][0]
        if all(np.array_equal(value, first, equal_nan=True) for value, _ in terms):
            return first
        return sum(portion * value for value, portion in terms)

    return field(metadata={"rule": rule})


def _told(value):
    """Return a value for error messages."""
    if isinstance(value, tuple):
        return shortened(value)
    return "none" if value is None else value


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What the binding of any part of training data needs of all data.

    A subclass has further fields: numbers are
    added up, labels and sets united, what `same` or `averaged` makes is the same in all parts or
    averaged, and what is None is None in all. A summary is small, whatever the number of samples.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    weights : WeightSums
        What the sample weights add up to.
    column_sums : ColumnSums or ByClass, default=None
        What decides how columns are scaled; None if they are not.
    sums_before : ColumnSums, default=None
        Those of the steps of `partial_fit` before this one, which decide it too.
    options : Options, default=None
        What the fit has decided, of the summary of all data.
    """

    n_samples: int
    weights: WeightSums
    column_sums: object = None
    sums_before: object = None
    options: object = None

    @classmethod
    def of(cls, n_samples, weight, **others):
        """Return the summary of samples with these weights, and its further fields."""
        return cls(n_samples=n_samples, weights=WeightSums.of(n_samples, weight), **others)

    def block_weights(self, n_samples, weight):
        """Return the weights c_i of samples that are some or all of those of the summary."""
        return block_weights(n_samples, weight, self.weights.largest, self.weights.scaled)

    def with_columns(self, columns):
        """Return the same with `Columns` as an option, or None."""
        return replace(self, options=replace(self.options, columns=columns))

    def check(self):
        """Raise ValueError if the weights of all samples are zero, or sums overflow."""
        check_total(self.weights.largest, self.weights.total)

    def joined(self, parts, portions):
        """Return this summary, merged of all parts, with what follows from several fields.

        Parameters
        ----------
        parts : list of Summary
            Of the parts.
        portions : list of float
            Of the sample weights, of each part.

        Returns
        -------
        summary : Summary
            By default this one.
        """
        return self


@dataclass(frozen=True, kw_only=True)
class RowSummary(Summary):
    """What binding needs of all rows of features, with labels or without.

    Attributes
    ----------
    scale : FeatureScale, ByClass or None
        How large features are, by class if classes have weights; None in a kernel space, where it
        depends on the kernel.
    n_hidden, n_certain : int
        At how many tokens several labels are possible, and at how many one alone.
    """

    n_features: int = same("X has {} features, but part {} has {}")
    labels: Labels | None
    scale: FeatureScale | ByClass | None
    n_hidden: int = 0
    n_certain: int = 0
    feature_names: tuple | None = same("the feature names of X are {}, but those of part {} are {}")

    @classmethod
    def of_rows(cls, data, weight, columns, **others):
        """Return the summary of features, given what `read_columns` does of their columns."""
        n_samples = data.shape[0] if sp.issparse(data) else len(data)
        names = columns.get("feature_names_in_")
        return cls.of(
            n_samples,
            weight,
            n_features=matrices(data)[0].shape[1],
            feature_names=None if names is None else tuple(names),
            **others,
        )

    def attributes(self):
        """Return the fitted attributes that say which labels, and how many features, there are."""
        labels = {} if self.labels is None else {"classes_": self.labels.values}
        return labels | {"n_features_in_": self.n_features}

    def check(self):
        """Raise ValueError if the weights of all samples are zero, or sums overflow."""
        check_total(self.weights.largest, self.weights.total)
        scales = self.scale.values() if isinstance(self.scale, ByClass) else [self.scale]
        if not all(scale is None or np.isfinite(scale.squares) for scale in scales):
            raise ValueError("the features in X are too large: their squares overflow in sum")


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Training data, or a part of them, validated and packed; families may have further fields.

    Attributes
    ----------
    data : RaggedArray, GraphBatch, ndarray or CSR matrix
        Features, as the model takes them.
    target : object
        What is to be predicted, in a record of the family.
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    summary : Summary
        What other parts, or the whole fit, need of these data.
    columns : dict, default=None
        Fitted attributes that tell what the features are; None if there are no columns.
    compared : list of ndarray, default=None
        Matrices by whose squares columns are compared; None: the features.
    """

    data: object
    target: object
    weight: np.ndarray | None
    summary: Summary
    columns: dict | None = None
    compared: list | None = None


def matrices(data):
    """Return the matrices of features in checked data, as a list; there may be none."""
    if isinstance(data, RaggedArray):
        return [data.values]
    return [] if data is None else list(getattr(data, "features", [data]))


def with_matrices(data, features):
    """Return checked data with other matrices of features."""
    if isinstance(data, RaggedArray):
        return RaggedArray(features[0], data.offsets)
    if not hasattr(data, "features"):
        return features[0]
    data = copy(data)
    data.features = features
    return data


def merge_summaries(summaries):
    """Return the summary of all data from the summaries of their parts, in the order of the parts.

    Parameters
    ----------
    summaries : list of Summary or None
        None for a part without samples.

    Returns
    -------
    summary : Summary
        That of a single part is returned as it is.

    Raises
    ------
    ValueError
        If all parts are empty; naming the first part that differs from the first one where all
        must be the same.

    Examples
    --------
    >>> from sskit import StructSVMClassifier
    >>> from sskit.estimators.reading.summary import merge_summaries
    >>> model = StructSVMClassifier()
    >>> parts = [([[1.0, 2.0]], [0]), ([[3.0, 4.0]], [1])]
    >>> summaries = [model._read_data(X, y, None, part=True).summary for X, y in parts]
    >>> summary = merge_summaries(summaries)
    >>> summary.n_samples, summary.labels.values.tolist()
    (2, [0, 1])
    """
    numbers = [number for number, summary in enumerate(summaries) if summary is not None]
    filled = [summaries[number] for number in numbers]
    if not filled:
        raise ValueError("all parts are empty, but at least one sample is needed")
    if len(filled) == 1:
        return filled[0]
    largest = max(part.weights.largest for part in filled)
    relative = np.array([part.weights.relative_to(largest) for part in filled])
    portions = (relative / relative.sum()).tolist() if largest else [0.0] * len(filled)
    # the form of the others may depend on what must be the same
    merged = {
        each.name: each.metadata.get("rule", united)(
            [getattr(part, each.name) for part in filled], portions, numbers
        )
        for each in sorted(fields(filled[0]), key=lambda each: "same" not in each.metadata)
    }
    return replace(filled[0], **merged).joined(filled, portions)
