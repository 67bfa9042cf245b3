"""What is completed of the labels, or hidden states, of tokens, nodes and rows."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from sskit.estimators.completion.clusters import cluster_states
from sskit.estimators.reading.summary import matrices
from sskit.inputs.labels.partial import PartialLabels, set_mask
from sskit.inputs.ragged_array import stretches
from sskit.inputs.stacking import stack_rows
from sskit.models.features import value_digests
from sskit.models.likelihood.log_loss import likelihood_of
from sskit.solvers.convex_concave import Completion


def settings_of(estimator):
    """Return the parameters of an estimator that `Hidden` has, too."""
    return {name: getattr(estimator, name) for name in ("n_init", "n_jobs", "random_state")}


@dataclass(frozen=True, kw_only=True)
class Hidden(Completion):
    """Completes what is not known of the labels of tokens, nodes or rows.

    A subclass has ``complete(w)``, which returns the best labels (n_tokens,) under flat weights
    that agree with what is known, and ``bind(known)``, the problem of the tokens of a mask
    (n_tokens,) and the edges between them; if these are none, there is nothing to lose in it.

    Attributes
    ----------
    model : object
        Of the data.
    data : RaggedArray, GraphBatch or matrix
        Features.
    partial : PartialLabels
        What is known of the labels.
    cost : ndarray of shape (n_tokens,)
        Loss of a wrong label at each token.
    block_weight : ndarray of shape (n,)
        Weights of the samples, summing to one.
    n_jobs : int or None
        Number of threads.
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
    states : LabelStates or None
        Of which labels the states of the model are; None if they are labels.
    n_init : int
        From how many clusterings of the tokens of each label states start.
    edges : matrix of shape (n_tokens - n, q) or None
        Features of the edges of sequences.
    labelled : ndarray of shape (n_tokens,), bool, or None
        Which tokens have a label. The others have no edges, and the state 0. None: all.
    random_state : int, RandomState instance or None
        Where clusterings begin, and of labels that are drawn.
    """

    model: object
    data: object
    partial: PartialLabels
    cost: np.ndarray
    block_weight: np.ndarray
    n_jobs: int | None
    table: np.ndarray | None = None
    states: object = None
    n_init: int = 1
    edges: object = None
    labelled: np.ndarray | None = None
    random_state: object = None

    @property
    def offsets(self):
        """Where samples begin if completions may be worse than those of last time, else None."""
        return None if self.labelled is None else self.data.offsets

    def mark_right(self, problem):
        """Let a problem count all labels as right that may be, where several are possible."""
        accepted = set_mask(self.partial, self.states.hidden)
        # losses by node are zero at all right labels
        if accepted is not None and not problem.loss.by_node:
            problem.accept(accepted)

    def fingerprint(self, of_problem):
        """Return the fingerprint of the data, given that of their problem."""
        of_problem, possible = super().fingerprint(of_problem), self.partial.possible
        places = np.asarray(self.data.offsets, dtype=np.int64) * possible.shape[1]
        marks = value_digests(possible.ravel().astype(np.int32), places)
        return replace(of_problem, blocks=of_problem.blocks | {"what is known of y": marks})

    def starts(self, solved):
        """Yield labels, or states, to begin with, given what solves a problem.

        Labels are completed by a fit to stretches of known ones; without any they are drawn.
        """
        random_state = check_random_state(self.random_state)
        if self.states.hidden:
            for _ in range(self.n_init):
                yield self.first_states(solved, random_state)
            return
        part = self.known_part()
        if part is None:
            yield self.drawn(random_state)
        else:
            yield self.complete(self.adapted(solved(part)))

    def first_weights(self, solved):
        """Yield weights to begin with where states are summed over, as `starts` does states.

        At zero all states of a label are alike, and would stay so.
        """
        states = np.arange(self.partial.possible.shape[1])

        def solved_by_likelihood(part):
            return solved(likelihood_of(part))

        for truth in self.starts(solved_by_likelihood):
            known = replace(self.partial, labels=truth, possible=truth[:, None] == states)
            part = replace(self, partial=known).known_part()
            yield self.adapted(solved_by_likelihood(part))

    def first_states(self, solved, random_state):
        """Return states to begin with, (n_tokens,): clusters of the tokens of each label.

        Those of tokens without a known label are the best under the weights that are learned from
        all others; if no token has a known label, labels are drawn.
        """
        possible, states = self.partial.possible, self.states
        by_label = np.logical_or.reduceat(possible, states.first, axis=1)
        labels = np.where(by_label.sum(axis=1) == 1, by_label.argmax(axis=1), -1)
        if self.labelled is not None:
            labels[~self.labelled] = -1
        elif (labels < 0).all():
            labels = states.labels[self.drawn(random_state)]
        rows = stack_rows(matrices(self.data))
        truth = cluster_states(rows, labels, states.counts, random_state)
        known = truth >= 0
        if known.all() or self.labelled is not None:
            return np.maximum(truth, 0)
        certain = possible.copy()
        certain[known] = truth[known, None] == np.arange(possible.shape[1])
        partial = replace(self.partial, labels=certain.argmax(axis=1), possible=certain)
        part = replace(self, partial=partial).known_part()
        return self.complete(self.adapted(solved(part)))

    def known_part(self, of_part=False):
        """Return the problem of the tokens whose label is known; None if the data have none.

        A part of the data without such tokens has one in which there is nothing to lose.
        """
        known = self.partial.n_possible == 1
        return self.bind(known) if known.any() or of_part else None

    def drawn(self, random_state):
        """Return labels that agree with what is known, drawn at random."""
        possible = self.partial.possible
        scores = check_random_state(random_state).uniform(size=possible.shape)
        return np.where(possible, scores, -1.0).argmax(axis=1)

    def adapted(self, w):
        """Return weights of the known part as they are in all data."""
        return w


class HiddenNodes(Hidden):
    """Completes the labels of the nodes of graphs or trees; see `Hidden`."""

    def complete(self, w):
        """Return the best labels (n_nodes,) under flat weights that agree with what is known."""
        coef, *others = self.model.layout.split(w).values()
        request = self.data, coef, others, self.n_jobs, self.partial.possible
        return self.model.decoder(*request).best()

    def bind(self, known):
        """Return the problem of some nodes and the edges between them."""
        bound = self.data, self.partial.labels, self.cost, self.block_weight
        return self.model.bind(*bound, labelled=known, table=self.table)


class HiddenSequences(Hidden):
    """Base for sequences, whose known part is stretches of tokens.

    A subclass implements ``bind_stretches(known, parts, owners, weight)``, which returns the
    problem of what `stretches` returns of some tokens, with the weight of each stretch.
    """

    def bind(self, known):
        """Return the problem of all stretches of some tokens.

        First and last tokens of stretches are not those of sequences, whose weights `adapted`
        leaves out. If there are no tokens, one without weight stands for them.
        """
        weight = self.block_weight
        if not known.any():
            known, weight = np.arange(len(known)) == 0, np.zeros(len(weight))
        parts, owners = stretches(self.data, known)
        return self.bind_stretches(known, parts, owners, weight[owners])

    def adapted(self, w):
        """Return weights of the known part without those of first and last labels."""
        w = np.array(w)
        blocks = self.model.layout.split(w)
        blocks["start"][:] = blocks["end"][:] = 0.0
        return w
