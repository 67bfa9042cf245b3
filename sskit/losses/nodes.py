"""Potentials of the nodes and edges of chains, trees and graphs, checked and packed."""

import numpy as np

from sskit._numbers import as_array
from sskit.losses.batch import Batch, Numbers
from sskit.losses.layout import check_labels, is_ragged, pack_labels, pack_nodes
from sskit.losses.pairs import chain_edges, pack_edges, pack_tables

__all__ = ["WORDS", "NodeProblem"]

WORDS = {
    "chain": ("sequence", "token", "label"),
    "tree": ("tree", "node", "label"),
    "graph": ("graph", "node", "label"),
}


class NodeProblem:
    """A batch of chains, trees or graphs, checked and packed.

    Parameters
    ----------
    structure : {"chain", "tree", "graph"}
        What it is.
    potts : bool
        Whether a number stands for a table.
    unary, pairwise, labels, edges, mask : object
        As for `StructuredHinge.evaluate`; `labels` may be None.
    temperature : float, default=None
        What potentials are divided by; None: nothing.
    decoding : bool, default=False
        Whether labels at the end that are not known are no padding.
    """

    def __init__(
        self, structure, potts, unary, pairwise, labels, edges, mask, *, temperature, decoding
    ):
        words = WORDS[structure]
        if structure == "chain" and edges is not None:
            raise ValueError("edges are for trees and graphs, not for chains")
        if labels is not None:
            labels = check_labels(labels, words[1])
        elif not decoding:
            raise ValueError("labels must hold the true labels, got None")
        trailing = None
        if structure == "chain" and not decoding and mask is None and not is_ragged(unary):
            trailing = as_array(labels, "labels")
            if trailing.shape != np.shape(unary)[:2]:
                trailing = None  # what is wrong is said below
        n_states = None
        if isinstance(pairwise, np.ndarray) and pairwise.ndim >= 2:
            n_states = pairwise.shape[-1]  # where there is no sample to tell
        rows, self.layout = pack_nodes(unary, mask, words, labels=trailing, n_states=n_states)
        self.n_states = rows.shape[1]
        if structure == "chain":
            self.edges = chain_edges(self.layout)
        else:
            self.edges = pack_edges(edges, self.layout)
        self.tables = pack_tables(
            pairwise,
            self.layout,
            self.edges,
            self.n_states,
            potts=potts,
            chains=structure == "chain",
        )
        self.dtypes = rows.dtype, self.tables.values.dtype
        self.truth = np.full(self.layout.n_rows, -1, dtype=np.int32)
        if labels is not None:
            self.truth = pack_labels(labels, self.layout, self.n_states)
        values = self.tables.values
        if temperature is not None and temperature != 1.0:
            with np.errstate(over="ignore"):  # what has become infinite is refused below
                rows, values = rows / np.float64(temperature), values / np.float64(temperature)
        self.batch = Batch(
            Numbers(rows.reshape(-1)),
            self.n_states,
            self.layout.first,
            self.layout.length,
            Numbers(values),
            self.tables.size,
            self.tables.first,
            self.tables.step,
            self.edges.count,
            words,
            self.edges.ends,
            self.edges.first,
        )
