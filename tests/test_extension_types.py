"""Whatever Python does with compiled code ends in an exception or a value, never in a crash."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def declared_types():
    """Names of all extension types, private ones included, as the sources declare them."""
    sources = TESTS.parent / "sskit"
    return {
        ".".join([*path.relative_to(sources).with_suffix("").parts, name])
        for path in sources.rglob("*.pyx")
        for name in re.findall(r"^cdef class (\w+)", path.read_text(), re.MULTILINE)
    }


TYPES = sorted(declared_types())

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="forks and limits of the address space, as Linux has them"
)


def outcomes(n_random):
    """{name: what became of it} of all types, and of the functions of all modules."""
    done = subprocess.run(
        [sys.executable, TESTS / "helpers" / "nonsense.py", TESTS, str(n_random)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    found = map(json.loads, done.stdout.splitlines())
    return {outcome.pop("name").removeprefix("sskit."): outcome for outcome in found}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What became of them, found out once, by one of the workers."""
    if "PYTEST_XDIST_TESTRUNUID" not in os.environ:
        return outcomes(8)
    folder = tmp_path_factory.getbasetemp().parent
    result, claim = folder / "nonsense.json", folder / "nonsense.claim"
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        for _ in range(3000):
            if result.exists():
                break
            time.sleep(0.1)
    else:
        part = folder / "nonsense.part"
        part.write_text(json.dumps(outcomes(8)))
        part.rename(result)
    return json.loads(result.read_text())


@pytest.mark.parametrize("name", TYPES)
def test_no_nonsense_kills(found, name):
    assert found[name]["died"] is None
    assert found[name]["calls"] > 50


def test_every_type_and_function_is_tried(found):
    assert set(TYPES) <= set(found)
    modules = set(found) - set(TYPES)
    assert len(modules) > 30
    assert {name: found[name]["died"] for name in modules if found[name]["died"]} == {}


def test_every_type_has_objects(found):
    assert {name for name in TYPES if not found[name]["objects"]} == set()


@pytest.mark.slow
def test_no_random_nonsense_kills():
    found = outcomes(400)
    assert {name: outcome["died"] for name, outcome in found.items() if outcome["died"]} == {}
