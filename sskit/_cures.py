"""What error messages end with: the cure of a usual mistake, or the item that a note names."""

from collections.abc import Iterator, Mapping
from numbers import Number

import numpy as np

TOKEN = "a dict of attributes, such as {'word': 'the'}"
SENTENCES = "; raw text has to be split into sentences, and these into tokens"
_SINGLE = "; a single sequence is given as a list of one"
_ITERATOR = "; an iterator can be read only once: make a list of it"
_NONE = "; leave out samples that have none"
_LABELS = "; the labels of a single sequence are given as a list of one"


def cure_of_container(data, name, text=""):
    """Return how a message ends about what should be a list with an item for each sample.

    Parameters
    ----------
    data : object
        What was given.
    name : str
        What the message calls it.
    text : str, default=""
        The cure for a string.

    Returns
    -------
    cure : str
        With a semicolon before it; empty if none is known.
    """
    if isinstance(data, str):
        return text
    if isinstance(data, Iterator):
        return _ITERATOR
    if isinstance(data, Mapping):
        return f"; the values of a dict are list({name}.values())"
    shape = getattr(data, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:  # a class has a descriptor
        return ""
    many = (
        ", and a table of many is first divided, by its groupby" if hasattr(data, "columns") else ""
    )
    return f"{_SINGLE}, [{name}]{many}"


def cure_of_rows(item):
    """Return how a message ends about what should be the rows, or the tokens, of a sequence."""
    if isinstance(item, str):
        return f"; raw text has to be split into tokens, each of which is described by {TOKEN}"
    if isinstance(item, Mapping):
        return f"; a dict describes a token, and a sequence is a list of tokens{_SINGLE}"
    if isinstance(item, Iterator):
        return _ITERATOR
    if item is None:
        return _NONE
    return (
        f"{_SINGLE}; raw text has to be split into tokens, of which "
        "sskit.preprocessing.TokenVectorizer and TokenTransformer make rows"
    )


def cure_of_frame(frame):
    """Return how a message ends about a data frame that has words in the place of numbers."""
    method = "to_dicts()" if hasattr(frame, "to_dicts") else "to_dict('records')"
    return f"; tokens that are words are dicts of attributes, which its {method} makes of the rows"


def cure_of_tokens(item):
    """Return how a message ends about what should be a sequence of tokens."""
    if isinstance(item, Iterator):
        return _ITERATOR
    text = (
        "; raw text has to be split into tokens first, and a data frame's to_dict('records') has a "
        "dict of each row"
    )
    return text + (_SINGLE if isinstance(item, Mapping) else _NONE if item is None else "")


def cure_of_labels(item):
    """Return how a message ends about what should be the labels of a sequence."""
    if isinstance(item, str):
        return f"{_LABELS}, and labels in a string have to be split"
    if isinstance(item, (Number, np.generic)):
        return _LABELS
    return cure_of_sequence(item)


def cure_of_sequence(item):
    """Return how a message ends about what should be a sequence of anything else."""
    if isinstance(item, Iterator):
        return _ITERATOR
    return _NONE if item is None else ""


def raise_noted(error, note):
    """Raise an error of a user's function again, with a note.

    Parameters
    ----------
    error : Exception
        What the function raised.
    note : str
        Which function it was, and for which item.

    Raises
    ------
    Exception
        The error with the note; before Python 3.11, which has no notes, a RuntimeError whose
        message it is, caused by the error.
    """
    if not hasattr(error, "add_note"):
        raise RuntimeError(note) from error
    error.add_note(note)
    raise error
