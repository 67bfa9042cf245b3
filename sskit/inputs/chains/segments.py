"""Validation of segmentations: tags of a scheme, or lists of segments."""

from collections import Counter
from operator import index
from typing import NamedTuple

import numpy as np

from sskit._labels import (
    by_label,
    check_sortable,
    is_ignored,
    label_array,
    object_array,
    plain,
    string_array,
    with_codes,
)
from sskit._tag_schemes import (
    BEGIN,
    END,
    INSIDE,
    OUTSIDE,
    SINGLE,
    check_scheme,
    find_spans,
    parse_tags,
    write_tags,
)
from sskit.inputs.ragged import items_of, sequence_of, stack_known_labels
from sskit.inputs.ragged_array import locate, make_offsets, row_namer

_FORM = "per sequence its tags, or a list of segments (start, end, label)"
# What is not known of a token: its label; whether a segment begins there.
NO_LABEL, NO_BEGINNING = 1, 2


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
    unknown : ndarray of shape (n_tokens,), int8, or None
        The sum of `NO_LABEL` and `NO_BEGINNING`, each where it is the case of a token; None: of
        none. `codes` then has one of those that agree.
    """

    classes: np.ndarray
    codes: np.ndarray
    form: str
    unknown: np.ndarray | None = None

    @property
    def labelled(self):
        """Which tokens have a label that is known, (n_tokens,)."""
        if self.unknown is None:
            return np.ones(len(self.codes), dtype=bool)
        return self.unknown & NO_LABEL == 0

    def label_counts(self, repeated=None):
        """Return how many tokens have each label, (K,), or what these weigh."""
        known = self.labelled
        repeated = None if repeated is None else repeated[known]
        return np.bincount(self.codes[known] >> 1, repeated, len(self.classes))

    def agreeing(self, labels):
        """Return which codes of labels, a list, agree with what is known of each token.

        Returns
        -------
        agree : ndarray of shape (n_tokens, 2 len(labels)), bool
            As `agreeing_codes` does.
        """
        place = {label: k for k, label in enumerate(labels)}
        places = np.array([place.get(label, -1) for label in self.classes.tolist()])
        codes = 2 * places[self.codes >> 1] + (self.codes & 1)
        return agreeing_codes(codes, self.unknown, np.arange(len(labels)))

    def wholly_known(self, offsets):
        """Return at which tokens segments begin of which all is known, (n_tokens,).

        Their last token is followed by one at which a segment begins for certain, or by none.
        """
        if self.unknown is None:
            return self.codes & 1 == 1
        starts, sizes = spans_of(self.codes)
        follows = np.append(self.unknown & NO_BEGINNING > 0, False)
        follows[offsets[1:]] = False
        known = ~np.logical_or.reduceat(self.unknown > 0, starts) & ~follows[starts + sizes]
        begins = np.zeros(len(self.codes), dtype=bool)
        begins[starts[known]] = True
        return begins

    def known_segments(self, offsets, outside):
        """Return the segments of which all is known, as `segments_of` does.

        Parameters
        ----------
        offsets : ndarray of shape (n + 1,)
            Where sequences begin.
        outside : object
            The label of tokens in no segment.
        """
        labels, known = self.classes.tolist(), self.wholly_known(offsets)
        return segments_of(self.codes, offsets, labels, place_of(outside, labels), known)

    def place_in(self, offsets):
        """Return a function from the number of a label to what messages call its first sequence."""
        has = self.labelled
        return lambda k: f"y[{locate(offsets, np.argmax(has & (self.codes >> 1 == k)))[0]}]"


def check_segmentations(y, lengths, scheme, outside, max_length=None, ignore_label=None):
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
    ignore_label : object, default=None
        The tag of tokens, or the label of stretches of them, of which nothing is known; None means
        that there is no such label.

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
    entries = (entry for item in items for entry in item)
    first = next((x for x in entries if not is_ignored([x], ignore_label)[0]), ignore_label)
    if isinstance(first, str) or first is ignore_label is not None:
        read = _read_tags(items, lengths, offsets, scheme, ignore_label)
    else:
        read = _read_segments(items, lengths, offsets, ignore_label)
    starts, stops, labels, places, form, unknown = read
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
    return _packed(starts, stops, labels, offsets, outside, form, unknown)


def _read_tags(items, lengths, offsets, scheme, ignore_label):
    """Return first tokens, those after the last, labels and places of the spans of tags.

    Also the form, and what is not known of tokens.
    """
    flat, ignored = stack_known_labels(items, lengths, ignore_label)
    check_some_known(~ignored, ignore_label)
    if ignored.any():
        flat[ignored] = "O"
    prefix, kind, types = parse_tags(flat, scheme, row_namer("y", offsets))
    starts, stops, kinds = find_spans(prefix, kind, offsets)
    # behind an ignored token a segment may go on that began there, unless its tag begins one
    goes_on = (prefix == INSIDE) | (prefix == END)
    ends = ~ignored & np.isin(prefix, (OUTSIDE, END, SINGLE))
    unknown = _unknown(ignored, goes_on, ends, offsets)
    labels = string_array(types)[kinds]
    return starts, stops, labels, [locate(offsets, t) for t in starts.tolist()], "tags", unknown


def check_some_known(known, ignore_label):
    """Raise ValueError unless something is known."""
    if len(known) and not known.any():
        raise ValueError(f"y has no labels but ignore_label={ignore_label!r}")


def _unknown(ignored, goes_on, ends, offsets):
    """Return what is not known of tokens, None if nothing.

    Parameters
    ----------
    ignored : ndarray of shape (n_tokens,), bool
        Which have no label.
    goes_on, ends : ndarray of shape (n_tokens,), bool
        Of those that have one: may it go on with a segment that began at an ignored token? Does
        its segment end there for certain?
    offsets : ndarray
        Where sequences begin.
    """
    if not ignored.any():
        return None
    after_ignored, after_end = np.roll(ignored, 1), np.roll(ends, 1)
    first = offsets[:-1][np.diff(offsets) > 0]
    after_ignored[first], after_end[first] = False, True
    open_ = np.where(ignored, ~after_end, after_ignored & goes_on)
    return (NO_LABEL * ignored + NO_BEGINNING * open_).astype(np.int8)


def _read_segments(items, lengths, offsets, ignore_label):
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
    labels, ignored = stack_known_labels(labels, None, ignore_label)
    labels, ignored = labels[order], ignored[order]
    tokens = np.zeros(offsets[-1] + 1, dtype=np.int64)
    np.add.at(tokens, starts[ignored], 1)
    np.add.at(tokens, stops[ignored], -1)
    nothing = np.zeros(offsets[-1], dtype=bool)
    hidden = np.cumsum(tokens[:-1]) > 0
    check_some_known(~hidden, ignore_label)
    # what is next to such a stretch ends where that begins, and begins where it ends
    unknown = _unknown(hidden, nothing, ~hidden, offsets)
    if unknown is not None:
        unknown[starts[ignored]] = NO_LABEL
    places = [place for place, skipped in zip(places, ignored.tolist(), strict=True) if not skipped]
    return starts[~ignored], stops[~ignored], labels[~ignored], places, "segments", unknown


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


def _packed(starts, stops, labels, offsets, outside, form, unknown):
    """Return `Segmentations` of segments that do not overlap, in order."""
    tokens = np.arange(offsets[-1])
    owner = np.searchsorted(starts, tokens, side="right") - 1
    hidden = np.zeros(len(tokens), dtype=bool) if unknown is None else unknown & NO_LABEL > 0
    free = (tokens >= np.append(stops, 0)[owner]) & ~hidden
    classes, numbers = with_codes(labels)
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
    codes[hidden] = 1
    return Segmentations(classes, codes, form, unknown)


def agreeing_codes(codes, unknown, labels):
    """Return which codes of states agree with what is known of tokens, (n_tokens, 2 S).

    Parameters
    ----------
    codes : ndarray of shape (n_tokens,)
        Of labels, some that agree.
    unknown : ndarray of shape (n_tokens,) or None
        What is not known, as in `Segmentations`.
    labels : ndarray of shape (S,)
        The label of each state.
    """
    of_label, begins = (codes >> 1)[:, None] == labels, (codes & 1)[:, None] == np.arange(2)
    if unknown is not None:
        of_label |= (unknown & NO_LABEL > 0)[:, None]
        begins |= (unknown & NO_BEGINNING > 0)[:, None]
    return (of_label[:, :, None] & begins[:, None]).reshape(len(codes), -1)


def contradicted(codes, agree, offsets):
    """Return at which tokens segments begin that contradict what is known, (n_tokens,).

    Parameters
    ----------
    codes : ndarray of shape (n_tokens,)
        Of labels.
    agree : ndarray of shape (n_tokens, 2 K)
        From `agreeing_codes`, of labels.
    offsets : ndarray
        Where sequences begin.
    """
    starts, sizes = spans_of(codes)
    wrong = ~agree[np.arange(len(codes)), codes]
    may_follow = np.append(agree[:, 1::2].any(axis=1), True)
    may_follow[offsets[1:]] = True
    begins = np.zeros(len(codes), dtype=bool)
    begins[starts] = np.logical_or.reduceat(wrong, starts) | ~may_follow[starts + sizes]
    return begins


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


def segments_of(codes, offsets, labels, outside, chosen=None):
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
    chosen : ndarray of shape (n_tokens,), bool, default=None
        At which first tokens segments are returned; None means all.

    Returns
    -------
    segments : ndarray of shape (n,), object
        Lists of tuples (start, end, label).
    """
    starts, sizes = spans_of(codes)
    stops, kinds = starts + sizes, codes[starts] >> 1
    sequence = np.searchsorted(offsets, starts, side="right") - 1
    first = offsets[sequence]
    some = kinds != outside if chosen is None else (kinds != outside) & chosen[starts]
    spans = np.stack([sequence, starts - first, stops - first, kinds])[:, some]
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


def place_of(outside, labels):
    """Return the place of the label of tokens outside among others; -1 if there are none."""
    return labels.index(outside) if outside in labels else -1


def limits_of(max_length, outside, labels, seen, longest):
    """Return how long the segments of each label may be.

    Parameters
    ----------
    max_length : int, dict by label, or None
        The parameter; None and labels that are not named have the longest seen.
    outside : object
        Label of tokens outside, segments of one token.
    labels : ndarray of shape (K,)
        The labels.
    seen : dict
        The longest segment of each.
    longest : int
        Length of the longest sequence.

    Returns
    -------
    limits : ndarray of shape (K,), int64
        At least 1, and at most the length of the longest sequence.
    """
    named = labels.tolist()
    asked = max_length if isinstance(max_length, dict) else dict.fromkeys(named, max_length)
    asked = by_label(asked | {outside: 1}, labels, None)
    limits = [n or seen[label] for label, n in zip(named, asked, strict=True)]
    # a step of `partial_fit` may have none of a label
    return np.array([max(min(n, longest), 1) for n in limits], dtype=np.int64)
