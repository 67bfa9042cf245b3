"""Features of edges made of attributes of the tokens around them."""

import re
from collections.abc import Mapping
from numbers import Real

import numpy as np

from sskit.inputs.token_vectorizer import TokenVectorizer

_TERM = re.compile(r"(.*)\[([+-]?\d{1,9})\]")
# Names of features of edges begin with it.
MARK = "+"


def parse_templates(edges):
    """Return the templates of the parameter `edges`.

    Parameters
    ----------
    edges : str or list of str
        Templates such as "word[-1]|word[0]".

    Returns
    -------
    templates : list of tuple (name, terms)
        Terms are pairs (attribute, offset).

    Raises
    ------
    TypeError
        If they are no strings.
    ValueError
        If there are none, or naming the first that is no template, or that is there twice.
    """
    listed, templates = [edges] if isinstance(edges, str) else edges, {}
    is_list = isinstance(listed, (list, tuple))
    if not is_list or not all(isinstance(template, str) for template in listed):
        raise TypeError(f"edges must be templates such as 'word[-1]|word[0]', got {edges!r:.80}")
    if not listed:
        raise ValueError("edges must hold one template or more, or be None")
    for k, template in enumerate(listed):
        name = template.removeprefix(MARK)
        terms = [_TERM.fullmatch(term) for term in name.split("|")]
        if not all(terms):
            raise ValueError(
                f"edges[{k}] is {template!r}, expected terms such as 'word[-1]', an attribute and "
                "a place counted from the second token of the edge, joined by '|'"
            )
        if name in templates:
            raise ValueError(f"edges[{k}] is {template!r}, which is there twice")
        templates[name] = [(term[1], int(term[2])) for term in terms]
    return list(templates.items())


def edge_dicts(sequences, templates):
    """Return the features of each edge of sequences of tokens, as a dict.

    Parameters
    ----------
    sequences : iterable of sequences of tokens
        Tokens are dicts of attributes, strings, whose only attribute has the empty name, or lists
        of strings such as "word=the".
    templates : list of tuple
        From `parse_templates`.

    Returns
    -------
    features : list of list of dict
        Those of each sequence: a number for each feature of an edge. Strings of the terms are
        joined in its name, and numbers multiplied; a term that is missing leaves out the feature.

    Raises
    ------
    TypeError
        Naming the first token that is none of these.
    """
    edges_of = []
    for i, sequence in enumerate(sequences):
        tokens = [attributes(token, f"X[{i}][{t}]") for t, token in enumerate(sequence)]
        features = []
        for t in range(1, len(tokens)):
            edge = {}
            for name, terms in templates:
                strings, number = [], 1.0
                for attribute, offset in terms:
                    place = t + offset
                    value = tokens[place].get(attribute) if 0 <= place < len(tokens) else None
                    if isinstance(value, str):
                        strings.append(value)
                    elif isinstance(value, (Real, np.bool_)):
                        number *= float(value)
                    else:
                        break
                else:
                    key = f"{MARK}{name}={'|'.join(strings)}" if strings else MARK + name
                    edge[key] = number
            features.append(edge)
        edges_of.append(features)
    return edges_of


def attributes(token, name):
    """Return a token as a mapping of attributes to values."""
    if isinstance(token, Mapping):
        return token
    if isinstance(token, str):
        return {"": token}
    if isinstance(token, (list, tuple)) and all(isinstance(value, str) for value in token):
        pairs = (value.partition("=") for value in token)
        return {key: value if equals else 1.0 for key, equals, value in pairs}
    raise TypeError(
        f"{name} is a {type(token).__name__}: edges are made of tokens that are dicts, strings or "
        "lists of strings"
    )


def fit_edges(edges, sequences):
    """Fit a vectoriser of the features of edges.

    Parameters
    ----------
    edges : str or list of str
        Templates.
    sequences : iterable of sequences of tokens
        As of `edge_dicts`.

    Returns
    -------
    vectorizer : TokenVectorizer
        Fitted.

    Raises
    ------
    ValueError
        If there are none.
    """
    edges_of = edge_dicts(sequences, parse_templates(edges))
    flat = [edge for features in edges_of for edge in features]
    if not any(flat):
        raise ValueError(
            f"edges={edges!r} make no features: no two tokens of X side by side have these "
            "attributes"
        )
    return TokenVectorizer().fit([flat])
