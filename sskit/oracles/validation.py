"""Validation of the arguments of oracles, and their padded form."""

from numbers import Integral

import numpy as np

from sskit._numbers import LARGEST_COUNT, array, as_floats, capped
from sskit._ready import all_finite
from sskit.core.checks import ROW_MULTIPLE


def check_values(table, name, finite=False):
    """Return an array of numbers, or raise ValueError naming the first that is wrong.

    Parameters
    ----------
    table : ndarray of float64
        Potentials.
    name : str
        What the error calls them.
    finite : bool, default=False
        Whether -inf is wrong; NaN and inf are.

    Returns
    -------
    table : ndarray
        The same.
    """
    if all_finite(table):
        return table
    right = np.isfinite(table) if finite else table < np.inf
    if not right.all():
        place = tuple(np.argwhere(~right)[0].tolist())
        expected = "a finite number" if finite else "a number or -inf"
        raise ValueError(f"{name}{list(place)} is {table[place]}, expected {expected}")
    return table


def check_table(values, name, *shapes, finite=False):
    """Return potentials as a new float64 array, checked.

    Parameters
    ----------
    values : array-like
        As the user gave them.
    name : str
        What errors call them.
    *shapes : tuple of int
        Shapes that are allowed; if none is given, (n, n_states), both at least 1.
    finite : bool, default=False
        Whether -inf is wrong.

    Returns
    -------
    table : ndarray
        A copy.
    """
    table = as_floats(values, name)
    if table.shape not in shapes if shapes else (table.ndim != 2 or 0 in table.shape):
        expected = " or ".join(map(str, shapes)) or f"(n_{name}, n_states), both at least 1"
        raise ValueError(f"{name} must have shape {expected}, got {table.shape}")
    return check_values(table, name, finite)


def check_chain(nodes, transitions, triples=None, truth=None, cost=1.0, *, tables=False):
    """Return the potentials of a chain as float64 arrays and the truth as int32, checked.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes; ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions; ``-inf`` forbids one.
    triples : array-like of shape (n_states, n_states, n_states), default=None
        Potentials of three states in a row; ``-inf`` forbids them.
    truth : array-like of shape (n_nodes,), default=None
        True states.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node.
    tables : bool, default=False
        Whether `transitions` may also be a table for each, (n_nodes - 1, n_states, n_states).

    Returns
    -------
    nodes, transitions : ndarray
        As given.
    triples : ndarray or None
        As given.
    truth : ndarray of int32 or None
        As given.
    cost : ndarray of shape (n_nodes,)
        One cost a node.

    Raises
    ------
    ValueError
        Naming the first entry that is wrong.
    """
    nodes = check_table(nodes, "nodes")
    n_nodes, n_states = nodes.shape
    each = [(n_nodes - 1, n_states, n_states)] * tables
    transitions = check_table(transitions, "transitions", (n_states,) * 2, *each)
    if triples is not None:
        triples = check_table(triples, "triples", (n_states,) * 3)
    return nodes, transitions, triples, *check_truth(truth, cost, n_nodes, n_states)


def check_truth(truth, cost, n_nodes, n_states, name="truth"):
    """Return true states as int32 (or None) and their costs as float64, one for each node."""
    cost = as_floats(cost, "cost")
    each = cost if cost.ndim else np.full(n_nodes, cost)
    cost = array(each, "cost", (n_nodes,), low=0)
    if truth is None:
        return None, cost
    truth = array(truth, name, (n_nodes,), "integers", low=0, high=n_states - 1)
    return truth.astype(np.int32), cost


def check_numbers(numbers, name, shape):
    """Return a copy of finite numbers as a contiguous float64 vector; `shape` is for messages."""
    numbers = as_floats(numbers, name)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have shape {shape}, got {numbers.shape}")
    return check_values(numbers, name, finite=True)


def check_count(count, name, most=LARGEST_COUNT, least=1):
    """Return a positive integer as int, checked; numbers above `most` become `most`."""
    if not isinstance(count, Integral) or isinstance(count, bool) or count < least:
        expected = "a positive integer" if least == 1 else f"an integer >= {least}"
        raise ValueError(f"{name} must be {expected}, got {count!r}")
    return capped(count, most)


def count_answers(k, n_states, n_nodes):
    """Return the requested number of labellings, checked, but no more than there are.

    A larger number would cost memory only; n_states^n_nodes itself may be astronomical.
    """
    k = check_count(k, "k")
    return min(k, int(n_states) ** min(int(n_nodes), k.bit_length()))


def check_allowed(is_any, n_nodes, text="no labelling of {} nodes is allowed by the potentials"):
    """Raise ValueError unless some labelling is allowed."""
    if not is_any:
        raise ValueError(text.format(n_nodes))


def padded_rows(table, fill=0.0):
    """Return a copy of a 2-D array whose rows are padded for the hot loops."""
    n_rows, n_columns = table.shape
    rows = np.full((n_rows, -(-n_columns // ROW_MULTIPLE) * ROW_MULTIPLE), fill)
    rows[:, :n_columns] = table
    return rows
