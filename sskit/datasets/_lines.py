"""Files of lines with a token each: what they look like, and how they are opened."""

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

import numpy as np

CONLLU = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
MARK = "\ufeff"
_DOCUMENT = "-DOCSTART-"
_HEADER = re.compile(r"# *global\.columns *= *(.*)")
# As in "# newdoc id = 17", which may have as many columns as a token.
_PAIR = re.compile(r"# *\S+(?: \S+)? *= ")
# Of CoNLL-U: tokens that were several words, "3-4", and words that are not in the text, "5.1".
_NO_TOKEN = re.compile(r"\d+[-.]\d+")


class LineForm:
    """What lines look like.

    Parameters
    ----------
    separator : str
        What parts columns; " " is any number of spaces and tabs.
    n_columns : int
        How many there are.
    has_ids : bool
        Whether the first is that of CoNLL-U.
    comments : bool or None
        As for `load_conll`; lines in doubt are tokens here.
    """

    def __init__(self, separator, n_columns, has_ids, comments):
        self.separator = separator
        self.n_columns = n_columns
        self.has_ids = has_ids
        self.comments = comments

    def split(self, line):
        """Return the columns of a line."""
        if self.separator != " ":
            return line.rstrip(" ").split(self.separator)
        values = line.replace("\t", " ").split(" ")
        return [*filter(None, values)] if "" in values else values

    def read(self, line, begins):
        """Return the columns of a token, how many there are; [] of what ends a sentence; or None.

        None is for lines to be passed over. `begins` tells whether a token would be the first one.
        """
        if not line.strip(" \t") or line.startswith(_DOCUMENT):
            return []
        values = self.split(line)
        if begins and line[0] == "#" and self._is_comment(line, values):
            return None
        if self.has_ids and len(values) == self.n_columns and _NO_TOKEN.fullmatch(values[0]):
            return None
        return values

    def _is_comment(self, line, values):
        """Tell whether a line that begins with the mark of comments is one."""
        if _HEADER.fullmatch(line):
            return True
        if self.comments is not None:
            return self.comments
        return len(values) != self.n_columns or _PAIR.match(line)

    def is_doubtful(self, line):
        """Tell whether a line that was taken for the first token of a sentence may be a comment."""
        blanks = self.separator == " " or self.n_columns == 1
        return self.comments is None and line[0] == "#" and blanks


def form_of(file, lines, names, separator, comments):
    """Return the form of the lines of a file, and in words how many columns are expected.

    The first line that is a token, whatever the rest, shows it.
    """
    marked = None
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t") or line.startswith(_DOCUMENT):
            continue
        if line[0] != "#" or comments is False and not _HEADER.fullmatch(line):
            break
        # Where no line is free of the mark one with a tab is no comment.
        if marked is None or "\t" in line and "\t" not in marked[1]:
            marked = number, line
    else:
        if marked is None or names is None and "\t" not in marked[1]:
            raise ValueError(f"{file} holds no tokens")
        number, line = marked
    if separator is None:
        separator = "\t" if "\t" in line else " "
    form = LineForm(separator, 0 if names is None else len(names), False, comments)
    if names is None:
        form.n_columns = len(form.split(line))
        return form, f"{form.n_columns} as in line {number}"
    return form, f"{len(names)}: {', '.join(names)}"


def read_sentences(file, lines, form, expected):
    """Yield the tokens of each sentence, lists of columns, and the numbers of their lines."""
    tokens, numbers = [], []
    for number, line in enumerate([*lines, ""], 1):
        values = form.split(line)
        # No need to look closer at most tokens.
        if line[:1] in "#- \t" or form.has_ids or len(values) != form.n_columns:
            values = form.read(line, not tokens)
            if values is None:
                continue
            if not values:
                if tokens:
                    yield tokens, numbers
                    tokens, numbers = [], []
                continue
        if len(values) != form.n_columns:
            found = f"{len(values)} column" + "s" * (len(values) > 1)
            raise ValueError(f"{file}, line {number}: {found}, expected {expected}: {line!r:.100}")
        if not tokens and form.is_doubtful(line):
            raise ValueError(
                f"{file}, line {number} may be a comment or a token: {line!r:.100}. comments=True "
                "takes all lines that begin so before a sentence for comments, comments=False none"
            )
        tokens.append(values)
        numbers.append(number)


def check_columns(columns):
    """Return the names of columns as a list."""
    if isinstance(columns, str) and columns == "conllu":
        return [*CONLLU]
    if isinstance(columns, (str, bytes, Mapping)) or not np.iterable(columns):
        raise TypeError(f"columns must be a list of names, 'conllu' or None, got {columns!r}")
    names = [*columns]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"columns must be strings, got {name!r}")
    if not names:
        raise ValueError("columns must hold one name or more")
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"columns must differ, but {name!r} is there twice")
    return names


def columns_in_file(file, lines):
    """Return the names that a comment before the first token or the file's name tells, or None."""
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            break
        if match := _HEADER.fullmatch(line):
            try:
                return check_columns(match[1].split())
            except ValueError as error:
                raise ValueError(f"{file}, line {number}: {error}") from None
    path = Path(file)
    stem = path.stem if path.suffix in _OPENERS else path.name
    return [*CONLLU] if stem.endswith(".conllu") else None


def _open(path, mode):
    """Open a file by its name, with what its ending tells."""
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"path must be a path or an open file, got {type(path).__name__}")
    return _OPENERS.get(Path(path).suffix, open)(path, mode)


def read_lines(path, encoding):
    """Return what a file is called and its lines."""
    if hasattr(path, "read"):
        file, data = str(getattr(path, "name", "the file")), path.read()
    else:
        with _open(path, "rb") as opened:
            file, data = fspath(path), opened.read()
    if not isinstance(data, str):
        try:
            data = data.decode(encoding)
        except UnicodeDecodeError as error:
            number = 1 + data.count(b"\n", 0, error.start)
            raise ValueError(
                f"{file}, line {number}: the byte {data[error.start]:#x} is not {encoding}; "
                "encoding= names another"
            ) from None
    # str.splitlines takes a dozen other characters for ends of lines.
    return file, data.removeprefix(MARK).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def write_lines(path, lines, encoding):
    """Write lines to a file."""
    text = "\n".join([*lines, ""])
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        line = lines[text.count("\n", 0, error.start)]
        raise ValueError(f"the line {line!r:.100} cannot be written as {encoding}") from None
    if isinstance(path, io.TextIOBase):
        path.write(text)
    elif hasattr(path, "write"):
        path.write(data)
    else:
        with _open(path, "wb") as opened:
            opened.write(data)
