"""Scores, candidates and other predictions of fitted taggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from sskit._labels import object_array
from sskit._numbers import check_bool, check_k
from sskit._parameters import parameter, parameters
from sskit._types import ArrayLike, Dictionary, Samples
from sskit.estimators.base.fitted_state import check_numbers
from sskit.inputs.ragged_array import split
from sskit.metrics import token_accuracy_score

if TYPE_CHECKING:
    from sskit.inputs.token_vectorizer import TokenVectorizer


def check_modest(estimator, request, names=("coef_",)):
    """Raise ValueError unless features and their weights are so small that no score overflows.

    Parameters
    ----------
    estimator : object
        Fitted.
    request : object
        Has ``is_modest()``.
    names : sequence of str, default=("coef_",)
        Attributes with weights of features, of which one may not be finite.
    """
    if not request.is_modest():
        weights = {name: getattr(estimator, name, None) for name in names}
        shapes = {name: w.shape for name, w in weights.items() if w is not None}
        check_numbers(estimator, shapes)
        raise ValueError("the features in X are too large: the scores of labels may overflow")


class FittedTagger:
    """Types of the attributes that a fitted `TaggerMixin` has."""

    classes_: np.ndarray
    transitions_: np.ndarray
    n_samples_seen_: float
    vectorizer_: TokenVectorizer


@parameters
class TaggerMixin(FittedTagger):
    """Prediction and scoring of estimators that label every token of a sequence, or of a tree.

    The estimator has ``_decoder(X, known)``, which checks both and returns an object with the
    methods ``best()``, ``top_k(k)`` and ``max_marginals()``, and where the sequences begin. The
    decoder knows sequences that have tokens only.
    """

    _type_of_estimator = "sequence_tagger"
    _n_asked = 50
    _trees = False  # are samples trees?
    loss: Literal["hamming", "hamming_sum"] | ArrayLike | Dictionary = parameter(
        "array-like", dict, default="hamming_sum"
    )
    class_weight: Literal["balanced"] | Dictionary | None = parameter(dict, None, default=None)
    surrogate: Literal["hinge", "log"] = parameter(default="hinge")

    def predict(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the best labels of each sequence.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            Known labels: for each sequence None, a boolean array (T_i, n_classes) of possible
            labels, or a sequence (T_i,) of labels, sets of labels one of which is right, and None
            for unknown ones.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i,) of labels, the best possible ones.

        Raises
        ------
        ValueError
            If X or known is wrong, or no allowed labelling of a sequence agrees with the known
            labels; the error names the sequence and the token.
        """
        answer = self._answer_of_one(X) if known is None else None
        return self._answers(*self._best(X, known)) if answer is None else answer

    @overload
    def predict_topk(
        self,
        X: Samples,
        k: int,
        *,
        return_scores: Literal[False] = False,
        known: Samples | None = None,
    ) -> np.ndarray: ...

    @overload
    def predict_topk(
        self, X: Samples, k: int, *, return_scores: Literal[True], known: Samples | None = None
    ) -> tuple[np.ndarray, np.ndarray]: ...

    def predict_topk(
        self, X: Samples, k: int, *, return_scores: bool = False, known: Samples | None = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the k best labellings of each sequence.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`.
        k : int
            Number of labellings; fewer are returned if fewer exist.
        return_scores : bool, default=False
            Whether to return their scores too.
        known : sequence of n_samples items, default=None
            As in `predict`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (m, T_i), m <= k, of labels, best first; of shape (m,),
            of lists, where `predict` returns lists of segments.
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (m,); only if `return_scores`.
        """
        check_k(k)
        check_bool(return_scores, "return_scores")
        decoder, offsets = self._decoder(X, known)
        best = decoder.top_k(int(k))
        # of an empty sequence there is one labelling, without labels
        lengths = np.diff(offsets)
        labellings = [np.empty((1, 0), dtype=np.int32) for _ in lengths]
        scores = object_array([np.zeros(1) for _ in lengths])
        for i, states, values in zip(np.flatnonzero(lengths), *best, strict=True):
            labellings[i], scores[i] = states, values
        answers = object_array([self._several(states) for states in labellings])
        return (answers, scores) if return_scores else answers

    def decision_function(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the max-marginals: for each token and label the best score with that label.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`.
        known : sequence of n_samples items, default=None
            As in `predict`; scores of labels that are not possible are -inf.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i, n_classes): the highest score of a labelling
            of the sequence that has this label at this token; -inf if none is allowed.
        """
        decoder, offsets = self._decoder(X, known)
        return split(decoder.max_marginals(), offsets)

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the token accuracy: the fraction of tokens with the right label, whatever `loss`.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`.
        y : list of n_samples sequences (T_i,)
            True labels. Tokens with `ignore_label` do not count; each label of a set is right.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sequences; each counts for all tokens of its sequence.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        ignored = getattr(self, "ignore_label", None)
        options = {"ignore_label": ignored, "sample_weight": sample_weight}
        return token_accuracy_score(y, self.predict(X), **options)

    def _answer_of_one(self, X):
        """Return what `predict` does of the most frequent request, if that has a shorter way."""

    def _best(self, X, known):
        """Return the best labels, or states, of all tokens by number, and where samples begin."""
        decoder, offsets = self._decoder(X, known)
        return decoder.best(), offsets

    def _answers(self, codes, offsets):
        """Return labellings, one after the other, as `predict` does."""
        return split(self.classes_[codes], offsets)

    def _several(self, codes):
        """Return labellings (m, T) of one sequence as `predict_topk` does."""
        return self.classes_[codes]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = not self._trees
        tags.input_tags.sparse = tags.input_tags.dict = tags.input_tags.string = True
        return tags
