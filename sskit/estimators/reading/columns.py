"""Names of the columns of training data, and how tokens that are dicts get columns."""

import copy

import numpy as np
from sklearn.utils.validation import _get_feature_names

from sskit._numbers import shortened
from sskit.inputs.frames import is_frame
from sskit.inputs.ragged import ready_sequence
from sskit.inputs.ragged_array import SoundArray
from sskit.inputs.rows import check_rows
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.inputs.tokens import holds_objects


def column_names(items, where="X"):
    """Return the names of the columns of data frames, or None if items are something else.

    Parameters
    ----------
    items : object
        Matrices as users give them, one for each sequence or tree, or tuples that begin with one.
    where : str, default="X"
        What error messages call them.

    Returns
    -------
    names : ndarray of shape (n_features,), object, or None
        None unless all are data frames with columns that are called by strings.

    Raises
    ------
    ValueError
        Naming the first data frame whose columns differ from those of the first one.
    """
    if not isinstance(items, (list, tuple)) or not items or not is_frame(_features(items[0])):
        return None
    frames = [_features(item) for item in items]
    first = _get_feature_names(frames[0])
    if first is None or not all(map(is_frame, frames)):
        return None
    for i, frame in enumerate(frames):
        # other numbers of columns are refused by validation
        if frame.shape[1] == len(first) and list(frame.columns) != first.tolist():
            raise ValueError(
                f"the columns of {where}[{i}] are {shortened(list(frame.columns))}, but those of "
                f"{where}[0] are {shortened(first.tolist())}"
            )
    return first


def edge_column_names(X, where="the edge features of X"):
    """Return the names of the columns of the edge features of pairs, or None, as `column_names`.

    Parameters
    ----------
    X : object
        Pairs (features, edge_features) as users give them. A sequence of one token has no edges,
        and may have anything that is empty.
    where : str, default="the edge features of X"
        What error messages call the edge features.

    Returns
    -------
    names : ndarray of shape (n_edge_features,), object, or None
        As of `column_names`.

    Raises
    ------
    ValueError
        As `column_names`.
    """
    items = X if isinstance(X, (list, tuple)) else ()
    edges = [item[1] for item in items if isinstance(item, tuple) and len(item) == 2]
    first = next(filter(is_frame, edges), None)
    if first is None:
        return None
    # what is empty has no names that could differ
    named = [item if is_frame(item) or np.size(item) else first for item in edges]
    return column_names(named, where)


def check_columns(names, expected, estimator_name, where="X"):
    """Raise ValueError if names of columns, where there are some, are not those of the fit."""
    if expected is not None and names is not None and names.tolist() != list(expected):
        raise ValueError(
            f"the columns of {where} are {shortened(names.tolist())}, but {estimator_name} was "
            f"fitted to {shortened(list(expected))}, in this order"
        )


def _features(item):
    """Return the features of an item that has further parts, or the item itself."""
    if isinstance(item, tuple) and item:
        return item[0]
    is_tree = hasattr(item, "parents") and not is_frame(item)
    return getattr(item, "features", item) if is_tree else item


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
        rows = _vectorizer(estimator)._transform(tokens, SoundArray)
        vectorizer, names = estimator.vectorizer_, estimator.feature_names_in_
        columns = {"feature_names_in_": names, "vectorizer_": vectorizer}
        return rows if tokens is X else put_back(rows, X), columns
    # the names of features are those of a fitted prior, which are aligned by them
    before = getattr(getattr(estimator, "prior", None), "vectorizer_", None)
    vectorizer = TokenVectorizer(separator=getattr(before, "separator", "="))
    rows = vectorizer._fit(tokens, SoundArray)  # made ready after the fit, which needs memory
    halve(rows.values)
    names = np.array(vectorizer.feature_names_, dtype=object)
    rows = rows if tokens is X else put_back(rows, X)
    return rows, {"feature_names_in_": names, "vectorizer_": vectorizer}


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


def tokens_of(X, trees=False):
    """Return the tokens of sequences, or of the features of pairs or trees; None if these are rows.

    Parameters
    ----------
    X, trees : object
        As of `read_columns`.

    Returns
    -------
    tokens : object
        X itself if it is sequences of tokens.
    """
    if not trees and holds_objects(X):
        return X
    if not isinstance(X, (list, tuple)) or not (trees or any(isinstance(x, tuple) for x in X)):
        return None
    first = [_features(item) for item in X]
    return first if holds_objects(first) else None


def put_back(rows, X):
    """Return pairs or trees X with rows in the place of the tokens of their features."""
    further = (
        item[1:] if isinstance(item, tuple) else (item.parents, getattr(item, "kinds", None))
        for item in X
    )
    return [
        (row, *(part for part in parts if part is not None))
        for row, parts in zip(rows, further, strict=True)
    ]
