"""The columns of training data, and what a fitted estimator makes of tokens that have none."""

import copy

import numpy as np

from sskit.inputs.frames import check_columns, column_names
from sskit.inputs.ragged import ready_sequence
from sskit.inputs.ragged_array import SoundArray
from sskit.inputs.rows import check_rows
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.inputs.tokens import put_back, tokens_of


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
    columns : dict
        Fitted attributes that tell what these are.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be; or if a fit that was
        before cannot go on with the features of these tokens.
    """
    tokens = tokens_of(X, trees)
    if tokens is None:
        names = column_names(X)
        return X, {} if names is None else {"feature_names_in_": names}
    if part and "n_features_in_" in vars(estimator):
        vectorizer = _vectorizer(estimator)
        rows, names = vectorizer._transform(tokens, SoundArray), estimator.feature_names_in_
    else:
        # the names of features are those of a fitted prior, which are aligned by them
        before = getattr(getattr(estimator, "prior", None), "vectorizer_", None)
        vectorizer = TokenVectorizer(separator=getattr(before, "separator", "="))
        rows = vectorizer._fit(tokens, SoundArray)  # made ready after the fit, which needs memory
        halve(rows.values)
        names = np.array(vectorizer.feature_names_, dtype=object)
    columns = {"feature_names_in_": names, "vectorizer_": vectorizer}
    return rows if tokens is X else put_back(rows, X), columns


def halve(rows):
    """Let the numbers of a CSR matrix be float32 if all of them are such: ones mostly are."""
    singles = rows.data.astype(np.float32)
    if np.array_equal(singles, rows.data):
        rows.data = singles


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
    columns : dict
        Fitted attributes that tell what the columns are.
    """
    probe = copy.copy(estimator)
    X, y = check(probe, X, y, **options)
    names = getattr(probe, "feature_names_in_", None)
    return X, y, {} if names is None else {"feature_names_in_": names}


def _vectorizer(estimator):
    """Return what makes rows of tokens, or raise TypeError if a fitted estimator has none."""
    if "vectorizer_" not in vars(estimator):
        name = type(estimator).__name__
        raise TypeError(
            f"X has tokens that are dicts or strings, but this {name} was fitted to matrices: make "
            "them with the sskit.preprocessing.TokenVectorizer of the fit"
        )
    return estimator.vectorizer_


def as_fitted(estimator, X, trees=False):
    """Return sequences for a fitted estimator as matrices, with its columns.

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
        return ready  # the most frequent request
    tokens = tokens_of(X, trees)
    if tokens is not None:
        rows = _vectorizer(estimator)._transform(tokens, SoundArray)
        return rows if tokens is X else put_back(rows, X)
    names = fitted.get("feature_names_in_")
    if names is not None:
        check_columns(column_names(X), names, type(estimator).__name__)
    return X
