"""Objects that own memory are freed where the garbage collector finds them in a cycle."""

SCRIPT = """
import gc, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from helpers.structures import Classes, bind
from helpers.toys import chain_toy, multilabel_toy
from sskit.core.dual import DualState
from sskit.solvers import GDMM
from sskit.core.regularizer import Regularizer
from sskit.solvers.oracle_calls.pool import ParallelPool

gc.disable()
chains, sets = chain_toy().problem, multilabel_toy(inference="lp").problem


def sweep_of(problem):
    regularizer = Regularizer(1.0, problem.n_weights)
    return GDMM().start(problem, regularizer, np.random.RandomState(0)).sweep


made = {
    "factors": lambda: sweep_of(chains),
    "labels": lambda: sweep_of(sets),
    "dual": lambda: DualState(bind(Classes(2), [np.ones(2)] * 3, [0, 1, 0])),
    "pool": lambda: ParallelPool(chain_toy().problem, 3),
}
gc.collect()
gc.freeze()  # what is there by now need not be looked through again and again
for name, make in made.items():
    print(name, flush=True)  # the last one is where it died
    for _ in range(8):
        cycle = [make()]
        cycle.append(cycle)
        del cycle
        gc.collect()
"""


def test_cycles_are_freed(request, run_python):
    done = run_python("-c", SCRIPT, str(request.config.rootpath / "tests"))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.split() == ["factors", "labels", "dual", "pool"]
