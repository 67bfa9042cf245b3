"""Potentials of the nodes and edges of chains, trees and graphs, checked and packed."""

import numpy as np

from sskit._numbers import as_array
from sskit.losses.layout import check_labels, is_ragged, pack_labels, pack_nodes
from sskit.losses.pairs import chain_edges, pack_edges, pack_tables
from sskit.models.chain.structure import ChainStructure
from sskit.models.features import no_features, with_spare
from sskit.models.given import Given, GivenMap
from sskit.models.graph.given import given_graphs
from sskit.models.graph.model import form_of

__all__ = ["WORDS", "NodeProblem"]

WORDS = {
    "chain": ("sequence", "token", "label"),
    "tree": ("tree", "node", "label"),
    "graph": ("graph", "node", "label"),
}

# Losses of a sequence by units: time and memory of slack rescaling grow with them.
MOST_LEVELS = 10_000


def offsets_of(counts):
    """Return where things begin, and the last ones end, of which there are so many each."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


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
        self.words = words = WORDS[structure]
        self.structure, self.potts = structure, potts
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
        if structure != "chain":
            self.edges.check(self.layout)
        self.dtypes = rows.dtype, self.tables.values.dtype
        self.truth = np.full(self.layout.n_rows, -1, dtype=np.int32)
        if labels is not None:
            self.truth = pack_labels(labels, self.layout, self.n_states)
        self.values = self.tables.values
        if temperature is not None and temperature != 1.0:
            with np.errstate(over="ignore"):  # what has become infinite is refused below
                rows = rows / np.float64(temperature)
                self.values = self.values / np.float64(temperature)
        self.rows = rows
        # most are right, and have no NaN in their padding either
        if not (rows.max(initial=-np.inf) < np.inf and self.values.max(initial=-np.inf) < np.inf):
            self._check_numbers()

    def _samples(self):
        """Yield the number, the rows and the tables of each sample that has nodes."""
        tables = self.values.reshape(-1, self.tables.size)
        for i, (first, n, m) in enumerate(
            zip(self.layout.first, self.layout.length, self.edges.count, strict=True)
        ):
            start = self.tables.first[i]
            if n:
                own = tables[start : start + (m if self.tables.step else min(m, 1))]
                yield i, self.rows[first : first + n], own

    def _check_numbers(self):
        """Raise ValueError for the first number that is none, or inf, of a sample."""
        (item, node, state), size = self.words, self.tables.size
        samples = list(self._samples())
        if self.one_table and self.structure == "chain":  # chains may have no edges, and it counts
            samples.insert(0, (0, self.rows[:0], self.values[np.newaxis]))
        for i, rows, tables in samples:
            for wrong, values in ((~(rows < np.inf), rows), (~(tables < np.inf), tables)):
                if not wrong.any():
                    continue
                place, k = np.argwhere(wrong)[0]
                what = f"{item} {i}, {node} {place}: unary of {state} {k}"
                if values is tables:
                    what = "" if self.one_table else f"{item} {i}"
                    what += f", edge {place}: " if self.tables.step else ": " if what else ""
                    what += "pairwise"
                    if size > 1:
                        what += f"[{k // self.n_states}, {k % self.n_states}]"
                raise ValueError(f"{what} is {values[place, k]}, expected a number or -inf")

    @property
    def one_table(self):
        """Whether all edges of all samples have the same table."""
        return not self.tables.step and len(self.values) == self.tables.size

    def request(self):
        """Return the potentials, to be asked for labellings."""
        layout, edges, tables, K = self.layout, self.edges, self.tables, self.n_states
        chains, size = self.structure == "chain", tables.size
        offsets = offsets_of(layout.length)
        one = self.one_table and not self.potts
        weights = self.values if one else np.zeros(size if chains else 0)
        parts = {"head": (K, K) if chains else (1, size)} if chains or one else {}
        given = {}
        if not one:
            # numbers that count where states agree are one for each edge
            count = edges.count if tables.step or self.potts else np.minimum(edges.count, 1)
            count = np.where(layout.length > 0, count, 0)
            where = offsets_of(count)
            parts |= {"edges": no_features(where[-1]), "edge_offsets": where}
            parts |= {} if chains else {"edge_columns": size}
            given = {"tables": self.values, "table_first": tables.first, "step": tables.step}
        map = GivenMap(no_features(offsets[-1]), offsets, K, **parts)
        map.one_each = not tables.step
        if chains:
            structure = ChainStructure(map)
        else:
            own = self.potts or tables.step
            structure = given_graphs(
                map,
                form_of(K, "potts" if self.potts else "full"),
                edges.ends,
                (edges.first, edges.first + edges.count),
                None if own else np.zeros(len(edges.ends), dtype=np.int32),
                forests=self.structure == "tree",
                words=self.words,
            )
        weights = with_spare(weights.astype(np.float64))
        rows = self.rows.reshape(-1)
        return Given(map, structure, weights, nodes=rows, first=layout.first, **given)

    def largest_total(self, levels):
        """Return the largest loss, of levels (n_rows,), that slack rescaling takes."""
        if self.tables.step:
            raise ValueError("slack rescaling takes one table of transitions for a chain")
        sums, first = offsets_of(levels), self.layout.first
        totals = sums[first + self.layout.length] - sums[first]
        if (totals > MOST_LEVELS).any():
            i = int((totals > MOST_LEVELS).argmax())
            raise ValueError(
                f"{self.words[0]} {i}: token_weight adds up to {totals[i]}, expected at most "
                f"{MOST_LEVELS} for slack rescaling"
            )
        return int(totals.max(initial=0))

    def refuse(self, i, completed=None):
        """Raise ValueError for a sample whose labels, where completed, are forbidden.

        Parameters
        ----------
        i : int
            The sample.
        completed : ndarray of shape (n_rows,), int32, default=None
            Labels; None: any are.
        """
        item, node, state = self.words
        where = f"{item} {i}: "
        own = slice(self.layout.first[i], self.layout.first[i] + self.layout.length[i])
        if completed is None:
            raise ValueError(where + "no labelling is allowed by unary and pairwise")
        if (self.truth[own] < 0).any():
            raise ValueError(
                where + "no labelling that agrees with labels is allowed by unary and pairwise"
            )
        _, rows, tables = next(sample for sample in self._samples() if sample[0] == i)
        for t, label in enumerate(completed[own] if self.structure == "chain" else ()):
            where = f"{item} {i}, {node} {t}: the true {state} {label} is forbidden "
            if rows[t, label] == -np.inf:
                raise ValueError(where + "there by unary")
            before = completed[own][t - 1]
            table = tables[(t - 1) * self.tables.step] if t else np.zeros(self.tables.size)
            if table[before * self.n_states + label] == -np.inf:
                raise ValueError(where + f"after {state} {before} by pairwise")
        raise ValueError(where + "labels are forbidden by unary and pairwise")
