"""Loader of a multilabel data set of very many labels."""

import numpy as np
from sklearn.utils import Bunch

from sskit.datasets._home import check_subset, find_file
from sskit.datasets._multilabel import _csr

_DELICIOUS = (
    "G. Tsoumakas, I. Katakis, I. Vlahavas: Effective and efficient multilabel classification in "
    "domains with large number of labels, MMD 2008"
)


def load_delicious(subset="train", *, data_home=None):
    """Load tags of web pages: 12,920 training and 3,185 test pages, 983 tags.

    The official split. A page has 18 of 500 binary features and 19 tags on average; 14 pages have
    no tag.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``delicious/delicious.npz``, see `get_data_home`.

    Returns
    -------
    pages : sklearn.utils.Bunch
        data : csr_array (n, 500), float64.
        target : ndarray (n, 983) of 0 and 1, int64.
        target_names : ndarray (983,), the tags.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Notes
    -----
    Public as part of the Mulan collection, without an explicit licence.

    Examples
    --------
    >>> from sskit.datasets import load_delicious
    >>> load_delicious("test").target.shape  # doctest: +SKIP
    (3185, 983)
    """
    check_subset(subset)
    with np.load(find_file("delicious/delicious.npz", data_home, _DELICIOUS)) as archive:
        starts = archive[f"Y_{subset}_indptr"]
        target = np.zeros(tuple(archive[f"Y_{subset}_shape"].tolist()), dtype=np.int64)
        rows = np.repeat(np.arange(len(target)), np.diff(starts))
        target[rows, archive[f"Y_{subset}_indices"]] = 1
        return Bunch(
            data=_csr(archive, f"X_{subset}"),
            target=target,
            target_names=archive["label_names"],
            DESCR=f"Tags of web pages, {subset}: {_DELICIOUS}.",
        )
