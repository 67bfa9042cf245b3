"""Would a cluster gain time on text? Passes by number of workers, and a model of the time.

Usage: python many_machines.py [passes [case ...] | cost]

All workers have all data here. A round divides the next pairs of the pass among the workers anew,
each visits its own with its own copy of the weights, and then adds the steps of all others, as
threads do. "passes": passes and visits until the gap is 2 % of the objective, over those of one
worker, by the number of workers and of pairs in a round. All is computed in one thread, so the
counts depend on nothing but the schedule. "cost": seconds of a visit, of a step of another worker
that is added, and of a message between two processes of this machine; and what follows from these
and from the counts for other numbers of workers and other networks.

The cases "ocr", "conll" and "tags" need data sets, see sskit.datasets.
"""

import argparse
import socket
import time
import warnings
from multiprocessing import get_context

import numpy as np
from _common import chain_problem, conll, ocr
from _data import load_wsj_pos
from many_cores import embeddings
from many_labels import describe
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer

from sskit._numbers import capped
from sskit.core.regularizer import Regularizer
from sskit.parallel.thread_pool import ThreadPool
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate.rounds import ShardRounds
from sskit.solvers.block_coordinate.runs import STEPS
from sskit.solvers.block_coordinate.updates import CorrectiveUpdate
from sskit.solvers.common.fit import begin

N_WORKERS = 2, 4, 8, 16
# pairs in a round; the last number is a fraction of all
IN_ROUND = 40, 100, 0.25
TOL, MOST_PASSES = 0.02, 400
# Of "passes conll": visits over those of one worker, by pairs in a round and number of workers.
VISITS = {
    40: {2: 1.17, 4: 1.43, 8: 1.95, 16: 2.27},
    100: {2: 1.18, 4: 1.78, 8: 2.48},
    0.25: {2: 1.55},
}
# Of the same rounds in two processes: bytes of a visit, its step and planes, and seconds in which
# they are packed by one and unpacked by another.
N_BYTES, PACKING = 590, 1.1e-6
# Seconds of a message and bytes a second.
NETWORKS = {"10 Gbit/s, 0.05 ms": (5e-5, 1.25e9), "1 Gbit/s, 0.5 ms": (5e-4, 1.25e8)}


def tags():
    """Return words with their endings and neighbours, and parts of speech."""
    data = load_wsj_pos("train")
    X = TokenTransformer(DictVectorizer()).fit_transform([describe(words) for words in data.data])
    return X, data.target


CASES = {
    # name: (data, lam; None is one over the number of pairs; loss)
    "conll": (lambda: [data[:3000] for data in conll()[:2]], None, "hamming_sum"),
    "tags": (tags, None, "hamming_sum"),
    "ocr": (lambda: ocr("large")[:2], 1e-3, "hamming"),
    "embeddings": (lambda: embeddings(n_tokens=60_000, n_features=96), None, "hamming_sum"),
}


def begun(problem, lam, n_workers, in_round):
    """Return the fit of so many workers before its first pass, all of them in this thread."""
    solver = BCFW().resolved(problem)
    fit = begin(solver, problem, Regularizer(lam, problem.n_weights), random_state=0)
    run = fit.run
    if n_workers > 1:
        problems = [problem, *(problem.fork() for _ in range(n_workers - 1))]
        run.rounds = ShardRounds(
            ThreadPool(1, stop=fit.stop),
            problems,
            run.dual,
            run.regularizer,
            run.gaps,
            most=in_round if in_round >= 1 else in_round * problem.n_blocks,
            enough=0.0,
        )
        options = STEPS[solver.steps](), capped(solver.block_steps), solver.cache
        run.updates = [
            CorrectiveUpdate(
                shard.problem,
                run.dual,
                shard.regularizer,
                run.averager,
                run.gaps,
                run.promises,
                *options,
            )
            for shard in run.rounds.shards
        ]
    return fit


class Counted:
    """Counts the visits of a run, and the processor seconds that they take."""

    def __init__(self, run):
        self.visit, self.n_visits, self.seconds = run.visit, 0, 0.0
        run.visit = self

    def __call__(self, n_steps):
        start = time.process_time()
        self.visit(n_steps)
        self.n_visits += n_steps
        self.seconds += time.process_time() - start


