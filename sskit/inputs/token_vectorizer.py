"""TokenVectorizer: dicts of attributes, as users of CRFsuite have them, to rows of features."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils._param_validation import Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from sskit._parameters import AT_LEAST_ONE, check_constraints, parameter, parameters
from sskit._public import PublicMixin
from sskit._types import BaseEstimator, Samples, Self, TransformerMixin
from sskit.inputs.ragged_array import RaggedArray, make_offsets, of_sound_parts
from sskit.inputs.token_rows import DEEPEST, TokenColumns, fit_rows, read_rows
from sskit.inputs.tokens import as_sentences


# No set_output: a RaggedArray is not a data frame.
class FittedVocabulary:
    """Types of the attributes that a fitted `TokenVectorizer` has."""

    feature_names_: list[str]


@parameters
class TokenVectorizer(
    FittedVocabulary, PublicMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Convert tokens that are dicts of attributes, or lists of strings, to rows of features.

    It takes tokens as CRFsuite does. The names, the order and the values of the features are those
    of :class:`sklearn.feature_extraction.DictVectorizer`, wherever that takes the tokens too;
    taggers make a vectoriser by themselves if they are fitted to tokens.

    Parameters
    ----------
    min_count : int, default=1
        Smallest number of tokens of the training data in which a feature is nonzero; others are
        left out.
    dtype : {float64, float32}, default=float64
        Type of the numbers. With float32 rows take a third less memory.
    separator : str, default="="
        What stands between an attribute and its string in the name of a feature. python-crfsuite
        has ":"; see :func:`sskit.crfsuite.save_crfsuite`.

    Attributes
    ----------
    feature_names_ : list of str
        The names of the features, sorted.
    vocabulary_ : dict of str to int
        The columns of the features by name.

    See Also
    --------
    TokenTransformer : Any transformer of scikit-learn, done to the tokens of sequences.

    Notes
    -----
    A token is a dict, of which

    - a string "the" of the attribute "word" is the feature "word=the" with the value 1;
    - a number or boolean of "size" is the feature "size" with this value;
    - each string of a list, tuple or set of strings of "suffix" is a feature "suffix=ed";
    - a dict of "previous" has features that begin with it: "previous:word=the", "previous:size";

    or a list, tuple or set of strings, each of which names a feature with the value 1. If the same
    feature occurs twice in a token the values are added. Features with the value 0 are not stored.
    Features that do not occur in the training data are left out.

    Examples
    --------
    >>> from sskit.preprocessing import TokenVectorizer
    >>> X = [[{"word": "the"}, {"word": "dog", "previous": {"word": "the"}}], [["word=dog", "end"]]]
    >>> vectorizer = TokenVectorizer()
    >>> vectorizer.fit_transform(X)[0].toarray()
    array([[0., 0., 0., 1.],
           [0., 1., 1., 0.]])
    >>> vectorizer.get_feature_names_out()
    array(['end', 'previous:word=the', 'word=dog', 'word=the'], dtype=object)
    """

    min_count: int = parameter(AT_LEAST_ONE, default=1)
    dtype: type[np.float64] | type[np.float32] | Literal["float64", "float32"] = parameter(
        Options(type, {np.float64, np.float32}),
        StrOptions({"float64", "float32"}),
        default=np.float64,
    )
    separator: str = parameter(str, default="=")

    def fit(self, X: Samples, y: object = None) -> Self:
        """Find the features of tokens.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class.
        y : object, default=None
            Ignored.

        Returns
        -------
        self : TokenVectorizer

        Raises
        ------
        TypeError, ValueError
            If a parameter, a sequence, a token or an attribute is wrong; the error names it; or if
            there are no features.
        """
        self._fit(X)
        self._make_ready()
        return self

    def fit_transform(self, X: Samples, y: object = None) -> RaggedArray:
        """Find the features of tokens and return their rows, in one pass over the tokens.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class.
        y : object, default=None
            Ignored.

        Returns
        -------
        rows : RaggedArray
            As of ``fit`` and ``transform``.

        Raises
        ------
        TypeError, ValueError
            As ``fit``.
        """
        rows = self._fit(X, RaggedArray)
        self._make_ready()
        return rows

    def transform(self, X: Samples) -> RaggedArray:
        """Return the rows of tokens.

        Parameters
        ----------
        X : sequence of n sequences of tokens
            See the notes of the class; sequences may be empty.

        Returns
        -------
        rows : RaggedArray
            CSR matrices in canonical format, of shape (T_i, n_features).

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If called before ``fit``; or if a sequence, a token or an attribute is wrong; the error
            names it.
        """
        return self._transform(X, RaggedArray)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        names : ndarray of str of shape (n_features,), object
            One name per column.
        """
        check_is_fitted(self, "feature_names_")
        return np.array(self.feature_names_, dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The columns of the features by name."""
        return self._known_columns().vocabulary

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.dict = tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __getstate__(self):
        """Return what is pickled: columns are found by attribute again."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_columns"}

    def _fit(self, X, kind=None):
        """Find the features of tokens; with a kind of RaggedArray return their rows as one."""
        check_constraints(self)
        sentences = as_sentences(X, allow_empty=True)
        least = min(self.min_count, np.iinfo(np.intp).max)
        dtype, with_rows = np.dtype(self.dtype).type, kind is not None
        names, rows = fit_rows(sentences, least, dtype, with_rows, self.separator)
        if not names:
            raise ValueError(
                "the tokens of X have no features"
                + (f" that are in {self.min_count} of them" if self.min_count > 1 else "")
            )
        self.feature_names_, self._columns = names, TokenColumns(names, self.separator)
        if kind is None:
            return None
        return of_sound_parts(rows, make_offsets(list(map(len, sentences))), kind)

    def _transform(self, X, kind):
        """Return the rows of tokens as a RaggedArray of a kind."""
        columns = self._known_columns()
        sentences = as_sentences(X, allow_empty=True)
        rows = read_rows(columns, sentences, np.dtype(self.dtype).type, DEEPEST)
        return of_sound_parts(rows, make_offsets(list(map(len, sentences))), kind)

    def _make_ready(self):
        """Make the columns by name."""
        if "feature_names_" in vars(self):
            self._known_columns().make_ready()

    def _known_columns(self):
        """Return the columns of the features, which are found by attribute too once they occur."""
        columns = vars(self).get("_columns")
        if (
            columns is None
            or columns.names is not self.feature_names_
            or columns.separator != self.separator
        ):
            check_is_fitted(self, "feature_names_")
            columns = self._columns = TokenColumns(self.feature_names_, self.separator)
        return columns


TokenVectorizer.__module__ = "sskit.preprocessing"  # which exports it
