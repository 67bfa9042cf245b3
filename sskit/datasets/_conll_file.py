"""The lines of a file with one token per line, and what each of them is."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Mapping
from enum import Enum, auto
from numbers import Integral
from os import PathLike
from pathlib import Path

import numpy as np

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BYTE_ORDER = "\ufeff"
_DOCUMENT = "-DOCSTART-"
_HEADER = re.compile(r"# *global\.columns *= *(.*)")
# Such as "# newdoc id = 17" or "#end document", which may have as many columns as a token.
_PAIR = re.compile(r"# *\S+(?: \S+)? *= |#(?:begin|end) document\b")
_NO_BLANKS = re.compile(r"[^ \t]+")
# Of CoNLL-U: tokens that were several words, "3-4", and words that are not in the text, "5.1".
_NO_TOKEN = re.compile(r"\d+[-.]\d+")


class Kind(Enum):
    """What a line is."""

    EMPTY = auto()
    DOCUMENT = auto()
    COMMENT = auto()
    NO_TOKEN = auto()
    FIRST = auto()  # the first token of a sentence
    TOKEN = auto()  # one of the others


class TokenFile:
    """A file with one token per line.

    Parameters
    ----------
    name : str
        What errors call it.
    text : str
        What it holds.
    columns, tags, separator, comments : object
        As those of `load_conll`.

    Attributes
    ----------
    name : str
        The name.
    lines : list of str
        Its lines, without what ends them.
    names : list of str
        Names of the columns; empty if there are no tokens.
    names_columns : bool
        Whether the names are those of the file, not of a parameter, nor numbers.
    k : int or None
        The number of the column of the tags; None without any.
    finds_tags : bool
        Whether that column was found, not given by the user.
    separator : str
        The separator of columns.
    """

    def __init__(self, name, text, columns, tags, separator, comments):
        if separator is not None and not _is_separator(separator):
            raise ValueError(f"separator must be a string without line breaks, got {separator!r}")
        self.name, self.lines = name, _lines(text.removeprefix(BYTE_ORDER))
        self._comments = comments
        named = self._columns() if columns is None else _check_columns(columns)
        first = self._first_token()
        self.separator = separator or ("\t" if "\t" in first else " ")
        if named is None and self._is_conllu():
            named = [*CONLLU]
        self.names_columns = named is not None and columns is None
        names = named or [str(k) for k in range(len(self.split(first)) if first else 0)]
        self.names, self.k = names, None
        # Where blanks separate the columns, a line with tabs is no token: "# id 17<tab>domain=en".
        self._tabs_are_of_comments = self.separator == " " and "\t" not in first
        # The last column of CoNLL-U, MISC, has notes such as "SpaceAfter=No" and no tags.
        self.finds_tags = isinstance(tags, str) and tags == "auto"
        if self.finds_tags:
            tags = "UPOS" if names[-1:] == ["MISC"] and "UPOS" in names else -1
        if tags is not None and names:
            self.k = _tag_column(tags, names, f"{self.name}: ")
            if len(names) == 1:
                raise ValueError(
                    f"{self.name} has one column, that of the tags: a line is a token and its tag; "
                    "tags=None reads tokens alone"
                )

    def read(self):
        """Yield what each line is, and the values of its columns.

        Yields
        ------
        number : int
            The number of the line, from 1.
        kind : Kind
            What it is.
        values : list of str or None
            The columns of a token, and of what has columns but is no token.
        """
        begins = True
        for number, line in enumerate(self.lines, 1):
            if kind := _kind_of_separator(line):
                begins = True
                yield number, kind, None
                continue
            values = self.split(line)
            whole = len(values) == len(self.names)
            if begins and self._is_comment(line, whole):
                yield number, Kind.COMMENT, None
            elif whole and self.names[0] == "ID" and _NO_TOKEN.fullmatch(values[0]):
                yield number, Kind.NO_TOKEN, values
            elif whole:
                yield number, Kind.FIRST if begins else Kind.TOKEN, values
                begins = False
            else:
                columns = f"{len(values)} column" + "s" * (len(values) > 1)
                message = f"{columns}, expected {len(self.names)}: {', '.join(self.names)}"
                raise ValueError(f"{self.place(number)}: {message}: {line!r:.100}")

    def place(self, number):
        """Return what errors call a line."""
        return f"{self.name}, line {number}"

    def split(self, line):
        """Return the columns of a line."""
        if self.separator != " ":
            return line.rstrip(" ").split(self.separator)
        values = line.replace("\t", " ").split(" ")
        return [*filter(None, values)] if "" in values else values

    def span(self, line, k):
        """Return where a column of a line begins and ends."""
        if self.separator == " ":
            return [match.span() for match in _NO_BLANKS.finditer(line)][k]
        values = self.split(line)
        start = len(self.separator.join([*values[:k], ""]))
        return start, start + len(values[k])

    def _is_comment(self, line, whole):
        """Return whether a line, which has the columns of a token or not, is a comment."""
        if line[0] != "#":
            return False
        comments = self._comments
        if comments is None:
            strange = whole and self._tabs_are_of_comments and "\t" in line
            comments = not whole or strange or _PAIR.match(line)
        return comments or _HEADER.fullmatch(line)

    def _first_token(self):
        """Return the line that shows the separator of columns, or an empty one."""
        tokens = (line for line in self.lines if not _kind_of_separator(line))
        first = next((line for line in tokens if not self._is_comment(line, False)), None)
        return first or next((line for line in self.lines if "\t" in line), "")

    def _columns(self):
        """Return the names in a comment before the first token or by the file's name, or None."""
        for number, line in enumerate(self.lines, 1):
            if not line.startswith("#"):
                break
            if match := _HEADER.fullmatch(line):
                return _check_columns(match[1].split(), f"{self.place(number)}: ")
        path = Path(self.name)
        stem = path.stem if path.suffix in OPENERS else path.name
        return [*CONLLU] if stem.endswith(".conllu") else None

    def _is_conllu(self):
        """Return whether the first sentence has the ten columns of CoNLL-U: 1, 2, 3, ... first."""
        rows = []
        for line in self.lines:
            if _kind_of_separator(line) and rows:
                break
            if not _kind_of_separator(line) and not line.startswith("#"):
                rows.append(self.split(line))
        if self.separator != "\t" or not rows or any(len(row) != len(CONLLU) for row in rows):
            return False
        rows = [row for row in rows if not _NO_TOKEN.fullmatch(row[0])]
        heads = {row[CONLLU.index("HEAD")] for row in rows} - {"_"}
        in_order = [row[0] for row in rows] == [str(t + 1) for t in range(len(rows))]
        return in_order and all(head.isdecimal() for head in heads)


