"""Command line of the fuzzer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
