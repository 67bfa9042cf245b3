"""Scores of labellings before calibration."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sskit.models.chain.structure import ChainStructure
from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows, no_features, with_spare
from sskit.models.graph.adaptive import adaptive_graphs
from sskit.models.graph.model import form_of
from sskit.models.request import Decoder, PotentialsRequest
from sskit.oracles.chain.viterbi import PaddedChain


class Calibration(NamedTuple):
    """A calibration: the transformation of scores before exponentials are taken.

    Attributes
    ----------
    coef : ndarray of shape () or (K, K)
        Factor of the scores of nodes, or a matrix by which those of all labels at a node are mixed.
    bias : ndarray of shape (K,)
        Added to them.
    pairs : float
        Factor of all other scores, positive.
    transitions : ndarray of shape (m, K, K)
        Added to the tables of pairs.
    start, end : ndarray of shape (K,)
        Added to the scores of first and last labels; zeros for trees.
    """

    coef: np.ndarray
    bias: np.ndarray
    pairs: float
    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def scaled(cls, factor, n_states, n_tables):
        """Return the calibration that multiplies all scores."""
        zeros = np.zeros(n_states)
        tables = np.zeros((n_tables, n_states, n_states))
        return cls(np.asarray(float(factor)), zeros, float(factor), tables, zeros, zeros)


@dataclass(eq=False)
class Scores:
    """Scores of the labellings of sequences or trees by one model.

    A labelling is one of states. Each label has one, or several, which are hidden, or none, if the
    model lacks the label; the probability of labels is that of all their states.

    Parameters
    ----------
    nodes : ndarray of shape (N, S)
        Scores of the features of all nodes.
    offsets : ndarray of shape (n + 1,), int64
        Where the sequences or trees begin; they may be empty.
    tables : ndarray of shape (m, S, S)
        Scores of pairs, -inf where forbidden; m = 1 for sequences.
    start, end : ndarray of shape (S,)
        Scores of first and last states, -inf where forbidden; zeros for trees.
    owner : ndarray of shape (S,), int
        The label of each state, never falling.
    n_labels : int
        Number of labels K, of which some may have no state.
    forest : tuple or None
        Of trees: ends (E, 2), int32, where the edges of each begin (n + 1,), int64, and the
        tables of the edges (E,), int32.
    edge_scores : tuple or None
        Of sequences: what makes scores further to the table, whose tables of all edges may take
        more memory than there is: features (N - n, q) of the edges from each token to the next, of
        all sequences that have tokens, and their weights (q, S, S) by the states of both.
    triples : ndarray of shape (S, S, S) or None
        Of sequences: scores of three states in a row.
    """

    nodes: np.ndarray
    offsets: np.ndarray
    tables: np.ndarray
    start: np.ndarray
    end: np.ndarray
    owner: np.ndarray
    n_labels: int
    forest: tuple | None = None
    edge_scores: tuple | None = None
    triples: np.ndarray | None = None

    def __post_init__(self):
        # is each state a label?
        labels = np.arange(self.n_labels)
        self.plain = len(self.owner) == self.n_labels and bool((self.owner == labels).all())
        # the sequences with tokens, their first and last nodes; all trees are blocks
        self.filled = np.diff(self.offsets) > 0
        self.ends = self.offsets[:-1][self.filled], self.offsets[1:][self.filled] - 1
        self.blocks = slice(None) if self.forest else self.filled

    @cached_property
    def is_owner(self):
        """Return 1 where a label (column) is that of a state (row), else 0."""
        return (self.owner[:, None] == np.arange(self.n_labels)).astype(np.float64)

    @cached_property
    def mixing(self):
        """Return how a state (column) scores in one that a matrix of labels mixes (row).

        It does as it is in its own, as the mean of all states of its label elsewhere.
        """
        owner = self.owner
        fraction = 1.0 / np.bincount(owner, minlength=1)[owner]
        return np.where(owner[:, None] == owner, np.eye(len(owner)), fraction)

    def by_label(self, marginals):
        """Return the probabilities of labels (N, K) from those of their states."""
        return marginals if self.plain else marginals @ self.is_owner

    def arrays(self, calibration, possible=None):
        """Return the potentials of nodes (N, S), -inf where impossible, and of pairs (m, S, S).

        Those of first and last states are part of the former, those of features of edges and of
        three states in a row are not part of the latter. `possible`, (N, K), has a column for each
        label.
        """
        c, owner = calibration, self.owner
        if c.coef.ndim:
            nodes = self.nodes @ (c.coef[owner[:, None], owner] * self.mixing).T
        else:
            nodes = self.nodes * c.coef
        nodes += c.bias[owner]
        if possible is not None:
            nodes[~possible[:, owner]] = -np.inf
        if self.forest is None:
            first, last = self.ends
            nodes[first] += c.pairs * self.start + c.start[owner]
            nodes[last] += c.pairs * self.end + c.end[owner]
        tables = c.pairs * self.tables
        # in place: of no other shape
        tables += c.transitions if self.plain else c.transitions[:, owner[:, None], owner]
        return nodes, tables

    def gradient(self, slope, pairs):
        """Return the gradient by the calibration, as a `Calibration`, from that by the potentials.

        Parameters
        ----------
        slope : ndarray of shape (N, S)
            Of the nodes.
        pairs : ndarray of shape (m S^2 + 1,)
            Of the others, as `infer` returns their sums.
        """
        own, counts = self.is_owner, pairs[:-1].reshape(self.tables.shape)
        ends = np.zeros((2, len(self.owner)))
        if self.forest is None:
            ends[:] = [slope[nodes].sum(axis=0) for nodes in self.ends]
        total = pairs[-1]
        for table, sums in ((self.tables, counts), (self.start, ends[0]), (self.end, ends[1])):
            finite = table > -np.inf
            total += sums[finite] @ table[finite]
        mixed = (slope.T @ self.nodes) * self.mixing
        return Calibration(
            own.T @ mixed @ own, slope.sum(axis=0) @ own, total, own.T @ counts @ own,
            *ends @ own,
        )  # fmt: skip

    def neighbours(self, calibration, potentials, i):
        """Return the probabilities of the states of a sequence, of pairs and of three in a row.

        Parameters
        ----------
        calibration : Calibration
            The transformation of the scores.
        potentials : tuple
            From `arrays`.
        i : int
            Number of the sequence, which has tokens.

        Returns
        -------
        marginals : ndarray of shape (T, S)
        pairs : ndarray of shape (T - 1, S, S)
        triples : ndarray of shape (T - 2, S, S, S) or None
            None unless these have scores.
        """
        nodes, table = potentials[0][self.offsets[i] : self.offsets[i + 1]], potentials[1][0]
        if self.edge_scores is not None:
            features, weights = self.edge_scores
            first = self.offsets[i] - np.count_nonzero(self.filled[:i])
            rows = features[first : first + len(nodes) - 1]
            if isinstance(rows, np.ndarray):
                rows = rows.astype(np.float64, copy=False)
            scores = rows @ weights.reshape(len(weights), -1)
            table = table + calibration.pairs * scores.reshape(-1, *table.shape)
        if self.triples is None:
            return *PaddedChain(nodes, table).marginals(True, False)[1:], None
        triples = calibration.pairs * self.triples
        return PaddedChain(nodes, table, triples).marginals(True, True)[1:]

    def decoder(self, calibration, possible=None, n_jobs=None):
        """Return calibrated scores as a request for labellings.

        Its blocks are the trees, or the sequences that have tokens; its head the tables of pairs.
        """
        nodes, tables = self.arrays(calibration, possible)
        S, offsets = nodes.shape[1], self.offsets if self.forest else np.unique(self.offsets)
        parts, weights, rows = {"head": (S, S)}, [tables.ravel()], no_features(offsets[-1])
        if self.forest:
            parts["head"] = len(tables), S * S
        if self.edge_scores is not None:
            features, tables = self.edge_scores
            rows_of_edges = FeatureRows(features, sparsify=False)
            parts |= {"edges": rows_of_edges, "edge_offsets": offsets - np.arange(len(offsets))}
            weights.append(calibration.pairs * tables.ravel())
        if self.triples is not None:
            parts |= {"tail": (S * S, S), "triples": True}
            weights.append(calibration.pairs * self.triples.ravel())
        feature_map = FeatureMap(rows, offsets, S, **parts)
        if self.forest:
            ends, edges, kinds = self.forest
            form = form_of(S, "full")
            structure = adaptive_graphs(feature_map, form, ends, (edges[:-1], edges[1:]), kinds)
        else:
            structure = ChainStructure(feature_map)
        weights = with_spare(np.concatenate(weights))
        potentials = {"nodes": nodes.ravel(), "first": offsets[:-1]}
        request = PotentialsRequest(feature_map, structure, weights, **potentials)
        return Decoder(request, n_jobs)

    def infer(self, calibration, possible=None, *, marginals=True, weight=None, n_jobs=None):
        """Sum over all labellings.

        Parameters
        ----------
        calibration : Calibration
            The transformation of the scores.
        possible : ndarray of shape (N, K), bool, default=None
            Labels that are possible; None means all.
        marginals : bool, default=True
            Whether to return the probabilities of states.
        weight : ndarray of shape (n,), default=None
            Weights of the sequences in the sums of pairs, which are only returned if it is given.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        log_z : ndarray of shape (n,)
            Logarithms of the sums over all labellings; -inf where none is possible.
        marginals : ndarray of shape (N, S) or None
            Probabilities of the states; of no meaning where none is possible.
        pairs : ndarray of shape (m S^2 + 1,) or None
            Weighted sums of how many pairs of neighbours with each table are expected to have two
            states, and, last, of the scores of features of edges and of three states in a row.
        """
        log_z, pairs = np.zeros(len(self.offsets) - 1), None
        weights = None if weight is None else np.ascontiguousarray(weight[self.blocks])
        sums = self.decoder(calibration, possible, n_jobs).marginals(
            nodes=marginals, weight=weights
        )
        log_z[self.blocks], table, counts, expected = sums
        if weight is not None:
            pairs = np.append(counts, expected / calibration.pairs)
        return log_z, table, pairs

    def path_scores(self, calibration, states):
        """Return the calibrated scores of paths of states, (N,), of each sequence or tree, (n,)."""
        total = np.zeros(len(self.offsets) - 1)
        total[self.blocks] = self.decoder(calibration).scores(states)
        return total


class Steps(NamedTuple):
    """Factors of the probabilities of spans of one kind, which has m states.

    Attributes
    ----------
    alone : ndarray of shape (T,)
        Probability of the span of one token.
    begins : ndarray of shape (T - 1, m, m)
        That a span begins here and goes on, by the states of both tokens.
    onward : ndarray of shape (T - 2, m, m, m)
        That of the third state, which goes on with the span, given those of two tokens of it.
    leaves : ndarray of shape (T - 1, m, m)
        That the span is over, given the states of its last two tokens.
    """

    alone: np.ndarray
    begins: np.ndarray
    onward: np.ndarray
    leaves: np.ndarray

    def probability(self, first, stop):
        """Return the probability that a labelling has exactly the span first .. stop - 1."""
        if stop - first == 1:
            return float(self.alone[first])
        weight = self.begins[first]
        for onward in self.onward[first : stop - 2]:
            weight = (weight[:, :, None] * onward).sum(axis=0)
        return float((weight * self.leaves[stop - 2]).sum())


def find_steps(marginals, pairs, triples, own, goes_on):
    """Return the `Steps` of a kind of spans.

    The tokens before two neighbours and those behind them are independent given their states.

    Parameters
    ----------
    marginals : ndarray of shape (T, S)
        Probabilities of states.
    pairs : ndarray of shape (T - 1, S, S)
        Those of the states of neighbours.
    triples : ndarray of shape (T - 2, S, S, S), or None
        Those of three in a row; None if the third is independent of the first given the second.
    own : ndarray of shape (m,), int
        The states of the kind.
    goes_on : ndarray of shape (m, m), bool
        Whether the second of two of them goes on with the span of the first.

    Returns
    -------
    steps : Steps
    """
    # a span goes on with its own kind only, so that other states before or behind need no check
    inside = goes_on.astype(np.float64)
    p, both = marginals[:, own], pairs[:, own[:, None], own]
    if triples is None:
        three = both[:-1, :, :, None] * (both[1:] * _inverse(p[1:-1])[:, :, None])[:, None]
    else:
        three = triples[:, own[:, None, None], own[:, None], own]
    going = both * inside
    before, begins = p.copy(), going.copy()
    before[1:] -= going.sum(axis=1)
    # likewise, minus the probability that they continue an earlier span
    begins[1:] -= (three * inside[:, :, None]).sum(axis=1) * inside
    alone = before.copy()
    alone[:-1] -= begins.sum(axis=2)
    onward, leaves = three * inside, np.ones(both.shape)
    onward *= _inverse(both[:-1])[..., None]
    leaves[:-1] -= onward.sum(axis=3)
    return Steps(alone.clip(0.0).sum(axis=1), begins.clip(0.0), onward, leaves.clip(0.0))


def _inverse(x):
    """Return 1 / x, zero where x is zero."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0.0)
