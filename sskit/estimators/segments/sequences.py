"""Sequences with segments: checked, what they say of all data, and what a fit makes of them."""

from dataclasses import dataclass, field

import numpy as np

from sskit._labels import by_label, plain
from sskit.estimators.base.facts import RowFacts, same
from sskit.inputs.costs import cost_table
from sskit.inputs.weights import class_factors


def lengths_by_label(classes, codes):
    """Return the length of the longest segment of each label, as a dict."""
    starts = np.flatnonzero(codes & 1)
    sizes = np.diff(np.append(starts, len(codes)))
    longest = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(longest, codes[starts] >> 1, sizes)
    return dict(zip(classes.tolist(), longest.tolist(), strict=True))


def limits_of(max_length, outside, facts):
    """Return how long the segments of each label may be.

    Parameters
    ----------
    max_length : int, dict by label, or None
        The parameter; None and labels that are not named have the longest seen.
    outside : object
        Label of tokens outside, segments of one token.
    facts : SegmentFacts
        What all data say.

    Returns
    -------
    limits : ndarray of shape (K,), int64
        At least 1, and at most the length of the longest sequence.
    """
    labels = facts.labels.values.tolist()
    limits = dict(facts.max_lengths)
    if isinstance(max_length, dict):
        given = by_label(max_length, facts.labels.values, None)
        limits |= {k: n for k, n in zip(labels, given, strict=True) if n is not None}
    elif max_length is not None:
        limits = dict.fromkeys(labels, max_length)
    if plain(outside) in limits:
        limits[plain(outside)] = 1
    return np.array([min(limits[label], facts.longest) for label in labels], dtype=np.int64)


def losses_of(loss, class_weight, outside, codes, lengths, known):
    """Return what tokens cost, or segments that are missed or wrong.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum", "segments"}, array-like or dict
        The parameter.
    class_weight : dict, "balanced" or None
        Factors by true label; of segments that are wrong by their own.
    outside : object
        Label of tokens outside.
    codes : ndarray of shape (n_tokens,)
        True segments.
    lengths : ndarray of shape (n,)
        Numbers of tokens of the sequences.
    known : Labels
        All labels, with their numbers of tokens in all training data.

    Returns
    -------
    losses : dict
        What `SegmentModel.bind` takes: costs, false_cost, table.
    """
    factors = np.ones(len(known.values))
    if class_weight is not None:
        factors = class_factors(class_weight, known.values, known.counts)
    if not isinstance(loss, str):
        return {"costs": factors[codes >> 1], "table": cost_table(loss, known.values)}
    if loss != "segments":
        costs = factors[codes >> 1]
        return {"costs": costs / np.repeat(lengths, lengths) if loss == "hamming" else costs}
    factors = np.array(factors, dtype=np.float64)
    factors[[label == outside for label in known.values.tolist()]] = 0.0
    return {"costs": factors[codes >> 1] * (codes & 1), "false_cost": factors}


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