def list_files(path):
    """Return the names or open files that are one, or a list of these."""

    def is_file(item):
        return hasattr(item, "read") or isinstance(item, (str, PathLike))

    if is_file(path):
        return [path]
    files = [*path] if np.iterable(path) and not isinstance(path, bytes) else [path]
    if not all(map(is_file, files)):
        raise TypeError(f"path must be a name, an open file or a list of these, got {path!r:.100}")
    if not files:
        raise ValueError("path is an empty list of files")
    return files


def read_text(source, encoding):
    """Return what a file is called and its text."""
    if not hasattr(source, "read"):
        return str(source), decoded(str(source), read_bytes(source), encoding)
    name = str(getattr(source, "name", "the file"))
    try:
        data = source.read()
    except UnicodeDecodeError as error:
        raise _wrong_encoding(name, error) from None
    return name, decoded(name, data, encoding)


def decoded(name, data, encoding):
    """Return the text of bytes, or text; ValueError where it is in another encoding."""
    try:
        text = data if isinstance(data, str) else data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _wrong_encoding(name, error) from None
    if "\0" in text:
        number = len(_lines(text[: text.index("\0")]))
        raise ValueError(
            f"{name}, line {number}: a null character, as where UTF-16 is read in another "
            "encoding; name that of the file, such as encoding='utf-16'"
        )
    return text


def read_bytes(path):
    """Return the bytes of a file, decompressed."""
    with OPENERS.get(Path(path).suffix, open)(path, "rb") as opened:
        try:
            return opened.read()
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"{path} cannot be decompressed: {error}") from error


def _wrong_encoding(name, error):
    """Return an error that names the file and the line."""
    # that of a text file has all bytes too, and the name of its encoding
    number = len(_lines(error.object[: error.start].decode(error.encoding, "replace")))
    return ValueError(
        f"{name}, line {number}: byte {error.object[error.start]:#04x} is not of the encoding "
        f"{error.encoding}; name that of the file, such as encoding='latin-1'"
    )


def _is_separator(separator):
    """Return whether a value can be the separator of columns."""
    return isinstance(separator, str) and separator and {"\n", "\r"}.isdisjoint(separator)


def _lines(text):
    """Return the lines of a text."""
    # str.splitlines takes a dozen other characters for ends of lines.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _kind_of_separator(line):
    """Return the kind of a line that separates sentences, or None."""
    if not line.strip(" \t"):
        return Kind.EMPTY
    return Kind.DOCUMENT if line.startswith(_DOCUMENT) else None


def _check_columns(columns, place=""):
    """Return the names of columns as a list."""
    listed = np.iterable(columns) and not isinstance(columns, (str, bytes, Mapping))
    names = [*CONLLU] if isinstance(columns, str) and columns == "conllu" else listed and [*columns]
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{place}columns must be a list of names or 'conllu', got {columns!r}")
    if len(set(names)) < len(names):
        raise ValueError(f"{place}columns must have different names, got {names}")
    return names


def _tag_column(tags, names, place=""):
    """Return the number of the column of the tags."""
    if isinstance(tags, str) and tags in names:
        return names.index(tags)
    whole = isinstance(tags, Integral) and not isinstance(tags, bool)
    if not whole or not -len(names) <= tags < len(names):
        raise ValueError(f"{place}no column is tags={tags!r}; the columns are {', '.join(names)}")
    return int(tags) % len(names)
