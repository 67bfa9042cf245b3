"""Scores of labellings that are to become probabilities."""

from typing import NamedTuple

import numpy as np

from sskit.models.chain import probabilities as chains
from sskit.models.decoder import Decoder
from sskit.models.tree import probabilities as trees
from sskit.models.tree.model import full_form


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


class Inference(NamedTuple):
    """What `Scores.infer` returns.

    Attributes
    ----------
    log_z : ndarray of shape (n,)
        Logarithms of the sums over all labellings; -inf where none is possible.
    marginals : ndarray of shape (N, K) or None
        Probabilities of the labels; of no meaning where none is possible.
    pairs : ndarray of shape (m, K, K) or None
        Expected numbers of pairs, weighted.
    """

    log_z: np.ndarray
    marginals: np.ndarray | None
    pairs: np.ndarray | None


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
    """

    def __init__(self, nodes, offsets, tables, start, end, forest=None):
        self.nodes = nodes
        self.offsets = offsets
        self.tables = tables
        self.start = start
        self.end = end
        self.forest = forest
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
        scores = Scores(nodes, self.offsets, tables, *ends, self.forest)
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

        Those of first and last labels are part of the former.
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

    def potentials(self, calibration, possible=None):
        """Return calibrated scores as compiled code wants them."""
        nodes, tables = self.arrays(calibration, possible)
        if self.forest is None:
            return chains.ChainPotentials(nodes, np.unique(self.offsets), tables[0])
        form = full_form(nodes.shape[1])
        return trees.TreePotentials(nodes, self.offsets, *self.forest, tables, form)

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
            Weights of the sequences in the expected numbers of pairs, which are only returned
            if it is given.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        found : Inference
        """
        n, (N, K) = len(self.offsets) - 1, self.nodes.shape
        log_z = np.zeros(n)
        table = np.zeros((N, -(-K // 8) * 8)) if marginals else None
        sums = {}
        if N:
            potentials = self.potentials(calibration, possible)
            # of a tree without nodes log Z is zero too
            blocks = np.ones(n, dtype=bool) if self.forest else self.filled
            own = np.zeros(np.count_nonzero(blocks))
            pairs = None if weight is None else (np.ascontiguousarray(weight[blocks]), sums)
            module = trees if self.forest else chains
            Decoder(potentials, n_jobs)._run(module.infer, (own, table, pairs))
            log_z[blocks] = own
        if weight is None:
            pairs = None
        else:
            pairs = np.zeros((len(self.tables) * K, K))
            for start in sorted(sums):
                pairs += sums[start][: len(pairs), :K]
            pairs = pairs.reshape(self.tables.shape)
        return Inference(log_z, None if table is None else table[:, :K], pairs)

    def sample(self, calibration, uniform, possible=None, n_jobs=None):
        """Return labellings drawn by numbers of [0, 1), both (n_samples, N)."""
        labels = np.zeros(uniform.shape, dtype=np.int32)
        if labels.size:
            potentials = self.potentials(calibration, possible)
            module = trees if self.forest else chains
            Decoder(potentials, n_jobs)._run(module.sample, (uniform, labels))
        return labels

    def best(self, calibration, possible=None, n_jobs=None):
        """Return the labelling of the highest calibrated score, (N,)."""
        labels = np.zeros(len(self.nodes), dtype=np.int32)
        if labels.size:
            potentials = self.potentials(calibration, possible)
            module = trees if self.forest else chains
            Decoder(potentials, n_jobs)._run(module.best, labels)
        return labels

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
        if self.forest is None:
            first, last = self.ends
            total[self.filled] += (c.pairs * self.start + c.start)[labels[first]]
            total[self.filled] += (c.pairs * self.end + c.end)[labels[last]]
        return total
