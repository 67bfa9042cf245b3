"""CoNLL files: a token a line and an empty line between sentences."""

import bz2
import gzip
import lzma
import re
from collections.abc import Mapping
from itertools import chain
from numbers import Integral
from pathlib import Path

import numpy as np

from sskit._labels import string_array
from sskit._tag_schemes import check_scheme, parse_tags
from sskit.inputs.ragged_array import make_offsets

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_BYTE_ORDER = "\ufeff"
_DOCUMENT = "-DOCSTART-"
_HEADER = re.compile(r"# *global\.columns *= *(.*)")
# As in "# newdoc id = 17", which may have as many columns as a token.
_PAIR = re.compile(r"# *\S+(?: \S+)? *= ")
# Of CoNLL-U: tokens that were several words, "3-4", and words that are not in the text, "5.1".
_NO_TOKEN = re.compile(r"\d+[-.]\d+")


def load_conll(
    path, *, columns=None, tags=-1, separator=None, comments=None, scheme=None, encoding="utf-8"
):
    """Read sentences from a file with one token per line, such as those of the CoNLL shared tasks.

    A line has the columns of a token; empty lines separate sentences. The following are not
    tokens:

    - lines that begin with "-DOCSTART-";
    - comments: lines before the first token of a sentence that begin with "#". A sentence may begin
      with "#" too, and then the line has as many columns as tokens have; where blanks part columns
      so may a comment, for which `comments` decides;
    - where the first column is called "ID", as in CoNLL-U: ranges ("3-4") and empty nodes ("5.1").

    Lines end with a line feed, a carriage return or both, and nothing else; a byte order mark is
    ignored.

    Parameters
    ----------
    path : str, path-like or file
        The name of the file, or an open file of text or bytes. Files whose names end with ".gz",
        ".bz2" or ".xz" are compressed.
    columns : sequence of str, "conllu" or None, default=None
        Names of the columns. "conllu" means the ten of CoNLL-U, ID to MISC. None takes them from
        the comment "# global.columns = ..."; without it they are those of CoNLL-U if the name of
        the file ends with ".conllu", else "0", "1", ...
    tags : str, int or None, default=-1
        The column of the tags, its name or its number; -1 is the last one. None means that there is
        none.
    separator : str or None, default=None
        Separator of columns; " " is any number of spaces and tabs. None is a tab if the first
        token has one, else " ".
    comments : bool or None, default=None
        Whether lines that may be comments are comments, besides "# global.columns = ...". None
        treats lines without the columns of a token, and lines such as "# name = value", as
        comments.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"} or None, default=None
        The scheme of the tags, see `sskit.metrics.convert_tags`; None for any tags.
    encoding : str, default="utf-8"
        The encoding of the file.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The tokens of every sentence: strings by the names of their columns, without that of the
        tags.
    y : list of n lists (T_i,) of str, or None
        The tags; None without any.

    Raises
    ------
    TypeError
        If a parameter is of a wrong type.
    ValueError
        If there are no tokens, a line has another number of columns than the others, there is no
        such column of tags, or no other column, or a tag breaks the scheme; the error names the
        file and the line. Or if bytes are not in the encoding.

    See Also
    --------
    sskit.metrics.convert_tags : Tags of one scheme as those of another.

    Examples
    --------
    >>> from io import StringIO
    >>> from sskit.datasets import load_conll
    >>> file = StringIO("The DT B-NP\\ncat NN I-NP\\n\\nStop VB B-VP\\n")
    >>> X, y = load_conll(file, columns=["word", "pos", "tag"], scheme="bio")
    >>> X
    [[{'word': 'The', 'pos': 'DT'}, {'word': 'cat', 'pos': 'NN'}], [{'word': 'Stop', 'pos': 'VB'}]]
    >>> y
    [['B-NP', 'I-NP'], ['B-VP']]
    """
    if scheme is not None:
        check_scheme(scheme)
        if tags is None:
            raise ValueError(f"scheme={scheme!r} is checked for tags, but tags is None")
    parts = isinstance(separator, str) and separator and {"\n", "\r"}.isdisjoint(separator)
    if separator is not None and not parts:
        raise ValueError(f"separator must be a string without line breaks, got {separator!r}")
    file, lines = _read_lines(path, encoding)
    names = _columns_in_file(file, lines) if columns is None else _check_columns(columns)
    known = (line for line in lines if not _is_between(line))
    known = (line for line in known if not _is_comment(line, comments, False))
    first = next(known, None) or next((line for line in lines if "\t" in line), "")
    if separator is None:
        separator = "\t" if "\t" in first else " "
    names = names or [str(k) for k in range(len(_split(first, separator)) if first else 0)]
    k = None if tags is None or not names else _tag_column(tags, names, f"{file}: ")
    if k is not None and len(names) == 1:
        raise ValueError(f"{file} has one column, that of the tags; tags=None reads it as tokens")
    attributes = [name for i, name in enumerate(names) if i != k]
    X, y, numbers, begins = [], [], [], True
    # One object for equal values: of some hundred thousand tokens few are different.
    interned = {}.setdefault
    for number, line in enumerate(lines, 1):
        if _is_between(line):
            begins = True
            continue
        values = _split(line, separator)
        whole = len(values) == len(names)
        if begins and _is_comment(line, comments, whole):
            continue
        if whole and names[0] == "ID" and _NO_TOKEN.fullmatch(values[0]):
            continue
        if not whole:
            found = f"{len(values)} column" + "s" * (len(values) > 1)
            told = f"{found}, expected {len(names)}: {', '.join(names)}"
            raise ValueError(f"{file}, line {number}: {told}: {line!r:.100}")
        if begins:
            X.append([])
            y.append([])
            begins = False
        if k is not None:
            y[-1].append(values.pop(k))
        X[-1].append(dict(zip(attributes, map(interned, values, values), strict=True)))
        numbers.append(number)
    if not X:
        raise ValueError(f"{file} holds no tokens")
    if scheme is not None:
        flat, offsets = string_array([*chain.from_iterable(y)]), make_offsets([*map(len, y)])
        parse_tags(flat, scheme, lambda t: f"{file}, line {numbers[t]}: the tag", offsets)
    return X, None if k is None else y


