"""Data and measuring tools of the benchmark scripts.

Seconds are processor time of this process, which runs one thread: on a busy machine they are close
to wall-clock time on an idle one.
"""

import gc
import itertools
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time

import numpy as np
from _data import load_conll2000, load_ocr_letters
from scipy.sparse import coo_array
from sklearn.feature_extraction import DictVectorizer

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged import stack_labels, stack_sequences
from sskit.models.chain.model import ChainModel
from sskit.preprocessing import TokenTransformer
from sskit.solvers.oracle_calls.pool import make_pool

COLUMNS = ("passes", "calls", "seconds", "primal", "dual", "gap")


def ocr(size):
    """Return (X, y, X_test, y_test) of OCR letters.

    Features are 128 pixels and a constant. "small" trains on fold 0 (626 words) and tests on
    the other nine (6,251 words), "large" the other way round.
    """
    data = load_ocr_letters(constant=True)
    first = np.asarray(data.folds) == 0
    halves = [
        ([data.data[i] for i in np.flatnonzero(m)], [data.target[i] for i in np.flatnonzero(m)])
        for m in (first, ~first)
    ]
    train, test = halves if size == "small" else halves[::-1]
    return *train, *test


def conll():
    """Return (X, y, X_test, y_test) of CoNLL-2000 chunking with all 335,674 attributes."""
    train = load_conll2000(subset="train", attributes=True)
    test = load_conll2000(subset="test", attributes=True)
    vectorizer = TokenTransformer(DictVectorizer())
    X = vectorizer.fit_transform(train.data)
    return X, train.target, vectorizer.transform(test.data), test.target


def chain_problem(X, y, loss="hamming"):
    """Return the problem that a SequenceTagger without further options would solve."""
    stacked = stack_sequences(X)
    classes, labels = np.unique(stack_labels(y, stacked.lengths), return_inverse=True)
    costs = np.ones(len(labels))  # of "hamming_sum"
    if loss == "hamming":
        costs /= np.repeat(stacked.lengths, stacked.lengths)
    model = ChainModel(stacked.values.shape[1], len(classes))
    return model.bind(stacked, labels, costs, block_weights(len(stacked)))


def alternate(functions, rounds, clock=time.perf_counter):
    """Return the median times of functions that take turns, in seconds."""
    times = [[] for _ in functions]
    gc.disable()
    for _ in range(rounds):
        for function, record in zip(functions, times, strict=True):
            start = clock()
            function()
            record.append(clock() - start)
    gc.enable()
    return [statistics.median(record) for record in times]


def processor_time(function):
    """Return the result of calling `function` and the processor time that it took."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def local_polytope(n_labels, edges):
    """Return A and b of A (y, z) <= b, the inequalities of pairs z and their labels y."""
    n_edges = len(edges)
    e, (u, v) = np.arange(n_edges), edges.T
    z, one = n_labels + e, np.ones(n_edges)
    rows = np.concatenate([e, e, n_edges + e, n_edges + e, *[2 * n_edges + e] * 3])
    columns = np.concatenate([z, u, z, v, u, v, z])
    values = np.concatenate([one, -one, one, -one, one, one, -one])
    A = coo_array((values, (rows, columns)), shape=(3 * n_edges, n_labels + n_edges)).tocsr()
    return A, np.repeat([0.0, 0.0, 1.0], n_edges)


class OffTheRecord:
    """Measure a run of block-coordinate Frank-Wolfe without letting it learn from that.

    An exact pass tells a run the gaps of all blocks. Those that only serve to draw a curve are
    neither charged to the run nor may they help it, so what it knew of the gaps is put back.
    """

    def __init__(self, run):
        self.run = run

    def __enter__(self):
        self.gaps = self.run.gaps.copy()
        if hasattr(self.run, "updates"):
            self.promises = self.run.promises.copy()
            self.mean_gaps = [update.mean_gap for update in self.run.updates]

    def __exit__(self, *exception):
        self.run.gaps[:] = self.gaps
        self.run.sampler.set_gaps(self.gaps)
        if hasattr(self.run, "updates"):
            self.run.promises[:] = self.promises
            for update, mean_gap in zip(self.run.updates, self.mean_gaps, strict=True):
                update.mean_gap = mean_gap


def trace(problem, lam, solver, seed, *, seconds, target=0.0, passes=100_000):
    """Run a solver and record its progress.

    The run makes an exact pass every ``solver.gap_every`` passes, as a fit does, and is charged
    for it. Exact passes in between, after every fifth more passes, are off the record.

    Parameters
    ----------
    problem : Problem
        What to solve.
    lam : float
        Regularisation strength.
    solver : BCFW or MultiPlane
        The solver.
    seed : int
        Of the order of the blocks.
    seconds : float
        Processor time that the run may take.
    target : float, default=0.0
        Absolute gap at which it ends.
    passes : int, default=100_000
        Largest number of passes.

    Returns
    -------
    rows : ndarray of shape (n_rows, 6)
        In the order of COLUMNS. Calls are those of the oracle, divided by the number of blocks.
    """
    regularizer = Regularizer(lam, problem.n_weights)
    charged, free = make_pool(problem), make_pool(problem)
    start = time.process_time()
    hinges = charged.hinges(regularizer.padded(np.zeros(problem.n_weights)))
    gaps = np.asarray(problem.block_weight) * hinges
    run = solver.start(problem, regularizer, np.random.RandomState(seed), gaps)
    spent = time.process_time() - start
    rows, due = [], 1.0
    for n_passes in itertools.count(1):
        start = time.process_time()
        run.run_pass()
        regular = n_passes % solver.gap_every == 0
        certificate = run.certify(charged) if regular else None
        spent += time.process_time() - start
        last = n_passes >= passes or spent >= seconds
        if not regular and not last and n_passes < due:
            continue
        due = 1.2 * n_passes
        if certificate is None:
            with OffTheRecord(run):
                certificate = run.certify(free)
        calls = (run.n_oracle_calls + charged.n_calls) / problem.n_blocks
        rows.append((n_passes, calls, spent, certificate.primal, certificate.dual, certificate.gap))
        if last or certificate.gap <= target:
            return np.array(rows)


def first_below(rows, column, value):
    """Return (calls, seconds) of the first row with a column at most `value`; inf if none."""
    found = np.flatnonzero(rows[:, COLUMNS.index(column)] <= value)
    return tuple(rows[found[0], 1:3]) if len(found) else (np.inf, np.inf)
