"""Put the folder of the tests on the path: ``helpers`` holds references written from the papers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
