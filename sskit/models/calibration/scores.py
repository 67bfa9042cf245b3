"""Scores of labellings that are to become probabilities."""

from typing import NamedTuple

import numpy as np

from sskit.models.chain import probabilities as chains
from sskit.models.decoder import Decoder
from sskit.models.tree import probabilities as trees
from sskit.models.tree.model import form_of

# How many scores of edges with features are in memory at a time.
MOST_NUMBERS = 2**22


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

    Tables of scores of all edges may take more memory than there is: they are made when they are
    needed.

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

    def edges(self):
        """Return both nodes, the table and the sequence or tree of each pair."""
        n = len(self.offsets) - 1
        if self.forest is None:
            second = np.ones(len(self.nodes), dtype=bool)
            second[self.ends[0]] = False
            second = np.flatnonzero(second)
            blocks = np.repeat(np.arange(n), np.maximum(np.diff(self.offsets) - 1, 0))
            return second - 1, second, np.zeros(len(second), dtype=np.intp), blocks
        ends, edges, kinds = self.forest
        blocks = np.repeat(np.arange(n), np.diff(edges))
        return *(self.offsets[blocks] + ends.T), kinds, blocks

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

    def parts(self, calibration, possible=None):
        """Yield calibrated scores as compiled code wants them: those of all, or part by part.

        Yields
        ------
        potentials : ChainPotentials or TreePotentials
        blocks, nodes : slice
            What it has of the sequences that have tokens, or of all trees; and of the nodes.
        tables : ndarray of shape (E, K, K) or None
            Scores of the features of its edges.
        """
        nodes, tables = self.arrays(calibration, possible)
        every = slice(None)
        if self.forest is not None:
            form = form_of(nodes.shape[1], "full")
            potentials = trees.TreePotentials(nodes, self.offsets, *self.forest, tables, form)
            yield potentials, every, every, None
            return
        offsets = np.unique(self.offsets)
        if self.edge_scores is None:
            yield chains.ChainPotentials(nodes, offsets, tables[0]), every, every, None
            return
        edges, stop, n = offsets - np.arange(len(offsets)), 0, len(offsets) - 1
        most = MOST_NUMBERS // tables[0].size
        while stop < n:
            start = stop
            stop = int(np.searchsorted(edges, edges[start] + most, side="right")) - 1
            stop = min(max(stop, start + 1), n)
            own = self.edge_scores.tables(edges[start], edges[stop])
            rows = slice(offsets[start], offsets[stop])
            given = offsets[start : stop + 1] - offsets[start], tables[0] + calibration.pairs * own
            yield chains.ChainPotentials(nodes[rows], *given), slice(start, stop), rows, own

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
        n, (N, K) = len(self.offsets) - 1, self.nodes.shape
        log_z = np.zeros(n)
        table = np.zeros((N, -(-K // 8) * 8)) if marginals else None
        counts, of_features = np.zeros((len(self.tables) * K, K)), 0.0
        if N:
            # of a tree without nodes log Z is zero too
            blocks = np.ones(n, dtype=bool) if self.forest else self.filled
            own = np.zeros(np.count_nonzero(blocks))
            weights = None if weight is None else np.ascontiguousarray(weight[blocks])
            module = trees if self.forest else chains
            for potentials, part, nodes, tables in self.parts(calibration, possible):
                sums = {}
                if tables is not None and weight is not None:
                    sums = np.zeros((max(len(tables), 1) * K, -(-K // 8) * 8))
                pairs = None if weight is None else (weights[part], sums)
                out = own[part], None if table is None else table[nodes], pairs
                Decoder(potentials, n_jobs)._run(module.infer, out)
                if isinstance(sums, dict):
                    for start in sorted(sums):
                        counts += sums[start][: len(counts), :K]
                else:
                    each = sums.reshape(-1, K, sums.shape[1])[: len(tables), :, :K]
                    counts += each.sum(axis=0)
                    of_features += float((each * tables).sum())
            log_z[blocks] = own
        pairs = None
        if weight is not None:
            pairs = PairSums(counts.reshape(self.tables.shape), of_features)
        return Inference(log_z, None if table is None else table[:, :K], pairs)

    def sample(self, calibration, uniform, possible=None, n_jobs=None):
        """Return labellings drawn by numbers of [0, 1), both (n_samples, N)."""
        labels = np.zeros(uniform.shape, dtype=np.int32)
        module = trees if self.forest else chains
        for potentials, _, nodes, _ in self.parts(calibration, possible) if labels.size else ():
            given = np.ascontiguousarray(uniform[:, nodes]), np.ascontiguousarray(labels[:, nodes])
            Decoder(potentials, n_jobs)._run(module.sample, given)
            if not np.may_share_memory(given[1], labels):
                labels[:, nodes] = given[1]
        return labels

    def best(self, calibration, possible=None, n_jobs=None):
        """Return the labelling of the highest calibrated score, (N,)."""
        labels = np.zeros(len(self.nodes), dtype=np.int32)
        module = trees if self.forest else chains
        for potentials, _, nodes, _ in self.parts(calibration, possible) if labels.size else ():
            Decoder(potentials, n_jobs)._run(module.best, labels[nodes])
        return labels

    def feature_scores(self, labels):
        """Return the scores of the features of all edges for labels (N,), not calibrated, (E,)."""
        first, second, _, _ = self.edges()
        out = np.zeros(len(first))
        if self.edge_scores is not None:
            most = max(MOST_NUMBERS // self.tables[0].size, 1)
            for start in range(0, len(out), most):
                part = slice(start, start + most)
                tables = self.edge_scores.tables(start, min(start + most, len(out)))
                places = np.arange(len(tables)), labels[first[part]], labels[second[part]]
                out[part] = tables[places]
        return out

    def labelling_scores(self, calibration, labels):
        """Return the calibrated score of a labelling, (N,), of each sequence or tree, (n,)."""
        c, n = calibration, len(self.offsets) - 1
        nodes = self.nodes @ c.coef.T if c.coef.ndim == 2 else self.nodes * c.coef
        own = nodes[np.arange(len(labels)), labels] + c.bias[labels]
        own[self.absent[labels]] = -np.inf
        blocks = np.repeat(np.arange(n), np.diff(self.offsets))
        total = np.zeros(n)
        total += np.bincount(blocks, own, minlength=n)
        first, second, kinds, blocks = self.edges()
        tables = c.pairs * self.tables + c.transitions
        total += np.bincount(blocks, tables[kinds, labels[first], labels[second]], minlength=n)
        if self.edge_scores is not None:
            total += np.bincount(blocks, c.pairs * self.feature_scores(labels), minlength=n)
        if self.forest is None:
            first, last = self.ends
            total[self.filled] += (c.pairs * self.start + c.start)[labels[first]]
            total[self.filled] += (c.pairs * self.end + c.end)[labels[last]]
        return total
