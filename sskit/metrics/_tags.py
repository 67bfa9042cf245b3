"""Tags of one scheme written in another."""

from sskit._labels import string_array
from sskit._tag_schemes import check_scheme, parse_tags, write_tags
from sskit.inputs.ragged_array import row_namer, split
from sskit.metrics._pairs import stack


def convert_tags(y, source, target, *, strict=True):
    """Write tags of one scheme in another: the same spans, tagged otherwise.

    Parameters
    ----------
    y : sequence of n label sequences (T_i,) of str
        The tags: "O" outside of spans, else a prefix alone or with a type, as in "B-NP".
    source, target : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}
        The scheme of `y`, and that of what is returned. In "bio", also called "iob2", spans begin
        with B and go on with I; in "iob1" they begin with I, but with B directly after a span of
        their type; in "bioes", also called "iobes", they end with E, or are a single S; "bilou" is
        that with the letters L and U.
    strict : bool, default=True
        Whether tags that break the rules of their scheme are refused. Else they are read as
        `spans` does.

    Returns
    -------
    tags : ndarray of shape (n,), object
        Each item is an ndarray of shape (T_i,) of str.

    Raises
    ------
    TypeError, ValueError
        If a scheme is unknown, or a tag is not a string of its scheme or, with `strict`, may not
        stand where it does; names the sequence and the token.

    See Also
    --------
    spans : The spans that tags describe.

    Examples
    --------
    >>> from sskit.metrics import convert_tags
    >>> tags = convert_tags([["B-NP", "I-NP", "I-NP", "B-NP", "O"]], "bio", "bioes")
    >>> tags[0].tolist()
    ['B-NP', 'I-NP', 'E-NP', 'S-NP', 'O']
    >>> convert_tags(tags, "bioes", "iob1")[0].tolist()
    ['I-NP', 'I-NP', 'I-NP', 'B-NP', 'O']
    """
    check_scheme(source, "source")
    check_scheme(target, "target")
    flat, offsets = stack(y, "y")
    rules, hint = offsets if strict else None, ". strict=False reads such tags as spans() does"
    prefix, kind, types = parse_tags(flat, source, row_namer("y", offsets), rules, hint)
    return split(string_array(write_tags(prefix, kind, types, offsets, target)), offsets)
