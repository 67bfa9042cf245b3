"""What the columns of training data are, and how tokens that are dicts come to have some."""

from typing import NamedTuple

import numpy as np

from sskit._numbers import shortened
from sskit.estimators.reasons.column_names import check_column_names, column_names
from sskit.inputs.ragged_array import SoundArray
from sskit.inputs.tokens import holds_objects

# What fitted attributes of theirs are called.
COLUMNS = ("feature_names_in_", "vectorizer_")


class Columns(NamedTuple):
    """What the columns of features are.

    Attributes
    ----------
    names : ndarray of shape (n_features,), object, or None
        Their names, if data came with some.
    vectorizer : TokenVectorizer or None
        What made them of tokens that are dicts or lists of strings.
    """

    names: np.ndarray | None = None
    vectorizer: object = None

    def listed(self):
        """Return the names as a tuple, or None."""
        return None if self.names is None else tuple(self.names)

    def attributes(self):
        """Return fitted attributes by name."""
        return {name: value for name, value in zip(COLUMNS, self, strict=True) if value is not None}


def read_columns(estimator, X, part=False):
    """Return training data as matrices, and what their columns are.

    Parameters
    ----------
    estimator : StructuredEstimator
        What is to be fitted. If X is a part of the data, and it has a vectorizer, that stays.
    X : object
        Sequences as users give them.
    part : bool, default=False
        Whether this is a part of the data.

    Returns
    -------
    X : object
        The same, or rows of the tokens.
    columns : Columns
        Of these.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be; or if a fit that was
        before cannot go on with the features of these tokens.
    """
    if not holds_objects(X):
        return X, Columns(column_names(X))
    last = vars(estimator).get("vectorizer_")
    if part and "n_features_in_" in vars(estimator):
        _check_has_vectorizer(estimator)
        return last.transform(X), Columns(estimator.feature_names_in_, last)
    from sskit.preprocessing import TokenVectorizer

    vectorizer = TokenVectorizer()
    rows = vectorizer.fit_transform(X)
    if estimator.warm_start and last is not None and "_warm_start" in vars(estimator):
        _check_goes_on(last.feature_names_, vectorizer.feature_names_)
    return rows, Columns(vectorizer.get_feature_names_out(), vectorizer)


def _check_goes_on(before, now):
    """Raise ValueError unless the features of a warm start are those of the last fit."""
    if before != now:
        new = sorted(set(now) - set(before)) or sorted(set(before) - set(now))
        raise ValueError(
            f"warm_start=True cannot continue the last fit, because the tokens of X have "
            f"{len(now)} features, and had {len(before)}, without or with {shortened(new)}; take "
            "prior=, which aligns features by their names, or set warm_start=False to start anew"
        )


def _check_has_vectorizer(estimator):
    """Raise TypeError if a fitted estimator does not know how to make rows of tokens."""
    if "vectorizer_" not in vars(estimator):
        name = type(estimator).__name__
        raise TypeError(
            f"X has tokens that are dicts or strings, but this {name} was fitted to matrices: make "
            "them with the sskit.preprocessing.TokenVectorizer of the fit"
        )


def as_fitted(estimator, X):
    """Return sequences for a fitted estimator as matrices, with the columns that it knows.

    Parameters
    ----------
    estimator : StructuredEstimator
        Fitted.
    X : object
        Sequences as users give them.

    Returns
    -------
    X : object
        The same, or rows of the tokens.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be, or columns of data frames
        that are not those of the fit.
    """
    fitted = vars(estimator)
    if holds_objects(X):
        _check_has_vectorizer(estimator)
        return fitted["vectorizer_"]._transform(X, SoundArray)
    check_column_names(X, fitted.get("feature_names_in_"), type(estimator).__name__)
    return X
