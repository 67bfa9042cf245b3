"""Random changes of arguments: numbers, arrays, sparse matrices, containers, whole objects."""

import array
import collections
import copy
import decimal
import fractions
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp

from sskit._numbers import checked_csr

PANDAS = (pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray)
EXTREMES = [
    0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, -5e-324, 1e-310, 1e-160, 1e155, 1e200, -1e200, 1e308,
    -1e308, np.inf, -np.inf, np.nan,
]  # fmt: skip
WHOLE_EXTREMES = [0, -1, 1, 2, 255, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
SPARSE = ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"]
DTYPES = [
    "float16", "float32", "longdouble", ">f8", "complex128", "bool", "int8", "uint8", "int32",
    "int64", "uint64", ">i4", "object", "str", "bytes", "datetime64[s]", "timedelta64[s]", "void",
]  # fmt: skip


class ArrayLike:
    """Something that only NumPy can read."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class Subclass(np.ndarray):
    """An array of another class."""


def function(*args, **kwargs):
    """Return nothing, where something callable is given in place of a value."""


def pick(rng, items):
    """One of some items, of any types."""
    return items[int(rng.integers(len(items)))]


# Values that hardly anything takes; those that remember what was done with them are made anew.
JUNK = [
    None, True, False, 0, -1, 1, 2, 0.5, -0.5, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2**31,
    2**63, 2**64, 10**30, 10**400, -(2**63), -(10**30), "auto", "", "no such", "\0", b"bytes",
    (), (0, 1), (1, 0), np.float64(0.1), np.float32(0.1), np.float16(0.1), np.longdouble(0.1),
    np.int64(3), np.uint8(3), np.True_, np.str_("auto"), np.bytes_(b"auto"),
    np.datetime64("2020-01-01"), 1j, 0.5 + 0j, fractions.Fraction(1, 3), decimal.Decimal("0.1"),
    int, np.ndarray, function, range(3), slice(None), Ellipsis, pd.NA, pd.NaT, pd.Timestamp(0), np,
    list, dict, set, object, lambda: {"coef": (0, 1)}, lambda: {1: 2}, lambda: [0.1],
    lambda: ["a", 1], lambda: [[1, 2], [3]], lambda: [None], lambda: np.array(0.5),
    lambda: np.array(2), lambda: np.array("auto"), lambda: np.array([0.5]),
    lambda: np.array([1, 2]), lambda: np.array([]), lambda: np.array([None]), lambda: np.eye(2),
    lambda: np.array([[np.nan]]), lambda: iter([1, 2]), lambda: sp.csr_array(np.eye(2)),
    lambda: pd.Series([1.0, 2.0]), lambda: pd.DataFrame({"a": [1.0]}), lambda: memoryview(b"ab"),
    lambda: bytearray(b"ab"), lambda: ValueError("a value"), lambda: np.random.default_rng(0),
]  # fmt: skip
MAKERS = (list, dict, set, object)


def junk(rng):
    value = pick(rng, JUNK)
    made = value in MAKERS if isinstance(value, type) else "<lambda>" in repr(value)
    return value() if made else value


def mutated(rng, value):
    """Return a changed copy of a value, or something else in its place, and a word for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return mutated_by_kind(rng, value)
        except (TypeError, ValueError, IndexError, OverflowError):  # what was changed before
            return junk(rng), "junk"


def mutated_by_kind(rng, value):
    """Return a changed copy of a value, by what it is."""
    plain = isinstance(value, (bool, np.bool_, str, bytes)) or value is None
    if plain or rng.random() < 0.08:
        return junk(rng), "junk"
    if isinstance(value, (int, np.integer)):
        others = [int(value) + 1, int(value) - 1, -int(value), float(value), float(value) + 0.5]
        others += [np.int8(np.clip(value, -128, 127)), np.float32(value), str(value), junk(rng)]
        return pick(rng, [*others, *WHOLE_EXTREMES]), "whole"
    if isinstance(value, (float, np.floating)):
        return pick(rng, [*EXTREMES, float(value) * 1e6, float(value) * 1e-6, junk(rng)]), "extreme"
    if isinstance(value, np.ndarray) and value.dtype != object and value.ndim:
        how = pick(rng, [*ARRAYS, "entry", "shape"])
        return ARRAYS[how](rng, value), how
    if sp.issparse(value):
        return mutated_sparse(rng, value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return mutated_container(rng, value)
    if isinstance(value, dict):
        return mutated_dict(rng, value), "dict"
    if isinstance(value, PANDAS):
        return mutated_by_kind(rng, np.asarray(value))
    if not hasattr(value, "__dict__") or callable(value) or not vars(value):
        return junk(rng), "junk"
    value = copy.copy(value)
    name = pick(rng, sorted(vars(value)))
    try:
        changed, how = mutated(rng, getattr(value, name))
        setattr(value, name, changed)
    except AttributeError:  # frozen
        return junk(rng), "junk"
    return value, f"{name}: {how}"


# ---- arrays ------------------------------------------------------------------------------


def with_entry(rng, value):
    """A copy with one entry or one row replaced."""
    value = value.copy()
    if not value.size:
        return value[:0]
    place = tuple(int(rng.integers(n)) for n in value.shape)
    place = place if rng.random() < 0.8 else place[:1]
    if value.dtype.kind == "f":
        value[place] = pick(rng, EXTREMES)
    elif value.dtype.kind in "iu":
        info = np.iinfo(value.dtype)
        value[place] = min(max(pick(rng, WHOLE_EXTREMES), info.min), info.max)
    elif value.dtype.kind == "b":
        value[place] = not value[place].any()
    else:
        value = value.astype(object)
        value[place] = pick(rng, [None, np.nan, 1, "", "z" * 100, b"a", ("a",), 0.5])
    return value


def with_scale(rng, value):
    """All entries multiplied by a number, or all the same."""
    if value.dtype.kind not in "fiu" or rng.random() < 0.3:
        return np.repeat(value.ravel()[:1], value.size).reshape(value.shape)
    with np.errstate(all="ignore"):
        return value.astype(float) * pick(rng, [*EXTREMES, 1e100, 1e-100, 1e30, 1e-30])


def with_shape(rng, value):
    """The entries in another shape, or some of them."""
    axis = int(rng.integers(value.ndim))
    shapes = [
        lambda: value.ravel(), lambda: value[None], lambda: value[..., None], lambda: value.T,
        lambda: value[:0], lambda: value[..., :0], lambda: value[:1],
        lambda: np.delete(value, 0, axis=axis), lambda: np.concatenate([value, value], axis=axis),
        lambda: value.reshape(-1)[0], lambda: np.array(value.reshape(-1)[0]),
        lambda: np.flip(value, axis=axis), lambda: value.reshape(value.shape[0], -1),
        lambda: np.zeros((0,) * value.ndim),
    ]  # fmt: skip
    return pick(rng, shapes)()


def with_layout(rng, value):
    """The same entries, laid out otherwise in memory."""
    read_only = value.copy()
    read_only.flags.writeable = False
    unaligned = np.zeros(value.nbytes + 1, dtype=np.uint8)[1:].view(value.dtype)
    unaligned = unaligned.reshape(value.shape)
    unaligned[...] = value
    layouts = [
        lambda: np.asfortranarray(value), lambda: np.repeat(value, 2, axis=0)[::2],
        lambda: np.repeat(value, 3, axis=-1)[..., ::3], lambda: np.flip(value.copy(), axis=0)[::-1],
        lambda: np.broadcast_to(value[:1], value.shape), lambda: read_only, lambda: unaligned,
        lambda: value.astype(value.dtype.newbyteorder()), lambda: value.view(Subclass),
        lambda: np.ma.masked_array(value, mask=np.arange(value.size).reshape(value.shape) == 0),
    ]  # fmt: skip
    return pick(rng, layouts)()


def with_dtype(rng, value):
    """The entries as another type, as far as they can be."""
    dtype = pick(rng, DTYPES)
    if dtype == "void":
        return np.zeros(value.shape, dtype=[("a", float), ("b", int)])
    if dtype.startswith(("date", "time")):
        return np.zeros(value.shape, dtype="int64").astype(dtype)
    if value.dtype.kind in "OUSV":
        return value.astype(object if dtype == "str" else "S")
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def in_container(rng, value):
    """The entries in something else than an array."""
    rows = value.tolist()
    ragged = [*rows[:-1], rows[-1][:-1] if isinstance(rows[-1], list) else [rows[-1]]]
    containers = [
        lambda: rows, lambda: tuple(map(tuple, value)) if value.ndim > 1 else tuple(value),
        lambda: list(value), lambda: iter(rows), lambda: (row for row in rows),
        lambda: collections.deque(rows), lambda: ArrayLike(value),
        lambda: memoryview(np.ascontiguousarray(value)),
        lambda: array.array("d", np.ravel(value).astype(float)), lambda: dict(enumerate(rows)),
        lambda: set(map(str, np.ravel(value))), lambda: str(value), lambda: np.matrix(value),
        lambda: pd.Series(list(value)), lambda: pd.DataFrame(value), lambda: pd.Index([1, 2]),
        lambda: pd.DataFrame(value).rename(columns=str), lambda: pd.DataFrame(value).astype(object),
        lambda: pd.Series(np.asarray(value).ravel(), dtype="category"),
        lambda: pd.array(np.ravel(value).tolist()), lambda: ragged,
        lambda: mutated_sparse(rng, sp.csr_array(np.atleast_2d(value).astype(float)))[0],
    ]  # fmt: skip
    return pick(rng, containers)()


ARRAYS = {
    "entry": with_entry, "all": with_scale, "shape": with_shape, "layout": with_layout,
    "dtype": with_dtype, "container": in_container,
}  # fmt: skip


# ---- sparse matrices and containers ------------------------------------------------------


def mutated_sparse(rng, value):
    """A sparse matrix of another format, with other entries, or a broken one."""
    if sp.issparse(value) and value.ndim == 2:
        value = checked_csr(value, "value")  # SciPy itself crashes on what was broken before
    value = sp.csr_array(value).copy()
    how = pick(rng, ["format", "entry", "shape", "dtype", "unsorted", "twice", "zeros", "broken"])
    if how == "format":
        value = value.asformat(pick(rng, SPARSE))
        value = value if rng.random() < 0.5 else getattr(sp, f"{value.format}_matrix")(value)
    elif how == "entry" and value.nnz:
        value.data[int(rng.integers(value.nnz))] = pick(rng, EXTREMES)
    elif how == "shape":
        shapes = [value[:0], value[:, :0], value[:1], value[:, :1], value.T, sp.vstack([value] * 2)]
        value = pick(rng, shapes)
    elif how == "dtype" and rng.random() < 0.5:
        value.indices, value.indptr = value.indices.astype(np.int64), value.indptr.astype(np.int64)
    elif how == "dtype":
        value = value.astype(pick(rng, ["float32", "complex128", "bool", "int8", "longdouble"]))
    elif how == "unsorted":
        for a, b in zip(value.indptr[:-1], value.indptr[1:], strict=True):
            value.indices[a:b], value.data[a:b] = value.indices[a:b][::-1], value.data[a:b][::-1]
        value.has_sorted_indices = False
    elif how == "twice":
        parts = sp.coo_array(value)
        data, row, col = (np.concatenate([p, p]) for p in (parts.data, parts.row, parts.col))
        value = sp.coo_array((data, (row, col)), shape=value.shape)
    elif how == "zeros":
        value.data[:] = 0.0
    elif how == "broken" and value.nnz:
        value = value.asformat(pick(rng, ["csr", "csr", "csc", "bsr", "lil"]))
        part = pick(rng, ["indices", "indptr", "data"])
        if value.format == "lil":
            lists = value.data if part == "data" else value.rows
            lists[int(rng.integers(len(lists)))] = pick(rng, [[], [0, 1], [10**6], [-1]])
        elif part == "data":
            value.data = value.data[:-1]
        else:
            entries = getattr(value, part)
            entries[int(rng.integers(len(entries)))] = pick(rng, [-1, 10**6, -(2**31), 99])
    return value, how


def mutated_container(rng, value):
    """A list, tuple or object array with one item changed, or in another container."""
    how, items = pick(rng, ["item", "item", "item", "length", "container"]), list(value)
    if how == "item" and items:
        i = int(rng.integers(len(items)))
        items[i], inner = mutated(rng, items[i])
        return like(value, items), f"[{i}] {inner}"
    if how == "length":
        changed = [items[:-1], items[:1], [], [*items, *items[:1]], items[::-1], [*items, None]]
        return like(value, pick(rng, changed)), how
    containers = [
        lambda: tuple(items), lambda: items, lambda: objects(items),
        lambda: objects(items).reshape(-1, 1), lambda: (item for item in items),
        lambda: iter(items), lambda: map(np.asarray, items), lambda: collections.deque(items),
        lambda: dict(enumerate(items)), lambda: [items], lambda: [[item] for item in items],
        lambda: pd.Series(items), lambda: pd.DataFrame({"item": pd.Series(items)}),
        lambda: np.concatenate([np.asarray(item) for item in items]), lambda: np.array(items),
        lambda: {"items": items}, lambda: str(items), lambda: items[0],
    ]  # fmt: skip
    return pick(rng, containers)(), how


def mutated_dict(rng, value):
    value = dict(value)
    key = pick(rng, list(value)) if value else "key"
    how = pick(rng, ["value", "value", "value", "drop", "add", "rename"])
    if how == "value" and value:
        value[key] = mutated(rng, value[key])[0]
    elif how == "add":
        value[pick(rng, ["no such", 17, None, (), np.nan])] = junk(rng)
    elif value:
        kept = value.pop(key)
        if how == "rename":
            value[f"{key} "] = kept
    return value


def like(value, items):
    """Items in the kind of container that a value is."""
    if isinstance(value, tuple):
        return tuple(items)
    return objects(items) if isinstance(value, np.ndarray) else items


def objects(items):
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out