def passes(name):
    """Print the passes and visits of a case, by number of workers and of pairs in a round."""
    data, lam, loss = CASES[name]
    problem = chain_problem(*data(), loss)
    lam = lam or 1.0 / problem.n_blocks
    alone = None
    for n_workers in (1, *N_WORKERS):
        for in_round in IN_ROUND if alone is not None else IN_ROUND[:1]:
            fit = begun(problem, lam, n_workers, in_round)
            counted = Counted(fit.run)
            status = fit.reach(TOL, max_iter=MOST_PASSES)
            counts = np.array([fit.n_iter, counted.n_visits])
            alone = counts if alone is None else alone
            ratios = " ".join(f"{ratio:.2f}" for ratio in counts / alone)
            print(
                f"{name:10} {in_round:6} in a round, {n_workers:2} workers: {fit.n_iter:4} passes, "
                f"{counted.n_visits:8} visits; over one worker {ratios}; {status.name}",
                flush=True,
            )


def per_visit(problem, n_workers, n_passes=4):
    """Return the seconds of a visit, with the steps that all other workers add."""
    fit = begun(problem, 1.0 / problem.n_blocks, n_workers, IN_ROUND[1])
    counted = Counted(fit.run)
    for _ in range(n_passes):
        fit.run.run_pass()
    return counted.seconds / counted.n_visits


def echo(address, size, n_rounds):
    """Answer messages of a size."""
    with socket.create_connection(address) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(n_rounds):
            end.sendall(take(end, size))


def take(end, size):
    """Return a message of a size."""
    message = bytearray(size)
    end.recv_into(message, size, socket.MSG_WAITALL)
    return message


def exchange(size, n_rounds=200):
    """Return the seconds of a message of a size to another process of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        other = get_context("fork").Process(
            target=echo, args=(server.getsockname(), size, n_rounds)
        )
        other.start()
        end, _ = server.accept()
        with end:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            seconds, message = [], bytes(size)
            for _ in range(n_rounds):
                start = time.perf_counter()
                end.sendall(message)
                take(end, size)
                seconds.append(0.5 * (time.perf_counter() - start))
        other.join()
    return float(np.median(seconds))


def predicted(visit, step, network, in_round, n_workers, ratio):
    """Return the time of several workers over that of one.

    In a round a worker makes its visits, adds the steps of all others, and gets a message from each
    of them; messages of all come at the same time, one after the other through its own connection.
    """
    latency, rate = network
    others = 1.0 - 1.0 / n_workers
    message = latency + others * in_round * N_BYTES / rate
    return ratio * (
        1.0 / n_workers + others * (step + PACKING) / visit + message / (in_round * visit)
    )


def cost():
    """Print the measured seconds, and the table that follows."""
    problem = chain_problem(*conll()[:2], "hamming_sum")
    times = {n: per_visit(problem, n) for n in (1, 2, 4)}
    visit, step = times[1], (times[4] - times[1]) / 3
    print("a visit of 1, 2, 4 workers: " + ", ".join(f"{1e6 * t:.1f}" for t in times.values()))
    print(f"so a visit takes {1e6 * visit:.1f} microseconds, an added step {1e6 * step:.1f}")
    small, large = exchange(1000), exchange(1_000_000)
    rate = 1e6 / (large - small)
    print(f"a message: {1e6 * small:.0f} microseconds, then {1e6 / rate * 1e6:.0f} for each MB")
    for name, network in {"this machine": (small, rate), **NETWORKS}.items():
        for in_round, ratios in VISITS.items():
            n_pairs = in_round if in_round >= 1 else in_round * problem.n_blocks
            row = [
                f"{n:2}: {predicted(visit, step, network, n_pairs, n, ratio):.2f}"
                for n, ratio in ratios.items()
            ]
            print(f"{name:20} {in_round:6} in a round   {'  '.join(row)}")
    print(f"without any exchange many workers take {step / visit:.2f} of the time of one a visit")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["passes", "cost"])
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.what in (None, "passes"):
        for case in arguments.cases or CASES:
            passes(case)
    if arguments.what in (None, "cost"):
        cost()
