"""Labels that occur in data, or in parts of them, with their counts."""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from sskit._labels import label_array, places_in


class Labels(NamedTuple):
    """Which labels there are, and what there is of each.

    Attributes
    ----------
    values : ndarray of shape (K,)
        The labels, sorted.
    counts : ndarray of shape (K,)
        How many there are of each, or what these weigh.
    fractions : ndarray of shape (K,), default=None
        Fraction of the sum of the sample weights that each has.
    """

    values: np.ndarray
    counts: np.ndarray
    fractions: np.ndarray | None = None

    @classmethod
    def of(cls, values, codes, weight=None):
        """Return labels with their counts, or what they weigh, from their numbers in the data."""
        return cls(values, np.bincount(codes, weight, len(values)))

    @classmethod
    def merge(cls, parts, portions, numbers):
        """Return the union of the labels of several parts.

        Parameters
        ----------
        parts : list of Labels
            Of the parts.
        portions : list of float
            Of the sample weights, of each part.
        numbers : list of int
            What error messages call the parts.

        Returns
        -------
        labels : Labels
            Counts are added up.

        Raises
        ------
        TypeError
            Naming two parts whose labels do not sort.
        """
        values = union([part.values for part in parts], numbers)
        counts = np.zeros(len(values), dtype=np.result_type(*(part.counts for part in parts)))
        fractions = None if parts[0].fractions is None else np.zeros(len(values))
        for part, portion in zip(parts, portions, strict=True):
            places = places_in(values, part.values)
            counts[places] += part.counts
            if fractions is not None and portion:
                fractions[places] += portion * part.fractions
        return cls(values, counts, fractions)

    def among(self, values):
        """Return the same as labels of some more, of which there are none here."""
        fractions = None if self.fractions is None else np.zeros(len(values))
        none = Labels(values, np.zeros(len(values), dtype=np.int64), fractions)
        return Labels.merge([none, self], [0.0, 1.0], [0, 1])

    def renumber(self, values, codes):
        """Return labels of a part by their numbers here.

        Parameters
        ----------
        values : ndarray of shape (k,)
            Labels of the part.
        codes : ndarray of int
            Labels by their numbers there.

        Returns
        -------
        codes : ndarray of int
            What was given if the numbers are the same, or there are no labels.
        """
        if np.array_equal(values, self.values) or not len(values):
            return codes
        return places_in(self.values, values).astype(codes.dtype)[codes]


def union(pieces, numbers):
    """Return the union of labels of several parts, sorted; see `Labels.merge`."""
    filled = [piece for piece in pieces if len(piece)] or pieces[:1]
    if len({piece.dtype.kind for piece in filled}) == 1:
        with suppress(TypeError):  # which is raised below
            return np.unique(np.concatenate(filled))
    owners = np.repeat(numbers, [len(piece) for piece in pieces])
    labels = [label for piece in pieces for label in piece.tolist()]
    return np.unique(label_array(labels, lambda k: f"a label of part {owners[k]}"))
