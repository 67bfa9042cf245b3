"""Hidden states of labels: parameters and attributes of taggers with several per label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sskit._labels import by_label
from sskit._parameters import AT_LEAST_ONE, parameter, parameters
from sskit._types import Dictionary, Samples
from sskit.estimators.base.fitted_state import check_labels, check_numbers, raise_damaged
from sskit.estimators.base.outcome import FittedRounds
from sskit.inputs.labels.known import check_known
from sskit.inputs.labels.partial import PartialLabels
from sskit.inputs.ragged_array import split


@dataclass(frozen=True)
class LabelStates:
    """Which states labels have: those of the first label come first; see `states_of`.

    Attributes
    ----------
    counts : ndarray of int of shape (K,)
        How many states each label has, positive; together S.
    first : ndarray of shape (K,)
        The first state of each label.
    labels : ndarray of shape (S,)
        The label of each state, 0 to K - 1.
    hidden : bool
        Whether some label has several states.
    """

    counts: np.ndarray
    first: np.ndarray
    labels: np.ndarray
    hidden: bool

    def lifted(self, rules):
        """Return what is allowed between states, from transitions and ends between labels."""
        if rules[0] is None:
            return rules
        return (self.of_pairs(rules[0]), *(ends[self.labels] for ends in rules[1:]))

    def of_pairs(self, table):
        """Return a table of pairs of states (S, S) from one of pairs of labels, or None."""
        labels = self.labels
        return None if table is None else np.ascontiguousarray(table[np.ix_(labels, labels)])

    def known(self, labels, partial):
        """Return what is known of states, `PartialLabels`, from what is of labels."""
        if partial is None:
            possible = labels[:, None] == np.arange(len(self.counts))
        else:
            possible = partial.possible
        possible = np.ascontiguousarray(possible[:, self.labels])
        states, first = np.arange(len(self.labels)), possible.argmax(axis=1)
        return PartialLabels(classes=states, labels=first, possible=possible)


def states_of(counts):
    """Return the `LabelStates` of labels with these numbers of states."""
    labels = np.repeat(np.arange(len(counts)), counts)
    return LabelStates(counts, np.cumsum(counts) - counts, labels, bool((counts > 1).any()))


class FittedStates(FittedRounds):
    """Types of the attributes that a fitted `HiddenStatesMixin` has."""

    n_states_: np.ndarray


@parameters
class HiddenStatesMixin(FittedStates):
    """Hidden states of the labels of a tagger of sequences, trees or graphs.

    The estimator has the parameters `n_states_per_label` and `n_init`, and if some label has
    several states the fitted attribute ``n_states_`` (n_classes,), how many each has. What has a
    state is called `_tokens` in error messages.
    """

    _tokens = "tokens"

    n_states_per_label: int | Dictionary = parameter(AT_LEAST_ONE, dict, default=1)
    n_init: int = parameter(AT_LEAST_ONE, default=1)

    @property
    def state_labels_(self) -> np.ndarray:
        """The label of each hidden state, (n_states,); without hidden states, the labels."""
        if "classes_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no attribute 'state_labels_'")
        return state_labels(self)

    def predict_states(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the hidden states of the best labelling of each sequence, tree or graph.

        Parameters
        ----------
        X : list of n_samples sequences, trees or graphs
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            Known labels, as in `predict`.

        Returns
        -------
        states : ndarray of shape (n_samples,), object
            Each item is an ndarray of int of shape (T_i,): rows of ``coef_``, whose labels in
            ``state_labels_`` are those of `predict`. Without hidden states these are the positions
            of the labels in ``classes_``.

        Raises
        ------
        ValueError
            As `predict`.
        """
        return split(*self._find_states(X, known))

    def _find_states(self, X, known):
        """Return the states of all tokens, and where sequences begin."""
        decoder, offsets = self._decoder(X, known)
        return getattr(decoder, "inner", decoder).best(), offsets

    def _state_names(self):
        """Return what rows of weights are of: labels, or states, "label/0" and so on."""
        if "n_states_" not in vars(self):
            return self.classes_.tolist()
        return names_of_states(self.state_labels_)


def names_of_states(labels):
    """Return the names of states, "label/0" and so on, those of a label one after the other."""
    labels = labels.tolist()
    return [f"{label}/{k - labels.index(label)}" for k, label in enumerate(labels)]


def fitted_states(tagger):
    """Return how many states a fitted tagger has, and its `LabelStates`; None: one for each label.

    Raises ValueError, naming it, for an attribute that does not fit the others.
    """
    n_classes, counts = check_labels(tagger), vars(tagger).get("n_states_")
    if counts is None:
        return n_classes, None
    check_numbers(tagger, {"n_states_": (n_classes,)}, integer=True)
    if counts.min() < 1:
        raise_damaged(tagger, "n_states_ must be positive numbers of states")
    states = states_of(counts)
    return len(states.labels), states


def known_states(tagger, states, known, lengths):
    """Return which states are possible; None: all; other parameters are those of `check_known`."""
    possible = check_known(known, lengths, tagger.classes_)
    return possible if states is None or possible is None else possible[:, states.labels]


def state_labels(tagger):
    """Return the label of each hidden state, (n_states,); without hidden states, the labels."""
    counts = vars(tagger).get("n_states_")
    return tagger.classes_ if counts is None else np.repeat(tagger.classes_, counts)


def best_of_states(tagger, scores):
    """Return the scores of labels, (N, K), from those of states: each by its best one."""
    counts = vars(tagger).get("n_states_")
    if counts is None:
        return scores
    return np.maximum.reduceat(scores, np.cumsum(counts) - counts, axis=1)


def resolve_states(number, classes, n_tokens, tokens="tokens", name="n_states_per_label"):
    """Return how many states each label has.

    Parameters
    ----------
    number : int or dict
        As users give it, positive: of labels that a dict does not have there is one state.
    classes : ndarray of shape (K,)
        The labels.
    n_tokens : int
        How many tokens there are in all.
    tokens : str, default="tokens"
        What error messages call them.

    Returns
    -------
    states : LabelStates
        Of all labels.

    Raises
    ------
    ValueError
        If the number of a label is above that of tokens.
    """
    by_name = isinstance(number, dict)
    counts = by_label(number, classes, 1) if by_name else [number] * len(classes)
    for label, n in zip(classes.tolist(), counts, strict=True):
        if n > max(n_tokens, 1):
            which = f"[{label!r}]" if by_name else ""
            raise ValueError(f"{name}{which} is {n}, but y has {n_tokens} {tokens} only")
    return states_of(np.array(counts, dtype=np.intp))


class StateDecoder:
    """Labels of sequences or trees by their best hidden states.

    Parameters
    ----------
    inner : Decoder
        Of states.
    states : LabelStates
        Of which labels these are.
    """

    def __init__(self, inner, states):
        self.inner, self.states = inner, states

    def best(self):
        """Return the labels of the best states of all tokens, (n_tokens,)."""
        return self.states.labels[self.inner.best()]

    def max_marginals(self):
        """Return the best score of states for each token and label, (n_tokens, K)."""
        return np.maximum.reduceat(self.inner.max_marginals(), self.states.first, axis=1)

    def top_k(self, k):
        """Raise ValueError: paths of states may be many before labels differ."""
        raise ValueError(
            "hidden states have no k best labellings, for the best paths of states may all have "
            "the same labels; predict_states has the best path"
        )
