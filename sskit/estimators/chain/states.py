"""Hidden states of labels: what SequenceTagger fits and predicts where labels have several."""

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.tagging import states_of_labels
from sskit.estimators.chain.hidden import HiddenChains
from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.completion.convex_concave import ConvexConcave
from sskit.estimators.completion.gate import solver_without_sets
from sskit.estimators.completion.partial_labels import PartialLabels
from sskit.inputs.ragged import split
from sskit.inputs.ragged_array import RaggedArray, object_array
from sskit.models.chain.model import ChainModel, default_lam, make_request
from sskit.models.chain.request import ChainDecoder

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
        return (rules[0][np.ix_(labels, labels)], *(ends[labels] for ends in rules[1:]))


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
    return None if reason is None else f"n_states_per_label={given!r:.80} cannot be {reason}"


def refuse_states(estimator, part=False, edges=None):
    """Raise ValueError if there is a reason of `why_no_states`, which has the parameters."""
    reason = why_no_states(estimator, part, edges)
    if reason is not None:
        raise ValueError(reason)


def _refusal(estimator, part, edges):
    """Return with what hidden states cannot be fitted, or None."""
    if part:
        return "fitted to data in parts, or by partial_fit: states are completed over all data"
    if estimator._rescaling() is not None:
        return "fitted with rescaling='slack', which needs to know them; use rescaling='margin'"
    if estimator.kernel != "linear":
        return f"fitted with kernel={estimator.kernel!r:.80}; use kernel='linear'"
    if estimator.warm_start:
        return "fitted with warm_start=True, as the problem changes while states are completed"
    if estimator.prior is not None:
        return "fitted with a prior, whose states would not be those of new clusters"
    if getattr(estimator, "order", 1) != 1:
        return f"fitted with order={estimator.order!r}; set order=1"
    solver = solver_without_sets(estimator)
    if solver is not None:
        return (
            f"fitted by {solver}, which takes no sets of states of which one is right; use 'bcfw'"
        )
    return None if edges is None else "fitted with features of edges: give matrices, not pairs"


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
        If a label is none of the data, its number not a positive integer, or above that of tokens.
    """
    if not isinstance(given, dict):
        _check_most("n_states_per_label", given, n_tokens)
        counts = np.full(len(classes), given, dtype=np.intp)
    else:
        counts = np.ones(len(classes), dtype=np.intp)
        place = {label: k for k, label in enumerate(classes.tolist())}
        for label, n in given.items():
            if label not in place:
                raise ValueError(f"n_states_per_label has {label!r}, which is no label in y")
            if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
                raise ValueError(
                    f"n_states_per_label[{label!r}] must be a positive integer, got {n!r}"
                )
            _check_most(f"n_states_per_label[{label!r}]", n, n_tokens)
            counts[place[label]] = n
    return None if (counts == 1).all() else LabelStates(counts)


def _check_most(name, n, n_tokens):
    """Raise ValueError if there are more states than tokens, and more than one."""
    if n > max(n_tokens, 1):
        raise ValueError(f"{name} is {n}, but y has {n_tokens} tokens only")


def bind_with_states(estimator, facts, given, partial, allowed, shared, states):
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
    problem = model.bind(stacked, first, costs, block_weight, n_jobs=estimator.n_jobs)
    problem.accept(possible)
    known = PartialLabels(np.arange(n_states), first, possible)
    hidden = HiddenChains(model, stacked, known, costs, block_weight, estimator.n_jobs)

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
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    possible : ndarray of shape (n_tokens, S), bool, or None
        Which states are possible; None if all are.
    """

    def __init__(self, inner, states, offsets, possible=None):
        self.inner, self.states, self.offsets, self.possible = inner, states, offsets, possible

    def best(self):
        """Return the labels of the best states of all tokens, (n_tokens,)."""
        return self.states.labels[self.inner.best()]

    def max_marginals(self):
        """Return the best score of states for each token and label, (n_tokens, K)."""
        return np.maximum.reduceat(self.inner.max_marginals(), self.states.first, axis=1)

    def top_k(self, k):
        """Return the k best labellings of each sequence, all different, and their scores.

        The score of a labelling is that of its best states. After Lawler (1972): the labellings
        that are left fall into sets that keep some first labels of one that was found and differ
        from it at the next token, and of each set the best is found.

        Parameters
        ----------
        k : int
            Number of labellings, positive; fewer are returned where fewer exist.

        Returns
        -------
        labels : ndarray of shape (n,), object
            Each item is an ndarray of shape (m, T_i), best first.
        scores : ndarray of shape (n,), object
            Each item is an ndarray of shape (m,).
        """
        nodes, *others = self.inner.request.tables()
        possible = np.ones(nodes.shape, dtype=bool) if self.possible is None else self.possible
        labels, scores = [], []
        for start, stop in pairwise(self.offsets.tolist()):
            part = slice(start, stop)
            found = self._best_of(nodes[part], others, possible[part], k)
            labels.append(np.array([labelling for _, labelling in found]))
            scores.append(np.array([score for score, _ in found]))
        return object_array(labels), object_array(scores)

    def _best_of(self, nodes, others, possible, k):
        """Return pairs of score and labelling of one sequence, the best first."""
        length, labels = len(nodes), self.states.labels
        nodes = np.where(possible, nodes, 0.0)
        heap, found, n_seen = [], [], 0

        def consider(masks, places):
            """Put the best labelling of each set on the heap, with the place where it is free."""
            nonlocal n_seen
            for path, score, mask, place in zip(
                *self._solved(nodes, others, masks), masks, places, strict=True
            ):
                if len(score) and score[0] > -np.inf:
                    n_seen += 1
                    heappush(heap, (-score[0], n_seen, labels[path[0]], place, mask))

        consider(possible[None], [0])
        while heap and len(found) < k:
            score, _, labelling, first, mask = heappop(heap)
            found.append((-score, labelling))
            own = labels == labelling[:, None]
            masks = np.repeat(mask[None], length - first, axis=0)
            for place, t in enumerate(range(first, length)):
                masks[place, :t] &= own[:t]
                masks[place, t] &= ~own[t]
            some = np.flatnonzero(masks.any(axis=2).all(axis=1))
            if len(some) and len(found) < k:
                consider(masks[some], first + some)
        return found

    def _solved(self, nodes, others, masks):
        """Return the best states and their score under each mask."""
        n, length, n_states = masks.shape
        stacked = RaggedArray(np.tile(nodes, (n, 1)), np.arange(n + 1) * length)
        rules = (None, None, None)
        request = make_request(
            stacked, np.eye(n_states), *others, rules, masks.reshape(-1, n_states)
        )
        return ChainDecoder(request).top_k(1)
