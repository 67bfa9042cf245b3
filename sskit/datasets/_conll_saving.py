"""CoNLL files with other tags."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from sskit._types import Samples, StrPath
from sskit.datasets._conll_file import BYTE_ORDER, OPENERS, Kind, TokenFile, decoded, read_bytes

_ENDS = re.compile("\r\n|\r|\n")


def save_conll(
    path: StrPath,
    y: Samples,
    *,
    source: StrPath,
    columns: Sequence[str] | None = None,
    tags: str | int | None = "auto",
    separator: str | None = None,
    comments: bool | None = None,
    encoding: str = "utf-8",
) -> None:
    """Write a file with one token per line as it was, with other tags.

    Comments, marks of documents, empty lines, ranges and empty nodes of CoNLL-U, separators and
    ends of lines are those of `source`, byte for byte. `columns`, `tags`, `separator`, `comments`
    and `encoding` are as given to `load_conll` for the same file.

    Parameters
    ----------
    path : str or path-like
        The name of the file to write, which may be `source`. Files whose names end with ".gz",
        ".bz2" or ".xz" are compressed.
    y : sequence of n sequences (T_i,) of str
        The tags of the sentences in the order of `load_conll`, such as what ``predict`` returns.
    source : str or path-like
        The name of the file that was read.
    columns : sequence of str, "conllu" or None, default=None
        Names of the columns.
    tags : str, int or None, default="auto"
        The column that is replaced. None adds the tags as a further, last column, as conlleval
        takes them; marks of documents that have columns repeat their last value there, and what
        else is no token but has columns gets "_".
    separator : str or None, default=None
        Separator of columns.
    comments : bool or None, default=None
        Whether lines that may be comments are comments.
    encoding : str, default="utf-8"
        The encoding of the file, and of the one that is written.

    Raises
    ------
    TypeError
        If a parameter or a tag is of a wrong type.
    ValueError
        If `y` has not one tag per token, a tag is empty or cannot be written, or a column is to be
        added to a file that names its columns; else as `load_conll`.

    See Also
    --------
    load_conll : Read such a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sskit.datasets import save_conll
    >>> with TemporaryDirectory() as folder:
    ...     source, path = Path(folder, "test.txt"), Path(folder, "found.txt")
    ...     _ = source.write_text("# one\\nThe  DT O\\ncat  NN O\\n\\nStop VB O\\n")
    ...     save_conll(path, [["B-NP", "I-NP"], ["O"]], source=source)
    ...     print(path.read_text())
    # one
    The  DT B-NP
    cat  NN I-NP
    <BLANKLINE>
    Stop VB O
    <BLANKLINE>
    """
    for name, value in {"path": path, "source": source}.items():
        if not isinstance(value, (str, PathLike)):
            raise TypeError(f"{name} must be the name of one file, got {value!r:.100}")
    data, name = read_bytes(source), str(source)
    codec = _exact_codec(data, encoding)
    text = decoded(name, data, codec)
    file = TokenFile(name, text, columns, tags, separator, comments)
    if tags is None and file.names_columns:
        raise ValueError(
            f"{name} names its columns, so that none can be added; tags= takes one of "
            f"{', '.join(file.names)}"
        )
    written = _with_tags(file, y, codec)
    ends = [*_ENDS.findall(text), ""]
    begin = BYTE_ORDER * text.startswith(BYTE_ORDER)
    data = begin + "".join(part for pair in zip(written, ends, strict=True) for part in pair)
    with OPENERS.get(Path(path).suffix, open)(path, "wb") as opened:
        opened.write(data.encode(codec))


def _with_tags(file, y, codec):
    """Return the lines of a file with other tags."""
    sentences, others = [], []
    for number, kind, values in file.read():
        if kind is Kind.FIRST:
            sentences.append([])
        if kind in (Kind.FIRST, Kind.TOKEN):
            sentences[-1].append(number)
        elif kind is Kind.NO_TOKEN:
            others.append((number, "_"))
        elif kind is Kind.DOCUMENT:
            values = file.split(file.lines[number - 1])
            if len(values) == len(file.names) > 1:
                others.append((number, values[-1]))
    if len(y) != len(sentences):
        raise ValueError(f"{file.name} has {len(sentences)} sentences, but y has {len(y)}")
    lines, sound = [*file.lines], set()
    for i, (numbers, labels) in enumerate(zip(sentences, y, strict=True)):
        if isinstance(labels, str):
            raise TypeError(f"y[{i}] must be a sequence of tags, got {labels!r:.100}")
        if len(numbers) != len(labels):
            raise ValueError(
                f"{file.place(numbers[0])}: the sentence has {len(numbers)} tokens, but y[{i}] has "
                f"{len(labels)} tags"
            )
        for t, (number, label) in enumerate(zip(numbers, labels, strict=True)):
            if not isinstance(label, str) or label not in sound:
                _check_tag(label, f"y[{i}][{t}]", file, codec)
                sound.add(label)
            lines[number - 1] = _with_tag(file, lines[number - 1], label)
    for number, label in others if file.k is None else ():
        lines[number - 1] = _with_tag(file, lines[number - 1], label)
    return lines


def _with_tag(file, line, tag):
    """Return a line with a tag, in its column or a further one."""
    if file.k is not None:
        start, stop = file.span(line, file.k)
        return line[:start] + tag + line[stop:]
    last = len(file.names) - 1
    start, stop = file.span(line, last)
    separator = file.separator
    if separator == " " and last > 0:
        separator = line[file.span(line, last - 1)[1] : start]
    return line[:stop] + separator + tag + line[stop:]


def _check_tag(tag, name, file, codec):
    """Raise an error unless what is read of a written tag is that tag."""
    if not isinstance(tag, str):
        raise TypeError(f"{name} is {tag!r:.100}, but tags must be strings")
    if not tag or _ENDS.search(tag) or file.split("x" + file.separator + tag) != ["x", tag]:
        raise ValueError(
            f"{name} is {tag!r:.100}, which is no column of {file.name}: tags must not be empty, "
            f"nor have line breaks or the separator {file.separator!r}"
        )
    try:
        tag.encode(codec)
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {tag!r:.100}, which the encoding {codec} lacks") from None


def _exact_codec(data, encoding):
    """Return an encoding for which the mark of the order of bytes is a character like others."""
    name = codecs.lookup(encoding).name
    if name in ("utf-16", "utf-32"):
        mark = getattr(codecs, f"BOM_{name.replace('-', '').upper()}_BE")
        return f"{name}-{'be' if data.startswith(mark) else 'le'}"
    return "utf-8" if name == "utf-8-sig" else name
