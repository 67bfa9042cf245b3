"""Large tables in files of models: names as one text, sparse weights by their nonzeros.

A list of strings is a node of the file for each of them, which takes minutes to read where there
are hundreds of thousands, and names of features stand in an estimator and in its vectoriser.
"""

import zlib

import numpy as np

# Shorter tables are not packed.
MANY = 1024
# Nor is an array of which more than this fraction is not zero.
MOSTLY_ZERO = 0.25
# The entry that distinguishes a packed table from a dict.
KIND = "_packed"
# Between names: the first that none of them has. Lengths take four times as long to read.
SEPARATORS = "\n", "\0", "\x1f"
# Of an array of names, and of the list in a vectoriser that has the same.
NAMES, VECTORIZER, LISTED = "feature_names_in_", "vectorizer_", "feature_names_"


def packed(state):
    """Return the state of an object with its large tables packed.

    Parameters
    ----------
    state : dict
        Attributes by name.

    Returns
    -------
    state : dict
        A new one; its tables are dicts of arrays and numbers.
    """
    out = {name: _packed(value) for name, value in state.items()}
    listed = getattr(state.get(VECTORIZER), LISTED, None)
    names = state.get(NAMES)
    if isinstance(listed, list) and isinstance(names, np.ndarray) and names.tolist() == listed:
        out[NAMES] = {KIND: "of the vectoriser"}
    return out


def unpacked(state):
    """Return the state whose packed form is given, or raise ValueError for a damaged table."""
    out = {}
    for name, value in state.items():
        try:
            out[name] = _unpacked(value, state)
        except (AttributeError, IndexError, KeyError, MemoryError, OverflowError, TypeError,
                ValueError, zlib.error) as error:  # fmt: skip
            raise ValueError(f"{name} of the saved model is damaged: {error}") from error
    return out


def _packed(value):
    """Return the packed form of a large table, or anything else as it is."""
    if isinstance(value, list) and len(value) >= MANY and all(type(v) is str for v in value):
        return {KIND: "list", **_of_names(value)}
    if not isinstance(value, np.ndarray) or value.size < MANY or type(value) is not np.ndarray:
        return value
    if value.dtype == object:
        is_text = value.ndim == 1 and all(type(v) is str for v in value)
        return {KIND: "array", **_of_names(value.tolist())} if is_text else value
    if value.ndim < 2 or value.dtype.kind != "f":
        return value
    if np.count_nonzero(value) > MOSTLY_ZERO * value.size:
        return value
    return {KIND: "zeros", **_of_numbers(value)}


def _unpacked(value, state):
    """Return the table of a packed form, or anything else as it is."""
    kind = value.get(KIND) if isinstance(value, dict) else None
    if kind is None:
        return value
    if kind == "of the vectoriser":
        return np.array(getattr(state[VECTORIZER], LISTED), dtype=object)
    if kind == "zeros":
        return _numbers(value)
    if kind not in ("list", "array"):
        raise ValueError(f"no kind of table is {kind!r:.80}")
    names = _names(value)
    return names if kind == "list" else np.array(names, dtype=object)


def _squeezed(data):
    """Return bytes, compressed, as an array; the first level is fast, others hardly better."""
    return np.frombuffer(zlib.compress(data, 1), dtype=np.uint8)


def _array(squeezed, dtype):
    """Return the array that `_squeezed` has compressed."""
    return np.frombuffer(zlib.decompress(squeezed), dtype=dtype)


def _smallest(numbers):
    """Return integers from 0 in the smallest type that holds them, and its name."""
    numbers = np.asarray(numbers)
    dtype = np.min_scalar_type(int(numbers.max(initial=0)))
    return _squeezed(numbers.astype(dtype.newbyteorder("<")).tobytes()), dtype.newbyteorder("<").str


def _of_names(names):
    """Return a dict of strings: a text, and what separates them in it, or their lengths."""
    for separator in SEPARATORS:
        text = separator.join(names)
        if text.count(separator) == len(names) - 1:
            text = _squeezed(text.encode("utf-8", "surrogatepass"))
            return {"number": len(names), "separator": separator, "text": text}
    lengths, dtype = _smallest([*map(len, names)])
    text = _squeezed("".join(names).encode("utf-8", "surrogatepass"))
    return {"lengths": lengths, "dtype": dtype, "text": text}


def _names(table):
    """Return the list of strings of which `_of_names` has made a table."""
    text = zlib.decompress(table["text"]).decode("utf-8", "surrogatepass")
    if "separator" in table:
        names = text.split(table["separator"])
        if table["separator"] not in SEPARATORS or len(names) != table["number"]:
            raise ValueError(f"it has {len(names)} names in place of {table['number']!r:.80}")
        return names
    ends = np.cumsum(_array(table["lengths"], table["dtype"]), dtype=np.int64).tolist()
    if (ends[-1] if ends else 0) != len(text):
        raise ValueError(f"its {len(ends)} names have another length than their text")
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _of_numbers(value):
    """Return a dict of an array: line by line how many numbers are not zero, where, and which."""
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    lines = np.ascontiguousarray(value.T if order == "F" else value)
    lines = lines.reshape(len(lines), -1)
    line, place = np.nonzero(lines)
    counts, of_counts = _smallest(np.bincount(line, minlength=len(lines)))
    places, of_places = _smallest(place)
    dtype = value.dtype.newbyteorder("<")
    numbers = _squeezed(lines[line, place].astype(dtype).tobytes())
    return {
        "shape": [*map(int, value.shape)],
        "order": order,
        "counts": counts,
        "places": places,
        "numbers": numbers,
        "dtypes": [of_counts, of_places, dtype.str],
    }


def _numbers(table):
    """Return the array of which `_of_numbers` has made a table."""
    of_counts, of_places, dtype = table["dtypes"]
    counts, places = _array(table["counts"], of_counts), _array(table["places"], of_places)
    numbers, shape = _array(table["numbers"], dtype), tuple(table["shape"])
    shape = shape[::-1] if table["order"] == "F" else shape
    if np.dtype(dtype).kind != "f" or len(shape) < 2 or len(counts) != shape[0]:
        raise ValueError(f"its shape {shape} is not that of {len(counts)} lines of {dtype}")
    out = np.zeros(shape, dtype=np.dtype(dtype).newbyteorder("="))
    lines = out.reshape(shape[0], -1)
    lines[np.repeat(np.arange(shape[0]), counts), places] = numbers
    return out.T if table["order"] == "F" else out
