"""Run cases in worker processes, which may crash or hang: they are then started anew.

A worker reads the numbers of cases from its input and answers with a line of JSON for each.
"""

import dataclasses
import faulthandler
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from fuzz.cases import Report, run_case

TIMEOUT = 30.0  # seconds of processor time for one case
STARTING = 60.0  # seconds in which a worker has imported everything
PATIENCE = 20  # times as much on the clock: others may use the processor too
MEMORY = 6 * 2**30  # bytes of address space of a worker
CHUNK = 20  # cases that a worker is given at once
# Numbers of cases that tests of the pool plant.
CRASH, HANG = -1, -2
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Worker:
    """A process that runs cases."""

    def __init__(self, seed, timeout):
        self.timeout = timeout
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.pool", str(seed), str(timeout)],
            cwd=Path(__file__).resolve().parents[1],
            env=os.environ | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.answers = queue.SimpleQueue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        """Put lines of the worker on the queue, None at its end."""
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def send(self, numbers):
        """Give the worker numbers of cases."""
        self.process.stdin.write("".join(f"{number}\n" for number in numbers))
        self.process.stdin.flush()

    def answer(self):
        """The next report as a dict; a sentence if there is none."""
        try:
            found = self.answers.get(timeout=STARTING + PATIENCE * self.timeout)
        except queue.Empty:
            return "hangs"
        if found is not None:
            return found
        status = self.process.wait()
        if status == -getattr(signal, "SIGPROF", 0):
            return f"takes more than {self.timeout:g} s"
        return f"dies with status {status}"

    def end(self):
        """End the process; return the last words of its error stream."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()
        self.errors.seek(0)
        told = self.errors.read().decode(errors="replace")
        self.errors.close()
        return told.partition("Extension modules")[0][-3000:]


def run_cases(seed, numbers, n_processes=1, *, timeout=TIMEOUT, on_report=None):
    """Run cases in worker processes."""
    waiting, lock, findings = iter(numbers), threading.Lock(), []

    def take():
        with lock:
            return [number for _, number in zip(range(CHUNK), waiting, strict=False)]

    def note(report):
        with lock:
            if report.finding:
                findings.append(report)
            if on_report is not None:
                on_report(report)

    def drive():
        worker = Worker(seed, timeout)
        while chunk := take():
            worker.send(chunk)
            for k, number in enumerate(chunk):
                found = worker.answer()
                if isinstance(found, dict):
                    note(Report(**found))
                    continue
                report = Report(seed, number, finding=found, detail=worker.end())
                note(report)
                worker = Worker(seed, timeout)
                worker.send(chunk[k + 1 :])
        worker.end()

    threads = [threading.Thread(target=drive) for _ in range(n_processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return findings


def work(seed, timeout):
    """Answer the cases whose numbers come in, until the input ends."""
    # what libraries print must not come between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    limit_memory()
    for line in sys.stdin:
        limit_time(timeout)
        report = planted(int(line)) if int(line) < 0 else run_case(seed, int(line))
        answers.write(json.dumps(dataclasses.asdict(report)) + "\n")
        answers.flush()


def planted(number):
    """Do what no case should."""
    if number == CRASH:
        os.abort()
    while True:
        pass


def limit_memory():
    """Make sizes that make no sense a MemoryError, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def limit_time(timeout):
    """End the process, with a traceback, if the next case takes too long."""
    if hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGPROF, chain=True)
        signal.setitimer(signal.ITIMER_PROF, timeout)


if __name__ == "__main__":
    work(int(sys.argv[1]), float(sys.argv[2]))
