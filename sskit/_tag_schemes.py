"""Tag schemes for spans (IOB, BIOES): the meaning of prefixes, and allowed transitions of tags."""

import numpy as np

# Violations that an error names.
MOST_NAMED = 10
# The place of a prefix in the string is its code.
OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
SCHEMES = {
    "bio": "OBI",
    "iob2": "OBI",
    "iob1": "OBI",
    "bioes": "OBIES",
    "iobes": "OBIES",
    "bilou": "OBILU",
}


def scheme_rules(scheme, codes, kinds):
    """Return the transitions, first tags and last tags that a scheme allows.

    Parameters
    ----------
    scheme : str
        A key of `SCHEMES`.
    codes : ndarray of shape (K,)
        Codes of the prefixes of the tags.
    kinds : ndarray of shape (K,)
        Kinds of their spans, of any type; ignored for tags outside of spans.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool
        Which tags may follow, from row to column.
    allowed_start : ndarray of shape (K,), bool
        First tags.
    allowed_end : ndarray of shape (K,), bool
        Last tags.
    """
    same = kinds[:, None] == kinds
    within = (codes != OUTSIDE)[:, None] & same
    begins, goes_on = codes == BEGIN, (codes == INSIDE) | (codes == END)
    if scheme == "iob1":
        # a beginning only parts two spans of one kind
        return ~begins | within, ~begins, np.ones(len(codes), dtype=bool)
    if len(SCHEMES[scheme]) == 3:
        return ~goes_on | within, ~goes_on, np.ones(len(codes), dtype=bool)
    is_open = begins | (codes == INSIDE)
    return np.where(is_open[:, None], goes_on & same, ~goes_on), ~goes_on, ~is_open


def find_violations(labels, offsets, allowed, allowed_start, allowed_end):
    """Return the tokens whose labels may not stand where they do.

    Parameters
    ----------
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to K - 1.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions.
    allowed_start, allowed_end : ndarray of shape (K,), bool
        Allowed first and last labels.

    Returns
    -------
    tokens : ndarray of shape (m,)
        Numbers of first and last tokens, and of second ones of transitions that are not allowed.
    """
    good = np.ones(len(labels), dtype=bool)
    good[1:] = allowed[labels[:-1], labels[1:]]
    filled = np.diff(offsets) > 0
    first, last = offsets[:-1][filled], offsets[1:][filled] - 1
    good[first] = allowed_start[labels[first]]
    good[last] &= allowed_end[labels[last]]
    return np.flatnonzero(~good)


def violation_error(tokens, labels, offsets, names, rules, name_of, sentence):
    """Return the ValueError that names labels that may not stand where they do, up to ten of them.

    Parameters
    ----------
    tokens : ndarray of shape (m,)
        From `find_violations`, at least one.
    labels, offsets : ndarray
        As for `find_violations`.
    names : ndarray of shape (K,)
        The labels.
    rules : tuple
        Allowed transitions, first labels and last labels.
    name_of : callable
        Takes the number of a token and returns what the message calls its label.
    sentence : str
        Which rules they break, with a place for the verdict, and how to repair that.

    Returns
    -------
    error : ValueError
        As in "y[0][1] is I-X after O, which the scheme 'bio' does not allow".
    """
    (allowed, allowed_start, _), starts = rules, set(offsets.tolist())
    places = []
    for token in tokens[:MOST_NAMED].tolist():
        label, before = labels[token], labels[token - 1]
        where = "at the end"
        if token in starts:
            where = where if allowed_start[label] else "at the start"
        elif not allowed[before, label]:
            where = f"after {names[before]}"
        places.append(f"{name_of(token)} is {names[label]} {where}")
    verdict = "does not allow"
    if places[1:]:
        verdict += f"; there are {len(tokens)} such labels, also {', '.join(places[1:])}"
    return ValueError(f"{places[0]}, which {sentence.format(verdict)}")


def check_scheme(scheme, name="scheme"):
    """Raise ValueError unless a scheme is known."""
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"{name} must be one of {list(SCHEMES)}, got {scheme!r}")


def read_tags(tags, scheme):
    """Return prefixes and types of some tags.

    Parameters
    ----------
    tags : list of length K
        Labels; those of a scheme are "O", and the other prefixes alone or with a type, as in
        "B-NP".
    scheme : str
        A key of `SCHEMES`.

    Returns
    -------
    codes : ndarray of shape (K,)
        Codes of the prefixes, -1 of what is no tag of the scheme.
    kinds : list of K str
        The types, "" where there is none.
    """
    letters = SCHEMES[scheme]
    codes, kinds = np.full(len(tags), -1, dtype=np.intp), [""] * len(tags)
    for k, tag in enumerate(tags):
        if not isinstance(tag, str):
            continue
        prefix, dash, kind = tag.partition("-")
        if prefix in list(letters) and not (dash and (prefix == "O" or not kind)):
            codes[k], kinds[k] = letters.index(prefix), kind
    return codes, kinds


