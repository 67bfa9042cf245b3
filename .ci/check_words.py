"""Find words that CONTRIBUTING.md replaces by others: metaphors, and persons for things.

The section "Words" of CONTRIBUTING.md has a table "instead of | write". A word of its first column
is a fault wherever it stands by itself in sskit, tests, doc or examples, but for `ALLOWED`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("sskit", "tests", "doc", "examples")
SUFFIXES = {".py", ".pyx", ".pxd", ".hpp", ".cc", ".rst", ".md"}
MADE = {"_build", "auto_examples", "generated", "__pycache__"}
# Where such a word is meant literally: a regular expression of what is around it, and why.
ALLOWED = {
    r"std::move\b": "the function of C++",
    r"\.local/share/": "a folder",
    r"\b[Ll]ook up\b": "what one does in a reference",
    r"\bmoves\b(?= *(=|!=|[:,)]|in\b|is\b|must\b|not in\b|!r))|[\"`(]moves\b": (
        "the parameter of sskit.oracles.expansion"
    ),
    r"\*?expansion\s+moves?\*?": "the name of the method of Boykov, Veksler and Zabih",
    r"\bSITE\b|check_site|(an empty|the built) site\b": "a web site, tests/test_documentation.py",
}


def banned_words(text):
    """Return the words of the first column of the table in CONTRIBUTING.md, with the second."""
    section = re.search(r"^## Words\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    rows = re.findall(r"^\| *([^|]+?) *\| *([^|]+?) *\|$", section.group(1), re.M)[2:]
    return {word: better for words, better in rows for word in words.split(", ")}


def find_faults(root, folders=FOLDERS):
    """Return a sentence for each word that is to be another one."""
    words = banned_words((root / "CONTRIBUTING.md").read_text())
    banned = re.compile(rf"\b({'|'.join(words)})\b", re.I)
    allowed = re.compile("|".join(ALLOWED))
    faults = []
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*")):
        name = path.relative_to(root)
        if path.suffix not in SUFFIXES or MADE & set(name.parts):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for found in banned.finditer(allowed.sub("", line)):
                better = words[found.group().lower()]
                faults.append(f"{name}:{number}: instead of {found.group()!r} write {better}")
    return faults


if __name__ == "__main__":
    found = find_faults(ROOT)
    print("\n".join(found) or "no word that should be another one")
    sys.exit(bool(found))
