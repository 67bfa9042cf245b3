"""The gate of groups: which rows belong together."""

from typing import NamedTuple

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.rows import check_classes


class Groups(NamedTuple):
    """Rows by groups.

    Attributes
    ----------
    order : ndarray of shape (n_rows,) or None
        Rows of the first group, in their order, then those of the second, ...; None if they lie
        so already.
    offsets : ndarray of shape (n_groups + 1,), int64
        Where each group begins among the ordered rows; groups are in the order of their first
        rows.
    """

    order: np.ndarray | None
    offsets: np.ndarray

    def sort(self, rows):
        """Return rows in order; the same object if they are."""
        return rows if self.order is None else rows[self.order]


def check_groups(groups, n_rows):
    """Return which rows belong together.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        A group of any sortable type for each row; None is one group of all.
    n_rows : int
        Number of rows.

    Returns
    -------
    groups : Groups
        The rows of each.

    Raises
    ------
    ValueError
        If there is not one for each row, or one is missing.
    TypeError
        If two cannot be sorted.
    """
    if groups is None:
        return Groups(None, np.array([0, n_rows], dtype=np.int64))
    values = as_array(groups, "groups")
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups.shape == {values.shape}, expected ({n_rows},): one group for each row of X"
        )
    try:
        values = np.asarray(check_classes(groups, "groups"))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(str(error).replace("labels", "groups")) from None
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    codes = rank[codes]
    offsets = np.concatenate([[0], np.bincount(codes).cumsum()]).astype(np.int64)
    if (np.diff(codes) >= 0).all():
        return Groups(None, offsets)
    return Groups(np.argsort(codes, kind="stable"), offsets)


def check_group_weight(weight, groups, given):
    """Return the weights of groups from those of their rows, or None.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,) or None
        Checked weights of the rows, as they were given.
    groups : Groups
        Which rows belong together.
    given : bool
        Whether groups were given.

    Returns
    -------
    weight : ndarray of shape (n_groups,) or None
        None if there are none.

    Raises
    ------
    ValueError
        Naming the first row whose weight is not that of its group.
    """
    if weight is None:
        return None
    weight = groups.sort(weight)
    of_groups = weight[groups.offsets[:-1]]
    wrong = np.flatnonzero(weight != np.repeat(of_groups, np.diff(groups.offsets)))
    if len(wrong):
        place = wrong[0] if groups.order is None else groups.order[wrong[0]]
        group = np.searchsorted(groups.offsets, wrong[0], side="right") - 1
        first = groups.offsets[group]
        first = first if groups.order is None else groups.order[first]
        what = "its group" if given else "the whole set, which is one group if groups is None"
        raise ValueError(
            f"sample_weight[{place}] is {weight[wrong[0]]} but sample_weight[{first}] is "
            f"{of_groups[group]}: a loss of a set of rows has a weight for the set, so that all "
            f"rows must have that of {what}"
        )
    return of_groups
