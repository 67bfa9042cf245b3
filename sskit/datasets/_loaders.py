"""Loaders of the data sets that the literature on structured SVMs measures itself by."""

import gzip
from collections.abc import Iterable

import numpy as np
from sklearn.utils import Bunch

from sskit.datasets._home import check_subset, find_file

_OCR = "collected by R. Kassel; B. Taskar, C. Guestrin, D. Koller: Max-Margin Markov Networks, 2003"
_CONLL = "E. Tjong Kim Sang, S. Buchholz: Introduction to the CoNLL-2000 shared task: chunking"
_WSJ = "5 % sample of the Penn Treebank as distributed with NLTK; M. Marcus et al., 1993"
_USPS = "Y. LeCun et al., 1990, as distributed with Hastie, Tibshirani, Friedman: ESL"


def load_ocr_letters(fold=None, *, constant=False, letters=False, data_home=None):
    """Load Taskar's handwritten words: 6,877 words, 52,152 letters, 26 labels, 10 folds.

    Every letter is a binary image of 16 x 8 pixels. The literature trains on fold 0 (626 words,
    "OCR-small") or on folds 1 to 9 (6,251 words, "OCR-large").

    Parameters
    ----------
    fold : int, iterable of int or None, default=None
        Which of the folds 0, ..., 9 to load; None loads all.
    constant : bool, default=False
        Whether to append a column of ones; the images are then float64 instead of uint8.
    letters : bool, default=False
        Whether labels are the letters "a" to "z" instead of the integers 0 to 25.
    data_home : str, path-like or None, default=None
        Where to look for ``ocr/ocr_letters.npz``, see `get_data_home`.

    Returns
    -------
    words : sklearn.utils.Bunch
        data : list of ndarrays (T_i, 128), or (T_i, 129) with the constant.
        target : list of ndarrays (T_i,).
        folds : ndarray (n,), the fold of every word.
        target_names : ndarray (26,), the letters.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such fold.

    Examples
    --------
    >>> from sskit.datasets import load_ocr_letters
    >>> words = load_ocr_letters(fold=0)  # doctest: +SKIP
    >>> len(words.data), words.data[0].shape  # doctest: +SKIP
    (626, (9, 128))
    """
    wanted = range(10) if fold is None else fold if isinstance(fold, Iterable) else [fold]
    wanted = list(wanted)
    for number in wanted:
        if isinstance(number, (str, bool)) or number not in range(10):
            raise ValueError(f"fold must be among 0, ..., 9, got {number!r}")
    path = find_file("ocr/ocr_letters.npz", data_home, _OCR)
    with np.load(path) as archive:
        pixels, labels, offsets, folds = (
            archive[name] for name in ("pixels", "labels", "offsets", "folds")
        )
    names = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    labels = names[labels] if letters else labels.astype(np.int64)
    if constant:
        pixels = np.column_stack([pixels, np.ones(len(pixels))])
    rows = np.flatnonzero(np.isin(folds, wanted))
    spans = [slice(offsets[i], offsets[i + 1]) for i in rows]
    return Bunch(
        # Copies: a view would keep the pixels of all folds alive.
        data=[pixels[span].copy() for span in spans],
        target=[labels[span].copy() for span in spans],
        folds=folds[rows].astype(np.int64),
        target_names=names,
        DESCR=f"Handwritten words, {_OCR}.",
    )


def load_conll2000(subset="train", *, attributes=False, data_home=None):
    """Load the text chunking data of CoNLL-2000: 8,936 training and 2,012 test sentences.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load.
    attributes : bool, default=False
        Whether tokens are dicts of attributes, as DictVectorizer takes them, instead of pairs of
        word and part-of-speech tag.
    data_home : str, path-like or None, default=None
        Where to look for ``conll2000/train.txt.gz`` and ``test.txt.gz``, see `get_data_home`.

    Returns
    -------
    sentences : sklearn.utils.Bunch
        data : list of lists of tuples (word, tag), or of lists of dicts.
        target : list of lists of str, chunk tags of the BIO scheme such as "B-NP".
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Notes
    -----
    The attributes are those of the CRFsuite tutorial [1]_. With w[k] the word and p[k] the tag
    k tokens to the right, they are w[-2] to w[2]; the pairs w[-1]|w[0] and w[0]|w[1]; p[-2] to
    p[2]; the pairs p[-2]|p[-1] to p[1]|p[2]; the triples p[-2]|p[-1]|p[0] to p[0]|p[1]|p[2]; and
    ``__BOS__`` and ``__EOS__`` at the ends. What sticks out of the sentence is left out.
    DictVectorizer names them ``w[-1]|w[0]=in|the``: 335,674 columns with 3,808,439 ones on
    the training set.

    References
    ----------
    .. [1] N. Okazaki, "CRFsuite: a fast implementation of Conditional Random Fields", 2007.

    Examples
    --------
    >>> from sskit.datasets import load_conll2000
    >>> sentences = load_conll2000("train")  # doctest: +SKIP
    >>> sentences.data[0][:2], sentences.target[0][:2]  # doctest: +SKIP
    ([('Confidence', 'NN'), ('in', 'IN')], ['B-NP', 'B-PP'])
    """
    tokens, target = _read_columns("conll2000", subset, " ", data_home, _CONLL)
    data = [_attributes(sentence) for sentence in tokens] if attributes else tokens
    return Bunch(data=data, target=target, DESCR=f"CoNLL-2000 chunking, {subset}: {_CONLL}.")


