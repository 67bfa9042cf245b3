"""The data sets of the benchmarks: ``_data`` of their folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "benchmarks"))

from _data import *  # noqa: E402, F403
