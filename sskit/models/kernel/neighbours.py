"""An order of rows in which those that are near to each other stand together."""

import numpy as np


def arranged(X, numbers, size, random_state):
    """Return rows in an order in which runs of about `size` are near to each other.

    They are halved along the line through two of them, by chance, and the halves likewise (a
    random projection tree): neighbours that one such order separates the next one does not.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, p)
        Rows.
    numbers : ndarray of shape (m,), int
        Some of them.
    size : int
        Parts of no more rows are not halved; their order is random.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    order : ndarray of shape (m,)
        The same numbers.
    """
    waiting, done = [random_state.permutation(numbers)], []
    while waiting:
        part = waiting.pop()
        if len(part) <= size:
            done.append(part)
            continue
        # both are random, since the order is
        line = X[part[:1]] - X[part[1:2]]
        line = line.toarray()[0] if hasattr(line, "toarray") else line[0]
        with np.errstate(over="ignore", invalid="ignore"):
            places = X[part] @ line
        middle = len(part) // 2
        order = np.argpartition(places, middle)
        near = np.zeros(len(part), dtype=bool)
        near[order[:middle]] = True
        # the order within the halves stays random; so is which of them comes first
        halves = [part[near], part[~near]]
        waiting += halves[:: random_state.choice([-1, 1])]
    return np.concatenate([*done, np.zeros(0, dtype=np.intp)]).astype(np.intp)
