"""Sequences of a pandas frame with a row a token, and back."""

from itertools import pairwise

import numpy as np

from sskit.inputs.ragged import stack_labels


def sequences_from_frame(frame, sequence, *, tags=None, columns=None):
    """Return the sequences of a data frame that has a row for every token.

    Parameters
    ----------
    frame : pandas.DataFrame
        The tokens, in order. Not modified.
    sequence : str or list of str
        The column that tells the sequence that a row belongs to, of any type; or several of them,
        as in ``["document", "sentence"]``. The rows of a sequence follow one another.
    tags : str or None, default=None
        The column of the tags, of any type; None means that there is none.
    columns : list of str or None, default=None
        The columns that become attributes of tokens; None takes all others.

    Returns
    -------
    X : list of n lists (T_i,) of dict
        The tokens of every sequence, in the order of the rows: values by the names of columns, of
        the types of Python. What is missing in the frame is not in the dict.
    y : list of n lists (T_i,), or None
        The tags; None without any.

    Raises
    ------
    TypeError
        If `frame` is no data frame, or a name of a wrong type.
    ValueError
        If there are no rows or no such columns, a sequence or a tag is missing, or a sequence goes
        on after another one; names the row.

    See Also
    --------
    column_from_sequences : Predictions as a column of the frame.
    load_conll : Sequences of a file.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from sskit.datasets import sequences_from_frame
    >>> frame = DataFrame(
    ...     {"sentence": [7, 7, 8], "word": ["The", "cat", "Stop"], "tag": ["B-NP", "I-NP", "B-VP"]}
    ... )
    >>> X, y = sequences_from_frame(frame, "sentence", tags="tag")
    >>> X
    [[{'word': 'The'}, {'word': 'cat'}], [{'word': 'Stop'}]]
    >>> y
    [['B-NP', 'I-NP'], ['B-VP']]
    """
    keys, offsets = _sequences(frame, sequence)
    if tags is not None:
        _check_names(frame, [tags], "tags")
        _check_present(frame, tags, "the tag is missing")
    if columns is None:
        columns = [name for name in frame.columns if name not in keys and name != tags]
    elif isinstance(columns, (str, bytes)) or not np.iterable(columns):
        raise TypeError(f"columns must be a list of names or None, got {columns!r}")
    columns = [*columns]
    if tags is not None and tags in columns:
        raise ValueError(f"columns are attributes of tokens, but {tags!r} is the column of tags")
    _check_names(frame, columns, "columns")
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"attributes of tokens have strings for names, not {name!r}: rename it")
    tokens = [{} for _ in range(len(frame))]
    for name in columns:
        values = frame[name]
        present = values.notna().to_numpy()
        for token, value, known in zip(tokens, values.tolist(), present.tolist(), strict=True):
            if known:
                token[name] = value
    X = _split(tokens, offsets)
    return X, None if tags is None else _split(frame[tags].tolist(), offsets)


def column_from_sequences(y, frame, sequence):
    """Return one label a token as a column of the data frame that the tokens come from.

    Parameters
    ----------
    y : sequence of n sequences (T_i,)
        Labels, as predicted for the `X` that `sequences_from_frame` returned.
    frame : pandas.DataFrame
        The tokens, in the same order. Not modified.
    sequence : str or list of str
        As for `sequences_from_frame`.

    Returns
    -------
    column : pandas.Series
        The labels, with the index of `frame`.

    Raises
    ------
    TypeError, ValueError
        As `sequences_from_frame`, or if `y` has not one label for each token; names the sequence,
        as one of `X`.

    See Also
    --------
    sequences_from_frame : Sequences of a data frame.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from sskit.datasets import column_from_sequences
    >>> frame = DataFrame({"sentence": [7, 7, 8], "word": ["The", "cat", "Stop"]}, index=[3, 4, 5])
    >>> column_from_sequences([[0, 1], [2]], frame, "sentence").to_dict()
    {3: 0, 4: 1, 5: 2}
    """
    from pandas import Series

    _, offsets = _sequences(frame, sequence)
    labels = stack_labels(y, np.diff(offsets))
    return Series(labels.tolist(), index=frame.index)


def _sequences(frame, sequence):
    """Return the columns that tell sequences, and where these begin, of a frame that is whole."""
    if not (type(frame).__module__.startswith("pandas") and hasattr(frame, "columns")):
        raise TypeError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    keys = sequence if isinstance(sequence, list) else [sequence]
    if not keys:
        raise ValueError("sequence must name a column or several")
    _check_names(frame, keys, "sequence")
    if len(frame) == 0:
        raise ValueError("frame has no rows")
    for name in keys:
        _check_present(
            frame,
            name,
            f"{name!r} does not tell its sequence; where it is told in first rows only, "
            "frame[column].ffill() fills the others",
        )
    told = [*zip(*(frame[name].tolist() for name in keys), strict=True)]
    begins = [row for row, key in enumerate(told) if row == 0 or key != told[row - 1]]
    seen = set()
    for row in begins:
        if told[row] in seen:
            raise ValueError(
                f"{_row(frame, row)}: the sequence {', '.join(map(repr, told[row]))} goes on after "
                "another one. If it is another one of that name, sequence= takes several columns; "
                "else sort the frame"
            )
        seen.add(told[row])
    return keys, np.array([*begins, len(frame)])


def _check_names(frame, names, what):
    """Raise unless each of some names is that of one column."""
    listed = [*frame.columns]
    for name in names:
        count = listed.count(name)
        if count != 1:
            raise ValueError(
                f"{what}: frame has {'several columns' if count else 'no column'} {name!r}; its "
                f"columns are {', '.join(map(str, listed))}"
            )


def _check_present(frame, name, message):
    """Raise with a message if a value is missing in a column."""
    missing = np.flatnonzero(frame[name].isna().to_numpy())
    if len(missing):
        raise ValueError(f"{_row(frame, missing[0])}: {message}")


def _row(frame, row):
    """Return what messages call a row."""
    return f"row {row} of frame, of index {frame.index[[row]].tolist()[0]!r}"


def _split(items, offsets):
    """Return lists of the items of every sequence."""
    return [items[a:b] for a, b in pairwise(offsets.tolist())]
