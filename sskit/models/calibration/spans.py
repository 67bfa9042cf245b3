"""Probabilities of spans, and the spans of the highest expected F1 score."""

from typing import NamedTuple

import numpy as np

# Spans that are less probable are not looked at: none of them helps where the F1 score that is
# expected is above twice that.
LEAST_PROBABILITY = 5e-3


class SpanLabels(NamedTuple):
    """What states say of spans.

    Attributes
    ----------
    kinds : ndarray of shape (S,)
        The kind of span of each state, -1 for those outside of spans.
    goes_on : ndarray of shape (S, S), bool
        Whether the second of two states goes on with the span of the first.
    """

    kinds: np.ndarray
    goes_on: np.ndarray

    def of_states(self, owner):
        """Return the same of the states of labels, given the label of each."""
        return SpanLabels(self.kinds[owner], self.goes_on[np.ix_(owner, owner)])


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


class Steps(NamedTuple):
    """What the probabilities of the spans of one kind are products of, with its m states.

    Attributes
    ----------
    alone : ndarray of shape (T,)
        Probability of the span of one token.
    begins : ndarray of shape (T - 1, m, m)
        That a span begins here and goes on, by the states of both tokens.
    onward : ndarray of shape (T - 2, m, m, m)
        That of the third state, which goes on with the span, given those of two tokens of it.
    leaves : ndarray of shape (T - 1, m, m)
        That the span is over, given the states of its last two tokens.
    expected : float
        Expected number of spans.
    """

    alone: np.ndarray
    begins: np.ndarray
    onward: np.ndarray
    leaves: np.ndarray
    expected: float

    def probability(self, first, stop):
        """Return the probability that a labelling has exactly the span first .. stop - 1."""
        if stop - first == 1:
            return float(self.alone[first])
        weight = self.begins[first]
        for onward in self.onward[first : stop - 2]:
            weight = (weight[:, :, None] * onward).sum(axis=0)
        return float((weight * self.leaves[stop - 2]).sum())


def find_steps(marginals, pairs, triples, labels, kind):
    """Return the `Steps` of a kind of spans; arguments are those of `find_probable_spans`.

    What is before two neighbours and what is behind them are independent given their states.
    """
    own = np.flatnonzero(labels.kinds == kind)
    # what goes on is of the same kind, so other states before or behind need no look
    inside = labels.goes_on[np.ix_(own, own)].astype(np.float64)
    p, both = marginals[:, own], pairs[:, own[:, None], own]
    if triples is None:
        three = both[:-1, :, :, None] * (both[1:] * _inverse(p[1:-1])[:, :, None])[:, None]
    else:
        three = triples[:, own[:, None, None], own[:, None], own]
    going = both * inside
    before, begins = p.copy(), going.copy()
    before[1:] -= going.sum(axis=1)
    # likewise, less those that go on with what was before
    begins[1:] -= (three * inside[:, :, None]).sum(axis=1) * inside
    alone = before.copy()
    alone[:-1] -= begins.sum(axis=2)
    onward, leaves = three * inside, np.ones(both.shape)
    onward *= _inverse(both[:-1])[..., None]
    leaves[:-1] -= onward.sum(axis=3)
    expected = float(before.clip(0.0).sum())
    return Steps(alone.clip(0.0).sum(axis=1), begins.clip(0.0), onward, leaves.clip(0.0), expected)


def _inverse(x):
    """Return 1 / x, zero where x is zero."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0.0)


def find_probable_spans(marginals, pairs, triples, labels, least=LEAST_PROBABILITY):
    """Return the spans that have at least some probability, and how many spans are expected.

    Parameters
    ----------
    marginals : ndarray of shape (T, S)
        Probabilities of the states.
    pairs : ndarray of shape (T - 1, S, S)
        Those of the states of neighbours.
    triples : ndarray of shape (T - 2, S, S, S) or None
        Those of three states in a row; None for chains of the first order.
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
        steps = find_steps(marginals, pairs, triples, labels, kind)
        expected += steps.expected
        rows, weight = np.arange(T), steps.begins
        found.append((rows, rows + 1, np.full(T, kind), steps.alone))
        rows = rows[:-1]
        for length in range(2, T + 1):
            kept = weight.sum(axis=(1, 2)) >= least
            rows, weight = rows[kept], weight[kept]
            if not len(rows):
                break
            last = rows + length - 2  # the first of the last two tokens
            probability = (weight * steps.leaves[last]).sum(axis=(1, 2))
            found.append((rows, rows + length, np.full(len(rows), kind), probability))
            more = rows + length < T
            rows, weight, last = rows[more], weight[more], last[more]
            weight = (weight[..., None] * steps.onward[last]).sum(axis=1)
    columns = [np.concatenate(some) for some in zip(*found, strict=True)] if found else []
    if not columns:
        none = np.empty(0, dtype=np.intp)
        return SpanTable(none, none, none, np.empty(0)), expected
    table = SpanTable(*columns)
    kept = table.probability >= least
    return SpanTable(*(column[kept] for column in table)), expected


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