def load_wsj_pos(subset="train", *, data_home=None):
    """Load part-of-speech tags of newspaper text: 3,253 training and 661 test sentences.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load: files wsj_0001 to 0149, or 0150 to 0199.
    data_home : str, path-like or None, default=None
        Where to look for ``wsj_pos/train.txt.gz`` and ``test.txt.gz``, see `get_data_home`.

    Returns
    -------
    sentences : sklearn.utils.Bunch
        data : list of lists of str, the words.
        target : list of lists of str, one of 45 tags per word.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Examples
    --------
    >>> from sskit.datasets import load_wsj_pos
    >>> sentences = load_wsj_pos("test")  # doctest: +SKIP
    >>> len(sentences.data)  # doctest: +SKIP
    661
    """
    tokens, target = _read_columns("wsj_pos", subset, "\t", data_home, _WSJ)
    data = [[word for (word,) in sentence] for sentence in tokens]
    return Bunch(data=data, target=target, DESCR=f"Part-of-speech tags, {subset}: {_WSJ}.")


def load_usps(subset="train", *, data_home=None):
    """Load the USPS digits: 7,291 training and 2,007 test images of 16 x 16 pixels, 10 classes.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which part to load. The test images are known to be harder.
    data_home : str, path-like or None, default=None
        Where to look for ``usps/usps.npz``, see `get_data_home`.

    Returns
    -------
    digits : sklearn.utils.Bunch
        data : ndarray (n, 256), grey values from -1 to 1, float64.
        target : ndarray (n,), the digits, int64.
        DESCR : str, the source.

    Raises
    ------
    FileNotFoundError
        If the file is not there.
    ValueError
        If there is no such subset.

    Examples
    --------
    >>> from sskit.datasets import load_usps
    >>> load_usps("test").data.shape  # doctest: +SKIP
    (2007, 256)
    """
    check_subset(subset)
    with np.load(find_file("usps/usps.npz", data_home, _USPS)) as archive:
        # Stored as integers, 2000 times the distance from the darkest grey.
        data = archive[f"X_{subset}"] / 1000.0 - 1
        target = archive[f"y_{subset}"].astype(np.int64)
    return Bunch(data=data, target=target, DESCR=f"USPS digits, {subset}: {_USPS}.")


def _read_columns(folder, subset, separator, data_home, source):
    """Read sentences of one token a line; the last column is the label."""
    check_subset(subset)
    path = find_file(f"{folder}/{subset}.txt.gz", data_home, source)
    with gzip.open(path, "rt", encoding="utf8") as file:
        text = file.read().strip()
    data, target = [], []
    for sentence in text.split("\n\n"):
        columns = list(zip(*(line.split(separator) for line in sentence.split("\n")), strict=True))
        data.append(list(zip(*columns[:-1], strict=True)))
        target.append(list(columns[-1]))
    return data, target


# Name and places of every attribute, relative to the token.
_TEMPLATE = [
    (letter, "|".join(f"{letter}[{k}]" for k in places), places)
    for letter, length, first, last in [
        ("w", 1, -2, 2),
        ("w", 2, -1, 0),
        ("p", 1, -2, 2),
        ("p", 2, -2, 1),
        ("p", 3, -2, 0),
    ]
    for start in range(first, last + 1)
    for places in [range(start, start + length)]
]


def _attributes(sentence):
    """Return one dict of attributes per token of a sentence of pairs (word, tag)."""
    columns = dict(zip("wp", zip(*sentence, strict=True), strict=True))
    n_tokens = len(sentence)
    tokens = [{} for _ in range(n_tokens)]
    for letter, name, places in _TEMPLATE:
        column = columns[letter]
        grams = zip(*(column[k:] for k in range(len(places))), strict=False)
        for start, gram in enumerate(grams):
            t = start - places[0]
            if 0 <= t < n_tokens:
                tokens[t][name] = "|".join(gram)
    tokens[0]["__BOS__"] = tokens[-1]["__EOS__"] = 1
    return tokens
