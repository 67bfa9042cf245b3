"""What segmentations of sequences say of all data."""

from dataclasses import dataclass, field

from sskit.estimators.base.facts import RowFacts, same

__all__ = ["SegmentFacts"]


def _largest(values, portions, numbers):
    """Return the largest number of each label over all parts."""
    found = {}
    for part in values:
        for label, size in part.items():
            found[label] = max(size, found.get(label, 0))
    return found


def _longest(values, portions, numbers):
    """Return the largest of the numbers of the parts."""
    return max(values)


@dataclass(frozen=True, kw_only=True)
class SegmentFacts(RowFacts):
    """What segmented sequences say of all data.

    Attributes
    ----------
    form : {"tags", "segments"}
        Form of y.
    max_lengths : dict of label to int
        Length of the longest segment of each label.
    longest : int
        Length of the longest sequence.
    n_segment_features : int
        Number of features of a whole segment.
    """

    form: str = same("y has {}, but that of part {} has {}")
    max_lengths: dict = field(metadata={"rule": _largest})
    longest: int = field(metadata={"rule": _longest})
    n_segment_features: int = same(
        "segment_features gives {0} numbers for a segment, but {2} for one of part {1}"
    )
