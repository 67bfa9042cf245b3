"""Put the folder of the tests on the path: ``helpers`` holds references written from the papers."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing on a busy machine.
settings.register_profile("sskit", deadline=None)
settings.load_profile("sskit")
