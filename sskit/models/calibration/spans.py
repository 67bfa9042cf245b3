"""Probabilities of spans, and the spans of the highest expected F1 score."""

from typing import NamedTuple

import numpy as np

# Spans that are less probable are not looked at: none of them helps where the F1 score that is
# expected is above twice that.
LEAST_PROBABILITY = 5e-3


class SpanLabels(NamedTuple):
    """What labels say of spans.

    Attributes
    ----------
    kinds : ndarray of shape (K,)
        The kind of span of each label, -1 for those outside of spans.
    goes_on : ndarray of shape (K, K), bool
        Whether the second of two labels goes on with the span of the first.
    """

    kinds: np.ndarray
    goes_on: np.ndarray


class SpanTable(NamedTuple):
    """The more probable spans of a sequence: arrays of equal length.

    Attributes
    ----------
    first, stop : ndarray of int
        First token and the one after the last.
    kind : ndarray of int
        Kind of the span.
    probability : ndarray of float
        That a labelling has exactly this span.
    """

    first: np.ndarray
    stop: np.ndarray
    kind: np.ndarray
    probability: np.ndarray


def find_probable_spans(marginals, pairs, labels, least=LEAST_PROBABILITY):
    """Return the spans that have at least some probability, and how many spans are expected.

    A chain given its labels at two tokens has independent halves, so that the probability of a
    span is a product of conditional probabilities of neighbours.

    Parameters
    ----------
    marginals : ndarray of shape (T, K)
        Probabilities of the labels.
    pairs : ndarray of shape (T - 1, K, K)
        Those of the labels of neighbours.
    labels : SpanLabels
        What they say.
    least : float, default=LEAST_PROBABILITY
        Spans that are less probable are left out.

    Returns
    -------
    spans : SpanTable
    expected : float
        Expected number of spans of a labelling.
    """
    T, found, expected = len(marginals), [], 0.0
    for kind in range(labels.kinds.max(initial=-1) + 1):
        own = np.flatnonzero(labels.kinds == kind)
        p, inside = marginals[:, own], labels.goes_on[np.ix_(own, own)]
        # what goes on is of the same kind, so other labels before or behind need no look
        steps = pairs[:, own[:, None], own] * inside
        starts, ends = p.copy(), p.copy()
        starts[1:] -= steps.sum(axis=1)
        ends[:-1] -= steps.sum(axis=2)
        starts, ends = starts.clip(0.0), ends.clip(0.0)
        expected += float(starts.sum())
        inverse = np.divide(1.0, p, out=np.zeros_like(p), where=p > 0.0)
        rows, weight = np.arange(T), starts
        for length in range(1, T + 1):
            kept = weight.sum(axis=1) >= least
            rows, weight = rows[kept], weight[kept] * inverse[rows[kept] + length - 1]
            if not len(rows):
                break
            probability = (weight * ends[rows + length - 1]).sum(axis=1)
            found.append((rows, rows + length, np.full(len(rows), kind), probability))
            more = rows + length < T
            rows, weight = rows[more], weight[more]
            weight = np.einsum("ta,tab->tb", weight, steps[rows + length - 1])
    columns = [np.concatenate(some) for some in zip(*found, strict=True)] if found else []
    if not columns:
        none = np.empty(0, dtype=np.intp)
        return SpanTable(none, none, none, np.empty(0)), expected
    table = SpanTable(*columns)
    kept = table.probability >= least
    return SpanTable(*(column[kept] for column in table)), expected


def span_probability(marginals, pairs, labels, kind, first, stop):
    """Return the probability that a labelling has exactly a span.

    Parameters
    ----------
    marginals : ndarray of shape (T, K)
        Probabilities of the labels.
    pairs : ndarray of shape (T - 1, K, K)
        Those of the labels of neighbours.
    labels : SpanLabels
        What they say.
    kind, first, stop : int
        The span: its kind, first token and the one after the last.

    Returns
    -------
    probability : float
    """
    own = np.flatnonzero(labels.kinds == kind)
    inside = labels.goes_on[np.ix_(own, own)]

    def steps(t):
        return pairs[t][np.ix_(own, own)] * inside

    weight, ends = marginals[first, own].copy(), marginals[stop - 1, own].copy()
    if first > 0:
        weight -= steps(first - 1).sum(axis=0)
    if stop < len(marginals):
        ends -= steps(stop - 1).sum(axis=1)
    for t in range(first, stop):
        p = marginals[t, own]
        weight = np.divide(weight.clip(0.0), p, out=np.zeros_like(p), where=p > 0.0)
        if t < stop - 1:
            weight = weight @ steps(t)
    return float(weight @ ends.clip(0.0))


def choose_spans(tables, lengths, expected, may_skip):
    """Return the spans whose expected hits, by what is found and what is to be found, are best.

    Maximises 2 E[hits] / (spans chosen + E[true spans]) over all sequences together, in place of
    the expectation of the F1 score, by Dinkelbach's iteration: for a ratio that has been reached
    the best spans of each sequence that do not overlap are found by dynamic programming, each
    worth twice its probability less the ratio.

    Parameters
    ----------
    tables : list of n SpanTable
        Spans to choose from.
    lengths : sequence of n ints
        Lengths T_i of the sequences.
    expected : float
        Expected number of true spans of all.
    may_skip : list of n ndarray of shape (T_i,), bool
        Tokens that may be outside of all spans.

    Returns
    -------
    chosen : list of n items
        Places in each table, in the order of the sequence; None where no choice is possible.
    """
    ratio = 0.0
    while True:
        chosen = [_schedule(*given, ratio) for given in zip(tables, lengths, may_skip, strict=True)]
        picked = [
            table.probability[places]
            for table, places in zip(tables, chosen, strict=True)
            if places is not None
        ]
        n_spans, hits = sum(map(len, picked)), sum(map(np.sum, picked))
        reached = 2.0 * hits / max(n_spans + expected, 1e-300)
        if reached <= ratio + 1e-12:
            return chosen
        ratio = reached


def _schedule(table, length, may_skip, ratio):
    """Return the places of the best spans that do not overlap; None if there are none."""
    worth = 2.0 * table.probability - ratio
    # a span that is worth nothing still serves where tokens must not be outside
    order = np.argsort(table.stop, kind="stable")
    best, back = [0.0] + [-np.inf] * length, [None] * (length + 1)
    place, order = 0, order.tolist()
    first, stop, worth = table.first.tolist(), table.stop.tolist(), worth.tolist()
    for t in range(1, length + 1):
        if may_skip[t - 1]:
            best[t] = best[t - 1]
        while place < len(order) and stop[order[place]] == t:
            k = order[place]
            place += 1
            value = best[first[k]] + worth[k]
            if value > best[t]:
                best[t], back[t] = value, k
    if best[length] == -np.inf:
        return None
    places, t = [], length
    while t > 0:
        if back[t] is None:
            t -= 1
        else:
            places.append(back[t])
            t = first[back[t]]
    return np.array(places[::-1], dtype=np.intp)
