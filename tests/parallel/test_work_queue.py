"""The work queue of a thread pool by itself, under a sanitizer of threads."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HEADER = HERE.parents[1] / "sskit" / "parallel" / "work_queue.hpp"
# With another sanitizer or an environment of its tools the driver would not start.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
ENVIRONMENT["TSAN_OPTIONS"] = "halt_on_error=1 exitcode=66"


def run(command, **options):
    options |= {"env": ENVIRONMENT, "timeout": 300}
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """A compiler with the sanitizer, whose programs run here."""
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("compiler")
    (folder / "empty.cpp").write_text("int main() { return 0; }")
    command = [found, "-fsanitize=thread", "empty.cpp", "-o", "empty"]
    if run(command, cwd=folder).returncode or run([folder / "empty"]).returncode:
        pytest.skip("the compiler has no sanitizer of threads that runs here")
    return found


def drive(compiler, folder, header, n_rounds=2000, n_helpers=3, seed=0):
    """Compile the driver with a header and run it."""
    (folder / "work_queue.hpp").write_text(header)
    flags = ["-std=c++17", "-O1", "-g", "-pthread", "-fsanitize=thread", f"-I{folder}"]
    compiled = run([compiler, *flags, HERE / "work_queue_driver.cc", "-o", folder / "driver"])
    assert compiled.returncode == 0, compiled.stderr
    return run([folder / "driver", str(n_rounds), str(n_helpers), str(seed)])


def test_thousands_of_rounds_are_free_of_races(compiler, tmp_path):
    done = drive(compiler, tmp_path, HEADER.read_text())
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 100  # helpers took part


@pytest.mark.slow
@pytest.mark.parametrize("n_helpers", [0, 1, 7])
def test_a_longer_run_with_few_and_many_helpers(compiler, tmp_path, n_helpers):
    done = drive(compiler, tmp_path, HEADER.read_text(), 20000, n_helpers, seed=1)
    assert (done.returncode, done.stderr) == (0, "")
