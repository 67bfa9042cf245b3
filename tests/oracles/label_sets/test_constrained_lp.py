"""The LP relaxation with further inequalities, against SciPy."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from helpers.label_sets import local_polytope, random_model
from scipy.optimize import linprog
from scipy.sparse import vstack

pytest.importorskip("highspy")

from sskit.oracles.label_sets.constrained_lp import ConstrainedLP  # noqa: E402


def test_same_optimum_as_a_fresh_model():
    rng = np.random.default_rng(0)
    n_empty = 0
    for _ in range(10):
        n_labels = int(rng.integers(1, 10))
        edges = random_model(rng, n_labels, 0.7)[1]
        A, b = local_polytope(n_labels, edges)
        kept = ConstrainedLP(n_labels, edges)
        for _ in range(6):
            gain = rng.normal(size=A.shape[1])
            rows, limits = rng.normal(size=(2, A.shape[1])), rng.normal(size=2)
            point = kept.find(gain, rows, limits)
            fresh = linprog(-gain, vstack([A, rows]), np.concatenate([b, limits]), bounds=(0, 1))
            assert (point is None) == (fresh.status == 2)
            if point is None:
                n_empty += 1
                continue
            assert gain @ point == pytest.approx(-fresh.fun, abs=1e-7)
            assert (A @ point <= b + 1e-7).all()
            assert (rows @ point <= limits + 1e-7).all()
    assert 0 < n_empty < 60


def test_nothing_is_printed(tmp_path):
    # what C prints may appear no sooner than the process ends
    code = """
        import numpy as np
        from sskit.oracles.label_sets.constrained_lp import ConstrainedLP
        model = ConstrainedLP(2, np.array([[0, 1]]))
        model.find(np.ones(3), np.zeros((2, 3)), np.ones(2))
    """
    call = [sys.executable, "-c", textwrap.dedent(code)]
    # not from the checkout, which may be compiled for another Python
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
