"""Loaders of multilabel data sets, flat ones and such whose labels form a tree."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from sskit.datasets._home import check_subset, find_file

_YEAST = "A. Elisseeff, J. Weston: A kernel method for multi-labelled classification, NIPS 2001"
_BIBTEX = (
    "I. Katakis, G. Tsoumakas, I. Vlahavas: Multilabel text classification for automated tag "
    "suggestion, ECML/PKDD Discovery Challenge 2008"
)
_RCV1 = "D. Lewis, Y. Yang, T. Rose, F. Li: RCV1, JMLR 2004; subsets as in the Mulan collection"
_TREES = {
    "imclef07a": "I. Dimitrovski et al.: Hierarchical annotation of medical images, 2011",
    "enron_corr": "B. Klimt, Y. Yang: The Enron corpus, 2004; hierarchy of I. Dimitrovski et al.",
    "eisen_fun": "C. Vens et al.: Decision trees for hierarchical multi-label classification, 2008",
}


def load_yeast(subset="train", *, data_home=None):
    """Load functions of yeast genes: 1,500 training and 917 test genes, 14 labels.

    The official split. A gene has 103 features and 4.2 labels on average.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``yeast/yeast.npz``, see `get_data_home`.

    Returns
    -------
    genes : sklearn.utils.Bunch
        data : ndarray (n, 103), float64.
        target : ndarray (n, 14) of 0 and 1, int64.
        target_names : ndarray (14,), names of the labels.
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
    >>> from sskit.datasets import load_yeast
    >>> load_yeast("test").data.shape  # doctest: +SKIP
    (917, 103)
    """
    check_subset(subset)
    with np.load(find_file("yeast/yeast.npz", data_home, _YEAST)) as archive:
        return Bunch(
            data=archive[f"X_{subset}"].astype(np.float64),
            target=archive[f"Y_{subset}"].astype(np.int64),
            target_names=archive["label_names"],
            DESCR=f"Yeast gene functions, {subset}: {_YEAST}.",
        )


def load_bibtex(subset="train", *, data_home=None):
    """Load tags of bibliographic entries: 4,880 training and 2,515 test entries, 159 tags.

    The official split. An entry has 69 of 1,836 binary features and 2.4 tags on average.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``bibtex/bibtex.npz``, see `get_data_home`.

    Returns
    -------
    entries : sklearn.utils.Bunch
        data : csr_array (n, 1836), float64.
        target : ndarray (n, 159) of 0 and 1, int64.
        target_names : ndarray (159,), the tags.
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
    >>> from sskit.datasets import load_bibtex
    >>> load_bibtex("test").target.shape  # doctest: +SKIP
    (2515, 159)
    """
    check_subset(subset)
    with np.load(find_file("bibtex/bibtex.npz", data_home, _BIBTEX)) as archive:
        return Bunch(
            data=_csr(archive, f"X_{subset}"),
            target=archive[f"Y_{subset}"].astype(np.int64),
            target_names=archive["label_names"],
            DESCR=f"Tags of BibTeX entries, {subset}: {_BIBTEX}.",
        )


def load_rcv1_topics(subset="train", *, sample=1, data_home=None):
    """Load topics of news articles: 3,000 training and 3,000 test articles, 101 topics.

    Four of the five usual samples of RCV1-v2. An article is a row of tf-idf features of norm 1,
    77 of 47,236 on average, and has 2.9 topics.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    sample : {1, 3, 4, 5}, default=1
        Which of the samples. The topics are the same in all of them. Some articles are in several
        parts: up to 72 in two training parts, up to 32 in both parts of one sample.
    data_home : str, path-like or None, default=None
        Where to look for ``rcv1_topics/rcv1_subset1.npz`` and so on, see `get_data_home`.

    Returns
    -------
    articles : sklearn.utils.Bunch
        data : csr_array (3000, 47236), float64.
        target : ndarray (3000, 101) of 0 and 1, int64.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset or sample.

    Notes
    -----
    The vectors are public for research.

    In the files that circulate, the labels of the test parts stand in the wrong columns. The
    files that this loader expects have been repaired: every row has norm 1.

    Examples
    --------
    >>> from sskit.datasets import load_rcv1_topics
    >>> load_rcv1_topics("test", sample=3).target.shape  # doctest: +SKIP
    (3000, 101)
    """
    check_subset(subset)
    if isinstance(sample, (str, bool)) or sample not in (1, 3, 4, 5):
        raise ValueError(f"sample must be 1, 3, 4 or 5, got {sample!r}")
    with np.load(find_file(f"rcv1_topics/rcv1_subset{sample}.npz", data_home, _RCV1)) as archive:
        return Bunch(
            data=_csr(archive, f"X_{subset}"),
            target=archive[f"Y_{subset}"].astype(np.int64),
            DESCR=f"RCV1 topics, sample {sample}, {subset}: {_RCV1}.",
        )


def load_imclef07a(subset="train", *, data_home=None):
    """Load codes of medical X-ray images: 10,000 training and 1,006 test images, a tree of codes.

    An image has 80 features, a histogram of its edges, and one path of three of the 96 codes.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``imclef07a/imclef07a.npz``, see `get_data_home`.

    Returns
    -------
    images : sklearn.utils.Bunch
        data : ndarray (n, 80), float64.
        target : ndarray (n, 96) of 0 and 1, int64; all ancestors of a label are set.
        parents : ndarray (96,), int64, the parent of each label, -1 for a root.
        target_names : ndarray (96,), paths such as "01/01/03".
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Notes
    -----
    Public for research, without an explicit licence.

    Examples
    --------
    >>> from sskit.datasets import load_imclef07a
    >>> load_imclef07a("test").target.shape  # doctest: +SKIP
    (1006, 96)
    """
    return _load_tree("imclef07a", subset, ("train", "test"), data_home)


def load_enron(subset="train", *, data_home=None):
    """Load categories of e-mails: 988 training and 660 test e-mails, 56 categories on a tree.

    An e-mail has 1,001 binary features and some five categories, on one or more paths. The two
    parts differ in distribution.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``enron_corr/enron_corr.npz``, see `get_data_home`.

    Returns
    -------
    emails : sklearn.utils.Bunch
        data : ndarray (n, 1001), float64.
        target : ndarray (n, 56) of 0 and 1, int64; all ancestors of a label are set.
        parents : ndarray (56,), int64, the parent of each label, -1 for a root.
        target_names : ndarray (56,), paths.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Notes
    -----
    Public for research, without an explicit licence.

    Examples
    --------
    >>> from sskit.datasets import load_enron
    >>> load_enron("test").target.shape  # doctest: +SKIP
    (660, 56)
    """
    return _load_tree("enron_corr", subset, ("train", "test"), data_home)


def load_eisen_fun(subset="train", *, data_home=None):
    """Load functions of yeast genes on a tree: 1,058 training, 529 validation, 837 test genes.

    A gene has 79 features, of which 2 % are missing, and nine of 461 functions on average.

    Parameters
    ----------
    subset : {"train", "valid", "test"}, default="train"
        Which part to load.
    data_home : str, path-like or None, default=None
        Where to look for ``eisen_fun/eisen_fun.npz``, see `get_data_home`.

    Returns
    -------
    genes : sklearn.utils.Bunch
        data : ndarray (n, 79), float64, with NaN.
        target : ndarray (n, 461) of 0 and 1, int64; all ancestors of a label are set.
        parents : ndarray (461,), int64, the parent of each label, -1 for a root.
        target_names : ndarray (461,), paths.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Notes
    -----
    Public for research, without an explicit licence.

    Examples
    --------
    >>> from sskit.datasets import load_eisen_fun
    >>> load_eisen_fun("valid").target.shape  # doctest: +SKIP
    (529, 461)
    """
    return _load_tree("eisen_fun", subset, ("train", "valid", "test"), data_home)


def _load_tree(name, subset, subsets, data_home):
    check_subset(subset, subsets)
    with np.load(find_file(f"{name}/{name}.npz", data_home, _TREES[name])) as archive:
        return Bunch(
            data=archive[f"X_{subset}"].astype(np.float64),
            target=archive[f"Y_{subset}"].astype(np.int64),
            parents=archive["parent"].astype(np.int64),
            target_names=archive["node_names"],
            DESCR=f"{name}, {subset}: {_TREES[name]}.",
        )


def _csr(archive, name):
    """Return a matrix that is stored as its three arrays and its shape."""
    return csr_array(
        (
            archive[f"{name}_data"].astype(np.float64),
            archive[f"{name}_indices"],
            archive[f"{name}_indptr"],
        ),
        shape=tuple(archive[f"{name}_shape"].tolist()),
    )
