"""Saved models with changed parts: ``python -m helpers.hostile '[[EVERY, MANY, NAMES]]'``.

Every so many changes are tried, one at a time; a crash ends the process. Tables of so many numbers
or names are packed in the files. There may be several cases.
"""

import contextlib
import io
import json
import signal
import sys
import warnings
import zipfile
from functools import partial

import numpy as np
import skops.io
from sklearn.base import clone

from helpers.saved import MODELS, PATHS, answers
from sskit import _packing

# Records of the course of a fit, which are not read.
TOLD = ("history_", "cv_results_", "scores_", "times_", "validation_indices_", "random_state")
PATIENCE = 20  # seconds
OTHER_KINDS = (np.complex128, "U3", "S2", "M8[s]", [("a", float)])
WILD = {
    "f": [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e150, -1.0, 0.0],
    "i": [-1, 0, 1, 2, 7, 100_000],
    "b": [False, True],
}
OTHER_VALUES = (-1, 0, 1, 2, 1000, 10**12, 0.5, "x", "", None, True, [], [1, 2], {"a": 1})


def in_bytes(save, *args, **kwargs):
    """What a function writes to a file."""
    buffer = io.BytesIO()
    save(buffer, *args, **kwargs)
    return buffer.getvalue()


def pack(file, parts):
    """Write a saved model of these files by name."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def others_of(array, kinds=()):
    """Yield arrays of other shapes, of other kinds, and with wild values."""
    flat = array.ravel()
    shapes = [flat[:0], array[None], flat[:1].reshape(()) if flat.size else np.zeros(())]
    if array.ndim:
        shapes += [array[:-1], np.concatenate([array, array])]
        shapes += [array[..., :-1], np.concatenate([array, array], axis=-1)]
    if array.ndim > 1:
        shapes += [flat, np.swapaxes(array, 0, -1), array[:, :1]]
    yield from (other for other in shapes if other.shape != array.shape)
    yield from (np.zeros(array.shape, dtype=dtype) for dtype in kinds)
    kind = array.dtype.kind
    values = WILD.get("i" if kind == "u" else kind, [])
    if kind in "iu":
        info = np.iinfo(array.dtype)
        values = [max(value, info.min) for value in values if value <= info.max]
        values += [info.max, info.min]
    for value in values:
        one = array.copy()
        one.flat[array.size // 2 : array.size // 2 + 1] = value
        for other in (np.full_like(array, value), one):
            if not np.array_equal(other, array, equal_nan=kind == "f"):
                yield other


def attributes_of(state, prefix=""):
    """Pairs (path, state) of what a saved object holds, at any depth."""
    content = state.get("content")
    if state["__loader__"] == "ObjectNode":
        content = content["content"] if content else {}
    if isinstance(content, list):
        content = dict(enumerate(content))
    for name, child in content.items() if isinstance(content, dict) else ():
        if isinstance(child, dict) and "__loader__" in child:
            yield f"{prefix}.{name}", child
            yield from attributes_of(child, f"{prefix}.{name}")


def told(before, after):
    """What was changed into what, in a few words."""
    return " -> ".join(f"{x.dtype}{x.shape} {x.ravel()[:3]}" for x in (before, after))


def in_array(file, array, other):
    return told(array, other), {file: in_bytes(np.save, other, allow_pickle=False)}


def in_table(file, content, name, other):
    return told(content[name], other), {file: in_bytes(np.savez, **(content | {name: other}))}


def in_schema(schema, before, other):
    return f"{before} -> {other}", {"schema.json": json.dumps(schema)}


def changes(parts):
    """Yield (path, function) for one change at a time, before another is asked for.

    The function returns what is changed, and files in its place; most are never called.
    """
    schema = json.loads(parts["schema.json"])
    for path, state in attributes_of(schema):
        kind = state["__loader__"]
        if any(name in path for name in TOLD):
            continue
        if kind == "NdArrayNode" and state["type"] == "numpy":
            array = np.load(io.BytesIO(parts[state["file"]]), allow_pickle=False)
            for other in others_of(array, OTHER_KINDS):
                yield path, partial(in_array, state["file"], array, other)
        elif kind == "SparseMatrixNode":
            content = dict(np.load(io.BytesIO(parts[state["file"]]), allow_pickle=False))
            for name in ("indices", "indptr", "data", "shape"):
                for other in others_of(content[name]):
                    yield f"{path}.{name}", partial(in_table, state["file"], content, name, other)
        elif kind == "JsonNode":
            before = state["content"]
            for other in map(json.dumps, OTHER_VALUES):
                if other != before:
                    state["content"] = other
                    yield path, partial(in_schema, schema, before, other)
            state["content"] = before


def findings(name, every):
    """Sentences on changes of a model that take for ever: all else is an answer or an error."""
    estimator, data = (MODELS | PATHS)[name]
    X, y = data()
    saved = skops.io.dumps(clone(estimator).fit(X, y))
    trusted = skops.io.get_untrusted_types(data=saved)
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for k, (path, change) in enumerate(changes(parts)):
        if k % every != every // 2:
            continue
        what, other = change()
        where = f"{name}{path}: {what}"
        print(where, flush=True)  # the last line before a crash
        signal.alarm(PATIENCE)
        with contextlib.suppress(Exception):
            try:
                answers(skops.io.loads(in_bytes(pack, parts | other), trusted=trusted), X)
            except TimeoutError:
                yield f"{where} takes longer than {PATIENCE} s"
        signal.alarm(0)


def give_up(*signal_and_frame):
    raise TimeoutError


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, give_up)
    for every, many, names in json.loads(sys.argv[1]):
        _packing.MANY, _packing.MOSTLY_ZERO = many, 2.0
        found = [text for name in names for text in findings(name, every)]
        print(f"findings of {every}, {many}: {found}")
