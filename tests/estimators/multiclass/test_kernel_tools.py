"""Kernels with the tools of scikit-learn: searches, folds, pickles; and with other features."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons

import sskit.models.kernel.functions
from sskit import StructSVMClassifier

GAMMA = 2.0
PARAMS = {"kernel": "rbf", "gamma": GAMMA, "lam": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.2, random_state=0)


@pytest.mark.parametrize("kernel_cache", [500.0, 0.01])
def test_a_pickle_holds_support_vectors_but_no_kernel_rows(moons, kernel_cache):
    X, y = (np.repeat(part, 8, axis=0) for part in moons)
    X += np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    model = StructSVMClassifier(**PARAMS, kernel_cache=kernel_cache).fit(X, y)
    saved = pickle.dumps(model)
    held = sum(
        getattr(model, name).nbytes for name in ("support_", "support_vectors_", "dual_coef_")
    )
    # a row of the kernel matrix has 5760 bytes
    assert len(saved) < held + 6000
    np.testing.assert_array_equal(
        pickle.loads(saved).decision_function(X), model.decision_function(X)
    )


def test_predictions_do_not_depend_on_the_blocks_they_are_made_in(moons, monkeypatch):
    model = StructSVMClassifier(**PARAMS).fit(*moons)
    X = np.random.default_rng(0).normal(size=(500, 2))
    whole, shapes = model.decision_function(X), []
    monkeypatch.setattr(sskit.models.kernel.functions, "BLOCK_ENTRIES", 1000)
    against = type(model.kernel_).against

    def watched(*args):
        shapes.append(against(*args).shape)
        return against(*args)

    monkeypatch.setattr(type(model.kernel_), "against", watched)
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12)
    assert max(rows * columns for rows, columns in shapes) <= 1000
    assert sum(rows for rows, _ in shapes) == 500


def test_what_works_with_kernels_is_certified(moons):
    X, y = moons
    weight = np.linspace(0.5, 2.0, len(y))
    for params in (
        {"rescaling": "slack"},
        {"class_weight": "balanced"},
        {"warm_start": True},
        {"solver": "mpbcfw"},
        {"solver": "one_slack"},
        {"sampling": "gap"},
        {"steps": "fw"},
    ):
        params = {**PARAMS, "lam": 0.05, "tol": 0.02, **params}
        fits = [
            StructSVMClassifier(**{**params, "kernel_cache": size}).fit(X, y, sample_weight=weight)
            for size in (500.0, 0.01)
        ]
        for model in fits:
            assert model.certified_
            assert model.dual_gap_ <= 0.02
        # each within its gap of one optimum, but for kernels in single precision
        assert abs(fits[0].primal_objective_ - fits[1].primal_objective_) < 0.02 + 1e-5


# ---- memory of a whole process ------------------------------------------------------------------

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