def tags_of(scheme):
    """Return the tags of a scheme for error messages."""
    prefixes = ", ".join(f"{letter}-TYPE" for letter in SCHEMES[scheme][1:])
    return f"O, {prefixes}"


def parse_tags(flat, scheme, label, offsets=None, hint=""):
    """Return codes of the prefix and type of every label, and the types; -1 is no type.

    Parameters
    ----------
    flat : ndarray of shape (n_tokens,)
        Tags.
    scheme : str
        A key of `SCHEMES`.
    label : callable
        Takes the number of a token and returns what error messages call its tag.
    offsets : ndarray of shape (n + 1,), default=None
        Where sequences begin, if tags must stand where the scheme allows them.
    hint : str, default=""
        What the error message of those that do not ends with.

    Returns
    -------
    prefix, kind : ndarray of shape (n_tokens,)
        Codes.
    types : list of str
        Sorted.
    """
    check_scheme(scheme)
    for row, value in enumerate([] if flat.dtype.kind == "U" else flat.tolist()):
        if not isinstance(value, str):
            raise TypeError(f"{label(row)} is {value!r:.80}, but labels of spans are strings")
    names, codes = np.unique(flat, return_inverse=True)
    prefix, kinds = read_tags(names.tolist(), scheme)
    for row in np.flatnonzero((prefix < 0)[codes])[:1]:
        name = names.tolist()[codes[row]]
        raise ValueError(f"{label(row)} is {name!r:.80}, but labels are {tags_of(scheme)}")
    inside = list(zip(kinds, (prefix != OUTSIDE).tolist(), strict=True))
    types = sorted({kind for kind, within in inside if within})
    kind = np.array([types.index(k) if within else -1 for k, within in inside], dtype=np.intp)
    if offsets is not None:
        rules = scheme_rules(scheme, prefix, kind)
        tokens = find_violations(codes, offsets, *rules)
        if len(tokens):
            sentence = f"the scheme {scheme!r} {{}}{hint}"
            raise violation_error(tokens, codes, offsets, names, rules, label, sentence)
    return prefix[codes], kind[codes], types


def find_spans(prefix, kind, offsets):
    """Return first token, one after the last, and type of all spans, each as an array.

    The rules of conlleval: a token goes on with a span if it is I or E, the one before it B or I,
    and both are of one type.
    """
    goes_on = np.zeros(prefix.size + 1, dtype=bool)
    inner = prefix == INSIDE
    goes_on[1:-1] = (inner | (prefix == END))[1:] & (inner | (prefix == BEGIN))[:-1]
    goes_on[1:-1] &= kind[1:] == kind[:-1]
    goes_on[offsets] = False
    inside = prefix != 0
    start = np.flatnonzero(inside & ~goes_on[:-1])
    return start, np.flatnonzero(inside & ~goes_on[1:]) + 1, kind[start]


def write_tags(prefix, kind, types, offsets, scheme):
    """Return the tags of all tokens in a scheme.

    Parameters
    ----------
    prefix : ndarray of shape (n_tokens,)
        Codes of prefixes, as of any scheme.
    kind : ndarray of shape (n_tokens,)
        Numbers of types, -1 outside of spans.
    types : list of str
        The types; tags of the type "" are a prefix alone.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    scheme : str
        A key of `SCHEMES`.

    Returns
    -------
    tags : list of n_tokens str
        As in "B-NP".
    """
    start, stop, _ = find_spans(prefix, kind, offsets)
    codes = np.where(prefix == 0, 0, INSIDE)
    if scheme == "iob1":
        parts = np.isin(start, stop) & ~np.isin(start, offsets)
        parts[parts] = kind[start[parts]] == kind[start[parts] - 1]
        codes[start[parts]] = BEGIN
    else:
        codes[start] = BEGIN
    if len(SCHEMES[scheme]) > 3:
        codes[stop - 1] = END
        codes[start[stop - start == 1]] = SINGLE
    letters = SCHEMES[scheme]
    names = [
        ["O" if letter == "O" else f"{letter}-{name}" if name else letter for name in types]
        for letter in letters
    ]
    # without a type there are no spans
    names = np.array(names if types else [["O"]], dtype=object)
    return names[codes, np.maximum(kind, 0)].tolist()
