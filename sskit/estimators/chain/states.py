"""Hidden states of labels: what SequenceTagger fits and predicts where labels have several."""

from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from sskit._labels import by_label
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.tagging import states_of_labels
from sskit.estimators.chain.hidden import HiddenChains
from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.gate import completion_refusal, solver_without_sets
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged import split
from sskit.models.chain.model import ChainModel, default_lam

__all__ = [
    "HiddenStatesMixin",
    "LabelStates",
    "StateDecoder",
    "bind_with_states",
    "fitted_states",
    "has_states",
    "refuse_states",
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
        return None if table is None else table[np.ix_(labels, labels)]


class HiddenStatesMixin:
    """Hidden states of the labels of a tagger of sequences.

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
        classes, states = vars(self).get("classes_"), states_of_labels(self)
        if classes is None:
            raise AttributeError(f"this {type(self).__name__} has no attribute 'state_labels_'")
        return classes if states is None else np.repeat(classes, states)

    def predict_states(self, X, known=None):
        """Return the hidden states of the best labelling of each sequence.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            What is known of the labels, as in `predict`.

        Returns
        -------
        states : ndarray of shape (n_samples,), object
            Each item is an ndarray of int of shape (T_i,): rows of ``coef_``, of which
            ``state_labels_`` has the labels that `predict` returns. Without hidden states these
            are the places of the labels in ``classes_``.

        Raises
        ------
        ValueError
            As `predict`.
        """
        decoder, offsets = self._decoder(X, known)
        return split(getattr(decoder, "inner", decoder).best(), offsets)

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


def why_no_states(estimator, part=False, edges=None):
    """Return why an estimator cannot have the hidden states that it asks for.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters.
    part : bool, default=False
        Whether the data are a part only.
    edges : matrix of shape (n_edges, q) or None, default=None
        Features of the edges.

    Returns
    -------
    reason : str or None
        A sentence; None if it can, or asks for none.
    """
    given = estimator.n_states_per_label
    if given == 1 or given == {}:
        return None
    reason = _refusal(estimator, part, edges)
    if reason is None:
        return None
    return f"n_states_per_label={given!r:.80} has hidden variables, but {reason}"


def refuse_states(estimator, part=False, edges=None):
    """Raise ValueError if there is a reason of `why_no_states`, which has the parameters."""
    reason = why_no_states(estimator, part, edges)
    if reason is not None:
        raise ValueError(reason)


def _refusal(estimator, part, edges):
    """Return with what hidden states cannot be fitted, or None."""
    reason = completion_refusal(estimator, part)
    if reason is not None:
        return reason
    if estimator.prior is not None:
        return "a prior has states that would not be those of new clusters"
    if estimator.order != 1:
        return f"order={estimator.order!r} has none; set order=1"
    solver = solver_without_sets(estimator)
    if solver is not None:
        return f"{solver} takes no sets of states of which one is right; use 'bcfw'"
    return None if edges is None else "features of edges have none: give matrices, not pairs"


def resolve_states(given, classes, n_tokens):
    """Return how many states each label has.

    Parameters
    ----------
    given : int or dict
        As users give it: of labels that a dict does not have there is one state.
    classes : ndarray of shape (K,)
        The labels.
    n_tokens : int
        How many tokens there are in all.

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
        _check_most("n_states_per_label", given, n_tokens)
        counts = np.full(len(classes), given, dtype=np.intp)
    else:
        for label, n in given.items():
            if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
                raise ValueError(
                    f"n_states_per_label[{label!r}] must be a positive integer, got {n!r}"
                )
        counts = np.array(by_label(given, classes, 1), dtype=object)
        for label, n in zip(classes.tolist(), counts.tolist(), strict=True):
            _check_most(f"n_states_per_label[{label!r}]", n, n_tokens)
        counts = counts.astype(np.intp)
    return None if (counts == 1).all() else LabelStates(counts)


def _check_most(name, n, n_tokens):
    """Raise ValueError if there are more states than tokens, and more than one."""
    if n > max(n_tokens, 1):
        raise ValueError(f"{name} is {n}, but y has {n_tokens} tokens only")


def bind_with_states(estimator, facts, given, partial, table, allowed, shared, states):
    """Bind a chain model of hidden states to checked training data.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters; not changed.
    facts : ChainFacts
        Of all data.
    given : tuple
        Sequences, labels, costs of tokens and weights of blocks, as `ChainModel.bind` takes them.
    partial : PartialLabels or None
        What is known of the labels, if that is not all.
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
    allowed : tuple
        Transitions, first labels and last labels that training allows.
    shared : dict
        Fitted attributes that do not depend on the weights.
    states : LabelStates
        How many states each label has.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.
    """
    stacked, labels, costs, block_weight = given
    if partial is None:
        possible = labels[:, None] == np.arange(len(states.counts))
    else:
        possible = partial.possible
    possible = np.ascontiguousarray(possible[:, states.labels])
    n_states = possible.shape[1]
    model = ChainModel(facts.n_features, n_states, *states.lifted(allowed))
    first = possible.argmax(axis=1)
    given, table = (stacked, first, costs, block_weight), states.of_pairs(table)
    problem = model.bind(*given, n_jobs=estimator.n_jobs, right=possible, table=table)
    known = PartialLabels(np.arange(n_states), first, possible)
    given = model, stacked, known, costs, block_weight, estimator.n_jobs
    hidden = HiddenChains(*given, table=table)

    def starts(solved):
        rng = check_random_state(estimator.random_state)
        for _ in range(estimator.n_init):
            yield first_states(hidden, states, rng, solved)

    to_attributes = BlockAttributes(model.layout, shared | {"n_states_": states.counts})
    lam, completion = default_lam(facts.scale), ConvexConcave(hidden.complete, starts)
    classes = shared["classes_"]
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, completion=completion)


def first_states(hidden, states, random_state, solved):
    """Return states to begin with: clusters of the tokens of each label.

    Parameters
    ----------
    hidden : HiddenChains
        Of states.
    states : LabelStates
        Of which labels these are.
    random_state : RandomState
        Where the clusters begin.
    solved : callable
        Solves a problem; returns its weights.

    Returns
    -------
    truth : ndarray of shape (n_tokens,)
        States that agree with what is known of labels. Those of tokens without a known label are
        the best under the weights of the stretches between such tokens; if no token has a known
        label, labels are drawn.
    """
    rows, possible = hidden.stacked.values, hidden.partial.possible
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
    part, adapted = replace(hidden, partial=partial).known_part()
    return hidden.complete(adapted(solved(part)))


def fitted_states(estimator):
    """Return the `LabelStates` of a fitted estimator whose attributes are checked, or None."""
    counts = states_of_labels(estimator)
    return None if counts is None else LabelStates(counts)


class StateDecoder:
    """Labels of sequences by their best hidden states.

    Parameters
    ----------
    inner : ChainDecoder
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
        """Raise ValueError: of the best paths of states, many may have the same labels."""
        raise ValueError(
            "the k best labellings cannot be found where labels have hidden states, as many of the "
            "best paths of states have the same labels"
        )
