"""Validation of rows in groups: their grades, and which rows belong together."""

from typing import NamedTuple

import numpy as np

from sskit._numbers import as_array
from sskit.inputs.rows import check_classes, check_rows


def check_grades(estimator, X, y, **options):
    """Return checked rows and their grades.

    Parameters
    ----------
    estimator : RankingSVM
        Its ``n_features_in_`` and ``feature_names_in_`` are set, or compared.
    X : {array-like, sparse matrix} of shape (n, p)
        Features.
    y : array-like of shape (n,)
        Numbers.
    **options : object
        Of `check_rows`.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n, p)
        Checked.
    y : ndarray of shape (n,)
        Finite numbers.

    Raises
    ------
    ValueError
        If X or y is wrong.
    """
    y = check_classes(y)
    data, grades = check_rows(estimator, X, y, y_numeric=True, **options)
    if grades.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers, got dtype {grades.dtype}")
    return data, grades


class Groups(NamedTuple):
    """Rows by groups, which are in the order of their first rows.

    Attributes
    ----------
    order : ndarray of shape (n_rows,) or None
        Rows of the first group, in their order, then those of the second, ...; None if they lie
        so already.
    offsets : ndarray of shape (n_groups + 1,), int64
        Where each group begins among the ordered rows.
    weight : ndarray of shape (n_groups,) or None
        Weights of the groups.
    """

    order: np.ndarray | None
    offsets: np.ndarray
    weight: np.ndarray | None

    def sort(self, rows):
        """Return rows in order; the same object if they are."""
        return rows if self.order is None else rows[self.order]

    def paired(self, grades):
        """Return how much groups count: those whose grades, in order, are all the same do not."""
        lowest, highest = (f.reduceat(grades, self.offsets[:-1]) for f in (np.minimum, np.maximum))
        return (lowest < highest) * (1.0 if self.weight is None else self.weight)


def check_groups(groups, weight, n_rows):
    """Return which rows belong together.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        A group of any sortable type for each row; None is one group of all.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    groups : Groups
        The rows of each.

    Raises
    ------
    ValueError
        If there is not one for each row, one is missing, or rows of one have different weights.
    TypeError
        If two cannot be sorted.
    """
    groups = np.zeros(n_rows, dtype=np.intp) if groups is None else check_classes(groups, "groups")
    values = as_array(groups, "groups")
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups.shape == {values.shape}, expected ({n_rows},): one group for each row of X"
            + hint_of_sizes(values, n_rows)
        )
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    codes, first = np.argsort(np.argsort(first))[codes], np.sort(first)
    if weight is not None:
        wrong = np.flatnonzero(weight != weight[first[codes]])
        if len(wrong):
            row, other = wrong[0], first[codes[wrong[0]]]
            raise ValueError(
                f"sample_weight[{row}] is {weight[row]} but sample_weight[{other}] is "
                f"{weight[other]}, in the same group (groups=None is one of all rows): a loss of "
                "a set of rows has a weight for the set"
            )
        weight = weight[first]
    order = None if (np.diff(codes) >= 0).all() else np.argsort(codes, kind="stable")
    return Groups(order, np.append(0, np.bincount(codes).cumsum()).astype(np.int64), weight)


def hint_of_sizes(values, n_rows):
    """Return what an error adds if groups seem to be their sizes, as other packages take them."""
    sizes = values.ndim == 1 and values.dtype.kind in "iuf" and (values >= 0).all()
    if not sizes or values.sum() != n_rows:
        return ""
    return (
        "; these seem to be the sizes of consecutive groups, for which it is "
        "np.repeat(np.arange(len(sizes)), sizes)"
    )
