"""Put the folder of the tests on the path: ``helpers`` holds references written from the papers."""

import importlib.abc
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers run on the same cores, and threads of OpenMP that have none spin while they wait for
    # other: without this the suite takes half as long again. Set before NumPy comes in.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Of a build without the lock: modules that need it switch it on, and warn in every process.
os.environ.setdefault("PYTHON_GIL", "1")

import pytest

# As a plugin it would have its own assertions rewritten, in every process where no bytecode is
# kept: that takes longer than to import it.
rewriting = [hook for hook in sys.meta_path if type(hook).__module__ == "_pytest.assertion.rewrite"]
sys.meta_path[:] = [hook for hook in sys.meta_path if hook not in rewriting]
settings = importlib.import_module("hypothesis").settings
sys.meta_path[:0] = rewriting

os.environ.setdefault("MPLBACKEND", "Agg")
sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing on a busy machine; other runs have other examples.
settings.register_profile("sskit", deadline=None, max_examples=40)
settings.load_profile("sskit")


@pytest.fixture
def run_python(tmp_path):
    """Return how this interpreter is run, in a folder of the test.

    Not in the checkout, which need not be compiled for this Python: its package would come before
    the one that is installed.
    """

    def run(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture
def own_handler():
    """Let Python's own handler of Ctrl-C be in place, and no press be remembered."""
    from sskit.core.stop import presses

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are delivered to the main thread only")
    presses.clear()
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


def pytest_runtest_teardown():
    """Close what was drawn."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:  # as where a test hides it
        pyplot.close("all")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let one worker run all tests of a file, which have fits in common."""
    if config.getvalue("dist") == "load":
        return importlib.import_module("xdist.scheduler").LoadFileScheduling(config, log)


if importlib.util.find_spec("maxflow") is None:  # it has no wheels for some versions of Python

    class Wanted(importlib.abc.MetaPathFinder):
        """Notes that a cut was wanted, in this process."""

        noted = False

        def find_spec(self, name, path=None, target=None):
            self.noted |= name == "maxflow"

    sys.meta_path.insert(0, wanted := Wanted())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item):
        """Skip what cuts graphs, also in an example or in another process."""
        wanted.noted = False
        try:
            return (yield)
        except (Exception, pytest.fail.Exception) as error:
            said = "".join(traceback.format_exception(error))
            if wanted.noted or "minimum cuts need PyMaxflow" in said:
                pytest.skip("minimum cuts need PyMaxflow, which is not installed")
            raise


class LeftOut(importlib.abc.MetaPathFinder):
    """Skips tests of what a checkout is without; the package itself finds no such module."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.startswith(self.names):
            frame = sys._getframe(1)
            while "importlib" in frame.f_code.co_filename:
                frame = frame.f_back
            if not frame.f_globals.get("__name__", "").startswith("sskit"):
                pytest.skip(f"{name} is left out", allow_module_level=True)
        return None


if "SSKIT_WITHOUT" in os.environ:  # set by tests/test_architecture.py
    left_out = (f"sskit.{name}" for name in os.environ["SSKIT_WITHOUT"].split())
    sys.meta_path.append(LeftOut(tuple(left_out)))
