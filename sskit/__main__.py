"""Print what a bug report needs: versions, the system, and what its processor can do."""

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

import joblib
import numpy as np


def installed(distribution):
    """Return the version of a distribution, or that there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def main():
    """Print a line each; NumPy adds the features of the processor and the linear algebra."""
    tools = re.compile("extra == .(docs|test|dev|bench)")
    ours = [line for line in requires("sskit-learn") if not tools.search(line)]
    for name in ["sskit-learn", *(re.match(r"[\w-]+", line)[0] for line in ours)]:
        print(f"{name:<22}{installed(name)}")
    print(f"{'Python':<22}{platform.python_version()}")
    print(f"{'system':<22}{platform.platform()}")
    print(f"{'processors':<22}{joblib.cpu_count()}")
    np.show_runtime()


if __name__ == "__main__":
    main()
