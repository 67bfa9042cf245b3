"""Potentials of the nodes and edges of chains, trees and graphs, checked and packed."""

import numpy as np

from sskit._ready import all_finite
from sskit.inputs.ragged_array import make_offsets
from sskit.losses.layout import pack_labels, pack_nodes
from sskit.losses.pairs import chain_edges, pack_edges, pack_tables
from sskit.models.chain.structure import ChainStructure
from sskit.models.features import no_features, with_spare
from sskit.models.graph.adaptive import adaptive_graphs
from sskit.models.graph.model import form_of
from sskit.models.request import PotentialsMap, PotentialsRequest
from sskit.models.structure import NodeLoss

WORDS = {
    "chain": ("sequence", "token", "label"),
    "tree": ("tree", "node", "label"),
    "graph": ("graph", "node", "label"),
}

# Largest loss of a sequence, in units: time and memory of slack rescaling grow with it.
MOST_LEVELS = 10_000


class NodeProblem:
    """A batch of chains, trees or graphs, checked and packed.

    Parameters
    ----------
    structure : {"chain", "tree", "graph"}
        The structure.
    potts : bool
        Whether a number stands for a table.
    unary, pairwise, labels, edges, mask : object
        As for `StructuredHinge.evaluate`; `labels` may be None.
    """

    def __init__(self, structure, potts, unary, pairwise, labels, edges, mask):
        self.words = words = WORDS[structure]
        self.structure, self.potts = structure, potts
        if structure == "chain" and edges is not None:
            raise ValueError("edges are for trees and graphs, not for chains")
        chains = structure == "chain"
        trailing = labels if chains else None
        n_states = None
        if isinstance(pairwise, np.ndarray) and pairwise.ndim >= 2:
            n_states = pairwise.shape[-1]  # where there is no sample to infer it from
        self.rows, self.layout = pack_nodes(unary, mask, words, labels=trailing, n_states=n_states)
        self.n_states = self.rows.shape[1]
        self.edges = chain_edges(self.layout) if chains else pack_edges(edges, self.layout)
        self.tables = pack_tables(pairwise, self.layout, self.edges, self.n_states, potts, chains)
        if not chains:
            self.edges.check(self.layout)
        self.truth = np.full(self.layout.n_rows, -1, dtype=np.int32)
        if labels is not None:
            self.truth = pack_labels(labels, self.layout, self.n_states)
        self.values = self.tables.values
        self.dtypes = self.rows.dtype, self.values.dtype
        # most batches are right, and have no NaN at padding either
        if not all(
            all_finite(numbers) or numbers.max(initial=-np.inf) < np.inf
            for numbers in (self.rows, self.values)
        ):
            self._check_numbers()

    def _check_numbers(self):
        """Raise ValueError for the first potential that is NaN or inf, of a node or of an edge."""
        item = self.words[0]
        wrong = self.layout.only_inside((~(self.rows < np.inf)).any(axis=1))
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(f"{self.layout.name(row)}: unary {_first_wrong(self.rows[row])}")
        sample, edge = self.edges.places()
        tables = self.values.reshape(-1, self.tables.size)
        of_edge = self.tables.first[sample] + self.tables.step * edge
        if self.one_table and self.structure == "chain":  # chains may have no edges, and it counts
            of_edge = np.zeros(1, dtype=np.int64)
        wrong = ~(tables < np.inf).all(axis=1)[of_edge]
        if wrong.any():
            e = int(wrong.argmax())
            where = "" if self.one_table else f"{item} {sample[e]}: "
            if self.tables.step:
                where = f"{item} {sample[e]}, edge {edge[e]}: "
            raise ValueError(f"{where}pairwise {_first_wrong(tables[of_edge[e]])}")

    @property
    def one_table(self):
        """Whether all edges of all samples have the same table."""
        return not self.tables.step and len(self.values) == self.tables.size

    def agreeing(self):
        """Return the `NodeLoss` of the states that agree with the labels, where some are known."""
        truth, n_rows, K = self.truth[:, np.newaxis], len(self.truth), self.n_states
        possible = (truth < 0) | (truth == np.arange(K)) if (truth >= 0).any() else None
        return NodeLoss(np.zeros(n_rows, dtype=np.int32), np.zeros(n_rows), K, possible=possible)

    def table_counts(self, one_each=True):
        """Return how many tables each sample has for its edges; None: all share one.

        Parameters
        ----------
        one_each : bool, default=True
            Whether edges of a chain that have one table share its copy.

        Returns
        -------
        counts : ndarray of shape (n,) or None
        """
        # Potts potentials are one number for each edge
        if self.one_table and not self.potts:
            return None
        counts = self.edges.count
        if not (self.tables.step or self.potts or (self.structure == "chain" and not one_each)):
            counts = np.minimum(counts, 1)
        return np.where(self.layout.length > 0, counts, 0)

    def request(self, one_each=True):
        """Return the potentials as a request for labellings.

        Parameters
        ----------
        one_each : bool, default=True
            As for `table_counts`.

        Returns
        -------
        request : PotentialsRequest
        """
        layout, edges, tables, K = self.layout, self.edges, self.tables, self.n_states
        chains, size = self.structure == "chain", tables.size
        offsets = make_offsets(layout.length)
        counts = self.table_counts(one_each)
        one = counts is None
        weights = self.values if one else np.zeros(size if chains else 0)
        parts = {"head": (K, K) if chains else (1, size)} if chains or one else {}
        potentials = {}
        if not one:
            where = make_offsets(counts)
            parts |= {"edges": no_features(where[-1]), "edge_offsets": where}
            parts |= {} if chains else {"edge_columns": size}
            potentials = {"tables": self.values, "table_first": tables.first, "step": tables.step}
        map = PotentialsMap(no_features(offsets[-1]), offsets, K, **parts)
        map.one_each = one_each and not tables.step
        if chains:
            structure = ChainStructure(map)
        else:
            own = self.potts or tables.step
            form = form_of(K, "potts" if self.potts else "full")
            ends = edges.ends, (edges.first, edges.first + edges.count)
            table = None if own else np.zeros(len(edges.ends), dtype=np.int32)
            options = {"forests": self.structure == "tree", "words": self.words}
            structure = adaptive_graphs(map, form, *ends, table, **options)
        weights = with_spare(weights.astype(np.float64))
        rows = self.rows.reshape(-1)
        potentials |= {"nodes": rows, "first": layout.first}
        return PotentialsRequest(map, structure, weights, **potentials)

    def largest_total(self, levels):
        """Return the largest loss, of levels (n_rows,), that slack rescaling takes."""
        if self.tables.step:
            raise ValueError("slack rescaling takes one table of transitions for a chain")
        totals = self.layout.totals(levels)
        if (totals > MOST_LEVELS).any():
            i = int((totals > MOST_LEVELS).argmax())
            raise ValueError(
                f"{self.words[0]} {i}: token_weight adds up to {totals[i]:g}, expected at most "
                f"{MOST_LEVELS} for slack rescaling"
            )
        return int(totals.max(initial=0))

    def forbidden(self, i):
        """Return a ValueError about a sample whose labels, or all labellings, are forbidden."""
        own = self.truth[self.layout.first[i] :][: self.layout.length[i]]
        which = " that agrees with labels" if (own >= 0).any() else ""
        return ValueError(
            f"{self.words[0]} {i}: no labelling{which} is allowed by unary and pairwise"
        )


def _first_wrong(values):
    """Return the error message about the first number that is NaN or inf."""
    return f"has {values[~(values < np.inf)][0]}, expected numbers or -inf"
