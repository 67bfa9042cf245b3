"""Validation of segmentations: tags of a scheme, or lists of segments."""

from collections import Counter
from operator import index
from typing import NamedTuple

import numpy as np

from sskit._labels import by_label, check_sortable, label_array, object_array, plain, string_array
from sskit._tag_schemes import (
    BEGIN,
    INSIDE,
    OUTSIDE,
    check_scheme,
    find_spans,
    parse_tags,
    write_tags,
)
from sskit.inputs.ragged import items_of, sequence_of, stack_labels
from sskit.inputs.ragged_array import locate, make_offsets, row_namer

_FORM = "per sequence its tags, or a list of segments (start, end, label)"


class Segmentations(NamedTuple):
    """Checked segmentations of sequences.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Labels that occur, sorted; with the one of tokens outside if there are any.
    codes : ndarray of shape (n_tokens,), int32
        2 k + 1 at the first token of each segment of label k, 2 k at its other tokens. A token
        outside of all segments is one of its own.
    form : {"tags", "segments"}
        The form in which they were given.
    """

    classes: np.ndarray
    codes: np.ndarray
    form: str

    def place_in(self, offsets):
        """Return a function from the number of a label to what messages call its first sequence."""
        return lambda k: f"y[{locate(offsets, np.argmax(self.codes >> 1 == k))[0]}]"


def check_segmentations(y, lengths, scheme, outside, max_length=None):
    """Return segmentations as arrays.

    Parameters
    ----------
    y : sequence of n items
        For each sequence its tags, or its segments: tuples (start, end, label) of the first token,
        the one after the last, and a label of any sortable type. Never modified.
    lengths : ndarray of shape (n,)
        Numbers of tokens.
    scheme : str
        What tags mean, a key of `SCHEMES`.
    outside : object
        The label of tokens outside of all segments.
    max_length : int, dict by label, or None, default=None
        How long segments may be.

    Returns
    -------
    segmentations : Segmentations
        What was given.

    Raises
    ------
    TypeError, ValueError
        Naming the first item that is wrong.
    """
    check_sortable([outside], lambda _: "outside")
    outside, offsets = plain(outside), make_offsets(lengths)
    items = items_of(y, "y", _FORM, stacked=(2,), count=len(lengths))
    what = "tags or segments (start, end, label)"
    items = [sequence_of(x, f"y[{i}]", what) for i, x in enumerate(items)]
    first = next(filter(len, items), [None])[0]
    if isinstance(first, str):
        read = _read_tags(items, lengths, offsets, scheme)
    else:
        read = _read_segments(items, lengths, offsets)
    starts, stops, labels, places, form = read
    most = np.full(len(starts), np.inf if max_length is None else max_length)
    if isinstance(max_length, dict):
        most = np.array(by_label(max_length, labels, np.inf), dtype=float)
    for j in np.flatnonzero(stops - starts > most)[:1]:
        i, t = places[j]
        raise ValueError(
            f"y[{i}][{t}] is or begins a segment of {stops[j] - starts[j]} tokens, but "
            f"max_length is {most[j]:g}"
        )
    values = labels.tolist()
    if outside in set(values):
        i, t = places[values.index(outside)]
        raise ValueError(
            f"y[{i}][{t}] has the label {outside!r}, which stands for tokens outside of "
            "segments; set outside to another label"
        )
    return _packed(starts, stops, labels, offsets, outside, form)


def _read_tags(items, lengths, offsets, scheme):
    """Return first tokens, those after the last, labels and places of the spans of tags."""
    flat = stack_labels(items, lengths)
    prefix, kind, types = parse_tags(flat, scheme, row_namer("y", offsets))
    starts, stops, kinds = find_spans(prefix, kind, offsets)
    labels = string_array(types)[kinds]
    return starts, stops, labels, [locate(offsets, t) for t in starts.tolist()], "tags"


