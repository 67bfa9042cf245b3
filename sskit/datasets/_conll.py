"""CoNLL files: a token a line and an empty line between sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import IO, Any, TypeAlias, overload

import numpy as np

from sskit._labels import string_array
from sskit._tag_schemes import check_scheme, parse_tags
from sskit._types import Scheme, StrPath
from sskit.datasets._conll_file import Kind, TokenFile, list_files, read_text
from sskit.datasets._conll_groups import SentenceGroups
from sskit.inputs.ragged_array import make_offsets

# The name of a file or an open one, or several.
Source: TypeAlias = "StrPath | IO[Any] | Iterable[StrPath | IO[Any]]"
Tokens: TypeAlias = "list[list[dict[str, str]]]"


@overload
def load_conll(
    path: Source,
    *,
    columns: Sequence[str] | None = None,
    tags: str | int = "auto",
    separator: str | None = None,
    comments: bool | None = None,
    scheme: Scheme | None = None,
    encoding: str = "utf-8",
    groups: None = None,
) -> tuple[Tokens, list[list[str]]]: ...


@overload
def load_conll(
    path: Source,
    *,
    columns: Sequence[str] | None = None,
    tags: str | int = "auto",
    separator: str | None = None,
    comments: bool | None = None,
    scheme: Scheme | None = None,
    encoding: str = "utf-8",
    groups: str,
) -> tuple[Tokens, list[list[str]], np.ndarray]: ...


@overload
def load_conll(
    path: Source,
    *,
    columns: Sequence[str] | None = None,
    tags: None,
    separator: str | None = None,
    comments: bool | None = None,
    scheme: Scheme | None = None,
    encoding: str = "utf-8",
    groups: str | None = None,
) -> tuple[Any, ...]: ...


def load_conll(
    path: Source,
    *,
    columns: Sequence[str] | None = None,
    tags: str | int | None = "auto",
    separator: str | None = None,
    comments: bool | None = None,
    scheme: Scheme | None = None,
    encoding: str = "utf-8",
    groups: str | None = None,
) -> tuple[Any, ...]:
    """Read sentences from a file with one token per line, such as those of the CoNLL shared tasks.

    A line has the columns of a token; empty lines separate sentences. The following are not
    tokens:

    - lines that begin with "-DOCSTART-";
    - comments: lines before the first token of a sentence that begin with "#". A sentence may begin
      with "#" too, and then the line has as many columns as tokens have, with the separator of the
      first line of a token; where blanks part columns so may a comment, for which `comments`
      decides;
    - where the first column is called "ID", as in CoNLL-U: ranges ("3-4") and empty nodes ("5.1").

    Lines end with a line feed, a carriage return or both, and nothing else; a byte order mark is
    ignored.

    Parameters
    ----------
    path : str, path-like or file, or a list of these
        The name of the file, or an open file of text or bytes. Files whose names end with ".gz",
        ".bz2" or ".xz" are compressed. The sentences of several files, whose columns have equal
        names, follow each other.
    columns : sequence of str, "conllu" or None, default=None
        Names of the columns. "conllu" means the ten of CoNLL-U, ID to MISC. None takes them from
        the comment "# global.columns = ..."; without it they are those of CoNLL-U if the name of
        the file ends with ".conllu", or lines have ten columns, separated by tabs, of which the
        first one counts the tokens of a sentence and the seventh has numbers or "_"; otherwise
        "0", "1", ...
    tags : str, int or None, default="auto"
        The column of the tags, its name or its number; -1 is the last one. None means that there is
        none. "auto" is the last one, but "UPOS" if that is "MISC", as in CoNLL-U.
    separator : str or None, default=None
        Separator of columns; " " is any number of spaces and tabs. None is a tab if the first
        token has one, else " ".
    comments : bool or None, default=None
        Whether lines that may be comments are comments, besides "# global.columns = ...". None
        treats lines without the columns of a token, lines with a tab where the first token has
        none, and lines such as "# name = value", as comments.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"} or None, default=None
        The scheme of the tags, see `sskit.metrics.convert_tags`; None for any tags.
    encoding : str, default="utf-8"
        The encoding of the file, unless it is an open one of text.
    groups : str or None, default=None
        What of the sentences is returned as their groups, as cross-validation takes them.
        "document" is the number of the document, from 0: documents begin with "-DOCSTART-",
        "# newdoc" or "#begin document", and with each file. Any other string is the name of a
        comment before each sentence, such as "sent_id" for "# sent_id = s17", or "id" and "domain"
        for "# id s17" and "domain=en" after a tab; those whose names begin with "newdoc" or
        "newpar" are of all sentences until the next one. None returns no groups.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The tokens of every sentence: strings by the names of their columns, without that of the
        tags.
    y : list of n lists (T_i,) of str, or None
        The tags; None without any.
    groups : ndarray of shape (n,), int or str
        The groups; only if requested.

    Raises
    ------
    TypeError
        If a parameter is of a wrong type.
    ValueError
        If there are no tokens, a line has another number of columns than the others, there is no
        such column of tags, or no other column, a tag is empty or breaks the scheme, or bytes are
        not in the encoding; the error names the file and the line. Or if ``tags="auto"`` finds "_",
        no value, in all lines of the column "UPOS", or a sentence has no comment `groups`.

    See Also
    --------
    save_conll : Write a file with other tags.
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
    reader = None if groups is None else SentenceGroups(groups)
    X, y, before = [], [], None
    # One object for equal values: of some hundred thousand tokens few are different.
    interned = {}.setdefault
    for source in list_files(path):
        file = TokenFile(*read_text(source, encoding), columns, tags, separator, comments)
        tokens, labels, numbers = _read_sentences(file, interned, reader)
        if before is not None and (file.names, file.k) != (before.names, before.k):
            raise ValueError(
                f"{file.name} has the columns {_described_columns(file)}, but {before.name} "
                f"{_described_columns(before)}"
            )
        if scheme is not None:
            _check_tags(labels, scheme, file, numbers)
        X += tokens
        y += labels
        before = file
    y = None if tags is None else y
    return (X, y) if reader is None else (X, y, reader.values())


