"""Graphs and trees of which not all labels, or states of labels, are known."""

from sskit.estimators.completion.hidden import Hidden


class HiddenNodes(Hidden):
    """Completes the labels of the nodes of graphs or trees; see `Hidden`."""

    def complete(self, w):
        """Return the best labels (n_nodes,) under flat weights that agree with what is known."""
        coef, *others = self.model.layout.split(w).values()
        given = self.data, coef, others, self.n_jobs, self.partial.possible
        return self.model.decoder(*given).best()

    def known_part(self, of_part=False):
        """Return the problem of the known nodes and the edges between them, None if there are none.

        A part of the data without such nodes has one in which there is nothing to lose.
        """
        known = self.partial.n_possible == 1
        if not known.any() and not of_part:
            return None
        given = self.partial.labels, self.cost, known, self.block_weight
        return self.model.bind(self.data, *given, table=self.table)