def _is_between(line):
    """Return whether a line parts sentences."""
    return not line.strip(" \t") or line.startswith(_DOCUMENT)


def _is_comment(line, comments, whole):
    """Return whether a line, which has the columns of a token or not, is a comment."""
    if line[0] != "#":
        return False
    if comments is None:
        comments = not whole or _PAIR.match(line)
    return comments or _HEADER.fullmatch(line)


def _split(line, separator):
    """Return the columns of a line."""
    if separator != " ":
        return line.rstrip(" ").split(separator)
    values = line.replace("\t", " ").split(" ")
    return [*filter(None, values)] if "" in values else values


def _check_columns(columns, place=""):
    """Return the names of columns as a list."""
    listed = np.iterable(columns) and not isinstance(columns, (str, bytes, Mapping))
    names = [*CONLLU] if isinstance(columns, str) and columns == "conllu" else listed and [*columns]
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{place}columns must be a list of names or 'conllu', got {columns!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"{place}columns must have different names, got {names}")
    return names


def _columns_in_file(file, lines):
    """Return the names in a comment before the first token or by the file's name, or None."""
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            break
        if match := _HEADER.fullmatch(line):
            return _check_columns(match[1].split(), f"{file}, line {number}: ")
    path = Path(file)
    stem = path.stem if path.suffix in _OPENERS else path.name
    return [*CONLLU] if stem.endswith(".conllu") else None


def _tag_column(tags, names, place=""):
    """Return the number of the column of the tags."""
    if isinstance(tags, str) and tags in names:
        return names.index(tags)
    whole = isinstance(tags, Integral) and not isinstance(tags, bool)
    if not whole or not -len(names) <= tags < len(names):
        raise ValueError(f"{place}no column is tags={tags!r}; the columns are {', '.join(names)}")
    return int(tags) % len(names)


def _read_lines(path, encoding):
    """Return what a file is called and its lines."""
    if hasattr(path, "read"):
        file, data = str(getattr(path, "name", "the file")), path.read()
    else:
        with _OPENERS.get(Path(path).suffix, open)(path, "rb") as opened:
            file, data = str(path), opened.read()
    text = data if isinstance(data, str) else data.decode(encoding)
    # str.splitlines takes a dozen other characters for ends of lines.
    text = text.removeprefix(_BYTE_ORDER).replace("\r\n", "\n").replace("\r", "\n")
    return file, text.split("\n")
