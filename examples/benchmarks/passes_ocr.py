"""Time of a pass on OCR letters: pure oracle, exact gap pass, pass of BCFW steps.

The passes alternate in one run and medians are compared, so that the ratios hold on a noisy
machine. Then the scaling of a BCFW pass: with the number of words, with their length, with the
number of features that no word uses. Needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/passes_ocr.py
"""

import numpy as np
from _common import alternate, ocr

from sskit.core.dual import DualState
from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.core.sampler import PermutationSampler
from sskit.inputs.ragged import RaggedArray, stack_labels, stack_sequences
from sskit.models.chain.model import ChainModel
from sskit.solvers.block_coordinate.updates import PlainUpdate
from sskit.solvers.common.averaging import Averager
from sskit.solvers.oracle_calls.minibatch import visit_blocks
from sskit.solvers.oracle_calls.pool import make_pool


class Bench:
    """A chain problem in the middle of its optimisation, ready to be timed."""

    def __init__(self, stacked, y, lam, *, averaging=False, warm_passes=20):
        classes, labels = np.unique(stack_labels(y, stacked.lengths), return_inverse=True)
        cost = np.repeat(1.0 / stacked.lengths, stacked.lengths)
        self.n = len(stacked)
        self.stacked = stacked
        self.model = ChainModel(stacked.values.shape[1], len(classes))
        self.problem = self.bind(labels, cost, block_weights(self.n))
        self.dual = DualState(self.problem)
        self.regularizer = Regularizer(lam, self.problem.n_weights)
        self.sampler = PermutationSampler(self.n, np.random.RandomState(0))
        d = self.problem.n_weights
        self.averager = Averager(d, n_phases=int(averaging))
        self.update = PlainUpdate(
            self.problem, self.dual, self.regularizer, self.averager, *np.zeros((2, self.n))
        )
        self.evaluator = make_pool(self.problem)
        for _ in range(warm_passes):
            self.steps()

    def bind(self, labels, cost, block_weight):
        """Return the problem."""
        return self.model.bind(self.stacked, labels, cost, block_weight)

    def steps(self):
        """Take one BCFW pass."""
        self.sampler.begin_pass(self.n)
        visit_blocks(self.update, self.sampler, self.n)

    def exact(self):
        """Make one exact gap pass."""
        self.evaluator.hinges(self.regularizer.w)

    def decoder(self):
        """Return what makes one pass of pure scores and Viterbi."""
        return self.model.decoder(self.stacked, self.regularizer.coef()).best


def report_passes(size, lam):
    """Print the three passes of one data set."""
    X, y, _, _ = ocr(size)
    stacked = stack_sequences(X)
    bench, averaged = Bench(stacked, y, lam), Bench(stacked, y, lam, averaging=True)
    oracle, exact, steps, average = alternate(
        [bench.decoder(), bench.exact, bench.steps, averaged.steps], 60
    )
    print(
        f"OCR-{size}, lam {lam:g}, microseconds a word: pure oracle {oracle / bench.n * 1e6:.2f}, "
        f"exact gap pass {exact / bench.n * 1e6:.2f}, BCFW pass {steps / bench.n * 1e6:.2f}, "
        f"with averaging {average / bench.n * 1e6:.2f}\n"
        f"    exact / oracle {exact / oracle:.2f}, BCFW / exact {steps / exact:.2f}"
    )


def report_scaling():
    """Print how a BCFW pass grows."""
    X, y, _, _ = ocr("large")
    for n in (781, 1562, 3125, 6251):
        bench = Bench(stack_sequences(X[:n]), y[:n], 0.01)
        (steps,) = alternate([bench.steps], 40)
        print(f"n = {n:5d}: {steps / n * 1e6:.2f} microseconds a word")
    tokens, labels = np.concatenate(X), np.concatenate(y)
    for length in (8, 32, 128, 512, 2048):
        n = len(tokens) // length
        stacked = RaggedArray(tokens[: n * length], np.arange(n + 1) * length)
        bench = Bench(stacked, list(labels[: n * length].reshape(n, length)), 0.01)
        (steps,) = alternate([bench.steps], 20)
        print(f"T = {length:5d}: {steps / (n * length) * 1e6:.3f} microseconds a letter")
    for extra in (0, 10_000, 100_000):
        stacked = stack_sequences(X)
        values = stacked.values if not extra else _widened(stacked.values, extra)
        bench = Bench(RaggedArray(values, stacked.offsets), y, 0.01)
        (steps,) = alternate([bench.steps], 40)
        print(f"d = {bench.problem.n_weights:8d}: {steps / bench.n * 1e6:.2f} microseconds a word")


def _widened(values, extra):
    import scipy.sparse as sp

    csr = sp.csr_array(values)
    return sp.csr_array(
        (csr.data, csr.indices, csr.indptr), shape=(csr.shape[0], csr.shape[1] + extra)
    )


if __name__ == "__main__":
    report_passes("large", 0.001)
    report_passes("large", 0.01)
    report_passes("small", 0.01)
    report_scaling()
