"""Files of saved models that somebody has changed: refused, and nothing of them runs."""

import json
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.hostile import attributes_of, packed, parts_of
from helpers.saved import MODELS, PATHS, answers
from sklearn.base import clone
from skops import io

TESTS = Path(__file__).resolve().parent
NAMES = [*MODELS, *PATHS]


def saved(name):
    """A saved model, what it says, and of what."""
    estimator, data = (MODELS | PATHS)[name]
    X, y = data()
    model = clone(estimator).fit(X, y)
    return io.dumps(model, compression=zipfile.ZIP_DEFLATED), answers(model, X), X


def check_in_a_process(every, *names):
    """Change every so many parts of files of models, one at a time, and load and predict."""
    command = [sys.executable, "-X", "faulthandler", "-m", "helpers.hostile", str(every), *names]
    run = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=900)
    # a crash leaves the change that it came from in the last line
    assert run.returncode == 0, (run.stdout[-3000:], run.stderr[-3000:])


def test_some_changed_parts_are_refused():
    check_in_a_process(320, *NAMES)


# All parts, a model at a time: python -m helpers.hostile 1 NAME
@pytest.mark.slow
@pytest.mark.parametrize("first", range(6))
def test_more_changed_parts_are_refused(first):
    check_in_a_process(12, *NAMES[first::6])


@pytest.mark.parametrize("name", ["tagger, rbf", "path"])
def test_files_that_are_cut_short_are_refused(name):
    data, _, _ = saved(name)
    trusted = io.get_untrusted_types(data=data)
    for size in np.linspace(0, len(data) - 1, 60).astype(int):
        with pytest.raises((zipfile.BadZipFile, OSError, ValueError, KeyError)):
            io.loads(data[:size], trusted=trusted)


@pytest.mark.parametrize("name", ["classifier, poly", "tagger"])
def test_flipped_bits_are_refused_or_change_nothing(name):
    data, expected, X = saved(name)
    trusted = io.get_untrusted_types(data=data)
    rng, n_refused = np.random.default_rng(0), 0
    for place in rng.integers(len(data), size=300):
        changed = bytearray(data)
        changed[place] ^= 1 << rng.integers(8)
        try:
            found = answers(io.loads(bytes(changed), trusted=trusted), X)
        except Exception:
            n_refused += 1
        else:  # the time that a part of the archive was written, say
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert n_refused > 150


def function_node(module, name):
    return {"__class__": name, "__module__": module, "__loader__": "FunctionNode"}


def json_node(value):
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }


def tuple_node(*children):
    return {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": children,
    }


def dict_node(children):
    types = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
    return {
        "__class__": "dict",
        "__module__": "builtins",
        "__loader__": "DictNode",
        "content": children,
        "key_types": types,
    }


def hostile_nodes(module, target):
    """Objects that would run code of a module, or call a function of the system."""
    yield function_node(module, "strike")
    yield {
        "__class__": "partial",
        "__module__": "functools",
        "__loader__": "PartialNode",
        "content": {
            "func": function_node(module, "strike"),
            "args": tuple_node(),
            "kwds": dict_node({}),
            "namespace": json_node(None),
        },
    }
    yield {
        "__class__": "Weapon",
        "__module__": module,
        "__loader__": "ConstructorFromReduceNode",
        "content": tuple_node(json_node("now")),
    }
    yield {"__class__": "Weapon", "__module__": module, "__loader__": "ObjectNode"}
    yield {"__class__": "Weapon", "__module__": module, "__loader__": "TypeNode"}
    yield {
        "__class__": "Popen",
        "__module__": "subprocess",
        "__loader__": "ConstructorFromReduceNode",
        "content": tuple_node(json_node(["touch", str(target)])),
    }
    yield {
        "__class__": "methodcaller",
        "__module__": "operator",
        "__loader__": "OperatorFuncNode",
        "attrs": tuple_node(json_node("predict")),
    }


@pytest.mark.parametrize("name", ["tagger", "path, rbf"])
def test_code_of_other_modules_does_not_run(name, tmp_path, monkeypatch):
    target, module = tmp_path / "struck", f"hostile_{uuid.uuid4().hex}"
    (tmp_path / f"{module}.py").write_text(
        f"from pathlib import Path\nPath({str(target)!r}).touch()\n"
        f"def strike(*args, **kwargs):\n    Path({str(target)!r}).touch()\n"
        f"class Weapon:\n    def __init__(self, *args):\n        strike()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    data = saved(name)[0]
    parts, trusted = parts_of(data), io.get_untrusted_types(data=data)
    paths = [path for path, _ in attributes_of(json.loads(parts["schema.json"]))]
    for path in paths[:: max(1, len(paths) // 12)]:
        for node in hostile_nodes(module, target):
            schema = json.loads(parts["schema.json"])
            place = dict(attributes_of(schema))[path]
            place.clear()
            place.update(node)
            changed = packed(parts | {"schema.json": schema})
            assert io.get_untrusted_types(data=changed)
            with pytest.raises(TypeError, match="Untrusted types found"):
                io.loads(changed, trusted=trusted)
    assert not target.exists()
    assert module not in sys.modules
