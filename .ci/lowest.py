"""Pin every dependency to the lowest version that pyproject.toml allows, on standard output.

The result is a file of constraints for pip. Only what the suite runs with is in it; the tools of
the extras "bench", "dev" and "docs" are not.
"""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
UNTESTED = {"bench", "dev", "docs"}  # extras
HEADER = "# The lowest versions that pyproject.toml allows; made by: python .ci/lowest.py"
REQUIREMENT = re.compile(
    r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*>=\s*([0-9][0-9.]*)\s*(?:;.*)?", re.S
)


def lowest_versions(project):
    """Return the lowest version of every dependency.

    Parameters
    ----------
    project : dict
        What pyproject.toml holds.

    Returns
    -------
    versions : dict of str to str
        By the name of the distribution, sorted.

    Raises
    ------
    ValueError
        If a requirement has no lower bound, or two lists do not agree.
    """
    extras = project["project"]["optional-dependencies"]
    lists = {
        "build-system": project["build-system"]["requires"],
        "dependencies": project["project"]["dependencies"],
    }
    lists |= {name: listed for name, listed in extras.items() if name not in UNTESTED}
    versions = {}
    for title, listed in lists.items():
        for requirement in listed:
            if requirement.startswith("sskit-learn["):
                continue  # other extras
            match = REQUIREMENT.fullmatch(requirement)
            if match is None:
                raise ValueError(f"{title}: {requirement!r} is not of the form name>=version")
            name, version = match.groups()
            if versions.setdefault(name, version) != version:
                raise ValueError(f"{title}: {requirement}, but elsewhere {versions[name]}")
    return dict(sorted(versions.items(), key=lambda item: item[0].lower()))


def constraints(project):
    """Return the text of the file of constraints."""
    pins = [f"{name}=={version}" for name, version in lowest_versions(project).items()]
    return "\n".join([HEADER, *pins, ""])


if __name__ == "__main__":
    sys.stdout.write(constraints(tomllib.loads((ROOT / "pyproject.toml").read_text())))