def _read_segments(items, lengths, offsets):
    """Return the same of lists of segments, in the order of their tokens."""
    spans, labels, places = [], [], []
    for i, (item, size) in enumerate(zip(items, np.asarray(lengths).tolist(), strict=True)):
        places += [(i, j) for j in range(len(item))]
        own = [_segment(each, size, f"y[{i}][{j}]") for j, each in enumerate(item)]
        places_in = [place for place, _ in own]
        spans.append(offsets[i] + np.array(places_in, dtype=np.int64).reshape(-1, 2))
        labels.append([label for _, label in own])
    starts, stops = np.concatenate(spans).T
    order = np.lexsort((stops, starts))
    starts, stops, places = starts[order], stops[order], [places[k] for k in order]
    for k in np.flatnonzero(starts[1:] < stops[:-1])[:1] + 1:
        i, j = places[k]
        raise ValueError(
            f"y[{i}][{j}] begins at token {starts[k] - offsets[i]}, before another segment "
            f"ends at {stops[k - 1] - offsets[i]}"
        )
    return starts, stops, stack_labels(labels)[order], places, "segments"


def _segment(segment, size, label):
    """Return the first token of a segment and the one after its last, and its label."""
    try:
        start, stop, kind = segment
        start, stop = index(start), index(stop)
    except (TypeError, ValueError):
        start = stop = 0  # which is none
        kind = None
    if not 0 <= start < stop <= size:
        raise ValueError(
            f"{label} must be a segment (start, end, label) with 0 <= start < end <= {size}, the "
            f"number of tokens, got {segment!r:.80}"
        )
    return (start, stop), kind


def _packed(starts, stops, labels, offsets, outside, form):
    """Return `Segmentations` of segments that do not overlap, in order."""
    tokens = np.arange(offsets[-1])
    owner = np.searchsorted(starts, tokens, side="right") - 1
    free = tokens >= np.append(stops, 0)[owner]
    classes, numbers = np.unique(labels, return_inverse=True)
    out = 0
    if free.any():
        K = len(classes)
        labels = label_array(
            [*classes.tolist(), outside], lambda k: "a label of y" if k < K else "outside"
        )
        classes = np.unique(labels)
        out = classes.tolist().index(outside)
        numbers = numbers + (numbers >= out)
    codes = np.where(free, 2 * out + 1, 2 * np.append(numbers, 0)[owner]).astype(np.int32)
    codes[starts] += 1
    return Segmentations(classes, codes, form)


def spans_of(codes):
    """Return the first tokens and the lengths of the segments of labellings."""
    starts = np.flatnonzero(codes & 1)
    return starts, np.diff(np.append(starts, len(codes)))


def lengths_by_label(classes, codes):
    """Return the length of the longest segment of each label."""
    starts, sizes = spans_of(codes)
    longest = np.zeros(len(classes), dtype=np.int64)
    np.maximum.at(longest, codes[starts] >> 1, sizes)
    return Counter(dict(zip(classes.tolist(), longest.tolist(), strict=True)))


def segments_of(codes, offsets, labels, outside):
    """Return the segments of labellings.

    Parameters
    ----------
    codes : ndarray of shape (n_tokens,)
        2 k + 1 at the first token of each segment of label k, 2 k at its other tokens.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    labels : list
        What the labels are.
    outside : int
        The one of tokens in no segment; -1 for none.

    Returns
    -------
    segments : ndarray of shape (n,), object
        Lists of tuples (start, end, label).
    """
    starts, sizes = spans_of(codes)
    stops, kinds = starts + sizes, codes[starts] >> 1
    sequence = np.searchsorted(offsets, starts, side="right") - 1
    first = offsets[sequence]
    spans = np.stack([sequence, starts - first, stops - first, kinds])[:, kinds != outside]
    segments = [[] for _ in range(len(offsets) - 1)]
    for i, start, stop, kind in spans.T.tolist():
        segments[i].append((start, stop, labels[kind]))
    return object_array(segments)


def tags_of(codes, offsets, labels, outside, scheme):
    """Return the tags of labellings by a scheme, one sequence after the other, (n_tokens,).

    Other arguments are those of `segments_of`.
    """
    check_scheme(scheme)
    kinds = codes >> 1
    kinds[kinds == outside] = -1
    prefix = np.where(kinds < 0, OUTSIDE, np.where(codes & 1, BEGIN, INSIDE))
    return string_array(write_tags(prefix, kinds, labels, offsets, scheme))
