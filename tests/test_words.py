"""Words that CONTRIBUTING.md replaces by others are found by `make lint`, and stand nowhere."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHECKER = runpy.run_path(str(ROOT / ".ci" / "check_words.py"))


def test_the_checkout_has_none():
    if not (ROOT / "doc").is_dir():
        pytest.skip("runs in a checkout")
    assert CHECKER["find_faults"](ROOT) == []


# backwards, such that this file has none
WORD = "erahs"[::-1]


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        (f"# a {WORD} of the data", 1),
        (f"{WORD.upper()} = {WORD}s", 2),
        (f"{WORD}d, un{WORD}d, {WORD}_of", 0),
        (f"~/.local/{WORD}/sskit", 0),
        ("auto near = std::{}(list);".format("evom"[::-1]), 0),
    ],
)
def test_words_are_found(tmp_path, line, faults):
    (tmp_path / "CONTRIBUTING.md").write_text((ROOT / "CONTRIBUTING.md").read_text())
    (tmp_path / "sskit" / "_build").mkdir(parents=True)
    for name in ("a.py", "a.so", "_build/b.py"):
        (tmp_path / "sskit" / name).write_text(f"first\n{line}\n")
    found = CHECKER["find_faults"](tmp_path)
    assert len(found) == faults
    assert all(fault.startswith("sskit/a.py:2: instead of ") for fault in found)
