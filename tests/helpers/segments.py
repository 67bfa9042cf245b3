"""Segmentations, enumerated."""

import itertools

import numpy as np

from helpers.paper import in_rows


def segmentations(n_tokens, limits):
    """All lists of segments (start, end, state) no longer than the limits of their states."""
    after = {n_tokens: [[]]}
    for start in reversed(range(n_tokens)):
        after[start] = [
            [(start, end, state), *rest]
            for state, limit in enumerate(limits)
            for end in range(start + 1, min(n_tokens, start + limit) + 1)
            for rest in after[end]
        ]
    return after[0]


def score(segments, tokens, transitions, lengths, **further):
    """Return the score of a segmentation: the sum of its terms, those that are given."""
    terms = []
    for a, b, k in segments:
        terms += [tokens[a:b, k].sum(), lengths[k, b - a - 1]]
        places = {"first": (a, k), "last": (b - 1, k), "whole": (a, b - a - 1, k)}
        terms += [further[name][place] for name, place in places.items() if name in further]
    states = [k for *_, k in segments]
    terms += [transitions[pair] for pair in itertools.pairwise(states)]
    ends = {"start": states[0], "end": states[-1]}
    return sum(terms) + sum(further[name][k] for name, k in ends.items() if name in further)


def codes(segments):
    """Return 2 k + 1 at first tokens of segments of state k and 2 k at others."""
    found = [2 * k + (t == a) for a, b, k in segments for t in range(a, b)]
    return np.array(found, dtype=np.int32)


def features(x, found, limits, max_length, *, ends=True, lengths=True, whole=None):
    """Return phi(x, y) of segmentations (m, d), block by block: what the weights multiply.

    Whole segments may have features, (T, max_length, q) by first token and length.
    """
    K, every = len(limits), sorted({span for segments in found for span in segments})
    place, has = {span: row for row, span in enumerate(every)}, np.zeros((len(found), len(every)))
    table, (first, last) = np.zeros((len(found), K, K)), np.zeros((2, len(found), K))
    for row, segments in enumerate(found):
        has[row, [place[span] for span in segments]] = 1
        first[row, segments[0][2]] = last[row, segments[-1][2]] = 1
        for one, other in itertools.pairwise(segments):
            table[row, one[2], other[2]] += 1
    # of each segment alone
    coefs, sizes = np.zeros((len(every), 3, K, x.shape[1])), np.zeros((len(every), K, max_length))
    sums = np.zeros((len(every), K, 0 if whole is None else whole.shape[2]))
    for row, (a, b, k) in enumerate(every):
        coefs[row, 0, k] = x[a:b].sum(axis=0)
        if whole is not None:
            sums[row, k] = whole[a, b - a - 1]
        if limits[k] > 1:
            coefs[row, 1, k], coefs[row, 2, k] = x[a], x[b - 1]
            sizes[row, k, b - a - 1] = 1
    alone = coefs if ends else coefs[:, :1], sizes if lengths else sizes[:, :, :0], sums
    coefs, *others = (np.tensordot(has, block, 1) for block in alone)
    return in_rows(coefs, table, *others, first, last)


def token_losses(found, truth, cost, table=None):
    """Return the costs of the tokens whose label, or whether they begin a segment, is wrong.

    With a table those of the wrong label count as much as it says.
    """
    found, right = np.array(list(map(codes, found))), codes(truth)
    factor = 1.0 * (found != right)
    if table is not None:
        factor = np.where(found >> 1 == right >> 1, factor, table[right >> 1, found >> 1])
    return factor @ cost


def span_losses(found, truth, cost):
    """Return the costs by state of segments that are not in the truth, or missed."""
    return np.array([sum(cost[k] for *_, k in {*some} ^ {*truth}) for some in found], dtype=float)


def random_scores(rng, n_tokens, n_states, max_length, *, forbid=False):
    """Return the arguments of the oracles, drawn at random, as a dict."""
    shapes = {
        "tokens": (n_tokens, n_states), "transitions": (n_states, n_states),
        "lengths": (n_states, max_length), "first": (n_tokens, n_states),
        "last": (n_tokens, n_states), "start": (n_states,), "end": (n_states,),
        "whole": (n_tokens, max_length, n_states),
    }  # fmt: skip
    scores = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    if forbid:
        for name in scores.keys() - {"tokens"}:
            scores[name][rng.random(scores[name].shape) < 0.15] = -np.inf
    return scores
