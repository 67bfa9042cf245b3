"""Saved models with parts that somebody has changed."""

import io
import json
import signal
import sys
import warnings
import zipfile
from itertools import chain

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


# Arrays of which compiled code, or the next array, needs the very shape.
NEEDED = {
    "_losses", "_origin", "classes_", "coef_", "coefs_", "dual_coef_", "dual_gaps_", "edges_",
    "end_", "hinges_", "intercept_", "lams_", "leaf_", "means_", "n_iter_", "pairwise_",
    "parents_", "root_", "springs_", "sqnorms_", "start_", "support_", "support_vectors_",
    "transitions_", "types_",
}  # fmt: skip
# What tells of the course of a fit and is read by nobody.
TOLD = ("history_", "cv_results_", "scores_", "times_", "validation_indices_", "random_state")
PATIENCE = 20  # seconds


def changes(parts):
    """Yield (path, what was changed, files in its place, whether that must be refused)."""

    def wanted(path):
        return not any(name in path for name in TOLD)

    for path, what, other in changed_arrays(parts, [other_shapes], wanted):
        yield path, what, other, path.rpartition(".")[2] in NEEDED
    for path, what, other in changed_arrays(parts, [other_kinds], wanted):
        last = path.rpartition(".")[2]
        yield path, what, other, last in NEEDED - {"classes_"}
    for path, what, other in chain(
        changed_arrays(parts, [other_values], wanted),
        changed_values(parts, wanted),
        changed_sparse(parts),
    ):
        yield path, what, other, False


USUAL = TypeError, ValueError


def findings(name, every):
    """Sentences on changed files of a model that load or predict otherwise than they should.

    Every other answer is fine where numbers were exchanged for such as a fit might find, and so
    are a ValueError and a TypeError.
    """
    estimator, data = (MODELS | PATHS)[name]
    X, y = data()
    # how many weights there are is for a structure to say
    free = {".coef_"} if "structure" in name else set()
    # and what is made of its attributes, for a classifier from elsewhere
    foreign = ".steps.0.1.estimator_." if "nodes" in name else "nothing"
    saved = skops.io.dumps(clone(estimator).fit(X, y))
    trusted, parts = skops.io.get_untrusted_types(data=saved), parts_of(saved)
    for k, (path, what, other, refused) in enumerate(changes(parts)):
        if k % every != every // 2:
            continue
        other = packed(parts | other)
        where = f"{name}{path}: {what}"
        print(where, flush=True)  # the last line before a crash
        signal.alarm(PATIENCE)
        try:
            answers(skops.io.loads(other, trusted=trusted), X)
        except USUAL:
            continue
        except TimeoutError:
            yield f"{where} takes longer than {PATIENCE} s"
        except Exception as error:
            # Python 3.10: errors of structures have no notes, and so are causes of others
            known = sys.version_info < (3, 11) and isinstance(error.__cause__, USUAL)
            if not known and foreign not in path:
                yield f"{where} raises {error!r}"
        else:
            if refused and path not in free and foreign not in path:
                yield f"{where} is not refused"
        finally:
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
