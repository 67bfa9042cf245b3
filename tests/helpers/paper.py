"""Structured SVMs by enumeration, in the letters of the papers and in plain NumPy.

Nothing of the package is used: a training pair is the list of all its labellings, each with
psi_i(y) = phi(x_i, y_i) - phi(x_i, y) as a dense vector and its loss.
"""

import math

import numpy as np

# Labellings whose values differ by less are equally good; the first one counts.
TIE = 1e-12


def in_rows(*blocks):
    """Blocks of phi of several labellings (m, ...), those of a labelling in a row."""
    return np.hstack([block.reshape(len(block), math.prod(block.shape[1:])) for block in blocks])


class Enumerated:
    """Training pairs with all of their labellings.

    psi[i] (m_i, d) and loss[i] (m_i,) have a row for each labelling in labels[i]; c (n,) are the
    weights of the pairs, and right, if known, phi of the truths.
    """

    def __init__(self, psi, loss, labels, c, right=None):
        self.psi, self.loss, self.labels, self.c, self.right = psi, loss, labels, c, right
        self.n, self.d = len(psi), psi[0].shape[1]

    def best(self, i, w):
        """Row of the most violating labelling of pair i; of several the first one."""
        values = self.loss[i] - self.psi[i] @ w
        return int(np.flatnonzero(values >= values.max() - TIE)[0])

    def hinge(self, i, w):
        return float((self.loss[i] - self.psi[i] @ w).max())

    def primal(self, w, lam):
        """P(w) = lam/2 ||w||^2 + sum_i c_i H_i(w)."""
        hinges = [self.hinge(i, w) for i in range(self.n)]
        return 0.5 * lam * float(w @ w) + float(self.c @ hinges)


def dual_value(v, loss, lam, box=None):
    """D at the dual sum v and the mean loss, w = v or clip(v) on a box."""
    w = v if box is None else np.clip(v, *box)
    return loss - 0.5 * lam * float(w @ w) - lam * float((v - w) @ w)


def enumerated(samples, truths, labellings, features, losses, c, codes=lambda x, found: found):
    """All labellings of samples, of which `codes` makes those of the package.

    Features (m, d), losses (m,) and codes are those of all labellings of a sample at once.
    """
    psi, lost, labels, right = [], [], [], []
    for i, (x, truth) in enumerate(zip(samples, truths, strict=True)):
        found = labellings(x)
        if isinstance(found, list):
            row = found.index(truth)
        else:
            row = np.flatnonzero((found == truth).reshape(len(found), -1).all(axis=1))[0]
        phi = features(x, found)
        right.append(phi[row])
        psi.append(right[-1] - phi)
        lost.append(losses(i, found))
        labels.append(list(codes(x, found)))
    return Enumerated(psi, lost, labels, c, right)


def all_labels(n_states, n_nodes):
    """All labellings of nodes, in lexicographic order."""
    return np.indices((n_states,) * n_nodes).reshape(n_nodes, n_states**n_nodes).T


def enumerate_chains(X, y, n_states, c, *, mean=True, rules=(), costs=None, order=1):
    """All labellings of chains with the Hamming loss (per token, or their number), or costs (T, K).

    Samples are features of tokens, or pairs with those of edges. Phi has nodes (K, p), transitions
    (K, K), start (K,), end (K,), edges (q, K, K) and triples (K, K, K), by rows. Ordered by their
    last state, then the one before, ...: the order in which the Viterbi algorithm of the package
    breaks ties.
    """
    costs = [1.0 - np.eye(n_states)[truth] for truth in y] if costs is None else costs
    take = np.mean if mean else np.sum

    def labellings(sample):
        n = len(sample[0] if isinstance(sample, tuple) else sample)
        found = all_labels(n_states, n)[:, ::-1]
        return found[follows(found, *rules)]

    def features(sample, found):
        x, *edges = sample if isinstance(sample, tuple) else (sample,)
        on = np.eye(n_states)[found]
        pairs = on[:, :-1, :, None] * on[:, 1:, None]
        blocks = [np.swapaxes(on, 1, 2) @ x, pairs.sum(axis=1), on[:, 0], on[:, -1]]
        blocks += [np.tensordot(z, pairs, (0, 1)).swapaxes(0, 1) for z in edges]
        if order == 2:
            blocks.append(np.einsum("mtab,mtc->mabc", pairs[:, :-1], on[:, 2:]))
        return in_rows(*blocks)

    def losses(i, found):
        return take(costs[i][np.arange(found.shape[1]), found], axis=1)

    return enumerated(X, y, labellings, features, losses, c)


def follows(found, allowed=None, start=None, end=None):
    """Which labellings keep the rules of those that are given."""
    kept = np.ones(len(found), dtype=bool)
    kept &= True if allowed is None else allowed[found[:, :-1], found[:, 1:]].all(axis=1)
    kept &= True if start is None else start[found[:, 0]]
    return kept & (True if end is None else end[found[:, -1]])


def enumerate_classes(X, y, n_classes, c, intercept, table=None):
    """All classes of rows with the zero-one loss, or that of a table, the true one first."""
    table = 1.0 - np.eye(n_classes) if table is None else table

    def labellings(sample):
        return np.array([sample[1], *(k for k in range(n_classes) if k != sample[1])])

    def features(sample, found):
        on = np.eye(n_classes)[found]
        return in_rows(on[:, :, None] * sample[0], *([on] if intercept else []))

    samples = list(zip(X, y, strict=True))
    return enumerated(samples, y, labellings, features, lambda i, found: table[y[i], found], c)


def frank_wolfe(pairs, lam, n_steps):
    """Lacoste-Julien et al. 2013, algorithm 2 with line search; yields (w, l) after every step."""
    w, loss = np.zeros(pairs.d), 0.0
    for _ in range(n_steps):
        rows = [pairs.best(i, w) for i in range(pairs.n)]
        w_s = sum(pairs.c[i] / lam * pairs.psi[i][y] for i, y in enumerate(rows))
        l_s = sum(pairs.c[i] * pairs.loss[i][y] for i, y in enumerate(rows))
        slope = lam * (w - w_s) @ w - loss + l_s
        curvature = lam * (w - w_s) @ (w - w_s)
        gamma = np.clip(slope / curvature, 0.0, 1.0)
        w, loss = w + gamma * (w_s - w), loss + gamma * (l_s - loss)
        yield w, loss


def subgradient(pairs, lam, order):
    """Stochastic subgradient steps of size 1 / (lam k); yields w after every step."""
    w = np.zeros(pairs.d)
    for k, i in enumerate(order, start=1):
        y = pairs.best(i, w)
        gradient = lam * w - pairs.n * pairs.c[i] * pairs.psi[i][y]
        w = w - gradient / (lam * k)
        yield w


def weighted_average(iterates):
    """sum_k 2 k / (K (K + 1)) w_k."""
    iterates = np.array(iterates)
    return np.average(iterates, axis=0, weights=np.arange(1, len(iterates) + 1))
