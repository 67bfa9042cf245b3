"""The bytes of a model of CRFsuite: features, two tables of strings, and references to features.

All numbers are little-endian. A file has a header of 48 bytes and five chunks, to which the header
points: features (weights), labels, attributes, and for each label and attribute the numbers of the
features that begin with it. A table of strings finds the number of a string by its hash, and the
string of a number by an array of places.
"""

import struct

import numpy as np

HEADER = struct.Struct("<4sI4s9I")
CHUNK = struct.Struct("<4sII")
TABLE = struct.Struct("<4s5I")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1  # kinds of features: of an attribute, of the label before
N_TABLES = 256
BYTE_ORDER = 0x62445371
LARGEST = 2**32 - 1


def hashes(keys):
    """Return the hash of each key by Jenkins' lookup3 (2006), in 32 bits.

    Parameters
    ----------
    keys : list of bytes
        None of them empty.

    Returns
    -------
    hashes : ndarray of shape (n_keys,), uint32
        In the order of the keys.
    """
    lengths = np.array([len(key) for key in keys], dtype=np.int64)
    n_blocks, hashes = (lengths + 11) // 12, np.empty(len(keys), dtype=np.uint32)
    for n in np.unique(n_blocks).tolist():
        rows = np.flatnonzero(n_blocks == n)
        padded = b"".join(keys[row].ljust(12 * n, b"\0") for row in rows.tolist())
        words = np.frombuffer(padded, dtype="<u4").reshape(len(rows), n, 3).astype(np.uint32)
        a, b, c = (np.uint32(0xDEADBEEF) + lengths[rows].astype(np.uint32) for _ in range(3))
        for k in range(n):
            a, b, c = (x + words[:, k, j] for j, x in enumerate((a, b, c)))
            a, b, c = _mix(a, b, c) if k < n - 1 else _final(a, b, c)
        hashes[rows] = c
    return hashes


def _rotated(x, k):
    return (x << np.uint32(k)) | (x >> np.uint32(32 - k))


def _mix(a, b, c):
    a, c = (a - c) ^ _rotated(c, 4), c + b
    b, a = (b - a) ^ _rotated(a, 6), a + c
    c, b = (c - b) ^ _rotated(b, 8), b + a
    a, c = (a - c) ^ _rotated(c, 16), c + b
    b, a = (b - a) ^ _rotated(a, 19), a + c
    c, b = (c - b) ^ _rotated(b, 4), b + a
    return a, b, c


def _final(a, b, c):
    c = (c ^ b) - _rotated(b, 14)
    a = (a ^ c) - _rotated(c, 11)
    b = (b ^ a) - _rotated(a, 25)
    c = (c ^ b) - _rotated(b, 16)
    a = (a ^ c) - _rotated(c, 4)
    b = (b ^ a) - _rotated(a, 14)
    return a, b, (c ^ b) - _rotated(b, 24)


def write_model(labels, attributes, features):
    """Return the bytes of a model.

    Parameters
    ----------
    labels, attributes : list of str
        Their names; without null characters.
    features : ndarray of shape (n_features,), FEATURE
        Weights of pairs (attribute, label) and (label, label).

    Returns
    -------
    data : bytes
        Contents of a file.

    Raises
    ------
    ValueError
        If it is larger than the four gigabytes to which the format can point.
    """
    chunks = [CHUNK.pack(b"FEAT", CHUNK.size + features.nbytes, len(features)) + features.tobytes()]
    chunks += [_write_strings(labels), _write_strings(attributes)]
    position, offsets = HEADER.size, []
    for k, chunk in enumerate(chunks):
        chunks[k] = chunk + b"\0" * (-len(chunk) % 4)
        offsets.append(position)
        position += len(chunks[k])
    # CRFsuite counts two more labels, those of the ends, to which nothing points
    for name, kind, size, more in ((b"LFRF", TRANSITION, len(labels), 2),
                                   (b"AFRF", STATE, len(attributes), 0)):  # fmt: skip
        offsets.append(position)
        chunks.append(_write_references(name, features, kind, size, more, position))
        position += len(chunks[-1])
    if position > LARGEST:
        raise ValueError(f"the model takes {position} bytes, more than a file of CRFsuite may have")
    counts = 0, len(labels), len(attributes)
    header = HEADER.pack(b"lCRF", position, b"FOMC", 100, *counts, *offsets)
    return b"".join([header, *chunks])


