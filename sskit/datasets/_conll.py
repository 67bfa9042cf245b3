"""Files with a token a line and an empty line between sentences."""

from collections.abc import Mapping
from itertools import chain
from numbers import Integral

import numpy as np

from sskit._labels import string_array
from sskit._tag_schemes import check_scheme, parse_tags, refuse_violations
from sskit.datasets._lines import (
    CONLLU,
    MARK,
    LineForm,
    check_columns,
    columns_in_file,
    form_of,
    read_lines,
    read_sentences,
    write_lines,
)
from sskit.inputs.ragged import stack_labels
from sskit.inputs.ragged_array import make_offsets


def load_conll(
    path, *, columns=None, tags=-1, separator=None, comments=None, scheme=None, encoding="utf-8"
):
    """Read sentences from a file with a token a line, as of the CoNLL shared tasks.

    A line holds the columns of a token; empty lines part sentences. No tokens are

    - lines that begin with "-DOCSTART-";
    - comments: lines before the first token of a sentence that begin with "#". A sentence may begin
      with "#" too, and then the line has as many columns as tokens have; but with blanks between
      columns so may a comment, for which `comments` decides;
    - where the first column is called "ID", as in CoNLL-U: ranges ("3-4") and empty nodes ("5.1").

    Lines end with a line feed, a carriage return or both, and nothing else; a byte order mark is
    left out.

    Parameters
    ----------
    path : str, path-like or file
        The file, or one that is open, for text or bytes. Files whose names end with ".gz", ".bz2"
        or ".xz" are compressed.
    columns : sequence of str, "conllu" or None, default=None
        Names of the columns. "conllu" stands for the ten of CoNLL-U, ID to MISC. None takes them
        from the comment "# global.columns = ..."; without it they are those of CoNLL-U where the
        name of the file ends with ".conllu", else "0", "1", ...
    tags : str, int or None, default=-1
        The column of the tags, its name or its number; -1 is the last one. None means that there is
        none.
    separator : str or None, default=None
        What parts columns; " " is any number of spaces and tabs. None is a tab if the first token
        has one, else " ".
    comments : bool or None, default=None
        Whether there are comments besides "# global.columns = ...". None takes for comments lines
        without the columns of a token, and such as "# name = value", and asks for a decision where
        a line may be either.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"} or None, default=None
        The scheme that the tags must keep to, see `sskit.metrics.convert_tags`; None for any tags.
    encoding : str, default="utf-8"
        The encoding of the file.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The tokens of every sentence: strings by the names of their columns, but for that of the
        tags.
    y : list of n lists (T_i,) of str, or None
        The tags; None without any.

    Raises
    ------
    TypeError
        If a parameter is of a wrong type.
    ValueError
        If there are no tokens, a line has another number of columns than the others, there is no
        such column of tags, or none besides it, a tag breaks the scheme, or bytes are not of the
        encoding; names the file and the line.

    See Also
    --------
    save_conll : Write such a file.
    sequences_from_frame : Sequences of a data frame with a row a token.

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
    _check_separator(separator, optional=True)
    if comments is not None and not isinstance(comments, (bool, np.bool_)):
        raise TypeError(f"comments must be True, False or None, got {comments!r}")
    names = None if columns is None else check_columns(columns)
    file, lines = read_lines(path, encoding)
    if names is None:
        names = columns_in_file(file, lines)
    form, expected = form_of(file, lines, names, separator, comments)
    names = names or [str(k) for k in range(form.n_columns)]
    k = None if tags is None else _tag_column(tags, names, f"{file}: ")
    if k is not None and len(names) == 1:
        raise ValueError(f"{file} has one column, that of the tags; tags=None reads it as tokens")
    form.has_ids = names[0] == CONLLU[0]
    attributes = [name for i, name in enumerate(names) if i != k]
    X, y, numbers = [], [], []
    # One object for equal values: of some hundred thousand tokens few are different.
    share = {}.setdefault
    for tokens, lines_of_tokens in read_sentences(file, lines, form, expected):
        if k is not None:
            y.append([token.pop(k) for token in tokens])
        X.append([dict(zip(attributes, map(share, token, token), strict=True)) for token in tokens])
        numbers += lines_of_tokens
    if not X:
        raise ValueError(f"{file} holds no tokens")
    if scheme is not None:
        _check_tags(y, scheme, lambda t: f"{file}, line {numbers[t]}: the tag")
    return X, None if k is None else y


def save_conll(
    path, X, y=None, *, columns=None, tags=-1, separator="\t", header=False, encoding="utf-8"
):
    """Write sentences to a file with a token a line, as `load_conll` reads them.

    `load_conll` with the same `columns`, `tags` and `encoding` returns what was written, and so it
    does without the first two where the file has a header, but for tags that are not in the last
    column. Where blanks part columns and a sentence begins with "#" it asks for ``comments=False``.

    Parameters
    ----------
    path : str, path-like or file
        The file, which is written anew, or one that is open, for text or bytes. Files whose names
        end with ".gz", ".bz2" or ".xz" are compressed.
    X : sequence of n sequences (T_i,) of dict
        The tokens of every sentence, as strings by the names of columns.
    y : sequence of n sequences (T_i,) of str, or None, default=None
        The tags, given or predicted; None for none.
    columns : sequence of str, "conllu" or None, default=None
        The columns to write, in their order, that of the tags among them; tokens may have further
        attributes. None takes all attributes in the order of the first token, and puts the tags
        where `tags` says.
    tags : str or int, default=-1
        The column of `y`, its name or its number; -1 is the last one. Without `columns` a name
        stands for the last column.
    separator : str, default="\\t"
        What parts columns.
    header : bool, default=False
        Whether the first line is the comment "# global.columns = ..." of CoNLL-U Plus, with
        `columns`. Most other programs take it for a token.
    encoding : str, default="utf-8"
        The encoding of the file.

    Raises
    ------
    TypeError, ValueError
        If a parameter is of a wrong type, a token lacks a column or, without `columns`, has a
        further one, or a value is not a string or could not be read back: it has the separator or
        a line break in it, say. Names the token. Nothing has been written then.

    See Also
    --------
    load_conll : Read such a file.

    Examples
    --------
    >>> import sys
    >>> from sskit.datasets import save_conll
    >>> X = [[{"word": "The", "pos": "DT"}, {"word": "cat", "pos": "NN"}]]
    >>> save_conll(sys.stdout, X, [["B-NP", "I-NP"]], separator=" ")
    The DT B-NP
    cat NN I-NP
    <BLANKLINE>
    """
    _check_separator(separator)
    if not isinstance(header, (bool, np.bool_)):
        raise TypeError(f"header must be True or False, got {header!r}")
    sentences = _check_sentences(X)
    labels = None if y is None else _check_labels(y, sentences)
    names, attributes, k = _columns_of(sentences, columns, tags, labels is not None)
    if header:
        for name in names:
            if name.split() != [name]:
                raise ValueError(f"a header cannot name the column {name!r}, for its blanks")
    # A file of one column has no separator that could be seen.
    form = LineForm(separator if len(names) > 1 else " ", len(names), names[0] == CONLLU[0], None)
    lines = [f"# global.columns = {' '.join(names)}"] if header else []
    for i, tokens in enumerate(sentences):
        for t, token in enumerate(tokens):
            place = f"X[{i}][{t}]"
            values = _values_of(token, attributes, columns is None, place)
            if labels is not None:
                values.insert(k, labels[i][t])
            line = separator.join(values)
            if "\n" in line or "\r" in line or line[:1] == MARK or form.read(line, not t) != values:
                raise ValueError(
                    f"{place} could not be read back: its line would be {line!r:.100}. Values must "
                    "be free of the separator and of line breaks, in one column of blanks too, and "
                    "lines not empty nor such as are passed over"
                )
            lines.append(line)
        lines.append("")
    write_lines(path, lines, encoding)


def _check_tags(y, scheme, label):
    """Raise ValueError, by name, for a tag that breaks a scheme."""
    flat, offsets = string_array([*chain.from_iterable(y)]), make_offsets([*map(len, y)])
    prefix, kind, _ = parse_tags(flat, scheme, label)
    refuse_violations(prefix, kind, flat, offsets, scheme, label)


def _check_separator(separator, optional=False):
    """Raise unless something can part columns."""
    if optional and separator is None:
        return
    if not isinstance(separator, str):
        raise TypeError(f"separator must be a string, got {separator!r}")
    if separator == "" or "\n" in separator or "\r" in separator:
        raise ValueError(f"separator must not be empty or a line break, got {separator!r}")


def _tag_column(tags, names, place=""):
    """Return the number of the column of the tags."""
    told = f"the columns are {', '.join(names)}"
    if isinstance(tags, str):
        if tags not in names:
            raise ValueError(f"{place}no column is called tags={tags!r}; {told}")
        return names.index(tags)
    if isinstance(tags, (bool, np.bool_)) or not isinstance(tags, Integral):
        raise TypeError(f"tags must be the name or the number of a column, got {tags!r}")
    if not -len(names) <= tags < len(names):
        raise ValueError(f"{place}there is no column of number tags={tags}; {told}")
    return int(tags) % len(names)


def _check_sentences(X):
    """Return tokens as lists of dicts, sentence by sentence."""
    if isinstance(X, (str, bytes, Mapping)) or not np.iterable(X):
        raise TypeError(f"X must be a list of sentences of dicts, got {type(X).__name__}")
    sentences = []
    for i, tokens in enumerate(X):
        if isinstance(tokens, (str, bytes, Mapping)) or not np.iterable(tokens):
            raise TypeError(f"X[{i}] must be a list of dicts, got {type(tokens).__name__}")
        sentences.append([*tokens])
        for t, token in enumerate(sentences[i]):
            if not isinstance(token, Mapping):
                raise TypeError(f"X[{i}][{t}] must be a dict, got {type(token).__name__}")
        if not sentences[i]:
            raise ValueError(f"X[{i}] is empty: a sentence in a file has one token or more")
    if not sentences:
        raise ValueError("X holds no sentences")
    return sentences


def _check_labels(y, sentences):
    """Return tags as lists of strings, sentence by sentence."""
    lengths = [*map(len, sentences)]
    stack_labels(y, lengths)
    labels = [[*tags] for tags in y]
    for i, tags in enumerate(labels):
        for t, tag in enumerate(tags):
            if not isinstance(tag, str):
                raise TypeError(f"y[{i}][{t}] is {tag!r}, but files hold strings")
    return labels


def _columns_of(sentences, columns, tags, tagged):
    """Return the columns to write, those of tokens, and the number of that of the tags or None."""
    if columns is not None:
        names = check_columns(columns)
        k = _tag_column(tags, names) if tagged else None
    else:
        names = [*sentences[0][0]]
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"X[0][0] has the attribute {name!r}, but names are strings")
        k = None
        if tagged:
            last = tags if isinstance(tags, str) else "tag"
            k = _tag_column(tags, [*names, last])
            if last in names:
                raise ValueError(
                    f"X[0][0] has an attribute {last!r}, as the column of tags is called"
                )
            names.insert(k, last)
    attributes = names if k is None else names[:k] + names[k + 1 :]
    if not attributes:
        raise ValueError("tokens have no columns but that of the tags")
    return names, attributes, k


def _values_of(token, attributes, all_of_them, place):
    """Return what a token has in columns."""
    missing = [name for name in attributes if name not in token]
    if missing:
        raise ValueError(f"{place} has no {missing[0]!r}; the columns are {', '.join(attributes)}")
    if all_of_them and len(token) > len(attributes):
        further = next(name for name in token if name not in attributes)
        raise ValueError(f"{place} has a further attribute {further!r}; X[0][0] has none")
    values = [token[name] for name in attributes]
    for name, value in zip(attributes, values, strict=True):
        if not isinstance(value, str):
            raise TypeError(f"{place}[{name!r}] is {value!r:.100}, but files hold strings")
    return values
