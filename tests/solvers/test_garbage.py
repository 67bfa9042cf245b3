"""Objects that own memory are freed where the garbage collector finds them in a cycle."""

import subprocess
import sys

SCRIPT = """
import gc, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from helpers.structures import Classes, bind
from helpers.toys import chain_toy, multilabel_toy
from sskit.core.dual import DualState
from sskit.solvers.dual_decomposition.factors.consistent import ConsistentPoint
from sskit.solvers.dual_decomposition.factors.state import FactorState
from sskit.solvers.dual_decomposition.label_pairs.state import LabelState
from sskit.solvers.oracle_calls.pool import ThreadPool

gc.disable()
chains, sets = chain_toy().problem, multilabel_toy(inference="lp").problem


def state_of(kind, problem):
    return kind(problem.decomposition(), 1.0, 1.0, np.zeros(problem.n_weights + 16))


made = {
    "factors": lambda: state_of(FactorState, chains),
    "labels": lambda: state_of(LabelState, sets),
    "dual": lambda: DualState(bind(Classes(2), [np.ones(2)] * 3, [0, 1, 0])),
    "pool": lambda: ThreadPool(chain_toy().problem, 3),
    "point": lambda: ConsistentPoint(
        FactorState(chains.decomposition(), 1.0, 1.0, np.zeros(chains.n_weights + 16))
    ),
}
for name, make in made.items():
    print(name, flush=True)  # the last one is where it died
    for _ in range(20):
        cycle = [make()]
        cycle.append(cycle)
        del cycle
        gc.collect()
"""


def test_cycles_are_freed(request, tmp_path):
    folder = str(request.config.rootpath / "tests")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder],
        cwd=tmp_path,  # not the checkout, which may be compiled for another Python
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.split() == ["factors", "labels", "dual", "pool", "point"]
