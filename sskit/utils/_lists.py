"""Predictions as lists of Python's own objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from sskit.inputs.ragged_array import RaggedArray


def to_lists(y: Any) -> Any:
    """Return predictions as lists of Python's own strings and numbers.

    ``predict`` returns an array of arrays, which scikit-learn's tools need. Packages such as
    seqeval, and files such as JSON, take lists.

    Parameters
    ----------
    y : ndarray, RaggedArray, list or tuple
        What ``predict``, ``predict_topk``, ``predict_proba`` or ``predict_segments`` returns, of
        any estimator, pipeline or search.

    Returns
    -------
    y : list
        The same with lists in the place of arrays, and tuples as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import SequenceTagger
    >>> from sskit.utils import to_lists
    >>> X, y = [[{"word": "the"}, {"word": "cat"}]] * 3, [["DET", "NOUN"]] * 3
    >>> to_lists(SequenceTagger(random_state=0).fit(X, y).predict(X[:2]))
    [['DET', 'NOUN'], ['DET', 'NOUN']]
    """
    if isinstance(y, np.ndarray) and y.dtype != object:
        return y.tolist()
    if isinstance(y, (np.ndarray, RaggedArray, list)):
        return [to_lists(item) for item in y]
    if isinstance(y, tuple):
        return tuple(map(to_lists, y))
    return y.item() if isinstance(y, np.generic) else y
