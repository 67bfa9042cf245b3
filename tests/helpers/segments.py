"""Segmentations, enumerated."""

import itertools

import numpy as np


def segmentations(n_tokens, limits, start=0):
    """Yield all lists of segments (start, end, state) no longer than the limits of their states."""
    if start == n_tokens:
        yield []
        return
    for state, limit in enumerate(limits):
        for end in range(start + 1, min(n_tokens, start + limit) + 1):
            for rest in segmentations(n_tokens, limits, end):
                yield [(start, end, state), *rest]


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
    out = np.zeros(segments[-1][1], dtype=np.int32)
    for a, b, k in segments:
        out[a:b] = 2 * k
        out[a] += 1
    return out


def feature(x, segments, limits, max_length, *, ends=True, lengths=True, whole=None):
    """Return phi(x, y) block by block: what each weight of the model is multiplied by.

    Whole segments may have features, (T, max_length, q) by first token and length.
    """
    K, p = len(limits), x.shape[1]
    coefs, table, sizes = np.zeros((3, K, p)), np.zeros((K, K)), np.zeros((K, max_length))
    sums = np.zeros((K, 0 if whole is None else whole.shape[2]))
    first, last = np.eye(K)[segments[0][2]], np.eye(K)[segments[-1][2]]
    for a, b, k in segments:
        coefs[0, k] += x[a:b].sum(axis=0)
        if whole is not None:
            sums[k] += whole[a, b - a - 1]
        if limits[k] > 1:
            coefs[1, k] += x[a]
            coefs[2, k] += x[b - 1]
            sizes[k, b - a - 1] += 1
    for one, other in zip(segments[:-1], segments[1:], strict=True):
        table[one[2], other[2]] += 1
    parts = [coefs if ends else coefs[:1], table, sizes if lengths else sizes[:, :0], sums]
    return np.concatenate([part.ravel() for part in (*parts, first, last)])


def token_loss(segments, truth, cost, table=None):
    """Return the cost of the tokens whose label, or whether they begin a segment, is wrong.

    With a table those of the wrong label count as much as it says.
    """
    found, right = codes(segments), codes(truth)
    factor = 1.0 * (found != right)
    if table is not None:
        factor = np.where(found >> 1 == right >> 1, factor, table[right >> 1, found >> 1])
    return float(cost @ factor)


def span_loss(segments, truth, cost):
    """Return the costs by state of segments of one that are not in the other."""
    return float(sum(cost[k] for *_, k in set(segments) ^ set(truth)))


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
