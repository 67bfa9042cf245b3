"""Training labels of which some may not be known, checked."""

import numpy as np

from sskit.estimators.combinations import check_combinations
from sskit.estimators.reading.partial_labels import check_partial_labels
from sskit.inputs.ragged_array import locate, make_offsets


def read_labels(estimator, y, lengths, part=False):
    """Return labels for training, checked.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `ignore_label`.
    y : sequence of n sequences (T_i,)
        Labels, sets of labels, and `ignore_label`.
    lengths : ndarray of shape (n,)
        How many there must be.
    part : bool, default=False
        Whether these are a part of the data only.

    Returns
    -------
    partial : PartialLabels
        What is known of them.

    Raises
    ------
    TypeError, ValueError
        As `check_partial_labels`; or if nothing is known; or, where something is not, if the
        estimator has a parameter that needs all labels.
    """
    partial = check_partial_labels(y, lengths, estimator.ignore_label)
    if partial.possible is None:
        return partial
    if partial.ignored.all():
        raise ValueError(f"y has no labels but ignore_label={estimator.ignore_label!r}")
    if partial.possible.all() and not part:
        raise ValueError("y determines nothing: every label is possible at every token")
    t = np.flatnonzero(partial.n_possible > 1)[:1]
    if len(t):
        place = "y[{}][{}]".format(*locate(make_offsets(lengths), t[0]))
        asked = {"unknown": f"{place}, which has no known label,"}
        some = (partial.n_possible < len(partial.classes)) & (partial.n_possible > 1)
        if some.any():
            asked["sets"] = "a set of labels of which one is right"
        check_combinations(estimator, **asked)
    return partial
