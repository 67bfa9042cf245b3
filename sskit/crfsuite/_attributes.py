"""CRFsuite's files of labels and attributes, and attributes of the columns of CoNLL files."""

from __future__ import annotations

import re
from os import PathLike
from typing import IO, Any

from sskit.datasets import read_text

_PART = re.compile(r"((?:[^\\:]|\\.)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def load_attributes(
    path: str | PathLike[str] | IO[Any], *, encoding: str = "utf-8"
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    r"""Read a file of labels and attributes, as CRFsuite's program takes them.

    A line is a token: its label, a tab, and its attributes, separated by tabs. An attribute may end
    with a colon and its value, a number, which is 1 without; "\\:" is a colon in a name, and "\\\\"
    a backslash. An empty line ends a sequence.

    Parameters
    ----------
    path : str, path-like or file
        The name of the file, or an open file of text or bytes. Files whose names end with ".gz",
        ".bz2" or ".xz" are compressed.
    encoding : str, default="utf-8"
        The encoding of the file, unless it is an open one of text.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The values of attributes by their names, for each token. Values of an attribute that a line
        has twice are added.
    y : list of n lists (T_i,) of str
        The labels.

    Raises
    ------
    ValueError
        If a value is no number, or there are no tokens; the error names the file and the line.

    See Also
    --------
    sskit.datasets.load_conll : Read a file of columns.

    Examples
    --------
    >>> from io import StringIO
    >>> from sskit.crfsuite import load_attributes
    >>> load_attributes(StringIO("DET\tword=the\tlength:3\nNOUN\tword=cat\n"))
    ([[{'word=the': 1.0, 'length': 3.0}, {'word=cat': 1.0}]], [['DET', 'NOUN']])
    """
    name, text = read_text(path, encoding)
    X, y, begins = [], [], True
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        if not line:
            begins = True
            continue
        label, *parts = line.split("\t")
        if begins:
            X.append([])
            y.append([])
            begins = False
        token = {}
        for part in filter(None, parts):
            attribute, value = _PART.fullmatch(part).groups()
            try:
                value = 1.0 if value is None else float(value)
            except ValueError:
                raise ValueError(
                    f"{name}, line {number}: the value of an attribute is no number: {part!r:.90}; "
                    r"a colon in a name is written \:"
                ) from None
            attribute = _ESCAPED.sub(r"\1", attribute)
            token[attribute] = token.get(attribute, 0.0) + value
        X[-1].append(token)
        y[-1].append(label)
    if not X:
        raise ValueError(f"{name} holds no tokens")
    return X, y


def describe_columns(X: list[list[dict[str, str]]]) -> list[list[dict[str, Any]]]:
    """Return attributes of the tokens of a CoNLL file: columns of neighbours, endings, shapes.

    For each column of a token its value, and those of the two tokens on either side; of the first
    column also both neighbours together with it, its last letters, and whether it has a capital or
    a digit. ``python -m sskit`` trains on these attributes.

    Parameters
    ----------
    X : list of n lists (T_i,) of dict
        Strings by the names of columns, as `sskit.datasets.load_conll` returns them.

    Returns
    -------
    described : list of n lists (T_i,) of dict
        The attributes of each token.

    Examples
    --------
    >>> from sskit.crfsuite import describe_columns
    >>> ((token,),) = describe_columns([[{"word": "Cats", "pos": "NNS"}]])
    >>> token["word[0]"], token["word[-1]"], token["pos[0]"], token["endings"]
    ('Cats', '', 'NNS', ['s', 'ts', 'ats'])
    """
    return [_described(sentence) for sentence in X]


def _described(sentence):
    """Return the attributes of the tokens of a sentence."""
    if not sentence:
        return []
    tokens, names = [{} for _ in sentence], list(sentence[0])
    for name in names:
        values = ["", "", *(token[name] for token in sentence), "", ""]
        for t, token in enumerate(tokens):
            for k in range(-2, 3):
                token[f"{name}[{k}]"] = values[t + 2 + k]
    words = [token[names[0]] for token in sentence]
    lower = ["", *(word.lower() for word in words), ""]
    for t, (token, word) in enumerate(zip(tokens, words, strict=True)):
        token["lower"] = lower[t + 1]
        token["pairs"] = [f"-1 {lower[t]} {lower[t + 1]}", f"+1 {lower[t + 1]} {lower[t + 2]}"]
        token["endings"] = [word[-k:] for k in range(1, min(len(word), 3) + 1)]
        token["capital"] = word[:1].isupper()
        token["digit"] = any(letter.isdigit() for letter in word)
    return tokens