def _write_strings(strings):
    """Return the chunk of a table of strings."""
    keys = [string.encode() + b"\0" for string in strings]
    records = [struct.pack("<II", k, len(key)) + key for k, key in enumerate(keys)]
    start = TABLE.size + 8 * N_TABLES
    places = start + np.cumsum([0, *map(len, records)], dtype=np.int64)
    if places[-1] > LARGEST:
        raise ValueError("the names of attributes take more bytes than a file of CRFsuite may have")
    hashed = hashes(keys) if keys else np.empty(0, dtype=np.uint32)
    tables, references, position = [], [], int(places[-1])
    for number in range(N_TABLES):
        members = np.flatnonzero(hashed % N_TABLES == number).tolist()
        size = 2 * len(members)
        table = np.zeros((size, 2), dtype="<u4")
        for k in members:
            row = int(hashed[k] >> 8) % size
            while table[row, 1]:
                row = (row + 1) % size
            table[row] = hashed[k], places[k]
        references.append(struct.pack("<II", position if members else 0, size))
        tables.append(table.tobytes())
        position += table.nbytes
    backward = places[:-1].astype("<u4").tobytes()
    whole = position + len(backward)
    head = TABLE.pack(b"CQDB", whole, 0, BYTE_ORDER, len(keys), position if keys else 0)
    return b"".join([head, *references, *records, *tables, backward])


def _write_references(name, features, kind, size, more, position):
    """Return the chunk with the numbers of the features of each label or attribute."""
    numbers = np.flatnonzero(features["kind"] == kind)
    sources = features["source"][numbers].astype(np.int64)
    numbers = numbers[np.argsort(sources, kind="stable")].astype("<u4")
    counts = np.bincount(sources, minlength=size)
    ends = np.cumsum(counts)
    head = CHUNK.size + 4 * (size + more)
    offsets = np.zeros(size + more, dtype=np.int64)
    offsets[:size] = position + head + 4 * (np.arange(size) + ends - counts)
    if len(offsets) and offsets.max() > LARGEST:
        raise ValueError("the model takes more bytes than a file of CRFsuite may have")
    lists = np.empty(size + len(numbers), dtype="<u4")
    heads = np.arange(size) + ends - counts
    inside = np.ones(len(lists), dtype=bool)
    inside[heads] = False
    lists[heads], lists[inside] = counts, numbers
    start = CHUNK.pack(name, head + lists.nbytes, size + more)
    return start + offsets.astype("<u4").tobytes() + lists.tobytes()


def read_model(data):
    """Return the labels, attributes and features of a model, as `write_model` takes them.

    Parameters
    ----------
    data : bytes
        Contents of a file.

    Returns
    -------
    labels, attributes : list of str
        Their names.
    features : ndarray of shape (n_features,), FEATURE
        The weights.

    Raises
    ------
    ValueError
        If it is no model of CRFsuite, or is damaged.
    """
    if len(data) < HEADER.size:
        raise ValueError("it is too short for a model of CRFsuite")
    magic, size, kind, _, _, n_labels, n_attributes, *offsets = HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("it is no model of CRFsuite, which begins with lCRF")
    if size > len(data):
        raise ValueError(f"it has {len(data)} bytes instead of {size}")
    try:
        chunk, _, n = CHUNK.unpack_from(data, offsets[0])
        features = np.frombuffer(data, FEATURE, n, offsets[0] + CHUNK.size)
        labels = _read_strings(data, offsets[1], n_labels)
        attributes = _read_strings(data, offsets[2], n_attributes)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"it is damaged: {error}") from None
    limits = np.where(features["kind"] == STATE, n_attributes, n_labels)
    sound = (features["source"] < limits) & (features["target"] < n_labels)
    if chunk != b"FEAT" or not sound.all() or not np.isfinite(features["weight"]).all():
        raise ValueError("it is damaged: its features are not those of its labels and attributes")
    return labels, attributes, features


def _read_strings(data, start, n):
    """Return the strings of a table by their numbers."""
    chunk, _, _, order, _, backward = TABLE.unpack_from(data, start)
    if chunk != b"CQDB" or order != BYTE_ORDER:
        raise ValueError("it is damaged: a table of strings is missing")
    if not n:
        return []
    places = struct.unpack_from(f"<{n}I", data, start + backward)
    strings = []
    for place in places:
        _, length = struct.unpack_from("<II", data, start + place)
        first = start + place + 8
        strings.append(data[first : first + length - 1].decode())
    return strings
