"""Memory of a whole process that fits and predicts in a kernel space."""

import subprocess
import sys

import pytest

# The peak is read after a small fit, which has loaded all that is imported, and again at the end.
RUN = """
import numpy as np
from sskit import StructSVMClassifier

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

def make(n):
    X = np.random.default_rng(n).uniform(size=(n, 2))
    return X, np.floor(4 * X).sum(axis=1) % 2

params = {"kernel": "rbf", "gamma": 20.0, "lam": 1e-4, "tol": TOL, "random_state": 0}
StructSVMClassifier(**params).fit(*make(100))
X, y = make(5000)
before = peak()
model = StructSVMClassifier(**params, kernel_cache=CACHE, solver=SOLVER).fit(X, y)
assert model.certified_ and model.dual_gap_ <= TOL, model.dual_gap_
fitted = peak()
model.predict(make(14000)[0])
print(fitted - before, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("solver", "tol"), [("'auto'", 0.1), pytest.param("'fw'", 0.5, marks=pytest.mark.slow)]
)
def test_the_peak_is_the_cache_and_blocks_of_rows(solver, tol, tmp_path):
    """The matrix has 190 MiB; a block of its rows has 16, and the kernel function needs more."""
    cache, blocks = 32, 5 * 16
    script = RUN.replace("CACHE", str(cache)).replace("SOLVER", solver).replace("TOL", str(tol))
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    of_fit, of_all = map(float, found.stdout.split())
    print(f"{solver}: {of_fit:.0f} MiB in fit, {of_all:.0f} MiB with predict")
    assert of_fit < cache + blocks
    assert of_all < cache + blocks
