"""Partial labels: tokens with no label, or with a set of labels of which one is right."""

from dataclasses import dataclass, replace

import numpy as np

from sskit._labels import SETS, places_in, with_codes
from sskit.inputs.ragged import known_labels, sets_among, stack_entries
from sskit.inputs.ragged_array import locate


@dataclass(frozen=True, kw_only=True)
class PartialLabels:
    """What is known of the labels of the tokens, or nodes, of all samples.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels that occur, sorted.
    labels : ndarray of shape (N,)
        Labels, 0 to K - 1; where several are possible, the first of these.
    possible : ndarray of shape (N, K), bool, or None
        Which labels are possible; None if all are known.
    ignored : ndarray of shape (N,), bool, or None
        Which tokens have the label that stands for none; None if all are known.
    """

    classes: np.ndarray
    labels: np.ndarray
    possible: np.ndarray | None = None
    ignored: np.ndarray | None = None

    @property
    def n_possible(self):
        """How many labels each token may have, shape (N,)."""
        return self.possible.sum(axis=1)

    @property
    def n_certain(self):
        """How many tokens have one label that is possible."""
        if self.possible is None:
            return len(self.labels)
        return int(((self.n_possible == 1) & ~self.ignored).sum())

    def among(self, classes):
        """Return what is known of the labels of a part among those of all data.

        Parameters
        ----------
        classes : ndarray of shape (K,)
            All labels.

        Returns
        -------
        partial : PartialLabels
            Tokens that are ignored may have any of them.
        """
        if np.array_equal(self.classes, classes):
            return self
        places = places_in(classes, self.classes)
        if self.possible is None:
            labels = places.astype(self.labels.dtype)[self.labels]
            return replace(self, classes=classes, labels=labels)
        possible = np.zeros((len(self.labels), len(classes)), dtype=bool)
        possible[:, places] = self.possible
        possible[self.ignored] = True
        labels = possible.argmax(axis=1)
        return replace(self, classes=classes, labels=labels, possible=possible)

    def partly(self, hidden):
        """Return this, None if all labels are known; not if some of other parts are `hidden`."""
        if self.possible is not None or not hidden:
            return None if self.possible is None else self
        possible = self.labels[:, None] == np.arange(len(self.classes))
        nothing = np.zeros(len(self.labels), dtype=bool)
        return replace(self, possible=possible, ignored=nothing)

    def place_in(self, offsets):
        """Return a function from the number of a label to what messages call its first token.

        Parameters
        ----------
        offsets : ndarray of shape (n + 1,) or None
            Where sequences begin; None means that tokens are samples.
        """

        def place(k):
            """Return the name of the first token that has label k, or may have it among others."""
            has = self.labels == k
            if self.possible is not None:
                has = self.possible[:, k] & ~self.ignored
            t = np.argmax(has)
            return f"y[{t}]" if offsets is None else "y[{}][{}]".format(*locate(offsets, t))

        return place


def check_partial_labels(y, lengths, ignore_label=None):
    """Check labels of which only a part may be known.

    Parameters
    ----------
    y : sequence of n sequences (T_i,)
        Labels as :func:`sskit.inputs.ragged.stack_known_labels` takes them, and sets of labels.
    lengths : array-like of int of shape (n,)
        The number of labels that every sequence must have.
    ignore_label : object, default=None
        The label of tokens without one; None means that there is no such label.

    Returns
    -------
    partial : PartialLabels
        A label that is known and a set of that label alone are the same.

    Raises
    ------
    TypeError
        If y or an item is of a wholly wrong type, or two labels cannot be sorted.
    ValueError
        Naming the first token that is wrong: as `stack_known_labels`, or if a set is empty or has
        `ignore_label` in it.

    Examples
    --------
    >>> from sskit.inputs.labels.partial import check_partial_labels
    >>> partial = check_partial_labels([["N", {"N", "V"}], ["?", "D"]], [2, 2], "?")
    >>> partial.classes.tolist()
    ['D', 'N', 'V']
    >>> partial.possible.astype(int).tolist()
    [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0]]
    """
    entries, name_of = stack_entries(y, lengths)
    flat, owners = entries, np.arange(len(entries))
    sets = sets_among(entries, name_of, ignore_label)
    if sets:
        flat, owners = expand_sets(entries, sets)
    labels, ignored = known_labels(flat, lambda k: name_of(owners[k]), ignore_label)
    all_known = not ignored.any()
    classes, codes = with_codes(labels if all_known else labels[~ignored])
    if len(owners) == len(entries) and all_known:
        return PartialLabels(classes=classes, labels=codes)
    possible = np.zeros((len(entries), len(classes)), dtype=bool)
    possible[owners[~ignored], codes] = True
    ignored = ~possible.any(axis=1)
    possible[ignored] = True
    labels = possible.argmax(axis=1) if len(classes) else np.zeros(len(entries), dtype=np.intp)
    return PartialLabels(classes=classes, labels=labels, possible=possible, ignored=ignored)


def expand_sets(entries, sets):
    """Return the labels in entries of which some are sets of labels.

    Parameters
    ----------
    entries : list or ndarray
        Of labels, and, in a list, sets of labels.
    sets : list of (int, list)
        Places and labels of the sets.

    Returns
    -------
    labels : list or ndarray
        All labels one after the other.
    owners : ndarray of int
        The place of the entry of each.
    """
    sizes = np.ones(len(entries), dtype=np.intp)
    for t, labels in sets:
        sizes[t] = len(labels)
    if sets:
        entries = [k for entry in entries for k in (entry if isinstance(entry, SETS) else [entry])]
    return entries, np.repeat(np.arange(len(sizes)), sizes)


def label_counts(partial, repeated=None):
    """Return how often each label occurs; one of a set of k possible labels counts 1 / k.

    Parameters
    ----------
    partial : PartialLabels
        Tokens of which nothing is known count nothing.
    repeated : ndarray of shape (N,), default=None
        How often each token counts; None means once.

    Returns
    -------
    counts : ndarray of shape (K,)
        Whole numbers if all labels are known and tokens count once.
    """
    if partial.possible is None:
        return np.bincount(partial.labels, repeated, len(partial.classes))
    size = partial.n_possible
    some = size < len(partial.classes)
    often = np.ones(len(size)) if repeated is None else repeated
    return (often[some] / size[some]) @ partial.possible[some]


def mean_weights(partial, weights):
    """Return what each token weighs, (N,), in the mean of its labels, of which some are not known.

    Parameters
    ----------
    partial : PartialLabels
        Tokens of which nothing is known weigh nothing.
    weights : ndarray of shape (K,)
        Weights of the labels.
    """
    size = partial.n_possible
    some = size < len(partial.classes)
    return np.where(some, partial.possible @ weights / size, 0.0)


def set_mask(partial, states=False):
    """Return which labels are right where some may be, None if there is no set.

    A token of which all may be right has no label, which is no set: it costs nothing. But where
    labels have `states`, all of them may be those of the only label.
    """
    size = partial.n_possible
    is_set = (size > 1) & (states | (size < len(partial.classes)))
    return partial.possible if is_set.any() else None
