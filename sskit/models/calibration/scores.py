"""Scores of labellings that are to become probabilities."""

from typing import NamedTuple

import numpy as np

from sskit.models.chain.structure import ChainStructure
from sskit.models.feature_map import FeatureMap
from sskit.models.features import FeatureRows, no_features, with_spare
from sskit.models.given import Given
from sskit.models.graph.given import given_graphs
from sskit.models.graph.model import form_of
from sskit.models.request import Decoder


class Calibration(NamedTuple):
    """What becomes of scores before exponentials are taken.

    Attributes
    ----------
    coef : ndarray of shape (), (K,) or (K, K)
        Factor of the scores of nodes, of all, for each label, or a matrix by which the scores of
        all labels at a node are mixed.
    bias : ndarray of shape (K,)
        What is added to them.
    pairs : float
        Factor of all other scores, positive.
    transitions : ndarray of shape (m, K, K)
        What is added to the tables of pairs.
    start, end : ndarray of shape (K,)
        What is added to the scores of first and last labels; zeros for trees.
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


class PairSums(NamedTuple):
    """Weighted sums over the pairs of neighbours.

    Attributes
    ----------
    counts : ndarray of shape (m, K, K)
        How many there are of the labels.
    of_features : float
        The scores of the features of edges.
    """

    counts: np.ndarray
    of_features: float

    def __sub__(self, other):
        return PairSums(self.counts - other.counts, self.of_features - other.of_features)


class EdgeScores(NamedTuple):
    """Features of the edges of sequences, and their weights.

    Tables of scores of all edges may take more memory than there is: they are made by sequence.

    Attributes
    ----------
    features : {ndarray, CSR matrix} of shape (N - n, q)
        From each token to the next one, of all sequences that have tokens.
    weights : ndarray of shape (q, K, K)
        Of the features, by the labels of the two tokens.
    """

    features: np.ndarray
    weights: np.ndarray

    def among(self, place, n_states):
        """Return the scores among more labels, see `Scores.among`."""
        weights = np.zeros((len(self.weights), n_states, n_states))
        weights[:, place[:, None], place] = self.weights
        return self._replace(weights=weights)

    def tables(self, start, stop):
        """Return the scores of the edges start .. stop - 1, (stop - start, K, K)."""
        rows, n_states = self.features[start:stop], self.weights.shape[-1]
        if isinstance(rows, np.ndarray):
            rows = rows.astype(np.float64, copy=False)
        found = rows @ self.weights.reshape(len(self.weights), -1)
        return found.reshape(-1, n_states, n_states)


class Inference(NamedTuple):
    """What `Scores.infer` returns.

    Attributes
    ----------
    log_z : ndarray of shape (n,)
        Logarithms of the sums over all labellings; -inf where none is possible.
    marginals : ndarray of shape (N, K) or None
        Probabilities of the labels; of no meaning where none is possible.
    pairs : PairSums or None
        Of the pairs that are expected.
    """

    log_z: np.ndarray
    marginals: np.ndarray | None
    pairs: PairSums | None


class Scores:
    """Scores of the labellings of sequences or trees by one model.

    Parameters
    ----------
    nodes : ndarray of shape (N, K)
        Scores of the features of all nodes.
    offsets : ndarray of shape (n + 1,), int64
        Where the sequences or trees begin; they may be empty.
    tables : ndarray of shape (m, K, K)
        Scores of pairs, -inf where forbidden; m = 1 for sequences.
    start, end : ndarray of shape (K,)
        Scores of first and last labels, -inf where forbidden; zeros for trees.
    forest : tuple or None
        Of trees: ends (E, 2), int32, where the edges of each begin (n + 1,), int64, and the
        tables of the edges (E,), int32.
    edge_scores : EdgeScores or None
        Of sequences: scores of the features of edges, further to the table.
    """

    def __init__(self, nodes, offsets, tables, start, end, forest=None, edge_scores=None):
        self.nodes = nodes
        self.offsets = offsets
        self.tables = tables
        self.start = start
        self.end = end
        self.forest = forest
        self.edge_scores = edge_scores
        self.absent = np.zeros(nodes.shape[1], dtype=bool)

    def among(self, place, n_states):
        """Return the scores among more labels, of which the others are impossible.

        Parameters
        ----------
        place : ndarray of shape (K,), int
            Which of them are those of the scores.
        n_states : int
            Number of labels.
        """
        if len(place) == n_states:
            return self
        nodes, ends = np.zeros((len(self.nodes), n_states)), np.zeros((2, n_states))
        nodes[:, place] = self.nodes
        ends[:, place] = self.start, self.end
        tables = np.zeros((len(self.tables), n_states, n_states))
        tables[:, place[:, None], place] = self.tables
        edge_scores = self.edge_scores
        if edge_scores is not None:
            edge_scores = edge_scores.among(place, n_states)
        scores = Scores(nodes, self.offsets, tables, *ends, self.forest, edge_scores)
        scores.absent[:] = True
        scores.absent[place] = False
        return scores

    @property
    def filled(self):
        """Which sequences have tokens, (n,), bool."""
        return np.diff(self.offsets) > 0

    @property
    def ends(self):
        """First and last nodes of those that have any."""
        return self.offsets[:-1][self.filled], self.offsets[1:][self.filled] - 1

    def arrays(self, calibration, possible=None):
        """Return the potentials of nodes (N, K), -inf where impossible, and of pairs (m, K, K).

        Those of first and last labels are part of the former, those of features of edges are not
        part of the latter.
        """
        c = calibration
        nodes = self.nodes @ c.coef.T if c.coef.ndim == 2 else self.nodes * c.coef
        nodes += c.bias
        nodes[:, self.absent] = -np.inf
        if possible is not None:
            nodes[~possible] = -np.inf
        if self.forest is None:
            first, last = self.ends
            nodes[first] += c.pairs * self.start + c.start
            nodes[last] += c.pairs * self.end + c.end
        return nodes, c.pairs * self.tables + c.transitions

    def transitions_of(self, calibration, table, i):
        """Return the potentials of the pairs of sequence i, whose table is given if one serves all.

        Parameters
        ----------
        calibration : Calibration
            What becomes of the scores.
        table : ndarray of shape (K, K)
            From `arrays`.
        i : int
            Number of the sequence, which has tokens.

        Returns
        -------
        transitions : ndarray of shape (K, K) or (T - 1, K, K)
        """
        if self.edge_scores is None:
            return table
        before = np.count_nonzero(self.filled[:i])
        start, stop = self.offsets[i] - before, self.offsets[i + 1] - before - 1
        return table + calibration.pairs * self.edge_scores.tables(start, stop)

    def decoder(self, calibration, possible=None, n_jobs=None):
        """Return calibrated scores as what is asked for labellings.

        Its blocks are the trees, or the sequences that have tokens; its head the tables of pairs.
        """
        nodes, tables = self.arrays(calibration, possible)
        K, offsets = nodes.shape[1], self.offsets if self.forest else np.unique(self.offsets)
        parts, weights, rows = {"head": (K, K)}, [tables.ravel()], no_features(offsets[-1])
        if self.forest:
            parts["head"] = len(tables), K * K
        elif self.edge_scores is not None:
            rows_of_edges = FeatureRows(self.edge_scores.features, sparsify=False)
            parts |= {"edges": rows_of_edges, "edge_offsets": offsets - np.arange(len(offsets))}
            weights.append(calibration.pairs * self.edge_scores.weights.ravel())
        feature_map = FeatureMap(rows, offsets, K, **parts)
        if self.forest:
            ends, edges, kinds = self.forest
            form = form_of(K, "full")
            structure = given_graphs(feature_map, form, ends, (edges[:-1], edges[1:]), kinds)
        else:
            structure = ChainStructure(feature_map)
        weights = with_spare(np.concatenate(weights))
        given = Given(feature_map, structure, weights, nodes=nodes.ravel(), first=offsets[:-1])
        return Decoder(given, n_jobs)

    def infer(self, calibration, possible=None, *, marginals=True, weight=None, n_jobs=None):
        """Sum over all labellings.

        Parameters
        ----------
        calibration : Calibration
            What becomes of the scores.
        possible : ndarray of shape (N, K), bool, default=None
            Labels that are possible; None means all.
        marginals : bool, default=True
            Whether to return the probabilities of labels.
        weight : ndarray of shape (n,), default=None
            Weights of the sequences in the sums of pairs, which are only returned if it is given.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        found : Inference
        """
        blocks = np.ones(len(self.offsets) - 1, dtype=bool) if self.forest else self.filled
        log_z, weights, pairs = np.zeros(len(blocks)), None, None
        if weight is not None:
            weights = np.ascontiguousarray(weight[blocks])
        decoder = self.decoder(calibration, possible, n_jobs)
        log_z[blocks], table, counts, expected = decoder.marginals(nodes=marginals, weight=weights)
        if weight is not None:
            of_features = expected / calibration.pairs
            pairs = PairSums(counts.reshape(self.tables.shape), of_features)
        return Inference(log_z, table, pairs)

    def sample(self, calibration, uniform, possible=None, n_jobs=None):
        """Return labellings drawn by numbers of [0, 1), both (n_samples, N)."""
        return self.decoder(calibration, possible, n_jobs).sample(uniform)

    def best(self, calibration, possible=None, n_jobs=None):
        """Return the labelling of the highest calibrated score, (N,)."""
        return self.decoder(calibration, possible, n_jobs).best()

    def labelling_scores(self, calibration, labels):
        """Return the calibrated score of a labelling, (N,), of each sequence or tree, (n,)."""
        total = np.zeros(len(self.offsets) - 1)
        blocks = slice(None) if self.forest else self.filled
        total[blocks] = self.decoder(calibration).scores(labels)
        return total
