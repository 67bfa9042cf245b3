"""Saved models with parts that somebody has changed."""

import contextlib
import io
import json
import signal
import sys
import warnings
import zipfile

import numpy as np
import skops.io
from sklearn.base import clone

from helpers.saved import MODELS, PATHS, answers


def parts_of(data):
    """The files in a saved model by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts):
    """A saved model of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, json.dumps(content) if isinstance(content, dict) else content)
    return buffer.getvalue()


def saved_array(array):
    """An array as it is saved."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def other_shapes(array):
    """Arrays of the same kind and of other shapes."""
    flat = array.ravel()
    found = [flat[:0], array[None], flat[:1].reshape(()) if flat.size else np.zeros(())]
    if array.ndim:
        found += [array[:-1], np.concatenate([array, array])]
        found += [array[..., :-1], np.concatenate([array, array], axis=-1)]
    if array.ndim > 1:
        found += [flat, np.swapaxes(array, 0, -1), array[:, :1]]
    return [other for other in found if other.shape != array.shape]


def other_kinds(array):
    """Arrays of the same shape and of other dtypes."""
    for dtype in (np.complex128, "U3", "S2", "M8[s]", [("a", float)]):
        yield np.zeros(array.shape, dtype=dtype)


def other_values(array):
    """Arrays of the same shape and kind with wild values."""
    if array.dtype.kind == "f":
        values = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e150, -1.0, 0.0]
    elif array.dtype.kind in "iu":
        values = [-1, 0, 1, 2, 7, 100_000, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min]
    elif array.dtype.kind == "b":
        values = [False, True]
    else:
        values = []
    for value in values:
        yield np.full(array.shape, value, dtype=array.dtype)
        if array.size:
            one = array.copy()
            one.flat[array.size // 2] = value
            yield one


def attributes_of(state, prefix=""):
    """Pairs (path, state) of what a saved object holds, at any depth."""
    content = state.get("content")
    if state["__loader__"] == "ObjectNode":
        content = content["content"] if content else {}
    children = content.items() if isinstance(content, dict) else ()
    if isinstance(content, list):
        children = enumerate(content)
    for name, child in children:
        if isinstance(child, dict) and "__loader__" in child:
            path = f"{prefix}.{name}"
            yield path, child
            yield from attributes_of(child, path)


def changed_arrays(parts, kinds, wanted):
    """Yield (path, what is changed, files in its place) for a changed array at a time."""
    for path, state in attributes_of(json.loads(parts["schema.json"])):
        if state["__loader__"] != "NdArrayNode" or state["type"] != "numpy" or not wanted(path):
            continue
        array = np.load(io.BytesIO(parts[state["file"]]), allow_pickle=False)
        for kind in kinds:
            for other in kind(array):
                if other.shape == array.shape and other.dtype == array.dtype:
                    what = f"{array.ravel()[:3]} -> {other.ravel()[:3]}"
                    if np.array_equal(other, array, equal_nan=array.dtype.kind == "f"):
                        continue
                else:
                    what = f"{array.dtype}{array.shape} -> {other.dtype}{other.shape}"
                yield path, what, {state["file"]: saved_array(other)}


def changed_values(parts, wanted):
    """Yield (path, what is changed, files in its place) for a number or string at a time."""
    schema = json.loads(parts["schema.json"])
    for path, state in attributes_of(schema):
        if state["__loader__"] != "JsonNode" or not wanted(path):
            continue
        before = state["content"]
        for other in (-1, 0, 1, 2, 1000, 10**12, 0.5, "x", "", None, True, [], [1, 2], {"a": 1}):
            if json.dumps(other) == before:
                continue
            state["content"] = json.dumps(other)
            yield path, f"{before} -> {other!r}", {"schema.json": schema}
        state["content"] = before


def changed_sparse(parts):
    """Yield (path, what is changed, files in its place) for a changed sparse matrix at a time."""
    for path, state in attributes_of(json.loads(parts["schema.json"])):
        if state["__loader__"] != "SparseMatrixNode":
            continue
        content = dict(np.load(io.BytesIO(parts[state["file"]]), allow_pickle=False))
        for name in ("indices", "indptr", "data", "shape"):
            for other in (*other_values(content[name]), *other_shapes(content[name])):
                buffer = io.BytesIO()
                np.savez(buffer, **(content | {name: other}))
                what = f"{name}: {content[name].ravel()[:3]} -> {other.ravel()[:3]}"
                yield path, what, {state["file"]: buffer.getvalue()}


# What tells of the course of a fit and is read by nobody.
TOLD = ("history_", "cv_results_", "scores_", "times_", "validation_indices_", "random_state")
PATIENCE = 20  # seconds


def changes(parts):
    """Yield (path, what was changed, files in its place)."""

    def wanted(path):
        return not any(name in path for name in TOLD)

    kinds = other_shapes, other_kinds, other_values
    yield from changed_arrays(parts, kinds, wanted)
    yield from changed_values(parts, wanted)
    yield from changed_sparse(parts)


def findings(name, every):
    """Sentences on changed files of a model that take for ever: all else is an answer or an error.

    A crash ends the process.
    """
    estimator, data = (MODELS | PATHS)[name]
    X, y = data()
    saved = skops.io.dumps(clone(estimator).fit(X, y))
    trusted, parts = skops.io.get_untrusted_types(data=saved), parts_of(saved)
    for k, (path, what, other) in enumerate(changes(parts)):
        if k % every != every // 2:
            continue
        where = f"{name}{path}: {what}"
        print(where, flush=True)  # the last line before a crash
        signal.alarm(PATIENCE)
        with contextlib.suppress(Exception):
            try:
                answers(skops.io.loads(packed(parts | other), trusted=trusted), X)
            except TimeoutError:
                yield f"{where} takes longer than {PATIENCE} s"
        signal.alarm(0)


def give_up(*signal_and_frame):
    raise TimeoutError


def main(every, *names):
    """Print what is found of models, and fail if it is anything."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, give_up)
    found = [sentence for name in names for sentence in findings(name, int(every))]
    print("\nfindings:", *found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
