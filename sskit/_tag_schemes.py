"""Schemes of tags that describe spans: what their prefixes mean, and what may follow what."""

import numpy as np

# The place of a prefix in the string is its code.
OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
SCHEMES = {
    "bio": "OBI",
    "iob2": "OBI",
    "iob1": "OBI",
    "bioes": "OBIES",
    "iobes": "OBIES",
    "bilou": "OBILU",
}


def scheme_rules(scheme, codes, kinds):
    """Return what a scheme allows.

    Parameters
    ----------
    scheme : str
        A key of `SCHEMES`.
    codes : ndarray of shape (K,)
        Codes of the prefixes of the tags.
    kinds : ndarray of shape (K,)
        What kinds of spans they are of, of any type; that of tags outside does not matter.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool
        Which tags may follow, from row to column.
    allowed_start : ndarray of shape (K,), bool
        First tags.
    allowed_end : ndarray of shape (K,), bool
        Last tags.
    """
    same = kinds[:, None] == kinds
    within = (codes != OUTSIDE)[:, None] & same
    begins, goes_on = codes == BEGIN, (codes == INSIDE) | (codes == END)
    if scheme == "iob1":
        # a beginning only parts two spans of one kind
        return ~begins | within, ~begins, np.ones(len(codes), dtype=bool)
    if len(SCHEMES[scheme]) == 3:
        return ~goes_on | within, ~goes_on, np.ones(len(codes), dtype=bool)
    is_open = begins | (codes == INSIDE)
    return np.where(is_open[:, None], goes_on & same, ~goes_on), ~goes_on, ~is_open


def find_violations(labels, offsets, allowed, allowed_start, allowed_end):
    """Return the tokens whose labels may not stand where they do.

    Parameters
    ----------
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to K - 1.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions.
    allowed_start, allowed_end : ndarray of shape (K,), bool
        Allowed first and last labels.

    Returns
    -------
    tokens : ndarray of shape (m,)
        Numbers of first and last tokens, and of second ones of transitions that are not allowed.
    """
    good = np.ones(len(labels), dtype=bool)
    good[1:] = allowed[labels[:-1], labels[1:]]
    filled = np.diff(offsets) > 0
    first, last = offsets[:-1][filled], offsets[1:][filled] - 1
    good[first] = allowed_start[labels[first]]
    good[last] &= allowed_end[labels[last]]
    return np.flatnonzero(~good)


def tell_violation(token, t, labels, names, allowed, allowed_start):
    """Return a label that may not stand where it does, and after what it does.

    Parameters
    ----------
    token : int
        From `find_violations`.
    t : int
        Its place in its sequence.
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to K - 1.
    names : ndarray of shape (K,)
        What these are.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions.
    allowed_start : ndarray of shape (K,), bool
        Allowed first labels.

    Returns
    -------
    told : str
        As in "I-X after O".
    """
    name = names[labels[token]]
    if t == 0 and not allowed_start[labels[token]]:
        return f"{name} at the start"
    if t and not allowed[labels[token - 1], labels[token]]:
        return f"{name} after {names[labels[token - 1]]}"
    return f"{name} at the end"
