"""Structured SVMs by enumeration, in the letters of the papers and in plain NumPy.

Nothing of the package is used: a training pair is the list of all its labellings, each with
psi_i(y) = phi(x_i, y_i) - phi(x_i, y) as a dense vector and its loss.
"""

import itertools

import numpy as np

# Labellings whose values differ by less are equally good; the first one counts.
TIE = 1e-12


def multiclass_feature(x, y, n_classes, intercept):
    """phi(x, y) of a multiclass model: the features (K, p) and the constant (K,) of class y."""
    coef, constant = np.zeros((n_classes, len(x))), np.zeros(n_classes)
    coef[y] = x
    constant[y] = 1.0
    return np.concatenate([coef.ravel(), constant]) if intercept else coef.ravel()


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


def enumerated(samples, truths, labellings, feature, loss, c, code=None):
    """All labellings of samples, of which `code` makes those of the package."""
    psi, losses, labels, right = [], [], [], []
    for i, (x, truth) in enumerate(zip(samples, truths, strict=True)):
        found = list(labellings(x))
        right.append(feature(x, truth))
        psi.append(np.array([right[-1] - feature(x, y) for y in found]))
        losses.append(np.array([float(loss(i, y)) for y in found]))
        labels.append(found if code is None else [code(x, y) for y in found])
    return Enumerated(psi, losses, labels, c, right)


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
        found = map(np.array, itertools.product(range(n_states), repeat=n))
        kept = (states for states in found if follows(states, *rules))
        return sorted(kept, key=lambda states: tuple(states[::-1]))

    def feature(sample, states):
        x, *edges = sample if isinstance(sample, tuple) else (sample,)
        on = np.eye(n_states)[states]
        blocks = [on.T @ x, on[:-1].T @ on[1:], on[0], on[-1]]
        blocks += [np.einsum("tq,ta,tb->qab", z, on[:-1], on[1:]) for z in edges]
        if order == 2:
            blocks.append(np.einsum("ta,tb,tc->abc", on[:-2], on[1:-1], on[2:]))
        return np.concatenate([block.ravel() for block in blocks])

    def loss(i, states):
        return take(costs[i][np.arange(len(states)), states])

    return enumerated(X, y, labellings, feature, loss, c)


def follows(states, allowed=None, start=None, end=None):
    """Whether a labelling keeps the rules of those that are given."""
    return (
        (allowed is None or allowed[states[:-1], states[1:]].all())
        and (start is None or start[states[0]])
        and (end is None or end[states[-1]])
    )


def enumerate_classes(X, y, n_classes, c, intercept, table=None):
    """All classes of rows with the zero-one loss, or that of a table, the true one first."""
    table = 1.0 - np.eye(n_classes) if table is None else table

    def labellings(sample):
        return [sample[1], *(k for k in range(n_classes) if k != sample[1])]

    def feature(sample, k):
        return multiclass_feature(sample[0], k, n_classes, intercept)

    samples = list(zip(X, y, strict=True))
    return enumerated(samples, y, labellings, feature, lambda i, k: table[y[i], k], c)


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