def _read_sentences(file, interned, groups):
    """Return the tokens and tags of the sentences of a file, and the numbers of their lines."""
    attributes = [name for i, name in enumerate(file.names) if i != file.k]
    tokens, labels, numbers = [], [], []
    if groups is not None:
        groups.begin_file()
    for number, kind, values in file.read():
        if groups is not None:
            groups.add_line(kind, file, number)
        if kind is Kind.FIRST:
            tokens.append([])
            labels.append([])
        elif kind is not Kind.TOKEN:
            continue
        if file.k is not None:
            tag = values.pop(file.k)
            if not tag.strip(" "):
                raise ValueError(
                    f"{file.place(number)}: the tag, column {file.names[file.k]!r}, is empty: "
                    f"{file.lines[number - 1]!r:.100}; tags=None reads tokens without tags"
                )
            labels[-1].append(tag)
        tokens[-1].append(dict(zip(attributes, map(interned, values, values), strict=True)))
        numbers.append(number)
    if not tokens:
        raise ValueError(f"{file.name} holds no tokens")
    if file.finds_tags and file.names[file.k] == "UPOS" and {*chain(*labels)} == {"_"}:
        raise ValueError(
            f"{file.name} has no value in the column UPOS; tags= takes the name of another column "
            f"or None: {', '.join(file.names)}"
        )
    return tokens, labels, numbers


def _check_tags(labels, scheme, file, numbers):
    """Raise an error for the first tag that breaks a scheme."""
    flat, offsets = string_array([*chain.from_iterable(labels)]), make_offsets([*map(len, labels)])
    parse_tags(flat, scheme, lambda t: f"{file.place(numbers[t])}: the tag", offsets)


def _described_columns(file):
    """Return a description of the columns of a file for error messages."""
    named = ", ".join(file.names)
    return named if file.k is None else f"{named} with the tags in {file.names[file.k]}"
