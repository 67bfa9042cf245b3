"""Checked targets of the families whose items all have a label, or none."""

from dataclasses import dataclass

import numpy as np

from sskit._labels import with_codes
from sskit.inputs.ragged_array import locate


@dataclass(frozen=True, kw_only=True)
class Classes:
    """A class for each row.

    Attributes
    ----------
    values : ndarray of shape (K,)
        The classes, sorted.
    codes : ndarray of shape (n,)
        The class of each row, 0 to K - 1.
    """

    values: np.ndarray
    codes: np.ndarray

    def place_in(self, offsets):
        """Return a function from the number of a class to what messages call its first row."""
        return lambda k: f"y[{np.argmax(self.codes == k)}]"


@dataclass(frozen=True, kw_only=True)
class NodeLabels:
    """A label for each node of all graphs, or none.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    codes : ndarray of shape (n_nodes,), int64
        The label of each node, 0 to K - 1; 0 for those without one.
    labelled : ndarray of shape (n_nodes,), bool
        Which nodes have a label.
    """

    classes: np.ndarray
    codes: np.ndarray
    labelled: np.ndarray

    @classmethod
    def of(cls, labels, labelled):
        """Return labels (n_nodes,) by number; of nodes that have none they are not read."""
        classes, some = with_codes(labels[labelled])
        codes = np.zeros(len(labels), dtype=np.int64)
        codes[labelled] = some
        return cls(classes=classes, codes=codes, labelled=labelled)

    def place_in(self, offsets):
        """Return a function from the number of a label to what messages call its first graph."""
        return lambda k: f"y[{locate(offsets, np.argmax(self.labelled & (self.codes == k)))[0]}]"


@dataclass(frozen=True, kw_only=True)
class LabelSets:
    """A set of labels for each row.

    Attributes
    ----------
    classes : ndarray
        What labels are called; of one label per row, the two classes.
    sets : ndarray of shape (n, n_labels)
        Which labels each row has.
    """

    classes: np.ndarray
    sets: np.ndarray

    def place_in(self, offsets):
        """Return a function from the number of one of two classes to what messages call a row."""
        return lambda k: f"y[{np.argmax(self.sets[:, 0] == k)}]"
