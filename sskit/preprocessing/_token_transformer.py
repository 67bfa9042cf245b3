"""TokenTransformer: transformers of scikit-learn applied to the rows of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.utils import get_tags
from sklearn.utils.validation import _estimator_has, check_is_fitted

from sskit._numbers import shown
from sskit._parameters import parameter, parameters
from sskit._public import PublicMixin
from sskit._types import (
    ArrayLike,
    BaseEstimator,
    Estimator,
    Samples,
    Self,
    TransformerMixin,
    available_if,
)
from sskit.inputs.ragged import check_filled, stack_labels
from sskit.inputs.ragged_array import RaggedArray, make_offsets
from sskit.inputs.stacking import check_finite, sound_csr, stack_csr
from sskit.inputs.token_rows import TokenColumns, read_rows
from sskit.inputs.tokens import as_sentences, stack_tokens
from sskit.preprocessing._edge_templates import edge_dicts, fit_edges, parse_templates

if TYPE_CHECKING:
    from sskit.inputs.token_vectorizer import TokenVectorizer


_inner_has = partial(_estimator_has, delegates=("transformer_", "transformer"))


# No set_output: a RaggedArray is not a data frame.
class FittedTransformer:
    """Types of the attributes that a fitted `TokenTransformer` has."""

    transformer_: Any
    edge_vectorizer_: TokenVectorizer | None
    n_features_in_: int


@parameters
class TokenTransformer(
    FittedTransformer, PublicMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Apply a transformer of rows to the tokens of sequences.

    The tokens of all sequences are stacked and given to the inner transformer as its samples, and
    the resulting rows are split into the sequences they came from.

    Parameters
    ----------
    transformer : estimator with ``fit`` and ``transform``
        Any scikit-learn transformer that keeps the number of rows: StandardScaler,
        DictVectorizer, FeatureHasher, SelectKBest, a Pipeline of such, ... Cloned before fit.
    edges : str or list of str, default=None
        Templates of features of edges, from each token to the next one, for the transitions of
        `SequenceTagger`. A template such as "word[-1]|word[0]" joins attributes of tokens around
        the edge, at positions relative to its second token: strings become a feature for each
        combination that occurs in fit, "+word[-1]|word[0]=the|dog", and numbers are multiplied. An
        edge that lacks a term has no such feature. Tokens are dicts; strings, which are an
        attribute without a name, "[-1]|[0]"; or lists of strings such as "word=the". None makes no
        features of edges.

    Attributes
    ----------
    transformer_ : estimator
        The fitted inner transformer.
    edge_vectorizer_ : TokenVectorizer or None
        The vectoriser of features of edges; None without `edges`.
    n_features_in_ : int
        The number of columns of the tokens, if the inner transformer counts them.

    Notes
    -----
    Sequences may be matrices of shape (T_i, p), dense or sparse, data frames, a 3-D array, a
    RaggedArray, or lists of tokens in the form of samples of the inner transformer: dicts for
    DictVectorizer, lists of strings for FeatureHasher, strings for CountVectorizer. NaN is passed
    to an inner transformer that allows it.

    Examples
    --------
    >>> from sklearn.feature_extraction import DictVectorizer
    >>> from sskit.preprocessing import TokenTransformer
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "dog", "end": 1}]]
    >>> transformer = TokenTransformer(DictVectorizer()).fit(X)
    >>> transformer.get_feature_names_out()
    array(['end', 'word=dog', 'word=the'], dtype=object)
    >>> transformer.transform(X)[0].toarray()
    array([[0., 0., 1.],
           [0., 1., 0.]])

    With features of edges each sequence is a pair:

    >>> transformer = TokenTransformer(DictVectorizer(), edges="word[-1]|word[0]").fit(X)
    >>> transformer.get_edge_feature_names_out()
    array(['+word[-1]|word[0]=the|dog'], dtype=object)
    >>> features, edge_features = transformer.transform(X)[0]
    >>> features.shape, edge_features.shape
    ((2, 3), (1, 1))
    """

    transformer: Estimator = parameter(kw_only=False)
    edges: str | list[str] | None = parameter(default=None)

    def fit(self, X: Samples, y: Samples | None = None) -> Self:
        """Fit the inner transformer to the tokens.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class.
        y : object, default=None
            Stacked and given to the inner transformer, if it has a label for each token; else used
            only by the last step of a pipeline, unless the inner transformer needs labels.

        Returns
        -------
        self : TokenTransformer

        Raises
        ------
        TypeError, ValueError
            If `transformer` is not a transformer, or `X` holds no or bad sequences, or not `y`'s.
        """
        inner, tokens, _, labels = self._start(X, y)
        with _explaining(inner, tokens, X):
            inner.fit(tokens, *labels)
            return self._finish(inner, X)

    def fit_transform(self, X: Samples, y: Samples | None = None) -> RaggedArray | Any:
        """Fit the inner transformer to the tokens and transform them.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class.
        y : sequence of n label sequences or None, default=None
            As for ``fit``.

        Returns
        -------
        transformed : RaggedArray, or list of n tuples
            One matrix per sequence, dense or CSR as the inner transformer returns them; with
            `edges` a pair of matrices, those of the edges CSR.

        Raises
        ------
        TypeError, ValueError
            As ``fit``; also if the inner transformer changes the number of rows.
        """
        in_one = hasattr(self.transformer, "fit_transform")
        if isinstance(self.transformer, DictVectorizer) or not in_one:
            return self.fit(X, y).transform(X)
        inner, tokens, offsets, labels = self._start(X, y)
        with _explaining(inner, tokens, X):
            rows = self._ragged(inner.fit_transform(tokens, *labels), offsets)
            return self._finish(inner, X)._with_edges(rows, X)

    def transform(self, X: Samples) -> RaggedArray | Any:
        """Transform the tokens.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class; sequences may be empty.

        Returns
        -------
        transformed : RaggedArray, or list of n tuples
            As of ``fit_transform``.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If called before ``fit`` where the inner transformer needs one; else as
            ``fit_transform``.
        """
        inner = self._ready()
        rows = _dict_rows(inner, X)
        if rows is not None:
            return self._with_edges(RaggedArray(rows, make_offsets(list(map(len, X)))), X)
        tokens, offsets = self._tokens(X, allow_empty=True)
        if offsets[-1] == 0:
            return self._with_edges(RaggedArray(np.empty((0, 0)), offsets), X)
        with _explaining(inner, tokens, X):
            return self._with_edges(self._ragged(inner.transform(tokens), offsets), X)

    @available_if(_inner_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns that the inner transformer makes.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of the tokens.

        Returns
        -------
        ndarray of str
            One name per column.
        """
        check_is_fitted(self, "transformer_")
        return self.transformer_.get_feature_names_out(input_features)

    def get_edge_feature_names_out(self) -> np.ndarray:
        """Return the names of the features of edges.

        Returns
        -------
        ndarray of str
            One name per column of the matrices of edges.

        Raises
        ------
        ValueError
            If there are none.
        """
        check_is_fitted(self, "transformer_")
        if self.edge_vectorizer_ is None:
            raise ValueError("this TokenTransformer makes no features of edges: edges is None")
        return self.edge_vectorizer_.get_feature_names_out()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self.transformer)
        except (AttributeError, TypeError):  # not an estimator: fit will raise
            inner = tags
        for name in ("sparse", "string", "dict", "allow_nan"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        tags.target_tags.required = inner.target_tags.required
        tags.non_deterministic = inner.non_deterministic
        # older versions of scikit-learn tag it as needing a fit
        tags.requires_fit = inner.requires_fit and not isinstance(self.transformer, FeatureHasher)
        tags.requires_fit |= self.edges is not None
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    def _ready(self):
        """Return the inner transformer that transforms: fitted, unless it has no state."""
        if not hasattr(self, "transformer_") and not get_tags(self).requires_fit:
            return self.transformer
        check_is_fitted(self, "transformer_")
        return self.transformer_

    def _start(self, X, y):
        """Check everything; return a fresh inner transformer, tokens, offsets and labels."""
        inner = self.transformer
        if isinstance(inner, type) or not (hasattr(inner, "fit") and hasattr(inner, "transform")):
            raise TypeError(f"transformer must be an object with fit and transform, got {inner!r}")
        tokens, offsets = self._tokens(X)
        if self.edges is not None:
            parse_templates(self.edges)
        return clone(inner), tokens, offsets, _labels_for(inner, y, offsets)

    def _with_edges(self, rows, X):
        """Return transformed sequences, as pairs if there are features of edges."""
        if self.edges is None:
            return rows
        check_is_fitted(self, "edge_vectorizer_")
        edges = self.edge_vectorizer_.transform(edge_dicts(X, parse_templates(self.edges)))
        return list(zip(rows, edges, strict=True))

    def _finish(self, inner, X):
        """Set the fitted attributes."""
        edges = None if self.edges is None else fit_edges(self.edges, X)
        self.transformer_ = inner
        self.edge_vectorizer_ = edges
        self.__dict__.pop("n_features_in_", None)
        if hasattr(inner, "n_features_in_"):
            self.n_features_in_ = inner.n_features_in_
        return self

    def _tokens(self, X, allow_empty=False):
        """Return the tokens of all sequences as the inner transformer takes them, and offsets."""
        tokens, offsets = stack_tokens(X, get_tags(self).input_tags.allow_nan, allow_empty=True)
        check_filled(offsets, "X", allow_empty or offsets[-1] > 0)
        return tokens, offsets

    def _ragged(self, rows, offsets):
        """Return transformed rows as the sequences that they belong to."""
        if hasattr(rows, "to_numpy"):
            rows = rows.to_numpy()
        shape = np.shape(rows) if not sp.issparse(rows) else rows.shape
        if len(shape) != 2 or shape[0] != offsets[-1]:
            name = type(self.transformer).__name__
            raise ValueError(f"{name} returned shape {shape} for {offsets[-1]} tokens")
        if sp.issparse(rows):
            rows = stack_csr([sound_csr(rows, "what the transformer returns")])
        if isinstance(self.transformer, (DictVectorizer, FeatureHasher)):  # which take all numbers
            check_finite(rows, "X", offsets)
        return RaggedArray(rows, offsets)


def _labels_for(inner, y, offsets):
    """Return the labels of all tokens for an inner transformer, in a tuple that may be empty.

    Segments, hidden labels and other targets of the last step of a pipeline are no labels of rows;
    most transformers need none.
    """
    if y is None:
        return ()
    try:
        return (stack_labels(y, np.diff(offsets)),)
    except (TypeError, ValueError):
        if get_tags(inner).target_tags.required:
            raise
        return ()


def _dict_rows(vectorizer, X):
    """Return lists of plain dicts as a DictVectorizer transforms them, or None.

    None if something is unusual or wrong: then the vectorizer itself is called.
    """
    plain = type(vectorizer) is DictVectorizer and vectorizer.sparse
    if not plain or vectorizer.dtype is not np.float64 or type(X) is not list or not X:
        return None
    vocabulary, separator = vectorizer.vocabulary_, vectorizer.separator
    if type(vocabulary) is not dict or type(separator) is not str or not vocabulary:
        return None
    try:
        rows = read_rows(TokenColumns(vocabulary, separator), X, np.float64, deepest=0)
    except (TypeError, ValueError):
        return None
    return rows if rows.shape[0] else None


@contextmanager
def _explaining(inner, tokens, X):
    """Raise errors as `TokenVectorizer`, which name token and attribute, where it finds any.

    Others name the transformer and what the tokens are, where it does not take such.

    Parameters
    ----------
    inner : estimator
        The transformer of tokens.
    tokens : list of dict, or tokens of another kind
        Those of all sequences.
    X : sequence of n sequences of tokens
        The sequences.
    """
    with config_context(transform_output="default"):
        try:
            yield
        except Exception as error:
            if not isinstance(tokens, list):
                raise
            if isinstance(tokens[0], Mapping):
                columns, sentences = TokenColumns({}, "="), as_sentences(X, allow_empty=True)
                read_rows(columns, sentences, np.float64, deepest=0)
            tags = get_tags(inner).input_tags
            takes_objects = tags.dict or tags.string
            if not isinstance(error, (AttributeError, TypeError)) and takes_objects:
                raise
            raise TypeError(
                f"{type(inner).__name__} does not take the tokens of X, such as "
                f"{shown(tokens[0])} of the type {type(tokens[0]).__name__}: {error}"
            ) from error
