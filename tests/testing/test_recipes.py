"""The structures of the gallery keep the laws of structures."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not here")
@pytest.mark.parametrize("name", ["parsing", "alignment", "detection", "matching"])
def test_recipes_pass_the_check_of_structures(name):
    pytest.importorskip("matplotlib")
    source = (EXAMPLES / "structures" / f"plot_{name}.py").read_text()
    check = source.index("\ncheck_structure(") + 1
    # what comes after the check are fits and pictures
    code = compile(source[: source.index("\n", check)], f"plot_{name}.py", "exec")
    exec(code, {"__name__": f"plot_{name}"})  # noqa: S102
