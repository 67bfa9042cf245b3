"""GDMM, Soft-BCFW and BCFW on made text: test error and objective against passes and time.

    python soft_bcfw.py [n_characters [n_train [n_passes]]]

Features are those of beam.py. Times are processor times; test errors and objectives are taken
outside of them. The objective is P(w) relative to P(0).
"""

import sys
import time

import numpy as np
from beam import made, numbered
from many_labels import bind

from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged import stack_sequences
from sskit.solvers import BCFW, GDMM, SoftBCFW
from sskit.solvers.oracle_calls.pool import make_pool

N_TEST = 40
SOLVERS = {
    "BCFW": BCFW(),
    "GDMM": GDMM(),
    "Soft-BCFW, rho = 1": SoftBCFW(rho=1.0),
    "Soft-BCFW, rho = 10": SoftBCFW(rho=10.0),
    "Soft-BCFW, rho = 10, away": SoftBCFW(rho=10.0, steps="away"),
}


def main(n_characters=300, n_train=100, n_passes=20):
    """Print (passes, seconds, test error, objective) as fits go on."""
    X, y, n_states = numbered(*made(n_train + N_TEST, n_characters), n_train)
    model, problem, lam = bind(X[:n_train], y[:n_train], n_states)
    stacked, truth = stack_sequences(X[n_train:]), np.concatenate(y[n_train:])
    evaluator = make_pool(problem, 1)
    unit = np.mean([len(labels) for labels in y[:n_train]])
    print(f"{n_states} labels, {sum(map(len, y[:n_train]))} tokens", flush=True)
    for name, solver in SOLVERS.items():
        regularizer = Regularizer(lam, problem.n_weights)
        run = solver.start(problem, regularizer, np.random.RandomState(0))
        spent = 0.0
        for n_iter in range(1, n_passes + 1):
            began = time.process_time()
            run.run_pass()
            spent += time.process_time() - began
            if n_iter not in (1, 2, 5, 10, 20, 50, n_passes):
                continue
            w = run.weights()
            error = np.mean(model.decoder(stacked, w).best() != truth)
            hinge = float(np.dot(problem.block_weight, evaluator.hinges(regularizer.padded(w))))
            primal = (0.5 * lam * float(w @ w) + hinge) / unit
            print(f"{name:26s} {n_iter:3d} {spent:8.2f} s {error:.4f} {primal:.4f}", flush=True)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
