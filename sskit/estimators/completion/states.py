"""Hidden states of labels: what taggers fit and predict where labels have several."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval

from sskit._labels import by_label
from sskit.estimators.base.tagging import state_labels, states_of_labels
from sskit.estimators.completion.gate import completion_refusal, solver_without_sets
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged import split

__all__ = [
    "HiddenStatesMixin",
    "LabelStates",
    "has_states",
    "refuse_parts",
    "resolve_states",
    "why_no_states",
]


@dataclass(frozen=True)
class LabelStates:
    """Which states labels have: those of the first label come first.

    Attributes
    ----------
    counts : ndarray of int of shape (K,)
        How many states each label has, positive; together S.
    """

    counts: np.ndarray

    @property
    def first(self):
        """The first state of each label, (K,)."""
        return np.cumsum(self.counts) - self.counts

    @property
    def labels(self):
        """The label of each state, 0 to K - 1, (S,)."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def lifted(self, rules):
        """Return what is allowed between states, from transitions and ends between labels."""
        if rules[0] is None:
            return rules
        labels = self.labels
        return (self.of_pairs(rules[0]), *(ends[labels] for ends in rules[1:]))

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
        return PartialLabels(np.arange(len(self.labels)), possible.argmax(axis=1), possible)


class HiddenStatesMixin:
    """Hidden states of the labels of a tagger of sequences or graphs.

    The estimator has the parameters `n_states_per_label` and `n_init`, and if some label has
    several states the fitted attribute ``n_states_`` (n_classes,), how many each has.
    """

    _parameter_constraints = {
        "n_states_per_label": [Interval(Integral, 1, None, closed="left"), dict],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    @property
    def state_labels_(self):
        """The label of each hidden state, (n_states,); without hidden states, the labels."""
        if "classes_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} has no attribute 'state_labels_'")
        return state_labels(self)

    def predict_states(self, X, known=None):
        """Return the hidden states of the best labelling of each sequence or graph.

        Parameters
        ----------
        X : list of n_samples sequences or graphs
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            What is known of the labels, as in `predict`.

        Returns
        -------
        states : ndarray of shape (n_samples,), object
            Each item is an ndarray of int of shape (T_i,): rows of ``coef_``, of which
            ``state_labels_`` has the labels that `predict` finds. Without hidden states these
            are the places of the labels in ``classes_``.

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
        states = states_of_labels(self)
        if states is None:
            return self.classes_.tolist()
        pairs = zip(self.classes_.tolist(), states.tolist(), strict=True)
        return [f"{label}/{k}" for label, n in pairs for k in range(n)]


def has_states(estimator):
    """Return whether an estimator, fitted or not, has hidden states of labels."""
    given = getattr(estimator, "n_states_per_label", 1)
    several = any(n != 1 for n in given.values()) if isinstance(given, dict) else given != 1
    return several or "n_states_" in vars(estimator)


def why_no_states(estimator):
    """Return why an estimator cannot have the hidden states that it asks for.

    Parameters
    ----------
    estimator : SequenceTagger or GraphTagger
        Has the parameters.

    Returns
    -------
    reason : str or None
        A sentence; None if it can, or asks for none.
    """
    given = estimator.n_states_per_label
    if given == 1 or given == {}:
        return None
    reason, solver = completion_refusal(estimator), solver_without_sets(estimator)
    if reason is None and estimator.prior is not None:
        reason = "a prior has states that would not be those of new clusters"
    if reason is None and solver is not None:
        reason = f"{solver} takes no sets of states of which one is right; use 'bcfw'"
    if reason is None:
        return None
    return f"n_states_per_label={given!r:.80} has hidden variables, but {reason}"


def refuse_parts(estimator, tokens="tokens"):
    """Return why an estimator with hidden states cannot be fitted to data in parts, or None."""
    if not has_states(estimator):
        return None
    given = f"n_states_per_label={estimator.n_states_per_label!r:.80}"
    return (
        f"data in parts cannot be fitted with {given}: states begin as clusters of the {tokens} of "
        "all parts"
    )


def resolve_states(given, classes, n_tokens, tokens="tokens"):
    """Return how many states each label has.

    Parameters
    ----------
    given : int or dict
        As users give it: of labels that a dict does not have there is one state.
    classes : ndarray of shape (K,)
        The labels.
    n_tokens : int
        How many tokens there are in all.
    tokens : str, default="tokens"
        What error messages call them.

    Returns
    -------
    states : LabelStates or None
        None if each label has one.

    Raises
    ------
    ValueError
        If the number of a label is not a positive integer, or above that of tokens.
    """
    if not isinstance(given, dict):
        _check_most("n_states_per_label", given, n_tokens, tokens)
        counts = np.full(len(classes), given, dtype=np.intp)
    else:
        for label, n in given.items():
            if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
                raise ValueError(
                    f"n_states_per_label[{label!r}] must be a positive integer, got {n!r}"
                )
        counts = np.array(by_label(given, classes, 1), dtype=object)
        for label, n in zip(classes.tolist(), counts.tolist(), strict=True):
            _check_most(f"n_states_per_label[{label!r}]", n, n_tokens, tokens)
        counts = counts.astype(np.intp)
    return None if (counts == 1).all() else LabelStates(counts)


def _check_most(name, n, n_tokens, tokens):
    """Raise ValueError if there are more states than tokens, and more than one."""
    if n > max(n_tokens, 1):
        raise ValueError(f"{name} is {n}, but y has {n_tokens} {tokens} only")
