"""Commands: many cases in worker processes, or one case at the terminal."""

import argparse
import collections
import sys
import time

from joblib import Parallel, delayed

from fuzz.cases import run_case
from fuzz.pool import run_cases
from fuzz.products import Findings, run_problems

PORTION = 10  # problems that a process is given at once


def main(arguments=None):
    """Run a command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, told, n in (
        ("calls", "random calls of the public face", 2000),
        ("products", "random products of features", 250),
    ):
        command = commands.add_parser(name, help=told)
        command.add_argument("-n", type=int, default=n, help="how many")
        command.add_argument("--first", type=int, default=0, help="number of the first one")
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--processes", type=int, default=2)
        if name == "products":
            command.add_argument("--ways", type=int, default=20, help="number of fits of a problem")
        else:
            command.add_argument("--case", type=int, help="run this case only, in this process")
            command.add_argument("--messages", action="store_true", help="list all messages")
    given = parser.parse_args(arguments)
    if given.command == "products":
        return run_products(given)
    if given.case is not None:
        return show_case(run_case(given.seed, given.case))
    return run_calls(given)


def show_case(report):
    """Print a report; return the exit status."""
    print(f"{report.subject}: {'; '.join(report.story)}")
    for refusal in report.refusals:
        print("  refused:", *refusal)
    print(report.finding or "nothing found", report.detail, sep="\n")
    return int(report.finding is not None)


class Tally:
    """Counts what comes of cases, and prints findings as they come."""

    def __init__(self, n, first):
        self.n = n
        self.first = first
        self.calls = collections.Counter()
        self.refusals = collections.Counter()
        self.examples = {}
        self.cases = 0

    def numbers(self):
        """Numbers of cases, until there were enough calls."""
        number = self.first
        while self.calls.total() < self.n:
            yield number
            number += 1

    def add(self, report):
        """Count one report."""
        self.cases += 1
        self.calls[report.subject] += max(report.calls, 1)
        for refusal in report.refusals:
            refusal = tuple(refusal)
            self.refusals[refusal] += 1
            self.examples.setdefault(refusal, report.number)
        if report.finding:
            last = [line.strip() for line in report.detail.strip().splitlines()]
            story = "; ".join(report.story[-5:])
            print(f"case {report.number}, {report.subject}: {report.finding}\n  {story}")
            print(*(f"  | {line[:200]}" for line in last[-8:]), sep="\n", flush=True)


def run_calls(given):
    """Run many cases and print what they found."""
    tally, began = Tally(given.n, given.first), time.time()
    findings = run_cases(given.seed, tally.numbers(), given.processes, on_report=tally.add)
    if given.messages:
        for refusal, count in sorted(tally.refusals.items()):
            named = "" if refusal[-1] else "UNNAMED "
            print(f"{count:6d}  {named}{' | '.join(refusal[:-1])}  ({tally.examples[refusal]})")
    kinds = collections.Counter(report.finding for report in findings)
    print(
        f"{tally.calls.total()} calls in {tally.cases} cases, {tally.refusals.total()} refused, "
        f"{len(findings)} findings, {time.time() - began:.0f} s"
    )
    for kind, count in kinds.most_common():
        print(f"{count:6d}  {kind}")
    for subject, count in sorted(tally.calls.items()):
        print(f"{count:6d}  calls of {subject}")
    return int(bool(findings))


def run_products(given):
    """Solve many problems in random ways and print what they found."""
    began, starts = time.time(), range(given.first, given.first + given.n, PORTION)
    ends = [min(start + PORTION, given.first + given.n) for start in starts]
    parts = Parallel(n_jobs=given.processes, return_as="generator_unordered")(
        delayed(run_problems)(given.seed, start, end, given.ways)
        for start, end in zip(starts, ends, strict=True)
    )
    whole = Findings()
    for part in parts:
        print(*part.faults, sep="\n\n", end="\n\n" if part.faults else "", flush=True)
        whole.add(part)
    print(
        f"{whole.n_fits} fits of {whole.n_problems} problems, {whole.n_certified} of them with a "
        f"certificate, and {whole.n_paths} paths; {whole.refusals.total()} refused, "
        f"{len(whole.faults)} faults, {time.time() - began:.0f} s"
    )
    for sentence, count in whole.refusals.most_common():
        print(f"{count:6d}  {sentence}")
    return int(bool(whole.faults))


if __name__ == "__main__":
    sys.exit(main())
