"""Hidden states of labels: what taggers fit and predict where labels have several."""

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, pairwise
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from sskit._labels import by_label
from sskit.estimators.base.tagging import state_labels, states_of_labels
from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.convex_concave import start_with_known
from sskit.estimators.completion.gate import completion_refusal, solver_without_sets
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged import split
from sskit.models.request import find_top_k


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
    """Hidden states of the labels of a tagger of sequences, trees or graphs.

    The estimator has the parameters `n_states_per_label` and `n_init`, and if some label has
    several states the fitted attribute ``n_states_`` (n_classes,), how many each has. What has a
    state is called `_tokens` in error messages.
    """

    _tokens = "tokens"

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
        """Return the hidden states of the best labelling of each sequence, tree or graph.

        Parameters
        ----------
        X : list of n_samples sequences, trees or graphs
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

    def _refuse_parts(self):
        """Return why an estimator cannot be fitted to data in parts, or None if it can."""
        refused = super()._refuse_parts()
        if refused is not None or not has_states(self):
            return refused
        given = f"n_states_per_label={self.n_states_per_label!r:.80}"
        return (
            f"data in parts cannot be fitted with {given}: states begin as clusters of the "
            f"{self._tokens} of all parts"
        )

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


def fitted_states(tagger):
    """Return the `LabelStates` of a fitted tagger; None: one for each label."""
    counts = states_of_labels(tagger)
    return None if counts is None else LabelStates(counts)


def has_states(estimator):
    """Return whether an estimator, fitted or not, has hidden states of labels."""
    given = getattr(estimator, "n_states_per_label", 1)
    several = any(n != 1 for n in given.values()) if isinstance(given, dict) else given != 1
    return several or "n_states_" in vars(estimator)


def why_no_states(estimator):
    """Return why an estimator cannot have the hidden states that it asks for.

    Parameters
    ----------
    estimator : SequenceTagger, TreeTagger or GraphTagger
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


def resolve_states(given, classes, n_tokens, tokens="tokens"):
    """Return how many states each label has.

    Parameters
    ----------
    given : int or dict
        As users give it, positive: of labels that a dict does not have there is one state.
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
        If the number of a label is above that of tokens.
    """
    by_name = isinstance(given, dict)
    counts = by_label(given, classes, 1) if by_name else [given] * len(classes)
    for label, n in zip(classes.tolist(), counts, strict=True):
        if n > max(n_tokens, 1):
            name = f"n_states_per_label[{label!r}]" if by_name else "n_states_per_label"
            raise ValueError(f"{name} is {n}, but y has {n_tokens} {tokens} only")
    counts = np.array(counts, dtype=np.intp)
    return None if (counts == 1).all() else LabelStates(counts)


def first_completions(hidden, solved, random_state):
    """Yield labels, or states of labels, to begin with.

    Parameters
    ----------
    hidden : HiddenChains or HiddenNodes
        Of labels, or of `states` of them that start from `n_init` clusterings.
    solved : callable
        Solves a problem; returns its weights.
    random_state : int, RandomState or None
        Seed of what is drawn.
    """
    if hidden.states is None:
        yield from start_with_known(hidden, solved, random_state)
        return
    random_state = check_random_state(random_state)
    for _ in range(hidden.n_init):
        yield first_states(hidden, random_state, solved)


def first_states(hidden, random_state, solved):
    """Return states to begin with: clusters of the tokens of each label.

    Parameters
    ----------
    hidden : HiddenChains or HiddenNodes
        Of states.
    random_state : RandomState
        Where the clusters begin.
    solved : callable
        Solves a problem; returns its weights.

    Returns
    -------
    truth : ndarray of shape (n_tokens,)
        States that agree with what is known of labels. Those of tokens without a known label are
        the best under the weights that are learnt from all others; if no token has a known
        label, labels are drawn.
    """
    states = hidden.states
    rows, possible = hidden.rows, hidden.partial.possible
    by_label = np.logical_or.reduceat(possible, states.first, axis=1)
    labels = np.where(by_label.sum(axis=1) == 1, by_label.argmax(axis=1), -1)
    if (labels < 0).all():
        labels = states.labels[hidden.drawn(random_state)]
    truth = cluster_states(rows, labels, states.counts, random_state)
    known = truth >= 0
    if known.all():
        return truth
    certain = possible.copy()
    certain[known] = truth[known, None] == np.arange(possible.shape[1])
    partial = PartialLabels(hidden.partial.classes, certain.argmax(axis=1), certain)
    part = replace(hidden, partial=partial).known_part()
    return hidden.complete(hidden.adapted(solved(part)))


class StateDecoder:
    """Labels of sequences or trees by their best hidden states.

    Parameters
    ----------
    inner : Decoder
        Of states.
    states : LabelStates
        Of which labels these are.
    offsets : ndarray of shape (n + 1,)
        Where sequences, or trees, begin.
    possible : ndarray of shape (n_tokens, S), bool, or None
        Which states are possible; None means all.
    """

    def __init__(self, inner, states, offsets, possible):
        self.inner, self.states = inner, states
        self.offsets, self.possible = offsets, possible

    def best(self):
        """Return the labels of the best states of all tokens, (n_tokens,)."""
        return self.states.labels[self.inner.best()]

    def max_marginals(self):
        """Return the best score of states for each token and label, (n_tokens, K)."""
        return np.maximum.reduceat(self.inner.max_marginals(), self.states.first, axis=1)

    def top_k(self, k):
        """Return the k best labellings of each sequence, each with the score of its best states.

        Of the best paths of states exponentially many may have the same labels, so that no list of
        them is long enough: each labelling that is found instead splits those that are left by the
        first token at which they differ from it, and the best path of each set is found (Lawler
        1972).
        """
        inner, owner = self.inner.request, self.states.labels
        possible = np.ones((inner.n_nodes, len(owner)), dtype=bool)
        if self.possible is not None:
            possible[:] = self.possible
        request = inner.allowing(possible)
        labels, scores = np.empty((2, inner.n_blocks), dtype=object)
        paths, values = np.empty((2, inner.n_blocks), dtype=object)
        for i, (first, last) in enumerate(pairwise(self.offsets.tolist())):
            # what the request reads
            rows, heap, order = possible[first:last], [], count()
            sets = [(0, rows.copy())]
            found, marks = [], []
            while len(found) < k:
                for start, allowed in sets:
                    rows[:] = allowed
                    find_top_k(request, i, i + 1, (1, paths, values))
                    if len(values[i]):
                        best = -values[i][0], next(order), owner[paths[i][0]]
                        heappush(heap, (*best, start, allowed))
                if not heap:
                    break
                value, _, labelling, start, allowed = heappop(heap)
                found.append(labelling)
                marks.append(-value)
                same, sets = owner == labelling[:, None], []
                for t in range(start, len(rows)):
                    rest = np.concatenate([allowed[:t] & same[:t], allowed[t:]])
                    rest[t] &= ~same[t]
                    sets.append((t, rest))
            labels[i] = np.array(found, dtype=np.intp).reshape(-1, len(rows))
            scores[i] = np.array(marks)
        return labels, scores
