"""Real data sets that are fetched once, and checked by the hash of their text."""

from __future__ import annotations

import gzip
import hashlib
import logging
import zlib
from pathlib import Path
from typing import Literal

from sskit._optional import optional
from sskit._types import StrPath
from sskit.datasets._conll import load_conll

CONLL2000 = "https://www.clips.uantwerpen.be/conll2000/chunking/"
# Of the text in the files, which mirrors may compress otherwise.
SHA256 = {
    "train.txt.gz": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
    "test.txt.gz": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
}


def fetch_conll2000(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: StrPath | None = None,
    url: str = CONLL2000,
) -> tuple[list[list[dict[str, str]]], list[list[str]]]:
    """Return the sentences of the shared task of CoNLL-2000, text chunking; fetch them once.

    News text with automatic parts of speech, and tags of chunks: 8,936 sentences for training and
    2,012 for tests, of sections 15 to 18 and 20 of the Wall Street Journal (Tjong Kim Sang,
    Buchholz 2000). Its organisers distribute it for research.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Which sentences.
    data_home : str or path-like, default=None
        The folder that keeps the files; None means that of the user's caches, "sskit" there.
    url : str, default="https://www.clips.uantwerpen.be/conll2000/chunking/"
        Where the files are fetched; a mirror has "train.txt.gz" and "test.txt.gz" too.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The tokens of every sentence: strings "word" and "pos".
    y : list of n lists (T_i,) of str
        The tags of chunks, such as "B-NP" and "I-NP".

    Raises
    ------
    ImportError
        If a file is to be fetched and pooch is not installed.
    OSError
        If a file cannot be fetched, or is not that of the task; the error names it.
    ValueError
        If there is no such subset.

    See Also
    --------
    load_conll : Read files of your own.

    References
    ----------
    Tjong Kim Sang, Buchholz (2000). Introduction to the CoNLL-2000 shared task: chunking. CoNLL.

    Examples
    --------
    >>> from sskit.datasets import fetch_conll2000
    >>> X, y = fetch_conll2000("test")  # doctest: +SKIP
    >>> X[0][0], y[0][0]  # doctest: +SKIP
    ({'word': 'Rockwell', 'pos': 'NNP'}, 'B-NP')
    """
    if subset not in ("train", "test"):
        raise ValueError(f'subset must be "train" or "test", got {subset!r}')
    path = _fetched(f"{subset}.txt.gz", "conll2000", data_home, url)
    X, y = load_conll(path, columns=["word", "pos", "chunk"], comments=False)
    return X, y


def _fetched(name, folder, data_home, url):
    """Return the path of a file, which is fetched if it is not there."""
    if data_home is None:
        with optional():
            from pooch import os_cache

        data_home = os_cache("sskit")
    path = Path(data_home) / folder / name
    if path.exists():
        if not _is_sound(path):
            raise OSError(f"{path} is not the file of the data set: remove it to fetch it again")
        return path
    with optional():
        from pooch import get_logger, retrieve

    logger, source = get_logger(), url.rstrip("/") + "/" + name
    level = logger.level
    # at INFO it proposes the hash of the file; here it is the text that has one
    logger.setLevel(logging.WARNING)
    try:
        retrieve(source, known_hash=None, fname=name, path=path.parent)
    except (OSError, ValueError) as error:  # such as no answer, and an address that is none
        raise OSError(
            f"{source} cannot be fetched: {error}; a copy by hand is read at {path}"
        ) from error
    finally:
        logger.setLevel(level)
    if not _is_sound(path):
        path.unlink()
        raise OSError(f"{source} is not the file of the data set: its text has another hash")
    return path


def _is_sound(path):
    """Return whether the text in a compressed file is known."""
    try:
        with gzip.open(path) as file:
            return hashlib.sha256(file.read()).hexdigest() == SHA256[path.name]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return False
