"""What the columns of training data are, and how tokens that are dicts come to have some."""

import copy
from typing import NamedTuple

import numpy as np

from sskit._numbers import shortened
from sskit.estimators.reasons.column_names import (
    check_columns,
    column_names,
    features_of_trees,
)
from sskit.inputs.ragged import ready_sequence
from sskit.inputs.ragged_array import SoundArray
from sskit.inputs.rows import check_rows
from sskit.inputs.tokens import holds_objects


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
        found = {"feature_names_in_": self.names, "vectorizer_": self.vectorizer}
        return {name: value for name, value in found.items() if value is not None}


def read_columns(estimator, X, part=False, trees=False):
    """Return training data as matrices, and what their columns are.

    Parameters
    ----------
    estimator : StructuredEstimator
        What is to be fitted. If X is a part of the data, and it has a vectorizer, that stays.
    X : object
        Sequences as users give them, pairs with features of edges, or trees.
    part : bool, default=False
        Whether this is a part of the data.
    trees : bool, default=False
        Whether X is trees.

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
    given = features_of_trees(X) if trees else X
    tokens = tokens_of(given)
    if tokens is None:
        return X, Columns(column_names(given))
    last = vars(estimator).get("vectorizer_")
    if part and "n_features_in_" in vars(estimator):
        _check_has_vectorizer(estimator)
        return put_back(last.transform(tokens), X, tokens), Columns(
            estimator.feature_names_in_, last
        )
    from sskit.preprocessing import TokenVectorizer

    vectorizer = TokenVectorizer()
    rows = vectorizer.fit_transform(tokens)
    if estimator.warm_start and last is not None and "_warm_start" in vars(estimator):
        _check_goes_on(last.feature_names_, vectorizer.feature_names_)
    return put_back(rows, X, tokens), Columns(vectorizer.get_feature_names_out(), vectorizer)


def read_rows(estimator, X, y, check=check_rows, **options):
    """Return rows and their target as `check_rows` does, and what their columns are.

    Parameters
    ----------
    estimator : StructuredEstimator
        What is to be fitted; not changed.
    X, y : object
        As users give them.
    check : callable, default=check_rows
        Takes an estimator, X, y and options.
    **options : object
        Further ones of `check`.

    Returns
    -------
    X, y : object
        Checked.
    columns : Columns
        What is known of the columns of X.
    """
    probe = copy.copy(estimator)
    X, y = check(probe, X, y, **options)
    return X, y, Columns(getattr(probe, "feature_names_in_", None))


def _check_goes_on(before, now):
    """Raise ValueError unless the features of a warm start are those of the last fit."""
    new, gone = (sorted(set(a) - set(b)) for a, b in ((now, before), (before, now)))
    if new or gone:
        raise ValueError(
            "warm_start=True cannot continue the last fit, because the tokens of X have "
            + (f"the new features {shortened(new)}" if new else f"no features {shortened(gone)}")
            + "; set prior= to that fit, which aligns features by their names, or "
            "warm_start=False to start anew"
        )


def _check_has_vectorizer(estimator):
    """Raise TypeError if a fitted estimator does not know how to make rows of tokens."""
    if "vectorizer_" not in vars(estimator):
        name = type(estimator).__name__
        raise TypeError(
            f"X has tokens that are dicts or strings, but this {name} was fitted to matrices: make "
            "them with the sskit.preprocessing.TokenVectorizer of the fit"
        )


def as_fitted(estimator, X, trees=False):
    """Return sequences for a fitted estimator as matrices, with the columns that it knows.

    Parameters
    ----------
    estimator : StructuredEstimator
        Fitted.
    X, trees : object
        As of `read_columns`.

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
    ready = None if trees else ready_sequence(X, fitted.get("n_features_in_"))
    if ready is not None:
        return ready  # what is served most
    given = features_of_trees(X) if trees else X
    tokens = tokens_of(given)
    if tokens is not None:
        _check_has_vectorizer(estimator)
        return put_back(fitted["vectorizer_"]._transform(tokens, SoundArray), X, tokens)
    names = fitted.get("feature_names_in_")
    if names is not None:
        check_columns(column_names(given), names, type(estimator).__name__)
    return X


def tokens_of(given):
    """Return the tokens of sequences, or of the features of pairs or trees; None if these are rows.

    Parameters
    ----------
    given : object
        As users give it; trees as of `features_of_trees`.

    Returns
    -------
    tokens : object
        The same if it is sequences of tokens.
    """
    if holds_objects(given):
        return given
    if not isinstance(given, (list, tuple)) or not any(isinstance(x, tuple) for x in given):
        return None
    first = [item[0] if isinstance(item, tuple) and item else item for item in given]
    return first if holds_objects(first) else None


def put_back(rows, X, tokens):
    """Return rows in the place of the tokens that `tokens_of` found in X."""
    if tokens is X:
        return rows
    further = (
        item[1:] if isinstance(item, tuple) else (item.parents, getattr(item, "kinds", None))
        for item in X
    )
    return [
        (row, *(part for part in parts if part is not None))
        for row, parts in zip(rows, further, strict=True)
    ]
