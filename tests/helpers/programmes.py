"""The dynamic programmes of the oracles, in a few lines of NumPy each: slow, and easy to read.

Each takes the potentials that the function of `sskit.oracles` takes, and returns what that returns.
"""

import numpy as np
from scipy.special import logsumexp


def viterbi(nodes, transitions):
    """Return the best labelling of a chain and its score; see `sskit.oracles.viterbi`."""
    values = [nodes[0]]  # values[t][b]: the best score of the labels 0 .. t that end in b
    for node in nodes[1:]:
        values.append(node + (values[-1][:, None] + transitions).max(axis=0))
    labels = [int(values[-1].argmax())]
    for value in values[-2::-1]:  # the way back: where each maximum came from
        labels.append(int((value + transitions[:, labels[-1]]).argmax()))
    return labels[::-1], float(values[-1].max())


def second_order_viterbi(nodes, transitions, triples):
    """Return the best labelling of a chain of the second order, of two nodes or more."""
    # values[t - 1][b, c]: the best score of the labels 0 .. t that end in b, c
    values = [nodes[0][:, None] + transitions + nodes[1]]
    for node in nodes[2:]:
        values.append((values[-1][:, :, None] + triples).max(axis=0) + transitions + node)
    b, c = np.unravel_index(values[-1].T.argmax(), transitions.shape)[::-1]  # ties: the smallest c
    labels = [int(c), int(b)]
    for value in values[-2::-1]:
        labels.append(int((value[:, labels[-1]] + triples[:, labels[-1], labels[-2]]).argmax()))
    return labels[::-1], float(values[-1].max())


def sum_product(nodes, transitions):
    """Return log Z of a chain, and the probabilities of its states and of its pairs."""
    T, K = nodes.shape
    forward, backward = np.zeros((2, T, K))  # log sums over the labels 0 .. t, and t + 1 .. T - 1
    forward[0] = nodes[0]
    for t in range(1, T):
        forward[t] = nodes[t] + logsumexp(forward[t - 1][:, None] + transitions, axis=0)
    for t in range(T - 2, -1, -1):
        backward[t] = logsumexp(transitions + nodes[t + 1] + backward[t + 1], axis=1)
    log_z = logsumexp(forward[-1])
    pairs = forward[:-1, :, None] + transitions + (nodes + backward)[1:, None, :]
    return float(log_z), np.exp(forward + backward - log_z), np.exp(pairs - log_z)


def semi_markov(tokens, transitions, lengths):
    """Return the best segments (start, end, state) of a sequence and their score."""
    T, (K, M) = len(tokens), lengths.shape
    best = np.full((T + 1, K), -np.inf)  # of segmentations of the tokens before t, by last state
    back = {}
    for t in range(1, T + 1):
        for k in range(K):
            for start in range(max(t - M, 0), t):
                own = tokens[start:t, k].sum() + lengths[k, t - start - 1]
                before = best[start] + transitions[:, k] if start else np.zeros(1)
                if before.max() + own > best[t, k]:
                    best[t, k] = before.max() + own
                    back[t, k] = start, int(before.argmax())
    segments, t, k = [], T, int(best[T].argmax())
    while t:
        start, before = back[t, k]
        segments.append((start, t, k))
        t, k = start, before
    return segments[::-1], float(best[T].max())


def tree_max_sum(nodes, parents, tables):
    """Return the best labelling of a tree and its score: parents come before their children.

    tables[v] has the scores of the states of the parent of v (rows) and of v (columns).
    """
    values = nodes.copy()  # of the subtree of a node, by its state
    for v in range(len(nodes) - 1, 0, -1):
        values[parents[v]] += (tables[v] + values[v]).max(axis=1)
    labels = [int(values[0].argmax())]
    for v in range(1, len(nodes)):
        labels.append(int((tables[v][labels[parents[v]]] + values[v]).argmax()))
    return labels, float(values[0].max())


def closure(gains, parents):
    """Return the best set of labels that has all parents of its labels, and its value."""
    values = np.array(gains, dtype=float)  # of a label with the best of what is below it
    for v in range(len(values) - 1, -1, -1):  # parents come before their children
        if parents[v] >= 0:
            values[parents[v]] += max(values[v], 0.0)
    labels = np.zeros(len(values), dtype=int)
    for v, parent in enumerate(parents):
        labels[v] = values[v] > 0 and (parent < 0 or labels[parent])
    return labels, float(np.dot(gains, labels))
